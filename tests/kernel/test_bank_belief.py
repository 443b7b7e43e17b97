"""Beliefs of Russian Bank: every world is possible, all possible worlds are equally likely, and seeds fix them."""

import dataclasses
import itertools
from collections import Counter
from typing import Any, Final

import jax
import numpy as np
import numpy.typing as npt
import pytest

from tests.kernel.bank_lockstep import (
    FULL_DECKS,
    LANES,
    advance,
    census,
    described_lanes,
    idle,
)
from tests.kernel.bank_positions import (
    CRAPETTE,
    MOVES,
    SPITEFUL,
    Position,
    faces,
    in_lanes,
    pile,
    played_positions,
)
from tests.kernel.bank_worlds import ENTRIES, WORLDS, in_world, loaded, many_worlds, worlds_of
from tests.kernel.chi_square import assert_fits, assert_uniform
from zank_kernel import bank
from zank_kernel.bank import belief, play
from zank_kernel.bank.deal import DECK
from zank_kernel.bank.state import UNKNOWN
from zank_kernel.bank.table import FACE, ORIGIN, Cards

EACH: Final = WORLDS // ENTRIES
MARKED: Final = pytest.mark.parametrize("marked", [True, False], ids=["decks known", "decks not known"])

type Counts = npt.NDArray[np.int64]


@pytest.fixture(scope="module")
def positions() -> list[Position]:
    found = played_positions(ENTRIES)
    assert any(not all(position.unturned) for position in found)
    assert any(
        len(cards) > down + 1 > 1
        for position in found
        for cards, down in zip(position.game.reserve, position.face_down, strict=True)
    )
    return found


def hidden_cards(full: bank.Table, known: bank.Table, player: int) -> list[int]:
    """The faces of a player's hidden cards."""
    places = zip(
        (*full.reserve[player], *full.stock[player]), (*known.reserve[player], *known.stock[player]), strict=True
    )
    return [card & FACE for card, seen in places if not seen]


# What is possible --------------------------------------------------------------------------------------------------


def assert_possible(known: bank.Table, worlds: bank.World) -> None:
    """Fail unless every one of these worlds is a way in which the hidden cards of `known` may lie."""
    reserve, stock = np.asarray(worlds.reserve), np.asarray(worlds.stock)
    hidden: list[npt.NDArray[np.int8]] = []
    for player in (0, 1):
        zones = [(reserve[:, player], known.reserve[player]), (stock[:, player], known.stock[player][::-1])]
        for places, cards in zones:
            hides = [place < len(cards) and not cards[place] for place in range(len(places))]
            assert (places[np.logical_not(hides)] == 0).all()
        own = np.concatenate([reserve[:, player], stock[:, player]])
        hidden.append(own[(own > 0).any(axis=1)])
        assert len(hidden[-1]) == known.reserve[player].count(0) + known.stock[player].count(0)
    counts = [np.asarray([(own == card).sum(axis=0) for card in DECK]) for own in hidden]  # [52, W] each
    for player in (0, 1):
        from_own_deck = Counter(card & FACE for card in belief.seen(known) if card // ORIGIN == player + 1)
        assert (counts[player] + np.asarray([[from_own_deck[card]] for card in DECK]) <= 1).all()
    seen = Counter(card & FACE for card in belief.seen(known))
    assert (counts[0] + counts[1] + np.asarray([[seen[card]] for card in DECK]) == 2).all()


@MARKED
def test_every_world_is_possible(positions: list[Position], marked: bool) -> None:
    known = [position.known(marked=marked) for position in positions]
    worlds = worlds_of(known, range(ENTRIES), np.repeat(np.arange(ENTRIES), EACH), np.tile(np.arange(EACH), ENTRIES))
    for entry, table in enumerate(known):
        assert_possible(table, jax.tree.map(lambda part: part[..., entry * EACH : (entry + 1) * EACH], worlds))  # noqa: B023


@MARKED
def test_the_cards_as_they_really_lie_are_a_possible_world(positions: list[Position], marked: bool) -> None:
    for position in positions:
        full, known = position.full(), position.known(marked=marked)
        knowledge = bank.FAMILY.knowledge([known], [0])
        sure, single = np.asarray(knowledge.sure)[..., 0], np.asarray(knowledge.single)[:, 0]
        own = np.asarray([[card in hidden_cards(full, known, player) for card in DECK] for player in (0, 1)])
        assert (own >= sure).all()
        assert (own <= sure | single).all()
        assert (own & single).sum(axis=1)[0] == int(knowledge.share[0])
        assert not (own & single).all(axis=0).any()


def test_at_the_deal_each_player_s_own_cards_are_known() -> None:
    """With the decks of all cards known nothing but the order is left open."""
    for rules in (SPITEFUL, CRAPETTE):
        knowledge = bank.FAMILY.knowledge([Position.deal(rules, 5).known()], [0])
        assert not np.asarray(knowledge.single).any()
        assert (np.asarray(knowledge.sure).sum(axis=1) == 47).all()


# What is equally likely, on so few hidden cards that every world can be listed ----------------------------------------


def nearly_known(reserve: tuple[int, int], stock: tuple[int, int], seen: str) -> bank.Table:
    """A position with so many hidden cards, all of them clubs from the ace to the seven; the others lie on wastes.

    `seen` lists the copies of such clubs that are seen, with the decks they come from, as in "3c1 4c0"; 0 = not known.
    """
    shown = [faces(pile(name[:2], 0))[0] + ORIGIN * int(name[2]) for name in seen.split()]
    rest = [card for card in DECK if not 1 <= card <= 7] * 2
    return bank.Table(
        rules=SPITEFUL,
        mover=0,
        reserve=((*[0] * reserve[0], *rest[:1]), (*[0] * reserve[1], *rest[1:2])),
        stock=((0,) * stock[0], (0,) * stock[1]),
        waste=(tuple(shown), tuple(rest[2:])),
    )


type Assignment = tuple[Cards, Cards]


def all_worlds(seen: str, sizes: tuple[int, int]) -> list[Assignment]:
    """Every way to lay the unseen clubs from the ace to the seven on both players' places, each from the own deck.

    Found by giving each copy a deck, or having given it one: each player's deck holds each card once.
    """
    marks: dict[int, list[int]] = {card: [] for card in range(1, 8)}
    for name in seen.split():
        marks[faces(pile(name[:2], 0))[0]].append(int(name[2]))
    ways: list[set[tuple[bool, bool]]] = []
    for card in range(1, 8):
        possible = set()
        for decks in itertools.product((1, 2), repeat=len(marks[card])):
            fits = all(mark in (0, deck) for mark, deck in zip(marks[card], decks, strict=True))
            if fits and len({*decks}) == len(decks):
                possible.add((1 not in decks, 2 not in decks))
        ways.append(possible)
    found: list[Assignment] = []
    for split in itertools.product(*ways):
        first, second = ([card for card in range(1, 8) if split[card - 1][player]] for player in (0, 1))
        if (len(first), len(second)) == sizes:
            found += itertools.product(itertools.permutations(first), itertools.permutations(second))
    assert len({*found}) == len(found)
    return found


def assignments(known: bank.Table, worlds: bank.World) -> list[Assignment]:
    """The hidden cards of each world by player: the reserve from the bottom, then the stock in order of turning."""
    zones = []
    for player in (0, 1):
        reserve = np.asarray(worlds.reserve)[: known.reserve[player].count(0), player]
        stock = np.asarray(worlds.stock)[: known.stock[player].count(0), player]
        zones.append(np.concatenate([reserve, stock]).T.tolist())
    return [(tuple(first), tuple(second)) for first, second in zip(*zones, strict=True)]


ALL_BUT_FOUR: Final = "5c0 5c0 6c1 6c2 7c0 7c2"


@pytest.mark.parametrize(
    "seen",
    [
        "2c0 3c0 4c0",  # one copy of each hidden, on either side
        "2c0 3c0 4c2",  # the four is player 0's
        "2c1 3c0 4c2",
        "2c1 3c2 4c2",  # all is known
    ],
)
@pytest.mark.parametrize(
    ("reserve", "stock"), [((1, 1), (2, 1)), ((0, 2), (3, 0)), ((3, 0), (0, 2))], ids=["both", "apart", "other way"]
)
def test_all_possible_worlds_are_equally_likely(seen: str, reserve: tuple[int, int], stock: tuple[int, int]) -> None:
    """Both aces are hidden, one on each side, and three single cards, two of them player 0's."""
    seen = f"{seen} {ALL_BUT_FOUR}"
    known = nearly_known(reserve, stock, seen)
    cells = all_worlds(seen, (3, 2))
    observed = Counter(assignments(known, many_worlds(known, 1, 20)))
    assert {*observed} <= {*cells}
    assert_uniform([observed[cell] for cell in cells])


@pytest.mark.parametrize(("first", "second"), [(3, 0), (0, 3)])
def test_the_counts_decide_where_single_cards_are(first: int, second: int) -> None:
    seen = f"Ac1 Ac2 2c0 3c0 4c0 {ALL_BUT_FOUR}"
    known = nearly_known((0, 0), (first, second), seen)
    cells = all_worlds(seen, (first, second))
    assert len(cells) == 6
    observed = Counter(assignments(known, many_worlds(known, 1, 21)))
    assert_uniform([observed[cell] for cell in cells])
    assert observed.total() == sum(observed[cell] for cell in cells)


@pytest.mark.parametrize("deck", [0, 1, 2], ids=["deck not known", "player 1's", "player 2's"])
def test_the_deck_of_a_foundation_card_decides_where_the_other_copy_is_hidden(deck: int) -> None:
    seen = f"Ac{deck} 2c0 3c0 4c0 {ALL_BUT_FOUR}"
    known = nearly_known((0, 0), (2, 2), seen)
    (ace, *rest), other = known.waste
    known = dataclasses.replace(known, foundations=((ace,), *known.foundations[1:]), waste=(tuple(rest), other))
    cells = all_worlds(seen, (2, 2))
    holders = {player for cell in cells for player in (0, 1) if 1 in cell[player]}
    assert holders == {0: {0, 1}, 1: {1}, 2: {0}}[deck]
    observed = Counter(assignments(known, many_worlds(known, 1, 23)))
    assert {*observed} <= {*cells}
    assert_uniform([observed[cell] for cell in cells])


def test_single_cards_go_to_the_side_with_more_room_more_often() -> None:
    seen = f"Ac1 Ac2 2c0 3c0 4c0 {ALL_BUT_FOUR}"
    known = nearly_known((0, 0), (2, 1), seen)
    observed = Counter(second for _, second in assignments(known, many_worlds(known, 2, 22)))
    assert_uniform([observed[card,] for card in (2, 3, 4)])


def test_every_hidden_place_of_a_whole_deal_has_the_same_distribution() -> None:
    known = Position.deal(SPITEFUL, 8).known()
    worlds = many_worlds(known, 1, 32)
    for player in (0, 1):
        seen = {card & FACE for card in belief.seen(known) if card // ORIGIN == player + 1}
        share = np.asarray([card not in seen for card in DECK]) / (len(DECK) - len(seen))
        reserve = np.asarray(worlds.reserve)[: known.reserve[player].count(0), player]
        stock = np.asarray(worlds.stock)[: known.stock[player].count(0), player]
        for place in (*reserve, *stock):
            assert_fits(np.bincount(place, minlength=64)[list(DECK)], share)


def test_cards_that_are_known_stay_where_they_are() -> None:
    """A reserve with a known card between hidden ones, and a stock of which some cards are known."""
    known = nearly_known((1, 1), (2, 1), f"2c0 3c0 4c0 {ALL_BUT_FOUR}")
    king, queen = known.waste[1][0], known.waste[1][1]
    known = dataclasses.replace(
        known,
        reserve=((king, 0, known.reserve[0][-1]), known.reserve[1]),
        stock=((0, queen, 0), known.stock[1]),
        waste=(known.waste[0], known.waste[1][2:]),
    )
    worlds = many_worlds(known, 1, 31)
    assert_possible(known, worlds)
    assert (np.asarray(worlds.reserve)[:3, 0] > 0).any(axis=1).tolist() == [False, True, False]
    assert (np.asarray(worlds.stock)[:3, 0] > 0).any(axis=1).tolist() == [True, False, True]
    places = [np.asarray(worlds.reserve)[1, 0], np.asarray(worlds.stock)[0, 0], np.asarray(worlds.stock)[2, 0]]
    observed = Counter(zip(*(place.tolist() for place in places), strict=True))
    cells = [first for first, _ in all_worlds(f"2c0 3c0 4c0 {ALL_BUT_FOUR}", (3, 2))]
    assert_uniform([observed[cell] for cell in sorted({*cells})])
    assert observed.total() == sum(observed[cell] for cell in {*cells})


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"stock": ((0,) * 36, (0,) * 35)}, "do not fill"),
        ({"reserve": ((0,) * 12, (0,) * 12)}, "do not fill"),
        ({"waste": ((1, 1, 1), ())}, "3 copies of card 1"),
        ({"waste": ((1 + ORIGIN, 1 + ORIGIN), ())}, "2 copies of card 1"),
        ({"foundations": ((1,), (1,), *[()] * 6), "waste": ((1,), ())}, "3 copies of card 1"),
    ],
)
def test_knowledge_of_too_many_cards_is_refused(wrong: dict[str, Any], message: str) -> None:
    ace_of_clubs = 1
    for seed in range(100):
        known = Position.deal(SPITEFUL, seed).known()
        if ace_of_clubs not in {card & FACE for card in belief.seen(known)}:
            break
    with pytest.raises(ValueError, match=message):
        bank.FAMILY.knowledge([dataclasses.replace(known, **wrong)], [0])


# What fixes a world ------------------------------------------------------------------------------------------------


def test_a_world_depends_on_the_position_its_seed_and_its_number_only(positions: list[Position]) -> None:
    chance = np.random.default_rng(9)
    known = [position.known(marked=number % 2 == 0) for number, position in enumerate(positions)]
    seeds = chance.integers(0, 2**63, ENTRIES).tolist()
    entry, number = chance.integers(0, ENTRIES, WORLDS), chance.integers(0, 50, WORLDS)
    worlds = worlds_of(known, seeds, entry, number)
    order = chance.permutation(WORLDS)
    rows = chance.permutation(ENTRIES)
    moved = worlds_of(
        [known[row] for row in rows], [seeds[row] for row in rows], np.argsort(rows)[entry[order]], number[order]
    )
    jax.tree.map(lambda part, other: np.testing.assert_array_equal(part[..., order], other), worlds, moved)


def test_worlds_of_other_numbers_and_seeds_differ() -> None:
    known = Position.deal(SPITEFUL, 9).known()
    zeros, numbers = np.zeros(WORLDS, np.int64), np.arange(WORLDS)
    first, second = (worlds_of([known], [seed], zeros, numbers) for seed in (1, 1 + 2**32))
    piles = [np.asarray(worlds.stock).reshape(-1, WORLDS).T for worlds in (first, second)]
    assert len(np.unique(np.concatenate(piles), axis=0)) == 2 * WORLDS


def test_both_players_cards_are_shuffled_independently() -> None:
    """The same deck on both sides lies differently."""
    known = Position.deal(SPITEFUL, 10).known()
    worlds = many_worlds(known, 1, 3)
    tops = np.asarray(worlds.stock)[0].astype(np.int64)  # [2, W]
    ranks = np.searchsorted(np.asarray(DECK), tops)
    together = np.zeros((4, 4), np.int64)
    np.add.at(together, (ranks[0] // 13, ranks[1] // 13), 1)
    shares = [np.bincount(each // 13, minlength=4) / WORLDS for each in ranks]
    assert_fits(together, np.outer(*shares))


# From a root and a world to a lane -----------------------------------------------------------------------------------


@MARKED
def test_to_play_a_move_and_then_learn_the_world_is_to_learn_it_first(positions: list[Position], marked: bool) -> None:
    """A root holds a move played with hidden cards; in a lane it must be what that move leads to in the world."""
    kinds: Counter[str] = Counter()
    lanes = in_lanes([position.full() for position in positions], LANES)  # overwritten
    for index, position in enumerate(positions):
        known = position.known(marked=marked)
        worlds = worlds_of([known], [index], np.zeros(WORLDS, np.int64), np.arange(WORLDS))
        before = in_lanes([known] * LANES, LANES)
        legal = np.asarray(advance(before, idle()).legal)[:, 0]
        actions = np.where(legal, np.arange(LANES), play.NO_ACTION).astype(np.int32)
        roots = advance(before, actions).state
        row, world = np.arange(LANES), np.arange(LANES) * 7
        lanes = loaded(lanes, row, roots, row, worlds, world)
        assert (census(lanes) == FULL_DECKS).all()
        full = in_lanes([in_world(known, worlds, number) for number in world.tolist()], LANES)
        direct = advance(full, actions)
        assert described_lanes(lanes, range(LANES)) == described_lanes(direct.state, range(LANES))
        np.testing.assert_array_equal(advance(lanes, idle()).legal, direct.legal)
        unknown = np.asarray(roots.drawn) == UNKNOWN
        assert unknown.any() == (legal[play.TURN] and position.unturned[position.game.mover])
        kinds.update(MOVES[action].target or str(MOVES[action]) for action in np.flatnonzero(legal).tolist())
        kinds["turned from a hidden stock"] += bool(unknown.any())
        kinds["turned from a known stock"] += bool(legal[play.TURN] and not unknown.any())
    assert {"turned from a hidden stock", "turned from a known stock", "F", "OR", "OW", "T1", "END"} <= {*kinds}


@pytest.mark.parametrize("together", [True, False], ids=["together", "one at a time"])
def test_lanes_that_are_not_taken_stay_as_they_are(together: bool) -> None:
    positions = played_positions(ENTRIES)
    known = [position.known() for position in positions]
    worlds = worlds_of(known, range(ENTRIES), np.arange(WORLDS) % ENTRIES, np.arange(WORLDS))
    lanes = in_lanes([positions[lane % ENTRIES].full() for lane in range(LANES)], LANES)
    roots = in_lanes([known[lane % ENTRIES] for lane in range(LANES)], LANES)
    taken = np.arange(LANES) % 3 == 0
    root = np.arange(LANES) * 7 % ENTRIES
    if together:  # those beyond the last lane are nobody's
        place = np.where(taken, np.arange(LANES), LANES + np.arange(LANES))
        order = np.random.default_rng(4).permutation(LANES)
        state = loaded(lanes, place[order], roots, root[order], worlds, root[order])
    else:
        state = lanes
        for lane in np.flatnonzero(taken):
            row = root[[lane]]
            state = loaded(state, lane[None], roots, row, worlds, row)
    others = np.flatnonzero(~taken).tolist()
    assert described_lanes(state, others) == described_lanes(lanes, others)
    expected = in_lanes([in_world(known[row], worlds, row) for row in root[taken].tolist()], LANES)
    mine = np.flatnonzero(taken).tolist()
    assert described_lanes(state, mine) == described_lanes(expected, range(len(mine)))
