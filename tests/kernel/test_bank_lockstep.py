"""Russian Bank in the kernel and in the oracle: equal in whole games and in every single move."""

import dataclasses
import os
from typing import Final

import jax
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kernel.bank_lockstep import (
    CHOICES,
    FULL_DECKS,
    LANES,
    Lockstep,
    advance,
    census,
    described_game,
    described_lanes,
    eager_choice,
    idle,
    policy_choice,
    uniform_choice,
)
from tests.kernel.bank_positions import (
    CRAPETTE,
    FOUNDATION_FIRST,
    MOVES,
    ORDERS,
    RUSSIAN,
    SPITEFUL,
    Position,
    in_lanes,
    masked,
    played_positions,
)
from tests.oracle.shuffle import DECK as NAMES
from zank_kernel import bank
from zank_kernel.bank import play
from zank_kernel.bank.deal import DECK, dealt

GAMES: Final = int(os.environ.get("ZANK_TEST_GAMES", "60"))
"""Games of each preset; 2,000 in the full run."""

BOUND: Final = {"uniform": min(5 * GAMES, 1_000)}
"""Moves after which a game is left unfinished, by way of playing: random moves go on and on."""

LONG: Final = 10_000
"""The same where nothing else is said; no game with a limit on turns gets there."""

SCORED: Final = dataclasses.replace(SPITEFUL, stalemate_scores=True)

VARIANTS: Final = [
    FOUNDATION_FIRST,
    SCORED,
    *(dataclasses.replace(rules, reserve_cards=12) for rules in ORDERS.values()),
    *(dataclasses.replace(rules, max_turns=0) for rules in ORDERS.values()),
    *(dataclasses.replace(rules, max_turns=max_turns) for rules in (*ORDERS.values(), SCORED) for max_turns in (1, 12)),
]
"""Rule sets in which one option is not the preset's."""


@pytest.mark.parametrize("choice", CHOICES)
def test_whole_games_are_the_same_in_the_kernel_and_in_the_oracle(choice: str) -> None:
    share = -(-GAMES // len(CHOICES))
    played = [SPITEFUL, RUSSIAN, CRAPETTE] * share + VARIANTS * max(1, GAMES // 60)
    happened: set[tuple[str, str]] = set()
    for start in range(0, len(played), LANES):
        batch = played[start : start + LANES]
        seeds = range(1_000_000 + start, 1_000_000 + start + len(batch))
        games = Lockstep.deal(batch, seeds)
        np.testing.assert_array_equal(games.deck[:, : len(batch)], np.broadcast_to(FULL_DECKS, (64, len(batch))))
        games.play(CHOICES[choice](1_000_000 + start), BOUND.get(choice, LONG))
        # Without a limit on turns loading can go round for ever (B10).
        assert choice in BOUND or not any(batch[lane].max_turns for lane in games.playing)
        happened |= {*games.events}
    usual = {"F", "OR", "OW", "TURN", "END", "adjudicated", *(f"T{pile}" for pile in range(1, 9))}
    others = {"uniform": set[str](), "idle": {"stalemate"}, "eager": {"out"}, "policy": {"out"}}[choice]
    if choice not in BOUND:
        others |= {"waste turned over"}
    for rules in (SPITEFUL, RUSSIAN, CRAPETTE):
        refused = {"B1", "B2", "B3", "B4", "B6", "B7", *(rule for _, rule in rules.order)} - {"S1", "S2", "S5"}  # rare
        assert happened >= {(rules.preset, event) for event in usual | others | refused | {"pointless"}}


@pytest.fixture(scope="module")
def positions() -> list[Position]:
    return played_positions(max(60, GAMES // 4))


def test_every_legal_action_and_no_other_is_a_move_and_leads_where_the_oracle_says(positions: list[Position]) -> None:
    """Mask and rules say the same of every action, not only of those that games happen to choose."""
    for position in positions:
        state = in_lanes([position.full()] * LANES, LANES)
        legal = np.asarray(advance(state, idle()).legal)[:, 0]
        actions = np.where(legal, np.arange(LANES), play.NO_ACTION).astype(np.int32)
        after = advance(state, actions).state
        assert (census(after) == FULL_DECKS).all()
        for action, seen in enumerate(described_lanes(after, range(LANES))):
            refused = position.game.explain(MOVES[action])
            assert legal[action] == (refused is None), f"{position}: {MOVES[action]}, {refused}"
            if refused is None:
                moved = position.copy()
                moved.play(MOVES[action])
                assert seen == described_game(moved, 1), f"{position}: {MOVES[action]}"


def test_what_bars_each_move_and_what_is_compulsory_instead_is_what_the_oracle_says() -> None:
    games = Lockstep.deal([*ORDERS.values()] * 7, range(7_000_000, 7_000_028))
    for _ in range(20):
        for lane in games.playing:
            games.compare_rulings(lane)
        games.play(eager_choice(np.random.default_rng(7)), 5)
    assert {*games.events} >= {(rules.preset, rule) for rules in ORDERS.values() for _, rule in rules.order}


def test_a_position_put_into_lanes_is_the_position_reached_by_play() -> None:
    games = Lockstep.deal([*ORDERS.values()] * 28, range(4_000_000, 4_000_000 + LANES))
    for moves in (10, 50, 50):
        games.play(policy_choice, moves)
        lanes = games.playing
        state = in_lanes([games.positions[lane].full() for lane in lanes], LANES)
        entered = described_lanes(state, range(len(lanes)))
        reached = described_lanes(games.state, lanes)
        for seen in reached:
            seen["moves"] = 0  # they are counted from the root
        assert entered == reached
        np.testing.assert_array_equal(np.asarray(advance(state, idle()).legal)[:, : len(lanes)], games.legal[:, lanes])


def test_lanes_without_an_action_stay_as_they_are_also_when_their_game_is_over() -> None:
    games = Lockstep.deal(
        [dataclasses.replace(SPITEFUL, max_turns=9), RUSSIAN] * 56, range(5_000_000, 5_000_000 + LANES)
    )
    games.play(policy_choice, 60)
    assert 0 < len(games.playing) < LANES
    step = advance(games.state, idle())
    jax.tree.map(np.testing.assert_array_equal, step.state, games.state)
    over = np.asarray(games.state.ending) != 0
    assert not games.legal[:, over].any()


def test_the_order_of_lanes_does_not_matter() -> None:
    chance = np.random.default_rng(6)
    games = Lockstep.deal([*ORDERS.values()] * 28, range(6_000_000, 6_000_000 + LANES))
    games.play(eager_choice(chance), 60)
    actions = uniform_choice(chance)(games)
    order = chance.permutation(LANES)
    direct = advance(games.state, actions)
    permuted = advance(jax.tree.map(lambda leaf: leaf[..., order], games.state), actions[order])
    assert described_lanes(permuted.state, range(LANES)) == described_lanes(direct.state, order.tolist())
    np.testing.assert_array_equal(permuted.legal, np.asarray(direct.legal)[:, order])
    np.testing.assert_array_equal(permuted.choice, np.asarray(direct.choice)[order])


@given(
    seed=st.integers(0, 2**64 - 1),
    rules=st.sampled_from([*ORDERS.values()]),
    reserve_cards=st.sampled_from([12, 13]),
)
def test_b0_s1_r1_a_seed_deals_what_the_documented_shuffle_says(
    seed: int, rules: bank.Rules, reserve_cards: int
) -> None:
    rules = dataclasses.replace(rules, reserve_cards=reserve_cards)
    start, expected = dealt(rules, seed), Position.deal(rules, seed)
    assert dataclasses.replace(start, opening=expected.game.opening) == expected.full()
    assert start.opening == (rules.preset == "bank-spiteful")  # it binds only where there is an ace
    assert masked(start) == dataclasses.replace(expected.known(), opening=start.opening)


def test_b0_a_deck_is_in_the_documented_order() -> None:
    assert [f"{'A23456789TJQK'[card % 16 - 1]}{'cdhs'[card // 16]}" for card in DECK] == list(NAMES[:52])
