"""Load: what a flood adds to hints, what many clients get of the kernel, and what overload does to admitted requests.

Every figure is a ratio of two measurements of one run.
"""

import argparse
import asyncio
import dataclasses
import json
import statistics
import time
from collections import deque
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import Any

import jax
import numpy as np

from benchmarks import positions
from benchmarks.clients import Plan
from benchmarks.serving import Process, Serving, ask, idle_server, percentile, serving
from zank.v1 import PRIORITY_BULK
from zank_kernel import engine as engines
from zank_kernel import malice, rollout
from zank_kernel.malice.table import masked
from zank_service.limits import ANSWERS_AT_ONCE, ANSWERS_WAITING
from zank_service.priority import put_clients_first

OUT = Path(__file__).parent / "out" / "load.json"
PRESET = "malice-match"
PLACES = ANSWERS_AT_ONCE[0] + ANSWERS_WAITING  # hints that the server takes at once: its capacity
OVERLOAD = 5
SMALL = 2_048  # rollouts of a hint in the overload


def kernel_rate(engine: engines.Engine, seconds: float) -> float:
    """Rollouts that the kernel plays in a second by itself, from the position that the clients ask about."""
    tables = [masked(table) for table in positions.deals(PRESET, 1)]
    roots = jax.device_put(engines.padded(malice.FAMILY.to_state(tables), engines.ROOTS))
    worlds = engine.worlds("malice", malice.FAMILY.knowledge(tables, [1]), 0)
    world = (np.arange(16 * engines.WORLDS) % engines.WORLDS).astype(np.int32)

    def queue() -> Future[rollout.Results]:
        return engine.rollouts("malice", roots, worlds, np.zeros_like(world), world)

    queued = deque([queue(), queue()])  # so that no worker ever waits
    begin, played = time.perf_counter(), 0
    while time.perf_counter() - begin < seconds:
        queued.append(queue())
        played += len(queued.popleft().result().points)
    elapsed = time.perf_counter() - begin
    for rest in queued:
        rest.result()
    return played / elapsed


async def flood(now: Serving, requests: int) -> dict[str, float]:
    """Calls of the device that a flood of bulk questions adds to the 99th percentile of hints."""
    alone, beside, calls = [], [], []
    for _ in range(2):
        alone += await ask(Plan(target=now.target, requests=requests))
        bulk = await Process(Plan(target=now.target, clients=20, seconds=3600, priority=PRIORITY_BULK)).start()
        await asyncio.sleep(2)
        before = dataclasses.replace(now.engine.meter)
        beside += await ask(Plan(target=now.target, requests=requests))
        meter = now.engine.meter
        calls.append((meter.busy_seconds - before.busy_seconds) / (meter.calls - before.calls))
        bulk.stop()
        await bulk.ended()
        await asyncio.sleep(1)
    p99 = [percentile([one.seconds for one in ended], 0.99) for ended in (alone, beside)]
    call = statistics.mean(calls)
    return {
        "alone_p99_s": p99[0],
        "beside_bulk_p99_s": p99[1],
        "alone_p50_s": percentile([one.seconds for one in alone], 0.5),
        "beside_bulk_p50_s": percentile([one.seconds for one in beside], 0.5),
        "call_s": call,
        "calls_added": (p99[1] - p99[0]) / call,
    }


async def throughput(now: Serving, seconds: float, rollouts: int) -> dict[str, float]:
    """Rollouts in a second of 64 clients over those of the kernel by itself, before and after."""
    rates = [await asyncio.to_thread(kernel_rate, now.engine, seconds / 4)]
    clients = await Process(Plan(target=now.target, clients=64, seconds=3600, rollouts=rollouts)).start()
    await asyncio.sleep(3)  # all are there
    before, begin = dataclasses.replace(now.engine.meter), time.perf_counter()
    await asyncio.sleep(seconds)
    rate = (now.engine.meter.rollouts - before.rollouts) / (time.perf_counter() - begin)
    filled = now.engine.meter.moves - before.moves, now.engine.meter.steps - before.steps
    clients.stop()
    await clients.ended()
    await asyncio.sleep(1)
    rates.append(await asyncio.to_thread(kernel_rate, now.engine, seconds / 4))
    kernel = statistics.mean(rates)
    return {
        "rollouts_per_s": rate,
        "kernel_rollouts_per_s": kernel,
        "lane_utilisation": filled[0] / max(1, filled[1]),
        "share_of_kernel": rate / kernel,
    }


async def overload(now: Serving, seconds: float) -> dict[str, float]:
    """How long admitted requests take at several times the capacity, over how long at capacity; and how long refusals.

    At capacity there is a client for every place at work and in the queue. Who is refused checks the health of this
    server too, the least that a call to it takes, and that of an idle one: the least that a call takes which is made by
    these clients on this machine.
    """
    ended = await ask(Plan(target=now.target, clients=PLACES, seconds=seconds, rollouts=SMALL))
    full = [one.seconds for one in ended if one.code == "OK"][PLACES:]  # the first found the queue empty
    rate = len(ended) / (max(one.begin + one.seconds for one in ended) - min(one.begin for one in ended))
    async with idle_server() as idle:
        over = await ask(
            Plan(
                target=now.target,
                clients=PLACES,
                seconds=seconds,
                rollouts=SMALL,
                rate=OVERLOAD * rate,
                checked=(now.target, idle),
            )
        )
    checks = {target: [one.seconds for one in over if one.target == target] for target in (now.target, idle)}
    admitted = [one.seconds for one in over if one.code == "OK" and not one.target]
    refused = [one.seconds for one in over if one.code == "RESOURCE_EXHAUSTED"]
    return {
        "answers_per_s": rate,
        "at_capacity_p99_s": percentile(full, 0.99),
        "admitted_p99_s": percentile(admitted, 0.99),
        "admitted": len(admitted),
        "refused": len(refused),
        "refused_p99_s": percentile(refused, 0.99),
        "refused_p50_s": percentile(refused, 0.5),
        "health_p99_s": percentile(checks[now.target], 0.99),
        "health_p50_s": percentile(checks[now.target], 0.5),
        "idle_p99_s": percentile(checks[idle], 0.99),
        "idle_p50_s": percentile(checks[idle], 0.5),
        "p99_ratio": percentile(admitted, 0.99) / max(1e-9, percentile(full, 0.99)),
    }


async def measure(engine: engines.Engine, requests: int, seconds: float) -> dict[str, Any]:
    """All figures, each printed as soon as it is there."""
    results: dict[str, Any] = {"workers": engine.workers, "requests": requests, "seconds": seconds}
    async with serving(engine) as now:
        await asyncio.to_thread(kernel_rate, engine, min(2.0, seconds))  # the speed of late is known
        results["flood"] = figures = await flood(now, requests)
        print(
            f"a bulk flood adds {figures['calls_added']:.1f} calls of {figures['call_s'] * 1e3:.0f} ms to a hint's p99,"
            f" {figures['alone_p99_s'] * 1e3:.0f} ms alone (aim: at most 4)",
            flush=True,
        )
        for name, rollouts in (("throughput", 0), ("throughput_small", 256)):
            results[name] = figures = await throughput(now, seconds, rollouts)
            print(
                f"64 clients, {f'{rollouts} rollouts each' if rollouts else 'hints by default'}:"
                f" {figures['share_of_kernel']:.2f} of the kernel's {figures['kernel_rollouts_per_s']:,.0f} rollouts/s,"
                f" lane utilisation {figures['lane_utilisation']:.2f}{' (aim: at least 0.9)' if not rollouts else ''}",
                flush=True,
            )
        results["overload"] = figures = await overload(now, seconds)
        print(
            f"at {OVERLOAD} times capacity: p99 of {figures['admitted']} admitted {figures['p99_ratio']:.2f} times that"
            f" at capacity (aim: at most 1.5), of {figures['refused']} refusals {figures['refused_p99_s'] * 1e3:.0f} ms"
            f" (aim: under 20 ms), of checks of health {figures['health_p99_s'] * 1e3:.0f} ms,"
            f" of those of an idle server {figures['idle_p99_s'] * 1e3:.0f} ms",
            flush=True,
        )
    return results


def main() -> None:
    """Measure, print and write the figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--requests", type=int, default=100, help="hints measured, twice alone and twice in the flood")
    parser.add_argument("--seconds", type=float, default=30.0, help="how long each load lasts")
    parser.add_argument("--cache", type=Path, help="where compiled programs are kept")
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()
    engine = put_clients_first(partial(engines.Engine, cache_directory=options.cache))
    engine.warm_up()
    results = asyncio.run(measure(engine, options.requests, options.seconds))
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(results, indent=2) + "\n")
    engine.close()


if __name__ == "__main__":
    main()
