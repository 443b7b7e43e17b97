"""Where compiled programs are kept between starts."""

import os
import stat
from pathlib import Path


class UnsafeCache(Exception):
    """The directory cannot be used, or others could put programs there, which the server would run."""


def private_directory(path: Path) -> Path:
    """The directory, made if need be, readable by this user only; raises UnsafeCache."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = path.stat()
    except OSError as error:
        raise UnsafeCache(
            f"cannot keep compiled programs in {path}: {error.strerror}; name another directory with"
            " --cache-dir or ZANK_CACHE_DIR"
        ) from None
    if status.st_uid != os.getuid() or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise UnsafeCache(
            f"other users can write to {path}, and what lies there is run: make it yours alone (chmod 700), or name"
            " another directory with --cache-dir or ZANK_CACHE_DIR"
        )
    return path
