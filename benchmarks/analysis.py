"""How fast games are analysed in bulk, and how much of that is rollouts.

A server in this process analyses games of the rollout policy; then rollouts alone are played from positions of the same
games, as many at once.
"""

import argparse
import asyncio
import json
import random
import time
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import grpc

from zank.players import parse_player
from zank.presets import complete_rule_set
from zank.v1 import AnalysisSettings, AnalystStub, AnalyzeGamesRequest, GameRecord, RuleSet
from zank_kernel.engine import FAMILIES, Engine, Question
from zank_service.families import BY_PRESET
from zank_service.limits import Limits
from zank_service.replay import decisions
from zank_service.server import Server
from zank_service.simulation import simulate

PLAYER = "policy:0.1"
POSITIONS = 128  # from which rollouts alone are played …
EACH = 8_192  # … so many from each
AT_ONCE = 8


async def analysed(engine: Engine, records: Sequence[GameRecord], rollouts: int) -> tuple[float, float]:
    """Seconds to analyse all records in one call, and processor time."""
    server = Server(engine, Limits())
    port = await server.start("127.0.0.1", 0)
    await server.serve()

    async def requests() -> AsyncIterator[AnalyzeGamesRequest]:
        for record in records:
            yield AnalyzeGamesRequest(record=record, settings=AnalysisSettings(rollouts=rollouts))

    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        begin, used = time.perf_counter(), time.process_time()
        async for response in AnalystStub(channel).AnalyzeGames(requests()):
            assert response.HasField("report"), response.fault
        seconds, used = time.perf_counter() - begin, time.process_time() - used
    await server.stop(5)
    return seconds, used


def alone(engine: Engine, preset: str, records: Sequence[GameRecord]) -> tuple[float, float]:
    """Rollouts a second from positions of these games, by the clock and by processor time."""
    family = BY_PRESET[preset]
    chance = random.Random(preset)
    found = [each for record in records for each in decisions(engine, record)[0]]
    questions = []
    for decision in chance.sample(found, min(POSITIONS, len(found))):
        rules = family.rules(decision.position.rule_set)
        known = family.view(decision.position, decision.position.player_to_move)
        questions.append(
            Question(
                family=family.name,
                table=family.table(known, rules),
                rollouts=EACH,
                seed=1,
                objective="points",
                urgency=5,
            )
        )

    def play(question: Question) -> None:
        engine.results(question, FAMILIES[family.name].to_state([question.table]), 0, EACH)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        begin, used = time.perf_counter(), time.process_time()
        list(pool.map(play, questions))
        seconds, used = time.perf_counter() - begin, time.process_time() - used
    return len(questions) * EACH / seconds, len(questions) * EACH / used


def measure(preset: str, games: int, rollouts: int, cache: Path) -> dict[str, Any]:
    """The figures of one preset."""
    engine = Engine(cache_directory=cache)
    engine.warm_up()
    player = parse_player(PLAYER)
    records = list(simulate(engine, complete_rule_set(RuleSet(preset=preset)), games, 1, (player, player)))
    rate, rate_of_processor = alone(engine, preset, records)
    before = engine.meter.rollouts
    seconds, used = asyncio.run(analysed(engine, records, rollouts))
    moves = sum(event.HasField("move") for record in records for event in record.events)
    played = engine.meter.rollouts - before
    engine.close()
    return {
        "games": games,
        "moves": moves,
        "rollouts": rollouts,
        "seconds": seconds,
        "moves_per_second_and_core": moves / seconds / engine.workers,
        "rollouts_per_second": played / seconds,
        "rollouts_per_second_alone": rate,
        "share_of_the_kernel": played / seconds / rate,
        "share_of_processor_time": played / used / rate_of_processor,
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--preset", default="malice-match", choices=BY_PRESET)
    parser.add_argument("--games", type=int, default=16)
    parser.add_argument("--rollouts", type=int, default=16_384, help="for the moves of a part of a turn")
    parser.add_argument("--cache", type=Path, required=True)
    options = parser.parse_args()
    print(json.dumps(measure(options.preset, options.games, options.rollouts, options.cache), indent=2))
