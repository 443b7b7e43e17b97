"""Threads that play yield to those that talk to clients."""

import json
import subprocess
import sys

import pytest

from zank_service.priority import NICE, SWITCH_SECONDS

WORK = """
import json, os, sys
import jax, jax.numpy as jnp
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from zank_service.priority import put_clients_first

def used():
    ticks = {}  # by niceness
    for path in Path("/proc/self/task").glob("*/stat"):
        fields = path.read_text().rpartition(")")[2].split()  # from the third on, see proc(5)
        ticks[fields[16]] = ticks.get(fields[16], 0) + int(fields[11]) + int(fields[12])
    return ticks

def players():
    pool = ThreadPoolExecutor(1)
    pool.submit(jax.local_devices).result()
    return pool

pool = put_clients_first(players)
square = jnp.ones((256, 256))
compiled = jax.jit(lambda x: jax.lax.fori_loop(0, 400, lambda _, y: jnp.sin(y @ y), x)).lower(square).compile()
before = used()
pool.submit(lambda: jax.block_until_ready(compiled(square))).result()
work = {nice: ticks - before.get(nice, 0) for nice, ticks in used().items()}
print(json.dumps({"switch": sys.getswitchinterval(), "nice": os.getpriority(os.PRIO_PROCESS, 0), "work": work}))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a thread has no niceness of its own")
def test_what_plays_is_nicer_than_the_rest_of_the_process() -> None:
    done = subprocess.run([sys.executable, "-c", WORK], capture_output=True, text=True, check=True)
    said = json.loads(done.stdout)
    assert said["switch"] == pytest.approx(SWITCH_SECONDS)
    assert said["nice"] == 0
    assert said["work"][str(NICE)] > said["work"]["0"]
