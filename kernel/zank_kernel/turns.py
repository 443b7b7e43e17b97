"""Whole turns: what a player can reach by choice alone, up to the next unknown card or the end of the turn.

Positions within a turn are the nodes of a graph, moves its edges; positions that differ in the order of like piles only
are one node. A node where the choice ends, for the turn or the game is over or something unknown comes to light, is an
*outcome* of the turn. Nodes are visited in the order of how often the way to them departs from what the rollout policy
would play (limited discrepancy search: Harvey and Ginsberg, 1995), many at once on the device. Where the game may be
won this turn, and the search was broken off before a way to do so was found, that is looked for (`zank_kernel.wins`).
"""

import dataclasses
import heapq
import itertools
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol

import jax
import numpy as np
import numpy.typing as npt

from zank_kernel.family import Family, Lanes
from zank_kernel.packed import Packing

AT_ONCE: Final = 256  # moves tried in one call
NODES: Final = 1_024  # visited before the search of a turn is broken off

type _Way = Sequence[tuple[int, int]]  # actions, and the nodes that they lead to
type Words = npt.NDArray[np.uint16]  # packed states, [words, B]
type Mask = npt.NDArray[np.bool_]

BARRED: Final = -1  # instead of a node: a position that must not come back


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, kw_only=True)
class Reached:
    """Positions that moves lead to, and how a turn can go on from them, one a lane."""

    words: jax.Array  # uint16 [words, B]: the states, packed
    legal: jax.Array  # bool [actions, B]
    choice: jax.Array  # int32 [B]: what the rollout policy would play
    goes_on: jax.Array  # bool [B]: the same player is to move, and knows all that the move brought to light
    key: jax.Array  # uint32 [2, B]: equal for positions that differ in the order of like piles only
    left: jax.Array  # int16 [B]: what the player still has to play to win, -1 = some of it is not known
    arrangement: jax.Array  # uint32 [2, B]: with the key, equal for positions that do not differ at all


def expand[State: Lanes, World, Knowledge, Table](
    family: Family[State, World, Knowledge, Table],
    packing: Packing[State],
    words: jax.Array,
    action: jax.Array,
    player: jax.Array,
) -> Reached:
    """Where an action of `player` leads in each lane of packed states (int32 and int8 [B]; action -1: nowhere)."""
    after = family.play(packing.unpack(words), action)
    return Reached(
        words=packing.pack(after),
        legal=family.legal(after),
        choice=family.choose(after),
        goes_on=family.goes_on(after, player),
        key=family.key(after),
        left=family.left(after, player),
        arrangement=family.arrangement(after),
    )


class Expand(Protocol):
    """Plays an action in each lane of packed states [words, B], -1 = none, and unpacks states. NumPy arrays."""

    def __call__(self, words: Words, actions: npt.NDArray[np.int32]) -> Reached:
        """Where the actions lead."""
        ...

    def state(self, words: Words) -> Any:
        """The states, unpacked."""
        ...

    def win(self, words: Words, actions: Sequence[int]) -> Sequence[int]:
        """A way to win this turn that begins with one of these actions; nothing where none was found.

        It leads from the first lane of `words`; the others are positions that must not come back.
        """
        ...


class Outcomes:
    """Outcomes of a turn, and which of them can be reached from where.

    They are asked for from some nodes, the *starts*. `outcomes` are states [N] (NumPy arrays); `reach`, bool
    [starts, N], says which can be reached from which start, `departures`, int64 [N], how often the way to each departs
    from what the rollout policy would play; `complete` whether these are all there are, `winnable` whether the player
    knows all the cards that are still to be played to win.
    """

    def __init__(self, graph: "_Graph", starts: Sequence[int], limit: int) -> None:
        reach = graph.reach(starts)
        if lacking := graph.lacking(starts, reach):
            for start in lacking:
                graph.finish(start)
            reach = graph.reach(starts)
        found = sorted(graph.outcomes, key=lambda node: graph.nodes[node].departures)
        # A start from which no outcome was found stands for itself.
        found = graph.lacking(starts, reach) + found
        wins = [node for node in found if graph.left(node) == 0]
        leading = [next(node for node in wins + found if reach[node] >> bit & 1) for bit in range(len(starts))]
        kept = list(dict.fromkeys([*leading, *found]))[: max(limit, len(set(leading)))]
        kept.sort(key=lambda node: graph.nodes[node].departures)
        self.outcomes: Final[Any] = graph.states(kept)
        self.departures: Final = np.asarray([graph.nodes[node].departures for node in kept], np.int64)
        self.reach: Final[Mask] = bits([reach[node] for node in kept], len(starts))
        self.complete: Final = not graph.waiting and len(kept) == len(found)
        self.winnable: Final = graph.left(0) > 0
        self._graph = graph
        self._starts = starts
        self._kept = kept
        self._lines: dict[tuple[int, int], tuple[int, ...]] = {}

    def line(self, start: int, outcome: int) -> tuple[int, ...]:
        """The actions of a shortest way from a start to an outcome, both by their index."""
        if (start, outcome) not in self._lines:
            way = self._graph.way(self._starts[start], self._kept[outcome])
            self._lines[start, outcome] = self._line(start, way)
        return self._lines[start, outcome]

    def _line(self, start: int, way: _Way) -> tuple[int, ...]:
        return self._graph.line(self._starts[start], way)


class Turn(Outcomes):
    """The moves to consider at the start of a turn, and the outcomes that they can lead to, which start there.

    `moves` are actions, those that lead to the same position together.
    """

    def __init__(self, graph: "_Graph", actions: Sequence[int], limit: int) -> None:
        groups: dict[int, list[int]] = {}
        for action in actions:
            groups.setdefault(graph.first[action], []).append(action)
        super().__init__(graph, list(groups), limit)
        self.moves: Final = tuple(tuple(members) for members in groups.values())

    def _line(self, start: int, way: _Way) -> tuple[int, ...]:
        return self._graph.line(0, [(self.moves[start][0], self._starts[start]), *way])


class Played(Outcomes):
    """The positions that moves played in a turn went through, which start here, and the outcomes still to be reached.

    The first position is the start of the turn. `moves` are the actions played, one in each position but the last;
    `choices`, the actions to consider in each of those, those that lead to the same position counted once; `end`, the
    last position as a state [1] (NumPy arrays), before any card due is drawn.
    """

    def __init__(self, graph: "_Graph", nodes: Sequence[int], actions: Sequence[int], limit: int) -> None:
        super().__init__(graph, nodes, limit)
        self.moves: Final = tuple((action,) for action in actions)
        self.choices: Final = graph.choices(nodes)
        self.end: Final[Any] = graph.states(nodes[-1:])


@dataclasses.dataclass(kw_only=True, slots=True)
class _Node:
    """A position within the turn: where its state is kept, and how it was reached."""

    reached: Reached  # what it is one lane of, NumPy arrays
    lane: int
    departures: int  # from what the rollout policy would play
    outcome: bool


# A move that waits to be tried, in the order of urgency: departures after it; the node of the last departure; its
# number; the node where it is tried; the action.
type _Try = tuple[int, int, int, int, int]
NODE: Final = 3


class _Graph:
    """The positions of one turn as far as they are known; node 0 is its start.

    Whether moves may lead back to it is for who asks to say: `returns`.
    """

    def __init__(self, expand: Expand, root: Words, *, returns: bool = False) -> None:
        self._expand = expand
        self._root = root
        size = root.shape[-1]
        start = expand(root, np.full((size,), -1, np.int32))
        self.legal: list[int] = np.flatnonzero(start.legal[:, 0]).tolist()
        self.choice = int(start.choice[0])
        self.nodes = [_Node(reached=start, lane=0, departures=0, outcome=False)]
        self.edges: list[list[tuple[int, int]]] = [[]]  # of each node: action and the node that it leads to
        self.known = {start.key[:, lane].tobytes(): BARRED for lane in range(1, size)}
        self.known[start.key[:, 0].tobytes()] = 0
        self.first: dict[int, int] = {}  # the nodes that the first moves lead to
        self.waiting: list[_Try] = []
        self._returns = returns
        self._order = 0
        self.won: bool = False  # whether a way to win this turn has been found

    def wait(self, node: int, actions: Sequence[int], choice: int, departures: int, last: int) -> None:
        """The moves of a node wait to be tried, the policy's as urgent as the node was."""
        waiting = self.waiting
        for order, action in enumerate(actions, start=self._order):
            if action == choice:
                heapq.heappush(waiting, (departures, last, order, node, action))
            else:
                heapq.heappush(waiting, (departures + 1, node, order, node, action))
        self._order += len(actions)

    def following(self, node: int) -> Sequence[tuple[int, int]]:
        """The moves of a node that were tried: actions and the nodes that they lead to."""
        return list(self.first.items()) if node == 0 else self.edges[node]

    def left(self, node: int) -> int:
        """What the player still has to play at a node to win; -1 = some of it is not known."""
        found = self.nodes[node]
        return int(found.reached.left[found.lane])

    def grow(self, nodes: int) -> None:
        """Try what waits until there are about so many nodes."""
        while self.waiting and len(self.nodes) < nodes:
            self._try([heapq.heappop(self.waiting) for _ in range(min(AT_ONCE, len(self.waiting)))])

    def win(self) -> None:
        """Look for a way to win this turn, if there may be one and none was found."""
        if self.left(0) > 0 and self.waiting and not self.won:
            # Of first moves that lead to the same node the one by which it was found: what that makes of the table.
            firsts: dict[int, int] = {}
            for action, child in self.first.items():
                firsts.setdefault(child, action)
            node = 0
            for action in self._expand.win(self._root, [*firsts.values()]):
                node = self._made(node, action)

    @property
    def outcomes(self) -> list[int]:
        """The nodes that are outcomes of the turn."""
        return [node for node, each in enumerate(self.nodes) if each.outcome]

    def lacking(self, starts: Sequence[int], reach: Sequence[int]) -> list[int]:
        """The starts from which no outcome can be reached, by what `reach` says."""
        outcomes = self.outcomes
        return [start for bit, start in enumerate(starts) if not any(reach[each] >> bit & 1 for each in outcomes)]

    def finish(self, node: int) -> None:
        """Let the rollout policy play on from a node to an outcome, unless it comes back to where it was."""
        been = {BARRED}
        while node not in been and not self.nodes[node].outcome:
            been.add(node)
            here = self.nodes[node]
            node = self._made(node, int(here.reached.choice[here.lane]))

    def _made(self, node: int, action: int, *others: _Try) -> int:
        """The node of what an action makes of the table at a node, piles in their order included; others are tried.

        BARRED where that must not come back.
        """
        here = self.nodes[node]
        # Tried before, it may have been taken to lead to a position with like piles in another order.
        departures = here.departures + (action != int(here.reached.choice[here.lane]))
        played = (departures, node, self._order, node, action)
        self._order += 1
        self._try([played, *others], played)
        return dict(self.following(node)).get(action, BARRED)

    def follow(self, moves: Sequence[Callable[[Any, int], int]]) -> tuple[list[int], list[int]]:
        """Try the moves that were played, and all others where they were, as far as the turn can be planned.

        `moves` say the action of each by the state before it and its lane. Returns the nodes that they went through,
        node 0 first, and the actions.
        """
        nodes, actions = [0], []
        for move in moves:
            node = nodes[-1]
            if self.nodes[node].outcome:
                break
            action = move(self.states([node]), 0)
            others = [each for each in self.waiting if each[NODE] == node and each[-1] != action]
            self.waiting = [each for each in self.waiting if each[NODE] != node]
            heapq.heapify(self.waiting)
            nodes.append(self._made(node, action, *others))
            actions.append(action)
        return nodes, actions

    def choices(self, nodes: Sequence[int]) -> tuple[int, ...]:
        """How many moves there were at each of the nodes gone through, but for the last, to different positions.

        One that changes nothing (B11) counts where it was played only.
        """

        def key(node: int) -> bytes:
            found = self.nodes[node]
            return found.reached.key[:, found.lane].tobytes()

        return tuple(
            len({key(child) for _, child in self.following(node)} - {key(node)} | {key(after)})
            for node, after in itertools.pairwise(nodes)
        )

    def _try(self, batch: Sequence[_Try], played: _Try | None = None) -> None:
        """Try moves in one call.

        The one that was `played` leads to a node that is what it made of the table, piles in their order included.
        """
        # Lanes that come from one call stand side by side: that is how they are copied fast.
        tried = sorted(batch, key=lambda each: id(self.nodes[each[NODE]].reached))
        lanes = {each: lane for lane, each in enumerate(tried)}
        reached = self._expand(
            self._words([each[NODE] for each in tried]), np.asarray([each[-1] for each in tried], np.int32)
        )
        goes_on, choices, left = reached.goes_on.tolist(), reached.choice.tolist(), reached.left.tolist()
        legal, keys = rows(np.asarray(reached.legal)), np.asarray(reached.key).T.tobytes()
        for each in batch:
            departures, last, _, parent, action = each
            lane = lanes[each]
            key = keys[8 * lane : 8 * lane + 8]
            child = self.known.get(key)
            if each is played and child is not None and not self._is_here(child, reached, lane):
                child = None
            if child is None or (parent == 0 and child <= 0):  # a first move that leads back has a node of its own
                following = legal[lane] if goes_on[lane] and child is None else []
                node = len(self.nodes)
                self.nodes.append(_Node(reached=reached, lane=lane, departures=departures, outcome=not following))
                self.edges.append([])
                self.won |= left[lane] == 0
                self.wait(node, following, choices[lane], departures, last)
                if child is None:
                    self.known[key] = node
                child = node
            if parent == 0:
                self.first[action] = child
            elif child > 0 or (child == 0 and self._returns):
                self.edges[parent].append((action, child))

    def _is_here(self, node: int, reached: Reached, lane: int) -> bool:
        """Whether a node of the same key is what is in a lane, or the order of its piles does not matter any more."""
        known = self.nodes[node] if node >= 0 else None
        return known is not None and (
            known.outcome or bool((reached.arrangement[:, lane] == known.reached.arrangement[:, known.lane]).all())
        )

    def states(self, nodes: Sequence[int]) -> Any:
        """The states of nodes, one a lane. NumPy arrays."""
        return self._expand.state(self._words(nodes))

    def _words(self, nodes: Sequence[int]) -> Words:
        """The packed states of nodes, one a lane."""
        places: dict[int, list[int]] = {}
        for place, node in enumerate(nodes):
            places.setdefault(id(self.nodes[node].reached), []).append(place)
        parts, order = [], []
        for group in places.values():
            words = np.asarray(self.nodes[nodes[group[0]]].reached.words)
            parts.append(words.take([self.nodes[nodes[place]].lane for place in group], axis=-1))
            order += group
        together = np.concatenate(parts, axis=-1)
        return together if order == sorted(order) else together.take(np.argsort(order), axis=-1)

    def reach(self, starts: Sequence[int]) -> list[int]:
        """For each node the starts, as bits, from which it can be reached."""
        reach = [0] * len(self.nodes)
        for bit, node in enumerate(starts):
            reach[node] |= 1 << bit
        waiting = deque(starts)
        while waiting:
            node = waiting.popleft()
            for _, child in self.following(node):
                if reach[child] | reach[node] != reach[child]:
                    reach[child] |= reach[node]
                    waiting.append(child)
        return reach

    def way(self, start: int, goal: int) -> list[tuple[int, int]]:
        """A shortest way between two nodes: actions and the nodes that they lead to."""
        came: dict[int, tuple[int, int]] = {}
        waiting = deque([start])
        while waiting and goal != start and goal not in came:
            node = waiting.popleft()
            for action, child in self.following(node):
                if child != start and child not in came:
                    came[child] = (node, action)
                    waiting.append(child)
        way: list[tuple[int, int]] = []
        while goal != start:
            parent, action = came[goal]
            way.append((action, goal))
            goal = parent
        return way[::-1]

    def line(self, start: int, way: _Way) -> tuple[int, ...]:
        """The actions of a way from a node.

        A node is kept as it was first reached. Where the way comes to it with like piles in another order, so do the
        actions from there on: they are found by playing them.
        """
        here, lane, exact = self.nodes[start].reached, self.nodes[start].lane, True
        line: list[int] = []
        for number, (action, goal) in enumerate(way, start=1):
            if exact and number == len(way):  # nothing follows that could be called otherwise
                line.append(action)
                break
            node = self.nodes[goal]
            actions = [action] if exact else np.flatnonzero(here.legal[:, lane]).tolist()
            here = self._expand(np.repeat(here.words[:, [lane]], len(actions), axis=-1), np.asarray(actions, np.int32))
            same = (here.key[:, : len(actions)] == node.reached.key[:, [node.lane]]).all(axis=0)
            assert same.any()
            lane = int(same.argmax())
            exact = bool((here.arrangement[:, lane] == node.reached.arrangement[:, node.lane]).all())
            line.append(actions[lane])
        return tuple(line)


def rows(mask: Mask) -> list[list[int]]:
    """In each lane of a mask [N, B] the rows where it is true."""
    lane, row = np.nonzero(mask.T)
    ends = np.searchsorted(lane, np.arange(mask.shape[-1] + 1)).tolist()
    found = row.tolist()
    return [found[begin:end] for begin, end in itertools.pairwise(ends)]


def bits(words: Sequence[int], count: int) -> Mask:
    """The bits of words that have `count` each, the lowest first, bool [count, words]."""
    size = -(-count // 8)
    together = np.frombuffer(b"".join(word.to_bytes(size, "little") for word in words), np.uint8)
    mask = np.unpackbits(together.reshape(len(words), size), axis=-1, count=count, bitorder="little")
    return mask.T.astype(np.bool_)


def explore(
    expand: Expand,
    root: Words,
    considered: Callable[[Sequence[int]], Sequence[int]],
    limit: int,
    nodes: int = NODES,
) -> Turn:
    """The turn that begins at the first lane of `root`; its other lanes are positions that must not come back.

    `considered` chooses among the legal actions at the start. At most `limit` outcomes are kept, those first found, but
    at least one for every move; the search is broken off after about so many `nodes`. Where the game may be won this
    turn and no way to do so was found, one is looked for by `expand.win`.

    What a move leads to stands for its outcome where it leads back, or to no outcome that was found.
    """
    graph = _Graph(expand, root)
    actions = considered(graph.legal)
    graph.wait(0, actions, graph.choice, 0, 0)
    graph.grow(nodes)
    graph.win()
    return Turn(graph, actions, limit)


def retrace(
    expand: Expand,
    root: Words,
    considered: Callable[[Sequence[int]], Sequence[int]],
    limit: int,
    moves: Sequence[Callable[[Any, int], int]],
    nodes: int = NODES,
) -> Played:
    """The positions that `moves` went through from the first lane of `root` on, and what could be reached from each.

    As `explore`, but at least one outcome is kept for every position. `moves` say the action of each by the state
    before it and its lane, the first one of those `considered`; they are followed as far as the turn can be planned.
    """
    graph = _Graph(expand, root, returns=True)  # legal, if nothing to suggest (B12): what is undone cost nothing
    graph.wait(0, considered(graph.legal), graph.choice, 0, 0)
    # First, so that what leads to an outcome is what departs least from the policy, not what was played.
    graph.grow(nodes)
    graph.win()
    went, actions = graph.follow(moves)
    graph.grow(nodes)
    return Played(graph, went, actions, limit)
