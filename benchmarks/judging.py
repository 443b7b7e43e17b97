"""Whether the analysis of games can be trusted: it ranks players by their strength, and finds planted blunders.

Players of known order play each other: the policy of the rollouts with various amounts of random moves. In further
games of the policy moves are replaced, at random places, by the worst legal one; what such a move really costs is
measured with a budget many times as large.
"""

import argparse
import itertools
import json
import math
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import numpy as np

from zank.players import parse_player
from zank.presets import complete_rule_set
from zank.records import canonical_record
from zank.v1 import (
    MOVE_CLASS_GOOD,
    OBJECTIVE_POINTS,
    OBJECTIVE_WIN,
    PRIORITY_BULK,
    AnalysisSettings,
    Deal,
    GameRecord,
    GameReport,
    Objective,
    RecordEvent,
    RuleSet,
)
from zank_kernel import engine as engines
from zank_kernel.engine import FAMILIES, Engine
from zank_service.analysis import GameAnalysis
from zank_service.families import BY_PRESET
from zank_service.plays import Played, Plays
from zank_service.replay import decisions
from zank_service.simulation import simulate

PLAYERS = ("policy", "policy:0.1", "policy:0.3", "policy:0.6")  # the strongest first
TRUTH = 32  # times the budget of the analysis
WORST_ROLLOUTS = 4_096  # to find the worst move
LOSS = 0.05  # chance to win: blunders that lose more must be found
NOTHING_BEFORE = 6  # events in which nothing is planted


def analysed(
    engine: Engine, record: GameRecord, rollouts: int, objective: Objective.ValueType, luck_rollouts: int = 512
) -> GameReport:
    """The report of a game."""
    settings = AnalysisSettings(
        rollouts=rollouts, luck_rollouts=luck_rollouts, objective=objective, priority=PRIORITY_BULK
    )
    analysis = GameAnalysis(engine, record, settings, *decisions(engine, record))
    return analysis.report([part for turn in analysis.turns for part in analysis.parts(turn)], "")


# Players of known order --------------------------------------------------------------------------------------------


def ranked(engine: Engine, preset: str, games: int, rollouts: int) -> dict[str, Any]:
    """What players give away in a move with a choice, and their luck in a game; `games` of each pair, each seat.

    In points, for who plays badly soon has no chance left that could be given away.
    """
    players = [parse_player(text) for text in PLAYERS]
    lost: dict[str, list[tuple[float, float, int]]] = defaultdict(list)
    lucks: list[float] = []
    rule_set = complete_rule_set(RuleSet(preset=preset))
    for number, pair in enumerate(itertools.permutations(players, 2)):
        for record in simulate(engine, rule_set, games, number, pair):
            report = analysed(engine, record, rollouts, OBJECTIVE_POINTS)
            for name, player in zip(record.players, report.players, strict=True):
                lost[name].append((player.points_loss.mean, player.points_loss.standard_error, player.unforced))
                lucks.append(player.win_luck.mean)
    found = {}
    for name in PLAYERS:
        choices = sum(count for _, _, count in lost[name])
        found[name] = {
            "games": len(lost[name]),
            "loss": sum(mean for mean, _, _ in lost[name]) / choices,
            "standard_error": math.sqrt(sum(error**2 for _, error, _ in lost[name])) / choices,
        }
    losses = [found[name]["loss"] for name in PLAYERS]
    return {
        "players": found,
        "true_order": losses == sorted(losses),
        "luck": float(np.mean(lucks)),
        "luck_standard_error": float(np.std(lucks, ddof=1) / math.sqrt(len(lucks))),
    }


# Planted blunders --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Planted:
    """A game with worst moves at some events."""

    record: GameRecord
    events: Sequence[int]


def planted(engine: Engine, preset: str, seed: int, each: int) -> Planted:
    """A game of the policy in which about every `each`th move is the worst legal one."""
    family = BY_PRESET[preset]
    rule_set = complete_rule_set(RuleSet(preset=preset))
    rules = family.rules(rule_set)
    chance = random.Random(f"{preset} {seed}")
    position = family.deal(rule_set, chance.getrandbits(64))
    deal = Deal(seed=position.shuffle.seed)
    choose = jax.jit(FAMILIES[family.name].choose)
    plays = Plays(engine, family, 1)
    plays.sit(0, position, rules, all_seen=True)
    events: list[RecordEvent] = []
    places: list[int] = []
    while not position.HasField("result"):
        action = int(np.asarray(choose(plays.state()))[0])
        if len(events) >= NOTHING_BEFORE and chance.random() < 1 / each:
            known = family.view(position, position.player_to_move)
            question = engines.Question(
                family=family.name,
                table=family.table(known, rules),
                rollouts=WORST_ROLLOUTS,
                seed=chance.getrandbits(64),
                objective="win",
                urgency=5,
            )
            answer = engine.answer(question)
            if not answer.forced:
                places.append(len(events))
                action = answer.evaluations[-1].action
                move = family.move_name(known, action)
                events.append(RecordEvent(move=move))
                outcome = plays.move({0: move}, {})[0]
                assert isinstance(outcome, Played)
                continue
        outcome = plays.move({0: plays.name(0, action)}, {})[0]
        assert isinstance(outcome, Played)
        events.append(RecordEvent(move=outcome.move))
    events.append(RecordEvent(over=position.result))
    record = canonical_record(GameRecord(rule_set=rule_set, deal=deal, events=events))
    return Planted(record=record, events=places)


def recall(engine: Engine, preset: str, games: int, rollouts: int) -> dict[str, Any]:
    """How many of the planted moves that lose more than LOSS are called anything but good."""
    outcomes = list(_blunders(engine, preset, games, rollouts))
    grave = [found for lost, found in outcomes if lost > LOSS]
    return {"planted": len(outcomes), "grave": len(grave), "recall": sum(grave) / max(1, len(grave))}


def _blunders(engine: Engine, preset: str, games: int, rollouts: int) -> Iterator[tuple[float, bool]]:
    """For each planted move what it lost, by a large budget, and whether the analysis found it."""
    for seed in range(games):
        game = planted(engine, preset, seed, 40)
        said = {move.event: move for move in analysed(engine, game.record, rollouts, OBJECTIVE_WIN, 16).moves}
        truth = _true_losses(engine, game, TRUTH * rollouts)
        for event in game.events:
            yield truth[event], said[event].move_class != MOVE_CLASS_GOOD


def _true_losses(engine: Engine, game: Planted, rollouts: int) -> dict[int, float]:
    """What moves lost in chance to win, by event, of the turns in which some were planted."""
    settings = AnalysisSettings(rollouts=rollouts, luck_rollouts=16, seed=1, objective=OBJECTIVE_WIN)
    settings.priority = PRIORITY_BULK
    analysis = GameAnalysis(engine, game.record, settings, *decisions(engine, game.record))
    turns = [turn for turn in analysis.turns if {each.event for each in turn.decisions} & {*game.events}]
    parts = [part for turn in turns for part in analysis.parts(turn)]
    return {move.event: move.win_loss.mean for part in parts for move in part.moves}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--preset", default="malice-match", choices=BY_PRESET)
    parser.add_argument("--games", type=int, default=4, help="of each pair of players in each seat; and with blunders")
    parser.add_argument("--rollouts", type=int, default=4_096)
    parser.add_argument("--cache", type=Path, required=True)
    options = parser.parse_args()
    warm = Engine(cache_directory=options.cache)
    warm.warm_up()
    for measure in (ranked, recall):
        print(
            json.dumps({measure.__name__: measure(warm, options.preset, options.games, options.rollouts)}), flush=True
        )
    warm.close()
