"""The scaling benchmark, in sizes of a few lanes; only that it measures what it says, not how fast."""

import dataclasses
import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from benchmarks import scaling
from zank_kernel.engine import FAMILIES, Engine

TINY = scaling.Sizes(
    lanes=(128,),  # the same program
    roots=(1, 512),
    worlds=(1, 1_024),
    fixed=128,
    rollouts=1_024,
    repeats=1,
    devices=((1, 1),),
    turns=1,
    seconds=0.01,
)


def test_every_table_is_measured(engine: Engine, tmp_path: Path, programs_directory: Path) -> None:
    assert engine.programs  # compiled, and kept in the directory
    results = scaling.measure(TINY, tmp_path, programs_directory)
    assert json.loads((tmp_path / "scaling.json").read_text())["sizes"]["fixed"] == TINY.fixed
    for what, numbers in (("lanes", TINY.lanes), ("roots", TINY.roots), ("worlds", TINY.worlds)):
        ET.parse(tmp_path / f"scaling-{what}.svg")
        for family in FAMILIES:
            assert tuple(row[what] for row in results[what][family]) == numbers
            assert all(row["seconds_per_rollout"] > 0 for row in results[what][family])
            assert all(0 < row["lane_utilisation"] <= 1 for row in results[what][family])
    for family in FAMILIES:
        assert [row["ratio"] for row in results["devices"][family]] == [pytest.approx(1.0)]


def test_costs_are_compared_at_one_length() -> None:
    rows = [{"seconds_per_mean_rollout": seconds} for seconds in (2e-6, 3e-6, 2.5e-6)]
    assert scaling.apart(rows) == pytest.approx(1.5)


def test_accelerators_get_more_lanes() -> None:
    assert max(scaling.CPU.lanes) <= min(scaling.ACCELERATOR.lanes)
    assert dataclasses.asdict(scaling.CPU).keys() == dataclasses.asdict(scaling.ACCELERATOR).keys()
