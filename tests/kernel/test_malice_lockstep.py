"""Spite & Malice in the kernel and in the oracle: equal in whole games and in every single move."""

import dataclasses
import itertools
import os
from collections import Counter
from typing import Any, Literal

import jax
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kernel.lockstep import (
    LANES,
    Lockstep,
    advance,
    cards_of,
    census,
    described_game,
    described_lanes,
    eager_choice,
    host,
    idle,
    keyed,
    policy_choice,
    single,
    state_after,
    uniform_choice,
)
from tests.kernel.positions import (
    CLASSIC,
    MATCH,
    Position,
    in_lanes,
    move_of,
    oracle_copy,
    played_positions,
    table,
    table_of,
)
from tests.kernel.positions import deal as deal_in_oracle
from tests.oracle import shuffle
from zank_kernel import malice
from zank_kernel.host import leaf
from zank_kernel.malice import play
from zank_kernel.malice.deal import DECK, deal, dealt
from zank_kernel.malice.state import OUT, RANKS
from zank_kernel.malice.table import from_state

GAMES = int(os.environ.get("ZANK_TEST_GAMES", "100"))
"""Games of each preset and each way of playing; 2,000 in the full run."""

MOVES = 3_000
"""Moves after which a game is left unfinished."""

CHOICES: dict[str, Any] = {
    "uniform": lambda seed: uniform_choice(np.random.default_rng(seed)),
    "eager": lambda seed: eager_choice(np.random.default_rng(seed)),
    "policy": lambda seed: policy_choice,
}

STOCK_OUT_WHEN: tuple[Literal["emptied", "short"], ...] = ("emptied", "short")

VARIANTS = [
    dataclasses.replace(
        preset, payoff_cards=payoff, wild_starts_stack=wild, side_play_ends_turn=side, stock_out_when=stock_out
    )
    for preset, payoff, wild, side in itertools.product((MATCH, CLASSIC), (1, 5, 20, 30), (False, True), (False, True))
    for stock_out in STOCK_OUT_WHEN
]


def play_games(rules: list[malice.Rules], first_seed: int, choice: str) -> Counter[str]:
    """Whole games in lockstep, one for each entry of `rules`; what happened in them."""
    events: Counter[str] = Counter()
    for start in range(0, len(rules), LANES):
        batch = rules[start : start + LANES]
        seeds = range(first_seed + start, first_seed + start + len(batch))
        games = Lockstep.deal(batch, seeds)
        games.play(CHOICES[choice](first_seed + start), MOVES)
        assert len(games.playing) <= len(batch) // 10  # hardly any is left unfinished
        events += games.events
    return events


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("rules", [MATCH, CLASSIC], ids=["malice-match", "malice-classic"])
def test_whole_games_are_the_same_in_the_kernel_and_in_the_oracle(rules: malice.Rules, choice: str) -> None:
    count = -(-GAMES // len(CHOICES))
    events = play_games([rules] * count, 1_000_000, choice)
    expected = ["stock"] if choice == "uniform" else ["M8", "M9", "out"]  # uniform play nearly never completes a stack
    assert all(events[name] for name in expected)


@pytest.mark.parametrize("choice", CHOICES)
def test_games_with_every_combination_of_options_are_the_same(choice: str) -> None:
    copies = max(1, GAMES // 300)
    events = play_games(VARIANTS * copies, 2_000_000, choice)
    assert events["out"]
    assert events["stock"]
    assert events["tie"]
    assert events["decided"] > events["out"]  # a dry stock that the shorter payoff pile won


@pytest.fixture(scope="module")
def positions() -> list[Position]:
    return played_positions(max(60, GAMES // 10 // 2 * 2), 3_000_000)


def test_every_legal_action_and_no_other_is_a_move_and_leads_where_the_oracle_says(positions: list[Position]) -> None:
    """Mask and rules say the same of every action, not only of those that games happen to choose."""
    for pair in zip(positions[::2], positions[1::2], strict=True):
        tables = [table_of(position) for position in pair for _ in range(play.ACTIONS)]
        state = keyed(in_lanes(tables, LANES), [7])
        deck = census(state)
        legal = np.asarray(advance(state, leaf(idle())).legal)
        actions = np.tile(np.arange(play.ACTIONS, dtype=np.int32), 2)
        lane_legal = legal[actions, np.arange(LANES)]
        step = host(advance(state, leaf(np.where(lane_legal, actions, play.NO_ACTION).astype(np.int32))))
        np.testing.assert_array_equal(census(step.state), deck)
        jax.tree.map(np.testing.assert_array_equal, step.told, step.state)
        seen = described_lanes(step.state, range(LANES))
        hands = cards_of(state).hand
        ranks = np.asarray(step.ranks).T.tolist()
        for lane, action in enumerate(actions.tolist()):
            rules, game = pair[lane // play.ACTIONS]
            game = oracle_copy(game)
            hand = hands[game.mover, :, lane].tolist()
            move = move_of(action, hand)
            if not lane_legal[lane]:
                repeated = move is not None and move.source == "hand" and first_slot(action, hand)
                assert move is None or repeated or game.explain(move) is not None
                continue
            assert move is not None
            drawn = [0, 0]

            def draw(player: int, count: int, stock: Counter[int]) -> list[int]:
                drawn[player] += count  # noqa: B023
                return [rank for rank in ranks[lane] if rank]  # noqa: B023

            game.play(move, draw)
            assert seen[lane] == described_game(Position(rules, game), 1, drawn)


def first_slot(action: int, hand: list[int]) -> bool:
    """Whether an earlier hand slot holds the same rank as this action's."""
    slot = action // 4 % 5
    return hand[slot] in hand[:slot]


def test_a_position_put_into_lanes_is_the_position_reached_by_play() -> None:
    games = Lockstep.deal([MATCH, CLASSIC] * 60, range(4_000_000, 4_000_000 + LANES))
    for _ in range(6):
        games.play(policy_choice, 25)
        lanes = games.playing
        state = malice.FAMILY.to_state([table_of(games.positions[lane]) for lane in lanes])
        entered = [dict(seen) for seen in described_lanes(state, range(len(lanes)))]
        reached = [dict(seen) for seen in described_lanes(games.state, lanes)]
        for seen in entered + reached:
            scalars = seen["rules, mover, due, ending, points, moves, drawn"]
            assert isinstance(scalars, list)
            del scalars[-3:]  # moves and draws are counted from the root
        assert entered == reached
        for lane in lanes:
            position = games.positions[lane]
            back = from_state(games.state, lane, position.rules)
            hands = tuple(tuple(sorted(cards)) for cards in back.hand)
            full = table_of(position)
            expected = tuple(tuple(sorted(cards)) for cards in full.hand)
            assert hands == expected
            assert dataclasses.replace(back, hand=full.hand, recycled=full.recycled) == dataclasses.replace(
                full, stock=tuple(sorted(full.stock))
            )


def test_lanes_without_an_action_stay_as_they_are_also_when_their_game_is_over() -> None:
    games = Lockstep.deal([MATCH] * LANES, range(5_000_000, 5_000_000 + LANES))
    games.play(policy_choice, 130)
    assert 0 < len(games.playing) < LANES
    step = host(advance(games.state, leaf(idle())))
    jax.tree.map(np.testing.assert_array_equal, step.state, games.state)
    over = np.asarray(games.state.ending) != 0
    assert not games.legal[:, over].any()


def test_lanes_without_a_game_have_no_cards_whatever_action_they_are_given() -> None:
    """Calls with fewer positions than lanes are filled up with zeros, which action 0 is too."""
    actions = np.arange(LANES, dtype=np.int32) % play.ACTIONS
    after = host(advance(malice.FAMILY.empty(LANES), leaf(actions))).chosen
    assert np.asarray(after.count).max() <= 1


def test_m10_nothing_is_recycled_after_a_win_however_long_the_lane_waits() -> None:
    state = state_after(single(table(payoff=("Q", "99"), centers=("A23456789TJ", "", ""))), "P-C1")
    assert int(state.ending[0]) == OUT
    for _ in range(2):
        later = host(advance(state, leaf(idle()))).state
        jax.tree.map(np.testing.assert_array_equal, later, state)


def test_the_order_of_lanes_does_not_matter() -> None:
    chance = np.random.default_rng(6)
    games = Lockstep.deal([MATCH, CLASSIC] * 60, range(6_000_000, 6_000_000 + LANES))
    games.play(eager_choice(chance), 60)
    actions = eager_choice(chance)(games)
    order = chance.permutation(LANES)
    direct = host(advance(games.state, leaf(actions)))
    permuted = host(advance(jax.tree.map(lambda leaf: leaf[..., order], games.state), leaf(actions[order])))
    assert described_lanes(permuted.state, range(LANES)) == described_lanes(direct.state, order.tolist())
    np.testing.assert_array_equal(permuted.legal, np.asarray(direct.legal)[:, order])


@given(seed=st.integers(0, 2**64 - 1), payoff_cards=st.integers(1, 30))
def test_m1_a_seed_deals_what_the_documented_shuffle_says(seed: int, payoff_cards: int) -> None:
    rules = dataclasses.replace(MATCH, payoff_cards=payoff_cards)
    start = deal(rules, seed)
    expected = shuffle.deal(seed, payoff_cards)

    def named(pile: list[int]) -> list[str]:
        return [shuffle.DECK[card] for card in pile]

    assert [named(pile) for pile in start.payoff] == list(expected.payoff)
    assert [named(cards) for cards in start.hand] == list(expected.hand)
    assert named(start.stock) == expected.stock
    assert start.starter == expected.starter - 1
    position = table_of(deal_in_oracle(rules, seed))
    assert dataclasses.replace(dealt(rules, seed), stock=()) == dataclasses.replace(position, stock=())
    assert sorted(dealt(rules, seed).stock) == sorted(position.stock)


def test_m1_the_deck_is_two_decks_in_the_documented_order() -> None:
    assert [shuffle.DECK[card] for card in DECK] == list(shuffle.DECK)
    assert Counter(card % RANKS for card in DECK) == dict.fromkeys(range(RANKS), 8)
