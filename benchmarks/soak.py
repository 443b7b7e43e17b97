"""Soak: many requests, with random cancels, deadlines and killed clients: all accounted for, nothing left over.

The clients say what they began and what became of it, the server what it took and how that ended.
"""

import argparse
import asyncio
import gc
import json
import os
import random
import sys
import threading
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.clients import Ended, Plan
from benchmarks.serving import Process, Serving, ask, serving
from zank_kernel import engine as engines
from zank_service.questions import PRIORITIES

OUT = Path(__file__).parent / "out" / "soak.json"
METHOD = "/zank.v1.Solver/GetHint"
AT_ONCE = 4  # processes of clients
OF_A_PROCESS = 200  # requests at most; fewer in a short run, so that there are processes to kill
ROLLOUTS = 512
KILLED = 0.3  # share of processes that are killed at work
MOST_GROWTH = 0.1  # of memory, from after the first tenth of the requests to the end
FATES = {"OK": "ok", "CANCELLED": "cancelled", "DEADLINE_EXCEEDED": "deadline", "RESOURCE_EXHAUSTED": "refused"}
GIVEN_UP = ("cancelled", "deadline", "killed")  # by the client, whatever the server made of it


def held() -> dict[str, int]:
    """What this process holds."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return {
        "memory_mb": pages * os.sysconf("SC_PAGE_SIZE") // 2**20,
        "tasks": len(asyncio.all_tasks()),
        "threads": threading.active_count(),
        "descriptors": len(os.listdir("/proc/self/fd")),
    }


async def plan_after_plan(now: Serving, chance: random.Random, left: list[int]) -> Counter[str]:
    """Processes of clients one after the other until no requests are left: what became of their requests."""
    fates = Counter[str]()
    size = min(OF_A_PROCESS, 1 + left[0] // (4 * AT_ONCE))
    while left[0] > 0:
        requests = min(size, left[0])
        left[0] -= requests
        plan = Plan(
            target=now.target,
            preset=chance.choice(["malice-match", "bank-russian"]),
            clients=chance.choice([1, 8, 40]),
            requests=requests,
            rollouts=ROLLOUTS,
            priority=chance.choice(PRIORITIES),
            cancelled=0.15,
            hurried=0.15,
            seed=chance.getrandbits(32),
        )
        process = await Process(plan).start()
        if chance.random() < KILLED:
            await process.kill(after=chance.uniform(0.7, 4.0))
        begun, ended = await process.ended()
        fates.update(fate(one) for one in ended)
        fates["killed"] += begun - len(ended)
        fates["begun"] += begun
        left[0] += requests - begun  # those that a killed process did not come to
    return fates


def fate(ended: Ended) -> str:
    """What became of a request; anything but the fates that are planned is a fault."""
    return FATES.get(ended.code, "failed")


async def run(now: Serving, requests: int, seed: int) -> Counter[str]:
    """So many requests from several processes at once."""
    left = [requests]
    counts = await asyncio.gather(
        *(plan_after_plan(now, random.Random(seed + number), left) for number in range(AT_ONCE))
    )
    async with asyncio.timeout(30):
        await now.server.calls.idle()
    return sum(counts, Counter[str]())


def faults(
    clients: Counter[str], server: Counter[str], begun: int, before: dict[str, int], after: dict[str, int]
) -> list[str]:
    """What is not as it must be; nothing if all is well."""
    found = []
    fates = {name: clients[name] for name in (*FATES.values(), "killed", "failed")}
    if clients["begun"] != sum(fates.values()):
        found.append(f"the clients began {clients['begun']} requests and know of {sum(fates.values())}")
    if begun != server.total():
        found.append(f"the server began {begun} calls and ended {server.total()}")
    if clients["failed"] or server.keys() - FATES.keys():
        found.append(f"some failed: {dict(server)}, {clients['failed']} seen by clients")
    given_up = sum(fates[name] for name in GIVEN_UP)
    never_came = clients["begun"] - begun
    if not 0 <= never_came <= given_up:
        found.append(f"{never_came} requests never came to the server, {given_up} were given up")
    # What a client gave up may have been answered or refused at that moment.
    late = {code: server[code] - fates[FATES[code]] for code in ("OK", "RESOURCE_EXHAUSTED")}
    ended_early = server["CANCELLED"] + server["DEADLINE_EXCEEDED"]
    if min(late.values()) < 0 or sum(late.values()) + ended_early + never_came != given_up:
        found.append(f"the sums differ: clients {fates}, server {dict(server)}, {never_came} never came")
    for name in ("tasks", "threads", "descriptors"):
        if after[name] > before[name]:
            found.append(f"{name}: {before[name]} before, {after[name]} after")
    if after["memory_mb"] > before["memory_mb"] * (1 + MOST_GROWTH):
        found.append(f"memory: {before['memory_mb']} MB before, {after['memory_mb']} MB after")
    return found


async def soak(engine: engines.Engine, requests: int, seed: int) -> dict[str, Any]:
    """What became of all requests, what the server held before and after, and what is wrong with that."""
    async with serving(engine) as now:
        for priority in PRIORITIES:  # all threads are there then
            await ask(Plan(target=now.target, clients=16, requests=48, rollouts=ROLLOUTS, priority=priority))
        await run(now, max(1, requests // 10), seed)
        await settled()
        before, calls = held(), now.server.calls
        calls.begun.clear()
        calls.ended.clear()
        clients = await run(now, requests, seed + 1_000)
        await settled()
        after = held()
        begun = calls.begun[METHOD]
        server = Counter({code: count for (method, code), count in calls.ended.items() if method == METHOD})
    return {
        "requests": requests,
        "clients": dict(clients),
        "server": dict(server),
        "before": before,
        "after": after,
        "faults": faults(clients, server, begun, before, after),
    }


async def settled() -> None:
    """Give connections of clients that are gone the time to end."""
    await asyncio.sleep(2)


def main() -> int:
    """Soak, print and write what came of it; the exit status is 1 where something is wrong."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cache", type=Path, help="where compiled programs are kept")
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()
    engine = engines.Engine(cache_directory=options.cache)
    engine.warm_up()
    results = asyncio.run(soak(engine, options.requests, options.seed))
    engine.close()
    for name in ("clients", "server", "before", "after"):
        print(f"{name:<10}{', '.join(f'{what} {count:,}' for what, count in sorted(results[name].items()))}")
    for fault in results["faults"]:
        print(f"not as it must be: {fault}")
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(results, indent=2) + "\n")
    return 1 if results["faults"] else 0


if __name__ == "__main__":
    sys.exit(main())
