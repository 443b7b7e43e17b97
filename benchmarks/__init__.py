"""Benchmarks of the kernel and the server; `python -m benchmarks` runs them all."""

import importlib.util
import sys
from pathlib import Path

if importlib.util.find_spec("zank_kernel") is None:  # not installed: from the source tree
    sys.path.append(str(Path(__file__).parents[1] / "kernel"))
