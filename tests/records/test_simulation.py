import random

import pytest

from tests.records.games import PRESETS
from zank.errors import InvalidPlayer
from zank.players import parse_player
from zank.presets import complete_rule_set
from zank.records import format_record
from zank.v1 import BankOptions, GameRecord, MaliceOptions, RuleSet
from zank_kernel.engine import Engine, Question
from zank_service.families import BY_PRESET
from zank_service.replay import decisions, replay
from zank_service.simulation import simulate

SHORT = {
    "malice": RuleSet(preset="malice-match", malice=MaliceOptions(payoff_cards=3)),
    "bank": RuleSet(preset="bank-crapette", bank=BankOptions(max_turns=8)),
}


def simulated(engine: Engine, rule_set: RuleSet, games: int, seed: int, *players: str) -> list[GameRecord]:
    first, second = map(parse_player, players or ("policy", "policy"))
    return list(simulate(engine, rule_set, games, seed, (first, second)))


@pytest.mark.parametrize("preset", PRESETS)
def test_simulated_games_are_sound(engine: Engine, preset: str) -> None:
    records = simulated(engine, RuleSet(preset=preset), 6, 1, "policy", "policy:0.3")
    found = list(replay(engine, enumerate(records)))
    assert [each.fault for each in found] == [None] * 6
    assert all(record.events[-1].HasField("over") for record in records)
    assert [list(record.players) for record in records] == [["policy", "policy:0.3"]] * 6


@pytest.mark.parametrize("family", SHORT)
def test_a_game_depends_on_the_seed_and_its_number_only(engine: Engine, family: str) -> None:
    many = [format_record(record) for record in simulated(engine, SHORT[family], 70, 7, "policy:.5", "policy")]
    few = [format_record(record) for record in simulated(engine, SHORT[family], 5, 7, "policy:.5", "policy")]
    other = [format_record(record) for record in simulated(engine, SHORT[family], 5, 8, "policy:.5", "policy")]
    assert many[:5] == few
    assert len({*many, *other}) == 75


@pytest.mark.parametrize("family", SHORT)
def test_a_searching_player_plays_reproducibly(engine: Engine, family: str) -> None:
    rule_set = SHORT[family]
    if family == "malice":
        rule_set = RuleSet(preset="malice-match", malice=MaliceOptions(payoff_cards=1))
    else:
        rule_set = RuleSet(preset="bank-crapette", bank=BankOptions(max_turns=1))
    first, second = (simulated(engine, rule_set, 1, 3, "search:16", "search:16") for _ in range(2))
    assert first == second
    ((found),) = replay(engine, enumerate(first))
    assert found.fault is None


@pytest.mark.parametrize("preset", ["malice-match", "bank-spiteful"])
def test_a_searching_player_plays_what_the_search_says(engine: Engine, preset: str) -> None:
    options = (
        {"malice": MaliceOptions(payoff_cards=2)} if preset == "malice-match" else {"bank": BankOptions(max_turns=6)}
    )
    rule_set = complete_rule_set(RuleSet(preset=preset, **options))
    (record,) = simulated(engine, rule_set, 1, 3, "search:16", "search:16")
    family = BY_PRESET[preset]
    rules = family.rules(rule_set)
    chance = random.Random("3 0")
    chance.getrandbits(64)  # the deal's
    searched = 0
    for decision in decisions(engine, record)[0]:
        known = family.view(decision.position, decision.position.player_to_move)
        table = family.table(known, rules)
        if len(engine.legal_actions(family.name, table)) > 1:
            seed = chance.getrandbits(64)
            question = Question(family=family.name, table=table, rollouts=16, seed=seed, objective="points")
            assert decision.move == family.move_name(known, engine.answer(question).evaluations[0].action)
            searched += 1
    assert searched > 5


def test_a_simulation_that_is_stopped_ends(engine: Engine) -> None:
    player = parse_player("policy")
    running = simulate(engine, SHORT["malice"], 1_000, 1, (player, player), stopped=lambda: len(taken) >= 3)
    taken: list[GameRecord] = []
    for record in running:
        taken.append(record)
    assert 3 <= len(taken) < 200


@pytest.mark.parametrize(
    "text", ["", "random", "policy:", "policy:2", "policy:-1", "policy:1e-3", "search:0", "search:x"]
)
def test_a_player_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(InvalidPlayer, match="expected policy"):
        parse_player(text)


def test_a_player_is_read() -> None:
    assert parse_player("policy:0.25").random_share == 0.25
    assert parse_player("search:256").rollouts == 256
