"""Shortest paths to a payoff card: plays to the center within one turn, with known cards only (M5)."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Final, NamedTuple

from zank.cards import KING, QUEEN
from zank.v1 import MalicePlayer
from zank_kernel.malice.rules import Rules
from zank_kernel.malice.state import SIDES
from zank_service.malice.piles import rank, ranks

MOST_LAYOUTS: Final = 1_000  # that a search looks at; one that needs more finds no path

# What plays of one turn change: the heights of the center stacks in order of size, the cards left on each side stack,
# and a bit for each hand card still held. It fixes how many cards were played.
type Layout = tuple[tuple[int, ...], tuple[int, ...], int]


class Played(NamedTuple):
    """A card of a path and the place it is played from: "P", "H" or "S1" to "S4"."""

    card: str
    place: str


class _Step(NamedTuple):
    """A play from a source as the kernel numbers them, not the payoff pile, to a center stack of some height."""

    source: int
    height: int
    after: Layout


class _Onward(NamedTuple):
    """How a shortest path goes on from a layout; no step where the payoff card is next."""

    kings: int  # played from here on
    step: _Step | None


class PayoffPaths:
    """The shortest paths to the mover's payoff card that draw no card, searched for once and when first asked for."""

    def __init__(self, mover: MalicePlayer, heights: Sequence[int], rules: Rules) -> None:
        self._mover = mover
        self._heights = heights
        self._rules = rules
        self._payoff = rank(mover.payoff.cards[-1])
        self._hand = ranks(mover.hand)
        self._sides = [ranks(pile) for pile in mover.sides]

    def rest(self, source: int, center: int) -> list[Played] | None:
        """What is to be played after a legal play from `source` to the center stack with this index, payoff card last.

        None where no shortest path starts with it, or where that is not known. Of several paths it is one with the
        fewest kings, then the first in order of sources and heights.
        """
        start = self._starts.get((source, self._heights[center]))
        return None if start is None else list(self._path(start))

    @cached_property
    def _starts(self) -> dict[tuple[int, int], Layout]:
        """The layouts after the first plays of shortest paths, by source and height."""
        steps = self._steps(self._root) if self._onward else []
        return {(step.source, step.height): step.after for step in steps if step.after in self._onward}

    @property
    def _root(self) -> Layout:
        held = (1 << len(self._hand)) - 1
        return tuple(sorted(self._heights)), tuple(map(len, self._sides)), held

    def _path(self, layout: Layout) -> Iterator[Played]:
        """The rest of a shortest path from one of its layouts."""
        while (step := self._onward[layout].step) is not None:
            _, left, _ = layout
            if step.source <= SIDES:
                side = step.source - 1
                yield Played(self._mover.sides[side].cards[left[side] - 1], f"S{step.source}")
            else:
                yield Played(self._mover.hand.cards[step.source - 1 - SIDES], "H")
            layout = step.after
        yield Played(self._mover.payoff.cards[-1], "P")

    @cached_property
    def _onward(self) -> dict[Layout, _Onward]:
        """How to go on from every layout on a shortest path; empty where there is no path, or none was found."""
        depths: list[dict[Layout, list[_Step]]] = []  # layouts after so many plays and the steps from there
        frontier = [self._root]
        looked_at = 1
        while frontier:
            reached = [layout for layout in frontier if self._fitting(self._payoff, layout[0])]
            if reached:
                return self._traced(depths, reached)
            steps = {layout: self._steps(layout) for layout in frontier}
            depths.append(steps)
            frontier = list({step.after: None for layout in frontier for step in steps[layout]})
            looked_at += len(frontier)
            if looked_at > MOST_LAYOUTS:
                break
        return {}

    def _traced(self, depths: list[dict[Layout, list[_Step]]], reached: list[Layout]) -> dict[Layout, _Onward]:
        """The layouts from which those in `reached` can be come to, and how."""
        onward = {layout: _Onward(0, None) for layout in reached}
        for steps in reversed(depths):
            for layout, choices in steps.items():
                ways = [
                    _Onward(onward[step.after].kings + self._is_king(layout, step), step)
                    for step in choices
                    if step.after in onward
                ]
                if ways:
                    onward[layout] = min(ways, key=lambda way: way.kings)
        return onward

    def _steps(self, layout: Layout) -> list[_Step]:
        """The plays that leave the turn and the hand going on, a stack of some height standing for all of it."""
        heights, left, held = layout
        steps = []
        if not self._rules.side_play_ends_turn:
            for side, count in enumerate(left):
                if count:
                    fitting = self._fitting(self._sides[side][count - 1], heights)
                    if fitting:
                        fewer = (*left[:side], count - 1, *left[side + 1 :])
                        steps += [_Step(1 + side, height, (_grown(heights, height), fewer, held)) for height in fitting]
        if held & (held - 1):  # the last card brings new ones (M8), which nobody knows
            tried = set()
            for slot, card in enumerate(self._hand):
                if held >> slot & 1 and card not in tried:
                    tried.add(card)  # of equal ranks the first listed leaves
                    steps += [
                        _Step(1 + SIDES + slot, height, (_grown(heights, height), left, held ^ 1 << slot))
                        for height in self._fitting(card, heights)
                    ]
        return steps

    def _fitting(self, card: int, heights: tuple[int, ...]) -> Sequence[int]:
        """Heights of the center stacks that a card of this rank fits (M3, M4), each once."""
        if card == KING:
            return sorted({height for height in heights if height or self._rules.wild_starts_stack})
        return (card - 1,) if card - 1 in heights else ()

    def _is_king(self, layout: Layout, step: _Step) -> bool:
        if step.source > SIDES:
            return self._hand[step.source - 1 - SIDES] == KING
        return self._sides[step.source - 1][layout[1][step.source - 1] - 1] == KING


def _grown(heights: tuple[int, ...], height: int) -> tuple[int, ...]:
    """The heights after a play to a stack of this height; a complete stack is empty again (M9)."""
    grown = list(heights)
    grown[grown.index(height)] = (height + 1) % QUEEN
    grown.sort()
    return tuple(grown)
