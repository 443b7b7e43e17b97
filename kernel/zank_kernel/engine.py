"""The engine: a fixed list of compiled programs on the local devices, and questions answered with them.

Every program is compiled in `Engine.warm_up`; nothing compiles afterwards, since only compiled executables are
called. The rollouts of one question are spread over calls, as many at a time as there are workers: one per core on a
CPU, one on an accelerator.
"""

import dataclasses
import functools
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import jax
import numpy as np
import numpy.typing as npt

from zank_kernel import bank, equity, malice, rollout, search, turns, wins
from zank_kernel.batch import Batch, tasks
from zank_kernel.compiled import compiled
from zank_kernel.family import Family, Rulings
from zank_kernel.host import blank, zeros
from zank_kernel.packed import Packing
from zank_kernel.schedule import Line
from zank_kernel.workers import Workers

RULED: Final = 64  # positions of one call about rules
EXPANDED: Final = (32, turns.AT_ONCE)  # moves of one call in the search of a turn, the fewer the cheaper
WIN_NODES: Final = 131_072  # positions visited at most where a way to win this turn is looked for …
WIN_SHARE: Final = 8  # … and for each rollout of the budget, so that it does not take longer than they do …
LEAST_WIN_NODES: Final = 16_384  # … but no fewer than these
ROOTS: Final = 512  # rows of a table of roots: outcomes of a turn that are played out at most
WORTH: Final = 16  # rollouts that an outcome should get on average: a small budget looks at fewer of them
WORLDS: Final = 1_024  # worlds of one sample
AHEAD: Final = 4  # samples taken of what is played now, and of what follows, so that no worker has to
KEPT: Final = 32  # samples of a question that are kept
TASKS: Final = 8_192  # tasks of one rollout call at most …
CALL_SECONDS: Final = 0.04  # … and no more than take about so long: an urgent call waits for the one that runs
LANES: Final = 128  # lanes of one worker on a CPU: what it works on stays in the first cache
ACCELERATOR_LANES: Final = 8_192
TIME_SHARE: Final = 0.8  # of a time budget, what is planned for rollouts
# Cores are kept busy by workers, one call each; a call that also splits its many small loops over a thread pool spends
# most of its time there. Words of 16 bits fill the widest vectors. What is scheduled for little memory runs as a chain
# in the thread that calls, and so waits for no thread of the pool in which long calls run.
CPU_OPTIONS: Final = {
    "xla_disable_hlo_passes": "cpu-parallel-task-assigner",
    "xla_cpu_prefer_vector_width": "512",
    "xla_cpu_scheduler_type": "CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED",
}
NOTHING: Final = -1  # an action: none
FIRST_RATE: Final = 60_000.0  # rollouts that a worker is taken to play in a second until it has played some
RATE_MEMORY: Final = 0.3  # weight of the latest call in the recent rate, if it was a full one

FAMILIES: Final[Mapping[str, Family[Any, Any, Any, Any]]] = {
    family.name: family for family in (malice.FAMILY, bank.FAMILY)
}
PACKINGS: Final = {name: Packing(family.empty(1)) for name, family in FAMILIES.items()}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Program:
    """A compiled program and what it took to make it."""

    name: str
    sizes: str
    compile_seconds: float
    call: Callable[..., Any]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Question:
    """What is the best move in this position, to the knowledge of the player to move?"""

    family: str
    table: Any  # the family's table; hidden cards are 0
    rollouts: int  # in total, those that report included: what the schedule of rounds is made for
    seed: int  # 64 bits
    objective: search.Objective
    score: tuple[int, int] | None = None  # of the match, by player; a game by itself without it
    rounds: int = search.ROUNDS  # rounds of the schedule to play at most
    outcomes: int = ROOTS  # of the turn to look at, at most, but one of every move at least
    only: frozenset[int] = frozenset()  # actions to consider; empty = all
    avoid: frozenset[int] = frozenset()  # actions to leave out
    keep: frozenset[int] = frozenset()  # actions whose best outcomes play in every round
    urgency: int = 0  # the lower, the larger its share of the time (schedule.SHARES); it changes no answer

    @property
    def stakes(self) -> equity.Stakes | None:
        """What results make of the match for the mover, if there is a score.

        Raises ValueError where no match that goes on has this score, and equity.Unavailable.
        """
        return None if self.score is None else equity.stakes(self.table.rules, self.score, self.table.mover)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Control:
    """How the work on a question is watched and ended from outside; only `expired` can change the answer."""

    stopped: Callable[[], bool] = lambda: False  # the question is given up: Stopped is raised soon
    expired: Callable[[], bool] = lambda: False  # time is over: the answer is that of the last complete round
    progress: Callable[[search.Answer], None] | None = None  # is given the answer so far


UNCONTROLLED: Final = Control()


@dataclasses.dataclass(frozen=True, kw_only=True)
class Judgement:
    """What is said of moves played, as far as the turn could be planned."""

    actions: tuple[int, ...]  # the moves
    choices: tuple[int, ...]  # before each, how many moves there were to consider that lead to different positions
    end: Any  # state [1] after the last one, cards due not drawn yet; NumPy arrays
    said: search.Judgement


@dataclasses.dataclass
class Meter:
    """What the rollout workers have done since the engine was made."""

    rollouts: int = 0
    calls: int = 0  # that played rollouts
    moves: int = 0  # moves played in rollouts
    steps: int = 0  # lane steps taken, idle ones included
    busy_seconds: float = 0.0  # worker time spent in rollout calls, all workers together
    playing_seconds: float = 0.0  # time in which at least one worker was in a rollout call
    recent_rate: dict[str, float] = dataclasses.field(default_factory=lambda: dict.fromkeys(FAMILIES, FIRST_RATE))
    """Rollouts that a worker plays in a second, of late, by family."""


class Engine:
    """Compiled programs and the workers that run them.

    `lanes` is the number of lanes a worker plays in; `workers` the number of calls at a time, dealt out to the
    `devices` (default: one per core on CPUs, one per accelerator), which are all local ones of the default backend
    unless given; `cache_directory` keeps compiled programs between starts and must be private to the user, for what
    lies in it is run.
    """

    def __init__(
        self,
        *,
        lanes: int | None = None,
        workers: int | None = None,
        devices: Sequence[jax.Device] | None = None,
        cache_directory: Path | None = None,
    ) -> None:
        if cache_directory is not None:
            cache_directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._cache = cache_directory
        # On a CPU a call is made by the thread that asks: handed over, a short one would wait behind rollouts.
        jax.config.update("jax_cpu_enable_async_dispatch", False)
        self.devices = devices or jax.local_devices()
        on_cpu = self.devices[0].platform == "cpu"
        self.workers = workers or max(len(os.sched_getaffinity(0)) if on_cpu else 1, len(self.devices))
        self.lanes = lanes or (LANES if on_cpu else ACCELERATOR_LANES)
        self.meter = Meter()
        self.programs: dict[str, Program] = {}
        self.faults: dict[str, int] = {}  # calls of a program that failed since one did not
        self._begun: dict[int, float] = {}  # when the device call under way in a thread began
        self._playing = 0  # workers in a rollout call …
        self._playing_since = 0.0  # … and since when there are any
        self._buffers: list[dict[str, Any]] = [{} for _ in range(self.workers)]
        # A way to win is looked for one position after the other: that would be slow elsewhere, and takes much memory.
        self._host = jax.local_devices(backend="cpu")[0]
        self._win_buffer: Any = None
        self._winning = threading.Lock()
        self._lock = threading.Lock()
        self._workers = self._started()
        self._sampling = ThreadPoolExecutor(self.workers, "worlds")

    def _started(self) -> Workers[rollout.Tasks[Any, Any]]:
        return Workers(
            self.workers,
            "rollout",
            prepare=functools.partial(tasks, roots=ROOTS, worlds=TASKS, slots=TASKS),
            play=self._play,
            size=self.tasks_of_a_call,
            cost=lambda family: 1 / self.meter.recent_rate[family],
            call=CALL_SECONDS,
            lanes=self.lanes,
            roots=ROOTS,
            worlds=TASKS,
        )

    def close(self) -> None:
        """Finish the calls that wait and stop the workers."""
        self._workers.close()
        self._sampling.shutdown()

    def warm_up(self) -> None:
        """Compile every program and run each once."""
        with jax.default_device(self.devices[0]):
            for family in FAMILIES.values():
                self._compile_family(family)

    def rulings(self, family: str, state: Any) -> Rulings:
        """What the rules say of every action in up to RULED lanes. NumPy arrays."""
        rulings: Rulings = self._ruled(family, "rulings", state)
        return rulings

    def legal(self, family: str, state: Any) -> npt.NDArray[np.bool_]:
        """Legal actions of up to RULED lanes, bool [actions, B]."""
        mask: npt.NDArray[np.bool_] = np.asarray(self.rulings(family, state).barred) == 0
        return mask

    def play(self, family: str, state: Any, actions: npt.NDArray[np.int32]) -> Any:
        """State after one legal action in each of up to RULED lanes; cards due are not drawn yet. NumPy arrays."""
        return self._ruled(family, "play", state, padded(actions, RULED, NOTHING))

    def take(self, family: str, state: Any, cards: npt.NDArray[np.int8]) -> Any:
        """State after the cards due were drawn as given, int8 [draws, B], in up to RULED lanes. NumPy arrays."""
        return self._ruled(family, "take", state, cards)

    def legal_actions(self, family: str, table: Any) -> list[int]:
        """Legal actions in one position, in their order."""
        actions: list[int] = np.flatnonzero(self.legal(family, FAMILIES[family].to_state([table]))[:, 0]).tolist()
        return actions

    def planned_rollouts(self, family: str, seconds: float) -> int:
        """How many rollouts fit into so much time, by the speed of late and with some left for everything else."""
        return max(1, int(TIME_SHARE * seconds * self.workers * self.meter.recent_rate[family]))

    def tasks_of_a_call(self, family: str) -> int:
        """How many rollouts one call may play, by the speed of late."""
        return int(min(TASKS, max(self.lanes, CALL_SECONDS * self.meter.recent_rate[family])))

    def answer(self, question: Question, control: Control = UNCONTROLLED) -> search.Answer:
        """Rank the moves to consider in a position that is not over.

        Pointless moves are left out unless the question names them, or there is nothing else. The answer depends on
        nothing but the question, unless the time given by `control` expires first. Raises search.Stopped when the
        question is given up, ValueError where there is no move to consider or no such score of a match, and
        equity.Unavailable where a game cannot be valued by it.
        """
        family, stakes = FAMILIES[question.family], question.stakes
        worlds = self._sampled_meanwhile(question)
        turn = self.turn(question)
        with self._workers.line(question.urgency) as line:
            playing = _Playing(self, turn.outcomes, worlds, question, control, line)
            made = turn.outcomes.moves.astype(np.int64)
            if len(turn.moves) == 1:
                return search.forced(turn, playing.won(made))
            keep = frozenset(index for index, members in enumerate(turn.moves) if question.keep & {*members})
            rounds = search.schedule(len(made), question.rollouts, len(keep))[: question.rounds]
            worlds.expect(rounds, question.rollouts, len(turn.moves), len(keep))
            return search.search(
                search.Race(turn, made, question.objective, family.spread(question.table), stakes),
                rounds,
                playing.play,
                begin=playing.begin,
                keep=keep,
                progress=control.progress,
            )

    def judge(
        self, question: Question, moves: Sequence[Callable[[Any, int], int]], control: Control = UNCONTROLLED
    ) -> Judgement:
        """Judge moves played from a position on, as far as the turn can be planned, at least the first.

        `moves` say the action of each by the state before it and its lane. The judgement depends on nothing but the
        question, whose `only`, `avoid` and `keep` are not looked at, and the moves. Raises search.Stopped when the
        question is given up, and equity.Unavailable where a game cannot be valued by the score of its match.
        """
        family, stakes = FAMILIES[question.family], question.stakes
        worlds = self._sampled_meanwhile(question)
        root = family.to_state([question.table])
        named = dataclasses.replace(question, only=frozenset(), avoid=frozenset(), keep=frozenset({moves[0](root, 0)}))
        played = turns.retrace(*self._exploring(named), moves)
        made = played.outcomes.moves.astype(np.int64)
        # Where there was nothing to choose, a third says as much of the position as elsewhere.
        rollouts = question.rollouts if len(made) > 1 else question.rollouts // 3
        with self._workers.line(question.urgency) as line:
            playing = _Playing(self, played.outcomes, worlds, question, control, line)
            race = search.Race(played, made, question.objective, family.spread(question.table), stakes)
            rounds = search.schedule(len(made), rollouts, len(played.reach))
            worlds.expect(rounds, rollouts, len(played.reach), len(played.reach))
            said = search.judge(race, rounds, playing.play, playing.begin)
        return Judgement(
            actions=tuple(action for (action,) in played.moves), choices=played.choices, end=played.end, said=said
        )

    def results(
        self, question: Question, state: Any, first: int, last: int, control: Control = UNCONTROLLED
    ) -> search.Results:
        """What becomes of a position in worlds `first` … `last` - 1 of what the question's mover knows; [last - first].

        `state` [1] is that of the question's table after some of the mover's moves, cards due not drawn yet. Raises
        search.Stopped when the question is given up.
        """
        with self._workers.line(question.urgency) as line:
            playing = _Playing(self, state, _Worlds(self, question), question, control, line)
            results = playing.play([0], first, last, True)
        return search.Results(points=results.points[0], score=results.score[0], moves=results.moves[0])

    def _sampled_meanwhile(self, question: Question) -> "_Worlds":
        """The worlds of a question, the first of which are sampled by another thread from now on."""
        worlds = _Worlds(self, question)
        self._sampling.submit(worlds.sample(0))
        return worlds

    def turn(self, question: Question, nodes: int = turns.NODES) -> turns.Turn:
        """The moves that a question is about, and the outcomes of the turn that its budget looks at.

        The search for them is broken off after about so many `nodes`. Raises ValueError where there is no move to
        consider.
        """
        return turns.explore(*self._exploring(question), nodes)

    def _exploring(
        self, question: Question
    ) -> tuple[turns.Expand, turns.Words, Callable[[Sequence[int]], Sequence[int]], int]:
        """What `turns.explore` asks for: how to expand, the root, the actions to consider, and the most outcomes."""
        family = FAMILIES[question.family]

        def considering(legal: Sequence[int]) -> Sequence[int]:
            actions = considered(legal, question.only, question.avoid)
            actions = suggested(actions, family.pointless(question.table), question.only | question.keep)
            if not actions:
                raise ValueError("0 moves to consider, expected 1 at least")
            return actions

        root = family.to_state([question.table, *family.history(question.table)[: turns.AT_ONCE - 1]])
        return (
            _Expanding(self, question),
            PACKINGS[family.name].pack(root),
            considering,
            min(question.outcomes, question.rollouts // WORTH),
        )

    def _ruled(self, family: str, name: str, state: Any, *arguments: Any) -> Any:
        """What a program for RULED lanes makes of as many lanes as `state` has. NumPy arrays."""
        count = state.ending.shape[-1]
        result = self._call(family, name, *(padded(each, RULED) for each in (state, *arguments)))
        return jax.tree.map(lambda part: np.asarray(part)[..., :count], result)

    @property
    def longest_call(self) -> float:
        """Seconds for which the oldest device call under way has run; 0 where there is none."""
        now = time.monotonic()
        return now - min(self._begun.copy().values(), default=now)

    def _call(self, family: str, name: str, *arguments: Any) -> Any:
        """What a program returns, once it is there."""
        thread, program = threading.get_ident(), self.programs[f"{family}/{name}"]
        self._begun[thread] = time.monotonic()
        try:
            result = jax.block_until_ready(program.call(*arguments))
        except Exception:
            with self._lock:
                self.faults[program.name] = self.faults.get(program.name, 0) + 1
            raise
        finally:
            del self._begun[thread]
        self.faults.pop(program.name, None)
        return result

    def _compile_family(self, family: Family[Any, Any, Any, Any]) -> None:
        state = family.empty(RULED)
        knowledge = jax.tree.map(lambda leaf: np.zeros((*leaf.shape[:-1], 1), leaf.dtype), family.knowledge([], []))
        entry, number = np.zeros((WORLDS,), np.int32), np.zeros((WORLDS,), np.uint32)
        sampled = self._compile(family, "sample", f"worlds={WORLDS}", family.sample, knowledge, entry, number)
        self._compile(family, "rulings", f"positions={RULED}", family.rulings, state)
        self._compile(family, "play", f"positions={RULED}", family.play, state, np.full((RULED,), NOTHING, np.int32))
        self._compile(
            family, "take", f"positions={RULED}", family.take, state, np.zeros((family.draws, RULED), np.int8)
        )

        packing = PACKINGS[family.name]

        def expand(words: jax.Array, action: jax.Array, player: jax.Array) -> turns.Reached:
            return turns.expand(family, packing, words, action, player)

        for size in EXPANDED:
            words, actions = packing.pack(family.empty(size)), np.full((size,), NOTHING, np.int32)
            players = np.zeros((size,), np.int8)
            self._compile(family, expand_program(size), f"moves={size}", expand, words, actions, players)

        def win(
            buffer: jax.Array, words: jax.Array, actions: jax.Array, player: jax.Array, limit: jax.Array
        ) -> tuple[jax.Array, wins.Found]:
            return wins.find(family, packing, buffer, words, actions, player, limit)

        words, actions = packing.pack(family.empty(turns.AT_ONCE)), np.zeros(family.actions, np.bool_)
        arguments = self._positions(), words, actions, np.int8(0), np.int32(0)
        self._win_buffer, _ = self._compile(
            family, "win", f"positions={WIN_NODES}", win, *arguments, donated=0, device=self._host
        )

        def run(lanes: Any, tasks: rollout.Tasks[Any, Any]) -> tuple[Any, rollout.Results, rollout.Usage]:
            return rollout.run(family, lanes, tasks)

        index = zeros((TASKS,), np.int32)
        tasks = rollout.Tasks(
            roots=family.empty(ROOTS),
            worlds=padded(sampled, TASKS),
            root=index,
            world=index,
            count=zeros((), np.int32),
        )
        sizes = f"lanes={self.lanes} roots={ROOTS} worlds={TASKS} tasks={TASKS}"
        for which, device in enumerate(self.devices):
            name = rollout_program(which)
            self._compile(family, name, sizes, run, family.empty(self.lanes), tasks, donated=0, device=device)

    def win(
        self, family: str, words: turns.Words, actions: Sequence[int], player: int, limit: int = WIN_NODES
    ) -> Sequence[int]:
        """A way for a player to win this turn from the first lane of packed states, as `turns.Expand.win` says.

        It is looked for in `limit` positions at most, and never in more than WIN_NODES.
        """
        mask = np.zeros((FAMILIES[family].actions,), np.bool_)
        mask[list(actions)] = True
        with self._winning:
            arguments = self._positions(), padded(words, turns.AT_ONCE), mask, np.int8(player), np.int32(limit)
            found: wins.Found
            self._win_buffer, found = self._call(family, "win", *arguments)
            return wins.way(found)

    def _positions(self) -> Any:
        """What a search for a way to win keeps positions in, which it gives back; a new one where a call failed."""
        buffer, self._win_buffer = self._win_buffer, None
        return win_buffer() if buffer is None else buffer

    def _lanes(self, slot: int, family: str) -> Any:
        """The lanes of a slot, for one call: the call gives back others, unless it fails."""
        lanes = self._buffers[slot].pop(family, None)
        return (
            jax.device_put(FAMILIES[family].empty(self.lanes), self.devices[slot % len(self.devices)])
            if lanes is None
            else lanes
        )

    def _compile(
        self,
        family: Family[Any, Any, Any, Any],
        name: str,
        sizes: str,
        function: Callable[..., Any],
        *arguments: Any,
        donated: int | None = None,
        device: jax.Device | None = None,
    ) -> Any:
        """Compile `function` for the shapes of `arguments`, call it once, and return what it returned."""
        begin = time.perf_counter()
        name, device = f"{family.name}/{name}", device or self.devices[0]
        call, result = compiled(
            function,
            arguments,
            name=name,
            donated=() if donated is None else (donated,),
            options=CPU_OPTIONS if device.platform == "cpu" else None,
            device=device,
            directory=self._cache,
        )
        seconds = time.perf_counter() - begin
        self.programs[name] = Program(name=name, sizes=sizes, compile_seconds=seconds, call=call)
        return result

    def worlds(self, family: str, knowledge: Any, chunk: int) -> Any:
        """Worlds number `chunk * WORLDS` … of the first entry of `knowledge`, a table of WORLDS rows. NumPy arrays."""
        number = np.arange(chunk * WORLDS, (chunk + 1) * WORLDS, dtype=np.uint32)
        return jax.tree.map(np.asarray, self._call(family, "sample", knowledge, np.zeros((WORLDS,), np.int32), number))

    def rollouts(
        self,
        family: str,
        roots: Any,
        worlds: Any,
        root: npt.NDArray[np.int32],
        world: npt.NDArray[np.int32],
    ) -> Future[rollout.Results]:
        """Queue one rollout for each pair of rows of `roots` [ROOTS] and `worlds` [TASKS at most]; returns at once.

        The future is given their results in order, as NumPy arrays; how tasks share calls changes none.
        """
        batch = Batch(family, roots, lambda first, last: [rows(worlds, first, last)], root, world)
        self.queue(Line(urgency=0), [batch])
        return batch.future

    @contextmanager
    def _metered(self, family: str, count: int) -> Iterator[None]:
        """Meter the time that a call with so many rollouts takes."""
        begin = time.perf_counter()
        with self._lock:
            if not self._playing:
                self._playing_since = begin
            self._playing += 1
        try:
            yield
        finally:
            with self._lock:
                end = time.perf_counter()
                self._playing -= 1
                if not self._playing:
                    self.meter.playing_seconds += end - self._playing_since
        seconds = end - begin
        with self._lock:
            meter = self.meter
            meter.rollouts += count
            meter.calls += 1
            meter.busy_seconds += seconds
            # A call of few tasks says little of speed: it hardly fills its lanes.
            weight = RATE_MEMORY * min(1.0, count / self.tasks_of_a_call(family))
            meter.recent_rate[family] += weight * (count / seconds - meter.recent_rate[family])

    def queue(self, line: Line, batches: Sequence[Batch]) -> None:
        """Queue batches of one family in the line of a question."""
        self._workers.submit(line, *batches)

    def _play(self, slot: int, family: str, work: rollout.Tasks[Any, Any], count: int) -> rollout.Results:
        """The results of so many tasks of one family, played in one call. NumPy arrays."""
        device = slot % len(self.devices)
        if device:
            work = jax.device_put(work, self.devices[device])
        with self._metered(family, count):
            lanes, results, usage = self._call(family, rollout_program(device), self._lanes(slot, family), work)
            host: rollout.Results = jax.tree.map(np.asarray, results)
        self._buffers[slot][family] = lanes
        with self._lock:
            self.meter.moves += int(usage.moves)
            self.meter.steps += int(usage.steps)
        return host


class _Expanding:
    """What a search of a turn asks for: moves of a player tried, and states unpacked."""

    def __init__(self, engine: Engine, question: Question) -> None:
        self._engine = engine
        self._family = question.family
        self._player = question.table.mover
        self._limit = min(WIN_NODES, max(LEAST_WIN_NODES, WIN_SHARE * question.rollouts))

    def __call__(self, words: turns.Words, actions: npt.NDArray[np.int32]) -> turns.Reached:
        """Where the actions lead. NumPy arrays."""
        size = next(size for size in EXPANDED if size >= len(actions))
        sized = padded(words, size), padded(actions, size, NOTHING), np.full((size,), self._player, np.int8)
        reached = self._engine._call(self._family, expand_program(size), *sized)
        host: turns.Reached = jax.tree.map(np.asarray, reached)
        return host

    def state(self, words: turns.Words) -> Any:
        """The states, unpacked. NumPy arrays."""
        return PACKINGS[self._family].unpack(words)

    def win(self, words: turns.Words, actions: Sequence[int]) -> Sequence[int]:
        """A way to win this turn; nothing where none was found."""
        return self._engine.win(self._family, words, actions, self._player, self._limit)


class _Sample:
    """WORLDS worlds, sampled when they are first asked for."""

    def __init__(self, sample: Callable[[], Any]) -> None:
        self._sample = sample
        self._table: Any = None
        self._lock = threading.Lock()

    def __call__(self) -> Any:
        """The table."""
        with self._lock:
            if self._table is None:
                self._table = self._sample()
            return self._table


class _Worlds:
    """The worlds of a question, by number: the latest that were asked for are kept."""

    def __init__(self, engine: Engine, question: Question) -> None:
        self._chosen = 0  # worlds that will choose …
        self._last = search.REPORTING_WORLDS  # … and before which those that report end, as far as that is known
        self._engine = engine
        self._family = question.family
        self._knowledge = FAMILIES[question.family].knowledge([question.table], [question.seed])
        self._samples: dict[int, _Sample] = {}
        self._lock = threading.Lock()

    def __call__(self, first: int, last: int) -> list[Any]:
        """Tables of the worlds `first` … `last` - 1, in order. NumPy arrays."""
        return [
            rows(self.sample(chunk)(), max(0, first - chunk * WORLDS), last - chunk * WORLDS)
            for chunk in chunks(first, last)
        ]

    def sample(self, chunk: int) -> _Sample:
        """WORLDS worlds, the first of which is number `chunk * WORLDS`."""
        with self._lock:
            if chunk not in self._samples:
                sample = functools.partial(self._engine.worlds, self._family, self._knowledge, chunk)
                self._samples[chunk] = _Sample(sample)
                if len(self._samples) > KEPT:
                    del self._samples[next(iter(self._samples))]  # asked for again, it is sampled again
            found = self._samples[chunk] = self._samples.pop(chunk)  # the latest of all
            return found

    def expect(self, rounds: Sequence[search.Round], rollouts: int, moves: int, keep: int) -> None:
        """What will be asked for: these rounds, and a report of moves by a third of the rollouts, some to be kept."""
        self._chosen = rounds[-1].last
        finalists = min(moves, search.FINALISTS + keep)
        self._last = search.reporting_worlds(int(rollouts * (1 - search.CHOOSING)), moves, finalists)[1]

    def prepare(self, first: int, last: int) -> None:
        """Sample what is played next of the worlds `first` … `last` - 1, and what follows, so that no worker has to."""
        soon = [*chunks(first, last)][:AHEAD]
        if last <= self._chosen:
            following = [each for each in chunks(first, self._chosen) if each > soon[-1]][:AHEAD]
            soon = [*soon, *following, *chunks(search.REPORTING_WORLDS, self._last)][: 2 * AHEAD]
        for each in soon:
            self.sample(each)()


class _Playing:
    """The rollouts of one question: its roots, and what is being played."""

    def __init__(
        self, engine: Engine, roots: Any, worlds: _Worlds, question: Question, control: Control, line: Line
    ) -> None:
        self.engine = engine
        self.family = FAMILIES[question.family]
        self.roots = padded(roots, ROOTS)
        self.worlds = worlds
        self.sign = 1 if question.table.mover == 0 else -1
        self.line = line
        self.control = control
        self.begun: dict[tuple[int, int], Future[rollout.Results]] = {}

    def stop(self, required: bool) -> bool:
        """Whether to give up a call; a required one is not given up for want of time."""
        return self.control.stopped() or (not required and self.control.expired())

    def won(self, made: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Which roots, after so many moves each, end the game before anybody moves again, and win it; bool [N]."""
        results = self.play(range(len(made)), 0, 1, True)
        won: npt.NDArray[np.bool_] = (results.score[:, 0] == 2) & (results.moves[:, 0] == made)
        return won

    def begin(self, asked: Sequence[search.Part], required: bool) -> None:
        """Queue what `play` will be asked for, unless it is."""
        stop = functools.partial(self.stop, required)
        queued: list[Batch] = []
        for outcomes, first, last in asked:
            if (first, last) not in self.begun:
                root = np.tile(np.asarray(outcomes, np.int32), last - first)
                world = np.repeat(np.arange(first, last, dtype=np.int32), len(outcomes))
                queued.append(Batch(self.family.name, self.roots, self.worlds, root, world, stop))
                self.begun[first, last] = queued[-1].future
        if queued:
            self.engine.queue(self.line, queued)

    def play(self, outcomes: Sequence[int], first: int, last: int, required: bool) -> search.Results:
        """Worlds `first` … `last` - 1 with these roots, results [outcomes, worlds].

        What is `required` is not given up for want of time.
        """
        self.begin([(outcomes, first, last)], required)
        self.worlds.prepare(first, last)
        results = self.begun.pop((first, last)).result()

        def table(slots: Any) -> search.Counts:
            """Results of a task each, [outcomes, worlds]."""
            found: search.Counts = slots.astype(np.int64).reshape(last - first, len(outcomes)).T
            return found

        points = self.sign * table(results.points)
        return search.Results(
            points=points, score=score(self.family, points, table(results.ending)), moves=table(results.moves)
        )


def chunks(first: int, last: int) -> range:
    """The samples that the worlds `first` … `last` - 1 are in."""
    return range(first // WORLDS, (last - 1) // WORLDS + 1)


def win_buffer() -> jax.Array:
    """What `wins.find` keeps positions in, those of either family."""
    return zeros((WIN_NODES + 1, max(wins.width(packing) for packing in PACKINGS.values())), np.uint32)


def expand_program(moves: int) -> str:
    """The name of the program that tries so many moves of a turn."""
    return "expand" if moves == turns.AT_ONCE else f"expand/{moves}"


def rollout_program(device: int) -> str:
    """The name of the program that plays rollouts on a device, by the device's number."""
    return f"rollout/{device}" if device else "rollout"


def considered(legal: Sequence[int], only: frozenset[int], avoid: frozenset[int]) -> list[int]:
    """The legal actions that a question is about: those of `only`, all where it is empty, less those of `avoid`."""
    return [action for action in legal if action not in avoid and (action in only or not only)]


def suggested(actions: Sequence[int], pointless: frozenset[int], named: frozenset[int]) -> list[int]:
    """Those of the actions that are not pointless, or named; all where none is left."""
    return [action for action in actions if action not in pointless or action in named] or list(actions)


def score(
    family: Family[Any, Any, Any, Any], points: npt.NDArray[Any], ending: npt.NDArray[Any]
) -> npt.NDArray[np.int64]:
    """The half games that points and endings are worth to the player from whose view the points are."""
    won = 1 + np.sign(points.astype(np.int64))
    for each in family.ties:
        won[ending == each] = 1
    return won


def rows[Tree](table: Tree, first: int, last: int) -> Tree:
    """The rows `first` … `last` - 1 of a table. NumPy arrays."""
    chosen: Tree = jax.tree.map(lambda leaf: np.asarray(leaf)[..., first:last], table)
    return chosen


def padded[Tree](tree: Tree, size: int, fill: int = 0) -> Tree:
    """Fill the last axis of every leaf up to `size` entries with `fill`. Raises ValueError where it is longer."""

    def pad(leaf: Any) -> Any:
        count = leaf.shape[-1]
        if count > size:
            raise ValueError(f"{count} entries, at most {size} are supported")
        if count == size:
            return leaf
        wide = blank((*leaf.shape[:-1], size), leaf.dtype)
        wide[..., :count] = leaf
        if fill:  # zeros that nobody writes take no memory
            wide[..., count:] = fill
        return wide

    padded_tree: Tree = jax.tree.map(pad, tree)
    return padded_tree
