"""The accelerator's benchmark, in sizes of a few lanes on the CPU."""

import copy
import dataclasses
import json
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

from benchmarks import equality, gpu, plot, programs
from zank_kernel import rollout
from zank_kernel.engine import FAMILIES, Engine

SMALL = dataclasses.replace(gpu.SIZES["tiny"], lanes=(32,), intervals=(8,))


def tampered(engine: Engine, program: str, tamper: Callable[[Any], Any]) -> Engine:
    """An engine one program of which gives another result."""
    other = copy.copy(engine)
    honest = engine.programs[program]

    def call(*arguments: Any) -> Any:
        return tamper(honest.call(*arguments))

    other.programs = {**engine.programs, program: dataclasses.replace(honest, call=call)}
    other._workers = other._started()  # else its rollouts were the other's
    return other


def with_another(tree: Any, name: str) -> Any:
    """A dataclass with the first number of a field changed."""
    changed = np.array(getattr(tree, name))
    changed.flat[0] ^= 1
    return dataclasses.replace(tree, **{name: changed})


@pytest.fixture(scope="module")
def figures(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the whole benchmark writes."""
    out = tmp_path_factory.mktemp("gpu")
    assert gpu.measure(SMALL, 600.0, out, lambda: (engine, engine))
    written: dict[str, Any] = json.loads((out / "gpu.json").read_text())
    ET.parse(out / "gpu.svg")
    return written


def test_all_is_measured_in_both_families(figures: dict[str, Any]) -> None:
    assert figures["left_out"] == figures["failed"] == []
    assert figures["jax"] == jax.__version__
    assert figures["copy_bytes_per_second"] > 0
    for section in ("throughput", "refill", "limits", "hints"):
        assert {row["family"] for row in figures[section]} == set(FAMILIES)
    for row in figures["throughput"]:
        assert row["moves_per_second"] > 0
        assert 0.5 < row["lane_utilisation"] <= 1
    for row in figures["limits"]:
        assert row["kernels_per_step"] == sum(row["kernels"].values()) > 0
        assert 0 < row["share_of_bandwidth"] < row["share_of_bandwidth_whole"]
    assert all(0 < row["seconds_p50"] <= row["seconds_p90"] for row in figures["hints"])


def test_every_check_is_made_and_passes(figures: dict[str, Any]) -> None:
    names = {check["name"] for check in figures["checks"]}
    assert names >= {f"{family}/{what}" for family in FAMILIES for what in ("worlds", "turns", "rollouts", "answers")}
    assert all(check["passed"] and check["compared"] > 0 for check in figures["checks"])


@pytest.mark.parametrize(
    ("program", "tamper", "failing"),
    [
        ("malice/sample", lambda worlds: with_another(worlds, "payoff"), "malice/worlds"),
        ("malice/expand", lambda reached: with_another(reached, "key"), "malice/turns"),
        ("bank/expand", lambda reached: dataclasses.replace(reached, left=np.int32(reached.left)), "bank/turns"),
        ("bank/rollout", lambda out: (out[0], with_another(out[1], "points"), out[2]), "bank/rollouts"),
    ],
)
def test_a_result_that_differs_is_reported(
    engine: Engine, program: str, tamper: Callable[[Any], Any], failing: str
) -> None:
    wrong = tampered(engine, program, tamper)
    checks = equality.checks(engine, wrong, rollouts=256, questions=0, budget=0)
    made = {name: check() for name, check in checks.items() if not name.endswith("answers")}
    assert [name for name, check in made.items() if not check.passed] == [failing]
    assert made[failing].different > 0
    assert made[failing].first


def test_an_answer_that_differs_is_reported(engine: Engine) -> None:
    def backwards(out: Any) -> Any:
        return out[0], dataclasses.replace(out[1], points=-out[1].points), out[2]

    check = equality.answered(engine, tampered(engine, "malice/rollout", backwards), "malice", 2, 256)
    assert (check.compared, check.different) == (2, 2)
    assert check.first.startswith("deal 0: ")


def test_a_failed_check_stops_nothing_and_fails_the_whole(engine: Engine, tmp_path: Path) -> None:
    wrong = tampered(engine, "malice/sample", lambda worlds: with_another(worlds, "payoff"))
    none = dataclasses.replace(SMALL, lanes=(), intervals=(), hints=1)
    assert not gpu.measure(none, 600.0, tmp_path, lambda: (engine, wrong))
    figures = json.loads((tmp_path / "gpu.json").read_text())
    assert "malice/worlds" in [check["name"] for check in figures["checks"] if not check["passed"]]
    assert len(figures["hints"]) == len(FAMILIES)


def test_without_time_all_is_left_out(engine: Engine, tmp_path: Path) -> None:
    assert not gpu.measure(dataclasses.replace(SMALL, lanes=()), 0.0, tmp_path, lambda: (engine, engine))
    figures = json.loads((tmp_path / "gpu.json").read_text())
    left_out = [f"{family}/{what}" for family in FAMILIES for what in ("worlds", "turns", "rollouts", "answers")]
    left_out += [f"{family}, hints" for family in FAMILIES]
    assert figures["left_out"] == [f"{each}: no time" for each in left_out]


def test_a_section_that_fails_is_noted(engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(bench: gpu.Bench) -> None:
        raise ValueError("no such thing")

    monkeypatch.setattr(gpu, "SECTIONS", {"correctness": fails})
    assert not gpu.measure(dataclasses.replace(SMALL, lanes=()), 600.0, tmp_path, lambda: (engine, engine))
    assert json.loads((tmp_path / "gpu.json").read_text())["failed"] == ["correctness: ValueError: no such thing"]


def test_counters_that_have_wrapped_are_unwrapped() -> None:
    for steps in (5_000, 3_000_000_000, 4_500_000_000, 9_000_000_000):
        counted = int(np.asarray(steps & 0xFFFFFFFF, np.uint32).astype(np.int32))
        assert programs.unwrapped(counted, int(0.6 * steps)) == steps


def test_the_kernels_of_a_step_are_counted() -> None:
    text = """HloModule jit_run

%fused (p: s32[4]) -> s32[4] {
  %p = s32[4]{0} parameter(0)
  ROOT %add.1 = s32[4]{0} add(%p, %p)
}

%graph (p.1: s32[4]) -> s32[4] {
  %p.1 = s32[4]{0} parameter(0)
  %one = s32[4]{0} fusion(%p.1), kind=kLoop, calls=%fused
  ROOT %two = s32[4]{0} fusion(%one), kind=kLoop, calls=%fused
}

%body (arg: (s32[], s32[4])) -> (s32[], /*index=1*/s32[4]) {
  %arg = (s32[], /*index=1*/s32[4]{0}) parameter(0)
  %i = s32[] get-tuple-element(%arg), index=0
  %now = s32[4]{0} get-tuple-element(%arg), index=1
  %graphed = s32[4]{0} call(%now), to_apply=%graph
  %sorted = s32[4]{0} custom-call(%graphed), custom_call_target="sort"
  ROOT %both = (s32[], /*index=1*/s32[4]{0}) tuple(%i, %sorted)
}

ENTRY %main (x: s32[4]) -> (s32[], s32[4]) {
  %x = s32[4]{0} parameter(0)
  %zero = s32[] constant(0)
  %start = (s32[], s32[4]{0}) tuple(%zero, %x)
  ROOT %loop = (s32[], s32[4]{0}) while(%start), body=%body, backend_config={"known_trip_count":{"n":"8"}}
}
"""
    assert programs.kernels_of_step(text, 8) == Counter({"fusion": 2, "custom-call": 1})
    # A body that is two steps.
    assert programs.kernels_of_step(text, 16) == Counter({"fusion": 1, "custom-call": 1})
    with pytest.raises(ValueError, match="no loop"):
        programs.kernels_of_step(text.replace("while(", "call("), 8)


def test_the_interval_is_put_back() -> None:
    before = rollout.REFILL_INTERVAL
    programs.lowered_rollouts("malice", 16, 16, jax.devices()[0], before + 1)
    assert before == rollout.REFILL_INTERVAL


def test_a_chart_has_its_series_and_marks() -> None:
    root = ET.fromstring(plot.chart("A & B", "lanes", "moves", {"one": [(32, 3e6), (1_024, 2e7)], "two": [(32, 1)]}))
    words = {element.text for element in root.iter() if element.text and element.text.strip()}
    assert {"A & B", "one", "two", "32", "1Ki", "1", "10M"} <= words
    with pytest.raises(ValueError, match="above 0"):
        plot.chart("", "", "", {"none": [(1, 0)]})
    with pytest.raises(ValueError, match="needs points"):
        plot.chart("", "", "", {})
