"""The C++ peer and the kernel play every game alike."""

import dataclasses
import itertools
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np
import numpy.typing as npt
import pytest

from benchmarks import peer, positions
from zank_kernel import malice, rollout
from zank_kernel.family import ADJUDICATED
from zank_kernel.host import leaf
from zank_kernel.malice import play, policy
from zank_kernel.malice.deal import dealt
from zank_kernel.malice.state import OUT, RUNNING, STOCK_OUT
from zank_kernel.malice.table import masked

EACH = 100  # worlds of each position
LANES = 512
PLAYED = (("malice-match", 40), ("malice-classic", 110))  # preset and moves since the deal
MIXES: list[dict[str, Any]] = [
    {"wild_starts_stack": wild, "side_play_ends_turn": side, "stock_out_when": when, "shorter_payoff_wins": shorter}
    for wild, side, when, shorter in itertools.product(
        (True, False), (True, False), ("emptied", "short"), (True, False)
    )
]

needs_compiler = pytest.mark.skipif(
    shutil.which(peer.COMPILER) is None, reason=f"{peer.COMPILER} is not on the path; it builds the peer"
)


class Games(NamedTuple):
    """Games to play, and what becomes of them in the kernel."""

    roots: malice.State
    worlds: malice.World
    root: npt.NDArray[np.int32]
    world: npt.NDArray[np.int32]
    results: rollout.Results


def tables() -> list[malice.Table]:
    """Deals and positions of played games as their movers know them: presets, mixes of options, payoff piles."""
    rules = [
        dataclasses.replace(malice.PRESETS["malice-match"], payoff_cards=(20, 1, 30)[number % 3], **mix)
        for number, mix in enumerate(MIXES)
    ]
    known = [masked(dealt(each, seed)) for seed, each in enumerate(2 * [*malice.PRESETS.values(), *rules])]
    for preset, moves in PLAYED:
        played = positions.played(preset, len(rules), moves)
        known += played
        known += [dataclasses.replace(table, rules=each) for table, each in zip(played, rules, strict=True)]
    return known


@pytest.fixture(scope="module")
def games() -> Games:
    """Each position and what a move makes of it, in the same worlds; a few shortly before they are cut off."""
    known = tables()
    count = len(known)
    before = malice.FAMILY.to_state(known)
    moved = jax.jit(lambda lanes: play.play(lanes, policy.choose(lanes)))(before)
    roots: malice.State = jax.tree.map(lambda *parts: np.concatenate(parts, axis=-1), before, moved)
    np.asarray(roots.moves)[::16] = rollout.MOVE_LIMIT - 60
    entry = np.repeat(np.arange(count, dtype=np.int32), EACH)
    number = np.tile(np.arange(EACH, dtype=np.uint32), count)
    knowledge = malice.FAMILY.knowledge(known, range(count))
    worlds = jax.tree.map(np.asarray, jax.jit(malice.FAMILY.sample)(knowledge, leaf(entry), leaf(number)))
    root = np.concatenate([entry, entry + count])
    world = np.tile(np.arange(count * EACH, dtype=np.int32), 2)
    tasks = rollout.Tasks(
        roots=roots, worlds=worlds, root=leaf(root), world=leaf(world), count=leaf(np.asarray(len(root), np.int32))
    )
    results = jax.jit(lambda tasks: rollout.run(malice.FAMILY, malice.FAMILY.empty(LANES), tasks)[1])(tasks)
    return Games(roots, worlds, root, world, jax.tree.map(np.asarray, results))


@needs_compiler
def test_every_game_ends_as_in_the_kernel(games: Games) -> None:
    results = peer.rollouts("malice", games.roots, games.worlds, games.root, games.world)
    for field in dataclasses.fields(results):
        expected = getattr(games.results, field.name)
        found = getattr(results, field.name)
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected, err_msg=field.name)


def test_the_games_are_of_every_kind(games: Games) -> None:
    """Otherwise the comparison says less than it seems to."""
    assert len(games.root) >= 20_000
    assert set(np.asarray(games.roots.rules).tolist()) == set(range(len(MIXES)))
    due, ending = np.asarray(games.roots.due), np.asarray(games.roots.ending)
    assert due.any()
    assert not due.all()
    assert (ending != RUNNING).any()
    endings = np.bincount(np.asarray(games.results.ending))
    assert (endings[[OUT, STOCK_OUT, ADJUDICATED]] > 200).all()


@needs_compiler
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
            peer.rollouts("malice", games.roots, games.worlds, np.asarray([beyond], np.int32), rows)


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
