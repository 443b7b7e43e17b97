"""Whole turns: what a player can reach by choice alone, up to the next unknown card or the end of the turn.

Positions within a turn are the nodes of a graph, moves its edges; positions that differ in the order of like piles only
are one node. A node where the choice ends, for the turn or the game is over or something unknown comes to light, is an
*outcome* of the turn. Nodes are visited in the order of how often the way to them departs from what the rollout policy
would play (limited discrepancy search: Harvey and Ginsberg, 1995), many at once on the device.
"""

import dataclasses
import heapq
import itertools
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import jax
import numpy as np
import numpy.typing as npt

from zank_kernel.family import Family, Lanes

AT_ONCE: Final = 256  # moves tried in one call
NODES: Final = 1_024  # visited before the search of a turn is broken off …
WIN_NODES: Final = 3_072  # … unless the game may be won this turn, and no way to do so has been found
WIN_AT_ONCE: Final = 32  # moves tried in one call where that is looked for: the fewer, the deeper

BARRED: Final = -1  # instead of a node: a position that must not come back

type Mask = npt.NDArray[np.bool_]


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, kw_only=True)
class Reached[State: Lanes]:
    """Positions that moves lead to, and how a turn can go on from them, in AT_ONCE lanes."""

    state: State  # [B]
    legal: jax.Array  # bool [actions, B]
    choice: jax.Array  # int32 [B]: what the rollout policy would play
    goes_on: jax.Array  # bool [B]: the same player is to move, and knows all that the move brought to light
    key: jax.Array  # uint32 [2, B]: equal for positions that differ in the order of like piles only
    left: jax.Array  # int16 [B]: what the player still has to play to win, -1 = some of it is not known
    arrangement: jax.Array  # uint32 [2, B]: with the key, equal for positions that do not differ at all


def expand[State: Lanes, World, Knowledge, Table](
    family: Family[State, World, Knowledge, Table], state: State, action: jax.Array, player: jax.Array
) -> Reached[State]:
    """Where an action of `player` leads in each lane (int32 and int8 [B]; action -1: nowhere)."""
    after = family.play(state, action)
    return Reached(
        state=after,
        legal=family.legal(after),
        choice=family.choose(after),
        goes_on=family.goes_on(after, player),
        key=family.key(after),
        left=family.left(after, player),
        arrangement=family.arrangement(after),
    )


class Turn:
    """The moves to consider at the start of a turn, and the outcomes that they can lead to.

    `moves` are actions, those that lead to the same position together; `outcomes` states [N] (NumPy arrays); `reach`,
    bool [moves, N], says which outcomes can be reached by beginning with which move, `departures`, int64 [N], how often
    the way to each departs from what the rollout policy would play; `complete` whether these are all there are.
    """

    def __init__(self, graph: "_Graph", actions: Sequence[int], limit: int) -> None:
        groups: dict[int, list[int]] = {}
        for action in actions:
            groups.setdefault(graph.first[action], []).append(action)
        first = list(groups)
        reach = graph.reach(first)
        found = sorted(
            (node for node, each in enumerate(graph.nodes) if each.outcome),
            key=lambda node: graph.nodes[node].departures,
        )
        # A move from which no outcome was found stands for itself.
        found = [node for move, node in enumerate(first) if not any(reach[each] >> move & 1 for each in found)] + found
        wins = [node for node in found if graph.left(node) == 0]
        leading = [next(node for node in wins + found if reach[node] >> move & 1) for move in range(len(first))]
        kept = list(dict.fromkeys([*leading, *found]))[: max(limit, len(set(leading)))]
        kept.sort(key=lambda node: graph.nodes[node].departures)
        self.moves: Final = tuple(tuple(members) for members in groups.values())
        self.outcomes: Final[Any] = graph.states(kept)
        self.departures: Final = np.asarray([graph.nodes[node].departures for node in kept], np.int64)
        self.reach: Final[Mask] = bits([reach[node] for node in kept], len(first))
        self.complete: Final = not graph.waiting and len(kept) == len(found)
        self._graph = graph
        self._first = first
        self._kept = kept
        self._lines: dict[tuple[int, int], tuple[int, ...]] = {}

    def line(self, move: int, outcome: int) -> tuple[int, ...]:
        """A shortest way to an outcome that begins with a move, both by their index; the actions."""
        if (move, outcome) not in self._lines:
            start = self._first[move]
            way = self._graph.way(start, self._kept[outcome])
            self._lines[move, outcome] = self._graph.line([(self.moves[move][0], start), *way])
        return self._lines[move, outcome]


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Node:
    """A position within the turn: where its state is kept, and how it was reached."""

    reached: Reached[Any]  # what it is one lane of, NumPy arrays
    lane: int
    departures: int  # from what the rollout policy would play
    outcome: bool


class _Try(NamedTuple):
    """A move that waits to be tried, in the order of urgency."""

    left: int  # what is left to play where it is tried, if a win is looked for; else 0
    departures: int  # after it
    last: int  # the node of the last departure
    order: int
    node: int  # where it is tried
    action: int


class _Graph:
    """The positions of one turn as far as they are known; node 0 is its start."""

    def __init__(self, expand: Callable[[Any, npt.NDArray[np.int32]], Reached[Any]], root: Any) -> None:
        self._expand = expand
        size = root.ending.shape[-1]
        start = expand(root, np.full((size,), -1, np.int32))
        self.legal: list[int] = np.flatnonzero(start.legal[:, 0]).tolist()
        self.choice = int(start.choice[0])
        self.nodes = [_Node(reached=start, lane=0, departures=0, outcome=False)]
        self.edges: list[list[tuple[int, int]]] = [[]]  # of each node: action and the node that it leads to
        self.known = {start.key[:, lane].tobytes(): BARRED for lane in range(1, size)}
        self.known[start.key[:, 0].tobytes()] = 0
        self.first: dict[int, int] = {}  # the nodes that the first moves lead to
        self.waiting: list[_Try] = []
        self._order = 0
        self._wins_first = False
        self.won: bool = False  # whether a way to win this turn has been found

    def wait(self, node: int, actions: Sequence[int], choice: int, departures: int, last: int) -> None:
        """The moves of a node wait to be tried, the policy's as urgent as the node was."""
        left = self.left(node) if self._wins_first else 0
        for action in actions:
            urgency = (departures, last) if action == choice else (departures + 1, node)
            heapq.heappush(self.waiting, _Try(left, *urgency, self._order, node, action))
            self._order += 1

    def wins_first(self) -> None:
        """Let the moves wait in the order of what is left to play where they are tried."""
        self._wins_first = True
        self.waiting = [each._replace(left=self.left(each.node)) for each in self.waiting]
        heapq.heapify(self.waiting)

    def left(self, node: int) -> int:
        """What the player still has to play at a node to win; -1 = some of it is not known."""
        found = self.nodes[node]
        return int(found.reached.left[found.lane])

    def try_next(self) -> None:
        """Try the most urgent moves, as many as one call takes."""
        most = WIN_AT_ONCE if self._wins_first else AT_ONCE
        batch = [heapq.heappop(self.waiting) for _ in range(min(most, len(self.waiting)))]
        # Lanes that come from one call stand side by side: that is how they are copied fast.
        tried = sorted(batch, key=lambda each: id(self.nodes[each.node].reached))
        lanes = {each.order: lane for lane, each in enumerate(tried)}
        reached = self._expand(
            self.states([each.node for each in tried]), np.asarray([each.action for each in tried], np.int32)
        )
        goes_on, choices, left = reached.goes_on.tolist(), reached.choice.tolist(), reached.left.tolist()
        legal, keys = rows(np.asarray(reached.legal)), np.asarray(reached.key).T.tobytes()
        for _, departures, last, order, parent, action in batch:
            lane = lanes[order]
            key = keys[8 * lane : 8 * lane + 8]
            child = self.known.get(key)
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
            elif child > 0:
                self.edges[parent].append((action, child))

    def states(self, nodes: Sequence[int]) -> Any:
        """The states of nodes, one a lane. NumPy arrays."""
        places: dict[int, list[int]] = {}
        for place, node in enumerate(nodes):
            places.setdefault(id(self.nodes[node].reached), []).append(place)
        groups = list(places.values())
        sources = [self.nodes[nodes[group[0]]].reached.state for group in groups]
        lanes = [np.asarray([self.nodes[nodes[place]].lane for place in group]) for group in groups]
        order = np.concatenate([np.asarray(group) for group in groups])
        back = None if (order[1:] > order[:-1]).all() else np.argsort(order)

        def gathered(*parts: Any) -> Any:
            whole = np.concatenate([part.take(lane, axis=-1) for lane, part in zip(lanes, parts, strict=True)], axis=-1)
            return whole if back is None else whole.take(back, axis=-1)

        return jax.tree.map(gathered, *sources)

    def reach(self, first: Sequence[int]) -> list[int]:
        """For each node the first moves, as bits, by which it can be reached."""
        reach = [0] * len(self.nodes)
        for move, node in enumerate(first):
            reach[node] |= 1 << move
        waiting = deque(first)
        while waiting:
            node = waiting.popleft()
            for _, child in self.edges[node]:
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
            for action, child in self.edges[node]:
                if child != start and child not in came:
                    came[child] = (node, action)
                    waiting.append(child)
        way: list[tuple[int, int]] = []
        while goal != start:
            parent, action = came[goal]
            way.append((action, goal))
            goal = parent
        return way[::-1]

    def line(self, way: Sequence[tuple[int, int]]) -> tuple[int, ...]:
        """The actions of a way from the start.

        A node is kept as it was first reached. Where the way comes to it with like piles in another order, so do the
        actions from there on: they are found by playing them.
        """
        here, lane, exact = self.nodes[0].reached, 0, True
        line: list[int] = []
        for number, (action, goal) in enumerate(way, start=1):
            if exact and number == len(way):  # nothing follows that could be called otherwise
                line.append(action)
                break
            node = self.nodes[goal]
            actions = [action] if exact else np.flatnonzero(here.legal[:, lane]).tolist()
            here = self._expand(_copies(here.state, lane, len(actions)), np.asarray(actions, np.int32))
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


def _copies(state: Any, lane: int, count: int) -> Any:
    """One lane of a state so many times."""
    return jax.tree.map(lambda part: np.repeat(part[..., [lane]], count, axis=-1), state)


def explore(
    expand: Callable[[Any, npt.NDArray[np.int32]], Reached[Any]],
    root: Any,
    considered: Callable[[Sequence[int]], Sequence[int]],
    limit: int,
    nodes: int = NODES,
) -> Turn:
    """The turn that begins at the first lane of `root`; its other lanes are positions that must not come back.

    `expand` plays an action in each lane, -1 for none; `considered` chooses among the legal actions at the start. At
    most `limit` outcomes are kept, those first found, but at least one for every move; the search is broken off after
    about so many `nodes`. Where the game may be won this turn and no way to do so was found, it goes on to WIN_NODES,
    with what brings the player nearest to winning first.

    What a move leads to stands for its outcome where it leads back, or to no outcome that was found.
    """
    graph = _Graph(expand, root)
    actions = considered(graph.legal)
    graph.wait(0, actions, graph.choice, 0, 0)
    while graph.waiting and len(graph.nodes) < nodes:
        graph.try_next()
    if graph.left(0) > 0:
        graph.wins_first()
        while graph.waiting and not graph.won and len(graph.nodes) < WIN_NODES:
            graph.try_next()
    return Turn(graph, actions, limit)
