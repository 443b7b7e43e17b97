"""The C++ peers and the kernel play every game alike."""

import dataclasses
import functools
import itertools
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt
import pytest

from benchmarks import peer, positions
from benchmarks.deals import bank_masked
from zank_kernel import bank, malice, rollout
from zank_kernel.bank.deal import dealt as dealt_bank
from zank_kernel.bank.rules import STALEMATE_SCORES
from zank_kernel.bank.state import STALEMATE, TABLEAU, UNKNOWN
from zank_kernel.engine import CPU_OPTIONS, FAMILIES
from zank_kernel.family import ADJUDICATED, Family
from zank_kernel.host import leaf
from zank_kernel.malice.deal import dealt as dealt_malice
from zank_kernel.malice.state import OUT, RUNNING, STOCK_OUT
from zank_kernel.malice.table import masked as masked_malice

EACH: Final = 100  # worlds of each position
LANES: Final = 512
PLAYED: Final = (("malice-match", 40), ("malice-classic", 110))  # preset and moves since the deal
MIXES: list[dict[str, Any]] = [
    {"wild_starts_stack": wild, "side_play_ends_turn": side, "stock_out_when": when, "shorter_payoff_wins": shorter}
    for wild, side, when, shorter in itertools.product(
        (True, False), (True, False), ("emptied", "short"), (True, False)
    )
]
SPITEFUL, CRAPETTE = bank.PRESETS["bank-spiteful"], bank.PRESETS["bank-crapette"]
ORDERS: Final = (
    *bank.PRESETS.values(),
    dataclasses.replace(SPITEFUL, reserve_first="foundation", stalemate_scores=True, reserve_cards=12, max_turns=0),
    dataclasses.replace(CRAPETTE, max_turns=60),
)

needs_compiler = pytest.mark.skipif(
    shutil.which(peer.COMPILER) is None, reason=f"{peer.COMPILER} is not on the path; it builds the peers"
)


class Games(NamedTuple):
    """Games to play, and what becomes of them in the kernel."""

    family: str
    roots: Any
    worlds: Any
    root: npt.NDArray[np.int32]
    world: npt.NDArray[np.int32]
    results: rollout.Results


def malice_tables() -> list[malice.Table]:
    """Deals and positions of played games as their movers know them: presets, mixes of options, payoff piles."""
    rules = [
        dataclasses.replace(malice.PRESETS["malice-match"], payoff_cards=(20, 1, 30)[number % 3], **mix)
        for number, mix in enumerate(MIXES)
    ]
    both = 2 * [*malice.PRESETS.values(), *rules]
    known = [masked_malice(dealt_malice(each, seed)) for seed, each in enumerate(both)]
    for preset, moves in PLAYED:
        played = positions.played(preset, len(rules), moves)
        known += played
        known += [dataclasses.replace(table, rules=each) for table, each in zip(played, rules, strict=True)]
    return known


def bank_tables() -> list[bank.Table]:
    """Deals and positions of played games as both players know them, of each order of play and a few options."""
    known = [bank_masked(dealt_bank(each, seed)) for each in ORDERS for seed in range(5)]
    return known + [
        table for each in ORDERS for moves in (40, 130, 250) for table in positions.played_bank(each, 5, moves)
    ]


TABLES: Final[Mapping[str, Callable[[], list[Any]]]] = {"malice": malice_tables, "bank": bank_tables}


def moved(family: Family[Any, Any, Any, Any], state: Any) -> Any:
    """The policy's move in every other lane, the last of those allowed in the rest."""

    def move(lanes: Any) -> Any:
        legal = family.rulings(lanes).barred == 0
        last = legal.shape[0] - 1 - jnp.argmax(legal[::-1], axis=0)
        by_policy = jnp.arange(legal.shape[1]) % 2 == 0
        return family.play(lanes, jnp.where(by_policy, family.choose(lanes), last.astype(jnp.int32)))

    return jax.jit(move)(state)


def nearly_out(roots: bank.State) -> None:
    """Leave the mover nothing but the drawn card and at most one in the reserve, in some of the positions with one up.

    Every other one of them is about to be cut off, so that some games are over just then.
    """
    lanes = np.flatnonzero(np.asarray(roots.drawn))[::2]
    mover, number = np.asarray(roots.mover)[lanes], np.arange(len(lanes))
    for count, most in ((roots.stock, 0), (roots.waste, 0), (roots.count[TABLEAU:], number // 2 % 2)):
        np.asarray(count)[mover, lanes] = np.minimum(np.asarray(count)[mover, lanes], most)
    np.asarray(roots.moves)[lanes[::2]] = rollout.MOVE_LIMIT - 4


@pytest.fixture(scope="module", params=TABLES)
def games(request: pytest.FixtureRequest) -> Games:
    """Each position and what a move makes of it, in the same worlds; a few shortly before they are cut off."""
    family = FAMILIES[request.param]
    known = TABLES[request.param]()
    count = len(known)
    before: Any = family.to_state(known)
    if request.param == "bank":
        before.quiet[:, 1::8] = 200  # stale after the next turn without progress
    roots: Any = jax.tree.map(lambda *parts: np.concatenate(parts, axis=-1), before, moved(family, before))
    roots.moves[::16] = rollout.MOVE_LIMIT - 60
    roots.moves[8::64] = rollout.MOVE_LIMIT + 3
    if request.param == "bank":
        nearly_out(roots)
    entry = np.repeat(np.arange(count, dtype=np.int32), EACH)
    number = np.tile(np.arange(EACH, dtype=np.uint32), count)
    knowledge = family.knowledge(known, range(count))
    worlds = jax.tree.map(np.asarray, jax.jit(family.sample)(knowledge, leaf(entry), leaf(number)))
    root = np.concatenate([entry, entry + count])
    world = np.tile(np.arange(count * EACH, dtype=np.int32), 2)
    tasks = rollout.Tasks(
        roots=roots, worlds=worlds, root=leaf(root), world=leaf(world), count=leaf(np.asarray(len(root), np.int32))
    )

    @functools.partial(jax.jit, compiler_options=CPU_OPTIONS)
    def run(tasks: rollout.Tasks[Any, Any]) -> rollout.Results:
        return rollout.run(family, family.empty(LANES), tasks)[1]

    return Games(request.param, roots, worlds, root, world, jax.tree.map(np.asarray, run(tasks)))


@needs_compiler
def test_every_game_ends_as_in_the_kernel(games: Games) -> None:
    results = peer.rollouts(games.family, games.roots, games.worlds, games.root, games.world)
    for field in dataclasses.fields(results):
        expected = getattr(games.results, field.name)
        found = getattr(results, field.name)
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected, err_msg=field.name)


def test_the_games_are_of_every_kind(games: Games) -> None:
    """Otherwise the comparison says less than it seems to."""
    assert len(games.root) >= 20_000
    roots, rules = games.roots, set(games.roots.rules.tolist())
    assert (roots.ending != RUNNING).any()
    if games.family == "malice":
        assert rules == set(range(len(MIXES)))
        assert roots.due.any()
        assert not roots.due.all()
    else:
        assert rules == {order.bits for order in ORDERS}
        assert {bool(each & STALEMATE_SCORES) for each in rules} == {True, False}
        assert roots.opening.any()
        assert (roots.drawn == UNKNOWN).any()
        assert ((roots.drawn > 0) & (roots.drawn != UNKNOWN)).any()
    endings = np.bincount(np.asarray(games.results.ending))
    third = STOCK_OUT if games.family == "malice" else STALEMATE
    assert (endings[[OUT, third, ADJUDICATED]] > 200).all()


@needs_compiler
@pytest.mark.parametrize("games", ["malice"], indirect=True)
def test_a_game_without_a_move_is_cut_off(games: Games) -> None:
    """An empty hand with nothing due, as a position entered by hand can have it."""
    roots = jax.tree.map(lambda leaf: np.array(leaf[..., :1]), games.roots)
    worlds = jax.tree.map(lambda leaf: np.array(leaf[..., :1]), games.worlds)
    for hand in (roots.hand, worlds.hand):
        hand[:] = 0
    worlds.payoff[:] = 9
    roots.moves[:] = 7
    none = np.zeros(1, np.int32)
    results = peer.rollouts("malice", roots, worlds, none, none)
    assert [int(results.points[0]), int(results.ending[0]), int(results.moves[0])] == [0, ADJUDICATED, 7]


@needs_compiler
def test_a_row_that_is_not_there_is_refused(games: Games) -> None:
    rows = np.asarray([0], np.int32)
    for beyond in (-1, games.roots.ending.shape[0]):
        with pytest.raises(IndexError):
            peer.rollouts(games.family, games.roots, games.worlds, np.asarray([beyond], np.int32), rows)


@needs_compiler
def test_the_program_is_built_again_when_its_source_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peer, "LIBRARIES", tmp_path / "built")
    source = tmp_path / "family.cpp"
    source.write_text("int one;")
    first = peer.built(source)
    written = first.stat()
    assert peer.built(source) == first
    assert first.stat() == written  # not built again
    source.write_text("int two;")
    assert peer.built(source) != first


def test_without_a_compiler_it_says_what_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"g\+\+ is not on the path"):
        peer.built(peer.SOURCES / "malice.cpp")
