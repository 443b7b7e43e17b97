"""A way to win this turn, looked for in one program.

Where the player knows all the cards that are still to be played, the positions of the turn are visited in three orders
at once, moves from each of which are tried in turns, for each gets stuck where the others do not:

- where fewest cards are left (greedy best-first search);
- where each number of cards is left, one after the other (type-based exploration: Xie, Müller, Holte and Imai, 2014);
- where the way departs least from what the rollout policy would play (limited discrepancy search: Harvey and Ginsberg,
  1995).

Among equals those go first that were found first.
"""

import dataclasses
from collections.abc import Callable
from typing import Any, Final

import jax
import jax.numpy as jnp
import numpy as np

from zank_kernel.family import Family, Lanes
from zank_kernel.lanes import fold, stage
from zank_kernel.packed import HALF, Packing

LANES: Final = 64  # moves tried at a time
SHARES: Final = (32, 48)  # the lanes of the first order end here, those of the second here
QUEUES: Final = 64  # numbers of cards left, and of departures, that are told apart
SPARSE: Final = 4  # places in the table of keys for each node
WORD: Final = 32  # bits

NOBODY: Final = -1  # instead of a node

BY_LEFT, BY_DEPARTURES = 0, 1  # sets of queues


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, kw_only=True)
class Found:
    """The nodes of a search: node 0 is where it began, each other one was reached by an action from its parent."""

    parent: jax.Array  # int32 [nodes]
    action: jax.Array  # int32 [nodes]
    count: jax.Array  # int32 []: nodes there are
    won: jax.Array  # int32 []: the one where the game is won, NOBODY = none was found
    complete: jax.Array  # bool []: whether all positions of the turn have been visited, or a win was found


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, kw_only=True)
class _Search:
    """What the loop carries: nodes, their keys, and those with actions to be tried, in two sets of queues."""

    rows: jax.Array  # uint32 [nodes + 1, pairs]: the positions; the last node is nobody's
    untried: jax.Array  # uint32 [nodes + 1, masks]: actions to be tried
    choice: jax.Array  # int32 [nodes + 1]: what the rollout policy would play
    departures: jax.Array  # int32 [nodes + 1]: on the way here
    parent: jax.Array  # int32 [nodes + 1]
    action: jax.Array  # int32 [nodes + 1]
    keys: jax.Array  # uint32 [places + 1, 2]: a hash table with open addressing; 0 = free
    following: tuple[jax.Array, jax.Array]  # int32 [nodes + 1]: the next node of the same queue
    first: tuple[jax.Array, jax.Array]  # int32 [QUEUES]: of each queue
    last: tuple[jax.Array, jax.Array]  # int32 [QUEUES]
    turn: jax.Array  # int32 []: the queue by cards left that is next in turn
    count: jax.Array  # int32 []: nodes there are
    won: jax.Array  # int32 []


def find[State: Lanes, World, Knowledge, Table](
    family: Family[State, World, Knowledge, Table],
    packing: Packing[State],
    buffer: jax.Array,
    root: jax.Array,
    considered: jax.Array,
    player: jax.Array,
    limit: jax.Array,
) -> tuple[jax.Array, Found]:
    """Look for a way to win from the first lane of `root`, packed states [words, B], by the actions `considered` there.

    `considered` is bool [actions]; the other lanes of `root` are positions that must not come back. `player`, int8 [],
    is to move. `limit`, int32 [], says how many positions to visit at most. `buffer`, uint32 [nodes + 1, `width` or
    more], is for these positions, and holds as many as there are nodes: what lies in it is overwritten, and it is
    returned for the next search.
    """
    nodes = buffer.shape[0] - 1
    places, size, actions = SPARSE * nodes, root.shape[0], considered.shape[0]
    masks = -(-actions // WORD)
    players = jnp.full((LANES,), player)

    def bits(legal: jax.Array) -> jax.Array:
        """Actions [actions, B] as the bits of words, uint32 [B, masks]."""
        wide = jnp.concatenate([legal, jnp.zeros((masks * WORD - actions, legal.shape[1]), bool)])
        parts = stage(wide.reshape(masks, WORD, -1)).swapaxes(0, 1).astype(jnp.uint32)
        return fold(jnp.bitwise_or, parts << jnp.arange(WORD, dtype=jnp.uint32)[:, None, None]).T

    def place_of(keys: jax.Array, key: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Where a key, uint32 [2], stands in the table or could, and whether it does."""

        def other(place: jax.Array) -> jax.Array:
            here = row(keys, place)
            return (here != 0).any() & (here != key).any()

        begin = (key[0] % jnp.uint32(places)).astype(jnp.int32)
        place = jax.lax.while_loop(other, lambda place: (place + 1) % places, begin)
        return place, (row(keys, place) == key).all()

    def select(now: _Search) -> tuple[_Search, jax.Array, jax.Array]:
        """The next moves to try: nodes and actions, int32 [LANES]; NOBODY and 0 where there are none."""

        def lowest(queues: int, least: jax.Array | int, first: tuple[jax.Array, jax.Array]) -> jax.Array:
            """The first queue from `least` on that is not empty, QUEUES if there is none."""
            number = jnp.arange(QUEUES, dtype=jnp.int32)
            return jnp.min(jnp.where((first[queues] >= 0) & (number >= least), number, QUEUES))

        type Carry = tuple[jax.Array, tuple[jax.Array, jax.Array], jax.Array, jax.Array, jax.Array]

        def one(queues: int, in_turn: bool) -> Callable[[jax.Array, Carry], Carry]:
            def take(lane: jax.Array, carry: Carry) -> Carry:
                untried, first, turn, chosen, tried = carry
                queue = lowest(queues, 0, first)
                if in_turn:
                    following = lowest(queues, turn, first)
                    queue = jnp.where(following < QUEUES, following, queue)
                    turn = queue + 1
                there = queue < QUEUES
                queue = jnp.minimum(queue, QUEUES - 1)
                head = at(first[queues], queue)
                node = jnp.where(there, head, nodes)
                mask = stage(row(untried, node))
                # One that has been tried to the end by way of its other queue leaves this one.
                part = jnp.min(jnp.where(mask != 0, jnp.arange(masks, dtype=jnp.int32), masks))
                some = part < masks
                word = at(mask, jnp.minimum(part, masks - 1))
                bit = word & (~word + 1)
                rest = stage(jnp.where(jnp.arange(masks) == part, mask ^ bit, mask))
                done = there & (rest == 0).all()
                changed = put(first[queues], queue, jnp.where(done, at(now.following[queues], node), head))
                return (
                    put_row(untried, node, rest),
                    (changed, first[1]) if queues == BY_LEFT else (first[0], changed),
                    turn,
                    put(chosen, lane, jnp.where(some, node, NOBODY)),
                    put(tried, lane, part * WORD + jax.lax.population_count(bit - 1).astype(jnp.int32)),
                )

            return take

        nobody = jnp.full((LANES,), NOBODY, jnp.int32)
        carry: Carry = (now.untried, now.first, now.turn, nobody, nobody)
        carry = jax.lax.fori_loop(0, SHARES[0], one(BY_LEFT, False), carry)
        carry = jax.lax.fori_loop(SHARES[0], SHARES[1], one(BY_LEFT, True), carry)
        untried, first, turn, chosen, tried = jax.lax.fori_loop(SHARES[1], LANES, one(BY_DEPARTURES, False), carry)
        return dataclasses.replace(now, untried=untried, first=first, turn=turn), chosen, tried

    def block(now: _Search) -> _Search:
        now, chosen, tried = select(now)
        before = stage(now.rows[jnp.where(chosen < 0, nodes, chosen), : width(packing)])
        after = stage(
            family.play(stage(packing.unpack(apart(stage(before.T), size))), jnp.where(chosen < 0, NOBODY, tried))
        )
        goes_on, left = family.goes_on(after, players), family.left(after, players).astype(jnp.int32)
        legal, choice = stage((family.legal(after) & goes_on, family.choose(after)))
        departures = now.departures[chosen] + (tried != now.choice[chosen])
        untried, keys, rows = bits(legal), family.key(after).T, stage(pairs(packing.pack(after))).T
        queue = (jnp.clip(left, 0, QUEUES - 1), jnp.clip(departures, 0, QUEUES - 1))
        values = stage((chosen, tried, left, choice, departures, untried, keys, rows, queue))

        def one(lane: jax.Array, now: _Search) -> _Search:
            chosen, tried, left, choice, departures, untried, keys, rows, queue = values
            key, mask = row(keys, lane), row(untried, lane)
            place, known = place_of(now.keys, key)
            new = ~known & (at(chosen, lane) >= 0)
            node = jnp.where(new, now.count, nodes)
            waits = new & (mask != 0).any()
            following, first, last = [], [], []
            for queues in (BY_LEFT, BY_DEPARTURES):
                mine = at(queue[queues], lane)
                head, tail = at(now.first[queues], mine), at(now.last[queues], mine)
                link = jnp.where(waits & (head >= 0), tail, nodes)
                following.append(put(put(now.following[queues], node, jnp.int32(NOBODY)), link, node))
                first.append(put(now.first[queues], mine, jnp.where(waits & (head < 0), node, head)))
                last.append(put(now.last[queues], mine, jnp.where(waits, node, tail)))
            return _Search(
                rows=put_row(now.rows, node, row(rows, lane)),
                untried=put_row(now.untried, node, jnp.where(new, mask, 0)),
                choice=put(now.choice, node, at(choice, lane)),
                departures=put(now.departures, node, at(departures, lane)),
                parent=put(now.parent, node, at(chosen, lane)),
                action=put(now.action, node, at(tried, lane)),
                keys=put_row(now.keys, jnp.where(new, place, places), key),
                following=(following[0], following[1]),
                first=(first[0], first[1]),
                last=(last[0], last[1]),
                turn=now.turn,
                count=now.count + new,
                won=jnp.where(new & (now.won < 0) & (at(left, lane) == 0), node, now.won),
            )

        result: _Search = jax.lax.fori_loop(0, LANES, one, now)
        return result

    def waits(now: _Search) -> jax.Array:
        """Whether there is anything to be tried: each node that has it is in both of its queues."""
        return (now.first[BY_LEFT] >= 0).any()

    def goes_on(now: _Search) -> jax.Array:
        return (now.won < 0) & (now.count <= jnp.minimum(limit, nodes) - LANES) & waits(now)

    def note(lane: jax.Array, keys: jax.Array) -> jax.Array:
        key = row(known, lane)
        place, _ = place_of(keys, key)
        return put_row(keys, place, key)

    state = packing.unpack(root)
    known = family.key(state).T
    alone = jnp.where(jnp.arange(QUEUES) == 0, 0, NOBODY).astype(jnp.int32)
    none = jnp.full((nodes + 1,), NOBODY, jnp.int32)
    start = _Search(
        rows=put_row(buffer, jnp.int32(0), pairs(root[:, :1])[:, 0]),
        untried=put_row(jnp.zeros((nodes + 1, masks), jnp.uint32), jnp.int32(0), bits(considered[:, None])[0]),
        choice=put(none, jnp.int32(0), family.choose(state)[0]),
        departures=jnp.zeros((nodes + 1,), jnp.int32),
        parent=none,
        action=none,
        keys=jax.lax.fori_loop(0, root.shape[1], note, jnp.zeros((places + 1, 2), jnp.uint32)),
        following=(none, none),
        first=(alone, alone),
        last=(jnp.zeros((QUEUES,), jnp.int32), jnp.zeros((QUEUES,), jnp.int32)),
        turn=jnp.int32(0),
        count=jnp.int32(1),
        won=jnp.int32(NOBODY),
    )
    end = jax.lax.while_loop(goes_on, block, start)
    return end.rows, Found(
        parent=end.parent[:nodes],
        action=end.action[:nodes],
        count=end.count,
        won=end.won,
        complete=(end.won >= 0) | ~waits(end),
    )


def way(found: Found) -> tuple[int, ...]:
    """The actions that lead to where the game is won; nothing where no way was found."""
    parent, action = np.asarray(found.parent), np.asarray(found.action)
    node, actions = int(found.won), []
    while node > 0:
        actions.append(int(action[node]))
        node = int(parent[node])
    return tuple(reversed(actions))


def width(packing: Packing[Any]) -> int:
    """Pairs of words that a position takes."""
    return -(-packing.words // 2)


def pairs(words: jax.Array) -> jax.Array:
    """Words, uint16 [words, B], two and two in one, uint32 [pairs, B]: as fast to copy, each."""
    even = jnp.concatenate([words, jnp.zeros((len(words) % 2, words.shape[1]), words.dtype)])
    low, high = even[: len(even) // 2].astype(jnp.uint32), even[len(even) // 2 :].astype(jnp.uint32)
    return low | high << HALF


def apart(pairs: jax.Array, size: int) -> jax.Array:
    """The words [size, B] that pairs were made of."""
    return jnp.concatenate([pairs.astype(jnp.uint16), (pairs >> HALF).astype(jnp.uint16)])[:size]


def at(values: jax.Array, place: jax.Array) -> jax.Array:
    """The value in a place that there is, of an array [N]."""
    value: jax.Array = jax.lax.dynamic_slice(values, (place,), (1,))[0]
    return value


def put(values: jax.Array, place: jax.Array, value: jax.Array) -> jax.Array:
    """An array [N] with a value in a place that there is."""
    changed: jax.Array = jax.lax.dynamic_update_slice(values, value[None], (place,))
    return changed


def row(values: jax.Array, place: jax.Array) -> jax.Array:
    """The row in a place that there is, of an array [N, M]."""
    found: jax.Array = jax.lax.dynamic_slice(values, (place, jnp.int32(0)), (1, values.shape[1]))[0]
    return found


def put_row(values: jax.Array, place: jax.Array, value: jax.Array) -> jax.Array:
    """An array [N, M] with a row in a place that there is."""
    changed: jax.Array = jax.lax.dynamic_update_slice(values, value[None], (place, jnp.int32(0)))
    return changed
