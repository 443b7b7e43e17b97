"""The measurements of the server under load work, and a short soak leaves nothing over."""

import asyncio

from benchmarks import load, soak
from benchmarks.serving import serving
from zank_kernel.engine import Engine


async def test_a_soak_accounts_for_every_request_and_leaves_nothing_over(engine: Engine) -> None:
    results = await soak.soak(engine, requests=60, seed=1)
    left_over = [fault for fault in results["faults"] if not fault.startswith("memory")]  # too short to tell
    assert not left_over
    assert results["clients"]["begun"] == 60
    assert sum(results["server"].values()) > 0


async def test_load_is_measured_in_ratios(engine: Engine) -> None:
    async with serving(engine) as now:
        figures = await asyncio.wait_for(load.flood(now, requests=1), 60)
        assert figures["call_s"] > 0
        figures = await asyncio.wait_for(load.overload(now, seconds=0.5), 60)
        assert figures["answers_per_s"] > 0
