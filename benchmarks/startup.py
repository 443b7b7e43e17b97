"""Start-up: compile time of every program, and from the start of the server process to SERVING."""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path


def compile_times(cache: Path) -> dict[str, float]:
    """Seconds to import JAX and to compile, or load from `cache`, each program in this process."""
    begin = time.perf_counter()
    from zank_kernel import engine as engines

    imported = time.perf_counter() - begin
    engine = engines.Engine(cache_directory=cache)
    begin = time.perf_counter()
    engine.warm_up()
    result = {"import": imported, "warm_up": time.perf_counter() - begin}
    result.update({name: program.compile_seconds for name, program in engine.programs.items()})
    engine.close()
    return result


def seconds_to_serving(cache: Path) -> float:
    """Seconds from starting `python -m zank_service` until it announces that it is SERVING."""
    begin = time.perf_counter()
    command = [sys.executable, "-m", "zank_service", "--port", "0", "--announce", "--cache-dir", str(cache)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        server.stdout.readline()
        seconds = time.perf_counter() - begin
        server.terminate()
    return seconds


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--server", action="store_true", help="time the server instead of the engine")
    options = parser.parse_args()
    if options.server:
        print(json.dumps({"seconds": seconds_to_serving(options.cache)}))
    else:
        print(json.dumps(compile_times(options.cache)))
