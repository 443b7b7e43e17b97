"""Programs compiled once and kept between starts: what is kept is loaded without being traced again."""

import contextlib
import functools
import hashlib
import os
import pickle
import platform
import tempfile
from collections.abc import Callable, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any, Final

import jax
import numpy as np
from jax.experimental import serialize_executable

SUFFIX: Final = ".program"

type Run = Callable[..., Any]


def compiled(
    function: Run,
    arguments: Sequence[Any],
    *,
    name: str,
    donated: Sequence[int] = (),
    options: Mapping[str, str] | None = None,
    device: jax.Device,
    directory: Path | None = None,
) -> tuple[Run, Any]:
    """`function` compiled for the shapes of `arguments` on a device, and what it returns for them.

    It is taken from `directory`, and kept there, under its `name` and all that it depends on: the source of this
    package, the versions of JAX, the machine, the shapes. What lies there is run: it must be private to the user.
    """
    arguments = jax.tree.map(np.asarray, arguments)  # to be copied to the device for every call: some are donated
    path = None if directory is None else directory / f"{_key(name, arguments, donated, options, device)}{SUFFIX}"
    if path is not None and (found := _tried(path, arguments, device)) is not None:
        return found
    jitted = jax.jit(function, donate_argnums=tuple(donated))
    run = jitted.lower(*jax.device_put(arguments, device)).compile(
        compiler_options=None if options is None else dict(options)
    )
    if path is not None:
        _keep(path, run)
        if _tried(path, arguments, device) is None:  # what came from a cache of JAX itself cannot be kept
            path.unlink(missing_ok=True)
    return run, run(*jax.device_put(arguments, device))


def _tried(path: Path, arguments: Sequence[Any], device: jax.Device) -> tuple[Run, Any] | None:
    """A program that was kept, and what it returns; None where there is none that runs."""
    try:
        data, takes, gives = pickle.loads(path.read_bytes())
        run = serialize_executable.deserialize_and_load(
            data, takes, gives, backend=device.client, execution_devices=[device]
        )
        return run, jax.block_until_ready(run(*jax.device_put(arguments, device)))
    except Exception:  # whatever is wrong with it, the program can be compiled
        return None


def _keep(path: Path, run: Any) -> None:
    """Keep a program, as a whole or not at all."""
    with contextlib.suppress(Exception):  # not every device can
        data = pickle.dumps(serialize_executable.serialize(run))
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            file.write(data)
        os.replace(file.name, path)


def _key(
    name: str, arguments: Sequence[Any], donated: Sequence[int], options: Mapping[str, str] | None, device: jax.Device
) -> str:
    """What a program depends on, in hexadecimal."""
    leaves, tree = jax.tree.flatten(arguments)
    shapes = [(leaf.shape, leaf.dtype.str) for leaf in leaves]
    parts = (name, shapes, str(tree), [*donated], sorted((options or {}).items()), device.id, device.device_kind)
    return hashlib.sha256(repr((parts, len(device.client.devices()), _surroundings())).encode()).hexdigest()


@functools.cache
def _surroundings() -> str:
    """The source of this package, the versions of JAX, and the machine."""
    told = hashlib.sha256()
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        told.update(path.name.encode() + path.read_bytes())
    with contextlib.suppress(OSError):  # on Linux, what the processor can do
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        told.update("".join(sorted({line for line in lines if line.startswith(("flags", "model name"))})).encode())
    versions = jax.__version__, metadata.version("jaxlib"), platform.platform(), platform.python_version()
    return repr((told.hexdigest(), versions, os.environ.get("XLA_FLAGS", "")))
