"""Revisions are compared in trees of their own, and each plays with its own kernel."""

import subprocess
from pathlib import Path

import pytest

from benchmarks import compare
from benchmarks.player import ROOT, Player, Turn
from zank_kernel.engine import FAMILIES, Engine


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository whose first revision, tagged `empty`, has no kernel, and whose second and third have one each."""
    path = tmp_path / "repository"
    engine = path / "kernel" / "zank_kernel" / "engine.py"
    engine.parent.mkdir(parents=True)

    def git(*arguments: str) -> None:
        subprocess.run(["git", "-C", str(path), "-c", "user.name=a", "-c", "user.email=a@b", *arguments], check=True)

    git("init", "--quiet", "--initial-branch=main")
    git("commit", "--quiet", "--allow-empty", "--message=empty")
    git("tag", "empty")
    for text in ("first", "second"):
        engine.write_text(text)
        git("add", ".")
        git("commit", "--quiet", f"--message={text}")
    return path


def test_a_revision_has_a_tree_while_it_is_needed(repository: Path) -> None:
    with compare.worktree("main^", repository) as tree:
        assert (tree / "kernel" / "zank_kernel" / "engine.py").read_text() == "first"
    assert not tree.exists()
    assert len((compare.git(repository, "worktree", "list") or "").splitlines()) == 1


def test_the_tree_is_gone_after_an_error(repository: Path) -> None:
    with pytest.raises(RuntimeError), compare.worktree("main", repository) as tree:
        raise RuntimeError
    assert not tree.exists()


@pytest.mark.parametrize("revision", ["nonsense", "--help", ""])
def test_an_unknown_revision_is_named(repository: Path, revision: str) -> None:
    with pytest.raises(ValueError, match=f"'{revision}' is no revision of"), compare.worktree(revision, repository):
        pass


def test_a_revision_without_a_kernel_is_refused(repository: Path) -> None:
    with pytest.raises(ValueError, match="'empty' has no kernel"), compare.worktree("empty", repository):
        pass


def test_a_player_does_not_play_with_another_kernel_than_its_tree_has(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with (
        Player(tmp_path, tmp_path / "programs", workers=1) as player,
        pytest.raises(RuntimeError, match="ended with status 1"),
    ):
        player.ready()
    assert "would be measured instead of" in capfd.readouterr().err


def test_a_player_plays_for_as_long_as_it_is_asked(engine: Engine, programs_directory: Path) -> None:
    assert engine.programs  # compiled, and kept in the directory
    with Player(ROOT, programs_directory, workers=1, cores=1) as player:
        player.ready()
        for family in FAMILIES:
            turn = player.play(family, 0.01)
            assert turn.seconds >= 0.01
            assert turn.moves > turn.rollouts > 0


def test_ratios_are_of_pairs() -> None:
    def turn(moves: int, seconds: float) -> Turn:
        return Turn(rollouts=1, moves=moves, seconds=seconds)

    pairs = [(turn(30, 1.0), turn(10, 1.0)), (turn(30, 2.0), turn(10, 1.0)), (turn(80, 2.0), turn(60, 3.0))]
    figures = compare.figures(pairs)
    assert figures["ratio"] == {"median": 2.0, "lowest": 1.5, "highest": 3.0}
    assert (figures["moves_per_second"], figures["moves_per_second_before"]) == (30.0, 10.0)
