"""Cards that a request reveals, because a position does not give what a move brings to light."""

from collections.abc import Callable, Sequence

from zank.v1 import Reveal, Slot
from zank_service.limits import SHOWN
from zank_service.pile_checks import misnamed
from zank_service.refusals import Violations


class Reveals:
    """The cards of a request, taken slot by slot as they come to light; `given` is its field `reveals`.

    `places` are the places where cards of this family come to light; with `decks` a card may say which it is from.
    """

    def __init__(self, given: Sequence[Reveal], places: Sequence[str], *, decks: bool = False) -> None:
        self._given = given
        self._places = places
        self._decks = decks
        self._slots: list[Slot] = []  # asked for, in this order
        self._missing = False
        self._taken: set[int] = set()
        self._faults: dict[int, tuple[str, str]] = {}  # by the place in `given`: field and description

    @property
    def needed(self) -> Sequence[Slot]:
        """All slots asked for, where one of them was not revealed; else none."""
        return self._slots if self._missing else ()

    def card(self, slot: Slot, why_not: Callable[[str], str | None]) -> str | None:
        """The card revealed in a slot, None where there is none or it cannot be.

        `why_not` says of a card why it cannot lie there, None where it can.
        """
        self._slots.append(slot)
        found = [index for index, reveal in enumerate(self._given) if reveal.slot == slot]
        if not found:
            self._missing = True
            return None
        self._taken.update(found)
        first, *others = found
        for index in others:
            self._faults[index] = ("slot", f"expected every slot once; reveals[{first}] has this one, too")
        card = self._given[first].card
        if (fault := misnamed(card, decks=self._decks)) is not None:
            self._faults[first] = ("card", fault)
            return None
        if (reason := why_not(card)) is not None:
            self._faults[first] = ("card", f"expected a card that can lie there; found {card}: {reason}")
            return None
        return card

    def refuse_faults(self) -> None:
        """Raise Refusal where a card cannot be, or its slot was not asked for."""
        expected = "no card, for this move brings none to light that the position does not give"
        if self._slots:
            expected = f"one of {', '.join(map(self._name, self._slots))}, which the position does not give"
        for index, reveal in enumerate(self._given):
            if index not in self._taken:
                self._faults[index] = ("slot", f"expected {expected}; found {self._name(reveal.slot)}")
        violations = Violations()
        for index, (field, description) in sorted(self._faults.items()):
            violations.add(f"reveals[{index}].{field}", description)
        violations.refuse_if_any("INVALID_REQUEST")

    def _name(self, slot: Slot) -> str:
        place = slot.place if slot.place in self._places else repr(slot.place[:SHOWN])
        return f"{place} {slot.index} of player {slot.player}"
