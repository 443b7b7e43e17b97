"""Whose rollouts are played next: shares, turns, calls that questions share, and what is given up."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import numpy.typing as npt
import pytest

from zank_kernel import rollout
from zank_kernel.batch import Batch, Part, tasks
from zank_kernel.host import leaf
from zank_kernel.schedule import PATIENCE, Line, Schedule
from zank_kernel.search import Stopped
from zank_kernel.workers import Workers

type Table = npt.NDArray[np.int64]

SIZE = 100  # tasks of a call at most
LANES = 20
HINT, NORMAL, BULK = 0, 2, 4  # urgencies


def batch(
    count: int, name: int = 0, family: str = "malice", rows: int = 1, stop: Callable[[], bool] = lambda: False
) -> Batch:
    """Rollouts in a world that is the name of their question."""
    return Batch(
        family,
        np.zeros((1, rows)),
        lambda first, last: [np.full((1, last - first), name)],
        np.arange(count, dtype=np.int32) % rows,
        np.zeros(count, np.int32),
        stop,
    )


class Player:
    """Plays nothing, when it is let, and remembers the calls."""

    def __init__(self) -> None:
        self.calls: list[list[Part]] = []
        self.go = threading.Semaphore(0)
        self.poison: Batch | None = None
        self.prepared = 0

    def prepare(self, parts: Sequence[Part]) -> Sequence[Part]:
        self.prepared += 1
        return parts

    def __call__(self, slot: int, family: str, parts: Sequence[Part], count: int) -> rollout.Results:
        assert {part.batch.family for part in parts} == {family}
        assert sum(part.count for part in parts) == count
        self.calls.append(list(parts))
        assert self.go.acquire(timeout=10)
        if any(part.batch is self.poison for part in parts):
            raise RuntimeError("poison")
        number = leaf(np.concatenate([np.arange(part.first, part.last, dtype=np.int16) for part in parts]))
        return rollout.Results(points=number, ending=number.astype(np.int8), moves=number)

    def wait(self, calls: int) -> None:
        end = time.monotonic() + 10
        while len(self.calls) < calls:
            assert time.monotonic() < end
            time.sleep(0.001)


@contextmanager
def working(player: Player, slots: int = 1, roots: int = 64, cost: float = 1.0) -> Iterator[Workers[Sequence[Part]]]:
    workers = Workers(
        slots,
        "test",
        prepare=player.prepare,
        play=player,
        size=lambda family: SIZE,
        cost=lambda family: cost,
        call=SIZE,
        lanes=LANES,
        roots=roots,
        worlds=64,
    )
    yield workers
    player.go.release(10_000)
    workers.close()


def served(schedule: Schedule, lines: dict[str, Line], rounds: int, cost: float = 1.0) -> Counter[str]:
    """How often each line is due while all of them always have work."""
    counts = Counter[str]()
    for line in lines.values():
        schedule.add(line, batch(1_000_000), 1)
    for _ in range(rounds):
        due = schedule.due()
        assert due is not None
        counts[next(name for name, line in lines.items() if line is due)] += 1
        schedule.serve(due, cost)
    return counts


def test_classes_share_by_weight_and_none_starves() -> None:
    lines = {f"hint {number}": Line(HINT) for number in range(8)} | {"normal": Line(NORMAL), "bulk": Line(BULK)}
    counts = served(Schedule(1.0), lines, 4_200)
    hints = sum(count for name, count in counts.items() if name.startswith("hint"))
    assert (hints, counts["normal"], counts["bulk"]) == pytest.approx((3_200, 800, 200), abs=3)
    assert (
        max(counts[f"hint {number}"] for number in range(8)) - min(counts[f"hint {number}"] for number in range(8)) <= 1
    )


def test_a_class_that_rested_saves_nothing_up_and_owes_nothing() -> None:
    schedule = Schedule(1.0)
    bulk, hint = Line(BULK), Line(HINT)
    served(schedule, {"bulk": bulk}, 1_000)
    counts = Counter[int]()
    schedule.add(hint, batch(1_000_000), 1)
    for _ in range(170):
        line = schedule.due()
        assert line is not None
        counts[line.urgency] += 1
        schedule.serve(line, 1.0)
    assert counts[BULK] == pytest.approx(10, abs=1)


def test_nobody_begins_for_bulk_what_a_hint_between_two_rounds_would_wait_for() -> None:
    schedule = Schedule(1.0)
    bulk, hint = Line(BULK), Line(HINT)
    schedule.add(bulk, batch(1_000), 2)
    schedule.serve(bulk, 1.0)
    schedule.open(hint)
    schedule.add(hint, batch(10), 2)
    line = schedule.due()
    assert line is hint
    hint.batches[0].take(10)
    schedule.begin(HINT)
    schedule.serve(hint, 1.0)
    assert schedule.due() is bulk
    assert schedule.expected(bulk, 1, time=5.0) == PATIENCE  # as long as its call runs
    assert schedule.expected(bulk, 2, time=5.0) == 0  # no more workers than its last round wanted
    schedule.end(HINT, time=5.0)
    assert schedule.expected(bulk, 1, time=5.0) == pytest.approx(PATIENCE)
    assert schedule.expected(bulk, 1, time=5.0 + 2 * PATIENCE) < 0  # and not for long
    schedule.close(hint)
    assert schedule.expected(bulk, 1, time=5.0) == 0


def test_a_call_is_shared_by_small_rounds_of_like_questions() -> None:
    player = Player()
    with working(player) as workers:
        workers.submit(Line(HINT), batch(1))
        player.wait(1)
        same = [batch(30, name) for name in range(4)]
        for each in same:
            workers.submit(Line(HINT), each)
        other_family, bulk = batch(30, 4, family="bank"), batch(30, 5)
        workers.submit(Line(HINT), other_family)
        workers.submit(Line(BULK), bulk)
        player.go.release(10)
        for each in (*same, other_family, bulk):
            results = each.future.result(10)
            assert np.asarray(results.points).tolist() == list(range(30))
    together = [[part.batch for part in call] for call in player.calls[1:]]
    assert together[0] == same  # 30, 30, 30 and the first 10 of the fourth
    assert [part.count for part in player.calls[1]] == [30, 30, 30, 10]
    assert all(len({(part.batch.family, part.batch is bulk) for part in call}) == 1 for call in player.calls)


def test_a_call_holds_no_more_than_its_tables_have_rows_for() -> None:
    player = Player()
    with working(player, roots=50) as workers:
        workers.submit(Line(HINT), batch(1))
        player.wait(1)
        wide = [batch(30, name, rows=30) for name in range(3)]
        for each in wide:
            workers.submit(Line(HINT), each)
        player.go.release(10)
        for each in wide:
            each.future.result(10)
    assert [[part.batch for part in call] for call in player.calls[1:]] == [[each] for each in wide]


def numbered(first: int, last: int) -> list[Table]:
    """A table of worlds that are their numbers."""
    return [np.arange(first, last).reshape(1, -1)]


def test_what_shares_a_call_stands_side_by_side_in_its_tables() -> None:
    one, two = batch(4, 1, rows=3), batch(3, 2, rows=2)
    roots = [np.arange(10).reshape(1, 10), 100 + np.arange(10).reshape(1, 10)]
    parts = [
        Batch("malice", table, numbered, each.root, each.root + begin).take(9)
        for table, each, begin in zip(roots, (one, two), (5, 1_005), strict=True)
    ]
    work = tasks(parts, roots=8, worlds=8, slots=16)
    assert int(work.count) == 7
    assert work.roots.shape == work.worlds.shape == (1, 8)
    assert work.roots[0, work.root[:7]].tolist() == [0, 1, 2, 0, 100, 101, 100]
    assert work.worlds[0, work.world[:7]].tolist() == [5, 6, 7, 5, 1_005, 1_006, 1_005]


def test_roots_that_all_parts_share_are_used_as_they_are() -> None:
    roots = 100 + np.arange(8).reshape(1, 8)
    parts = [
        Batch("malice", roots, numbered, np.asarray(rows, np.int32), np.asarray(rows, np.int32)).take(9)
        for rows in ([3, 5], [5, 7, 3])
    ]
    work = tasks(parts, roots=8, worlds=16, slots=16)
    assert work.roots is roots
    assert work.root[:5].tolist() == [3, 5, 5, 7, 3]
    assert work.worlds[0, work.world[:5]].tolist() == [3, 5, 5, 7, 3]


def test_only_the_worlds_that_a_part_is_played_in_are_asked_for() -> None:
    asked: list[tuple[int, int]] = []

    def worlds(first: int, last: int) -> list[Table]:
        asked.append((first, last))
        return numbered(first, last)

    every = Batch("malice", np.zeros((1, 8)), worlds, np.zeros(9, np.int32), np.arange(100, 109, dtype=np.int32))
    for most in (2, 4, 9):
        tasks([every.take(most)], roots=8, worlds=16, slots=16)
    assert asked == [(100, 102), (102, 106), (106, 109)]


def test_a_round_is_spread_evenly_over_idle_slots() -> None:
    player = Player()
    with working(player, slots=2) as workers:
        time.sleep(0.05)
        workers.submit(Line(HINT), batch(120))
        player.wait(2)
        assert [call[0].count for call in player.calls] == [60, 60]


def test_rounds_are_played_in_few_calls_all_alike_also_across_batches() -> None:
    player = Player()
    with working(player, slots=2) as workers:
        workers.submit(Line(HINT), first := batch(210), second := batch(40))
        player.go.release(10)
        for each, count in ((first, 210), (second, 40)):
            assert np.asarray(each.future.result(10).points).tolist() == list(range(count))
    assert [sum(part.count for part in call) for call in player.calls] == [63, 63, 63, 61]


def test_a_call_is_never_larger_than_one_may_be() -> None:
    player = Player()
    player.go.release(1_000)
    with working(player) as workers:
        workers.submit(Line(BULK), many := batch(1_234))
        assert len(many.future.result(10).points) == 1_234
    assert max(sum(part.count for part in call) for call in player.calls) <= SIZE


def test_the_next_call_is_made_ready_shortly_before_one_is_over_and_not_played_before() -> None:
    player = Player()
    with working(player, cost=0.01) as workers:  # a second a call
        workers.submit(Line(BULK), many := batch(3 * SIZE))
        player.wait(1)
        begun = time.monotonic()
        assert player.prepared == 1
        while player.prepared < 2:
            time.sleep(0.001)
        assert time.monotonic() - begun > 0.5
        assert len(player.calls) == 1
        workers.submit(Line(HINT), hint := batch(1))
        player.go.release(10)
        hint.future.result(10)
        many.future.result(10)
    assert [[part.batch for part in call] for call in player.calls] == [[many], [many], [hint], [many]]


@pytest.mark.parametrize("slots", [1, 2])
def test_no_call_for_bulk_is_made_ready_where_a_hint_between_two_rounds_would_wait_for_it(
    slots: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("zank_kernel.schedule.PATIENCE", 10.0)  # however slow this machine is
    player = Player()
    with working(player, slots=slots, cost=0.0005) as workers, workers.line(HINT) as hint:  # 0.05 s a call
        for number in range(4):
            workers.submit(hint, each := batch(slots * SIZE))
            if number == 0:
                player.wait(slots)
                workers.submit(Line(BULK), bulk := batch(5 * SIZE))
            time.sleep(0.06)
            player.go.release(slots)
            each.future.result(10)
        assert bulk.handed == 0


def test_a_batch_of_nothing_is_done_at_once() -> None:
    player = Player()
    with working(player) as workers:
        workers.submit(Line(HINT), empty := batch(0), some := batch(3))
        assert len(empty.future.result(10).points) == 0
        player.go.release(10)
        assert len(some.future.result(10).points) == 3


def test_what_is_given_up_while_it_is_ready_is_not_played() -> None:
    player = Player()
    given_up = threading.Event()
    with working(player, cost=0.0001) as workers:
        workers.submit(Line(HINT), first := batch(SIZE))
        player.wait(1)
        workers.submit(Line(HINT), second := batch(10, stop=given_up.is_set))
        while player.prepared < 2:
            time.sleep(0.001)
        given_up.set()
        player.go.release(10)
        first.future.result(10)
        with pytest.raises(Stopped):
            second.future.result(10)
    assert len(player.calls) == 1


def test_what_is_given_up_leaves_the_queue_with_the_next_call() -> None:
    player = Player()
    given_up = threading.Event()
    with working(player) as workers:
        bulk = batch(100_000, stop=given_up.is_set)
        workers.submit(Line(BULK), bulk)
        player.wait(1)
        workers.submit(Line(BULK), after := batch(10))
        given_up.set()
        player.go.release(2)
        with pytest.raises(Stopped):
            bulk.future.result(10)
        after.future.result(10)
    assert len(player.calls) == 2


def test_one_bad_question_among_those_of_a_call_fails_alone() -> None:
    player = Player()
    with working(player) as workers:
        workers.submit(Line(HINT), batch(1))
        player.wait(1)
        batches = [batch(20, name) for name in range(3)]
        player.poison = batches[1]
        for each in batches:
            workers.submit(Line(HINT), each)
        player.go.release(10)
        with pytest.raises(RuntimeError):
            batches[1].future.result(10)
        for each in (batches[0], batches[2]):
            assert len(each.future.result(10).points) == 20
        workers.submit(Line(HINT), last := batch(5))
        assert len(last.future.result(10).points) == 5
