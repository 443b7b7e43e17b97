"""An answer does not depend on how many devices its rollouts are spread over."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.kernel.two_devices import answers
from zank_kernel.engine import FAMILIES, Engine

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def spread(engine: Engine, programs_directory: Path) -> dict[str, Any]:
    """What a process with two devices says; what one device needs is compiled by `engine` before."""
    assert len(engine.devices) == 1
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=2"
    done = subprocess.run(
        [sys.executable, "-m", "tests.kernel.two_devices", str(programs_directory)],
        cwd=ROOT,
        env={**os.environ, "JAX_PLATFORMS": "cpu", "XLA_FLAGS": flags.strip()},
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        timeout=600,
    )
    said: dict[str, Any] = json.loads(done.stdout)
    return said


def test_both_devices_play(spread: dict[str, Any]) -> None:
    assert spread["devices"] == 2
    for family in FAMILIES:
        assert spread["calls"][f"{family}/rollout"] > 0
        assert spread["calls"][f"{family}/rollout/1"] > 0


def test_two_devices_answer_as_one_does(engine: Engine, spread: dict[str, Any]) -> None:
    assert spread["answers"] == answers(engine)
    assert all("forced=False" in answer for answer in spread["answers"].values())
