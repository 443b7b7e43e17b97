"""The items of the options section of a text form: a letter for the option, then its value."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from google.protobuf.message import Message

from zank._sections import parse_number
from zank.errors import InvalidPosition

SWITCH: Final = {"0": False, "1": True}


@dataclass(frozen=True, kw_only=True, slots=True)
class OptionItem:
    """How one option is written."""

    letter: str
    field: str  # of the options message
    what: str  # for people
    values: Mapping[str, int] | None = None  # what may follow the letter; None: a number

    @property
    def expected(self) -> str:
        """The item as an error describes it, for example "w0 or w1 (a king starts a stack)"."""
        if self.values is None:
            return f"{self.letter}<{self.what}>"
        return f"{' or '.join(self.letter + text for text in self.values)} ({self.what})"


def format_options(items: Sequence[OptionItem], options: Message) -> list[str]:
    """The items for the options that are set; raises InvalidPosition for an unknown value."""
    written = []
    for item in items:
        if not options.HasField(item.field):
            continue
        value = getattr(options, item.field)
        if item.values is None:
            text = str(value)
        else:
            texts = [text for text, named in item.values.items() if named == value]
            if not texts:
                raise InvalidPosition(f"rule set: unknown {item.field} {value}")
            (text,) = texts
        written.append(item.letter + text)
    return written


def parse_options(items: Sequence[OptionItem], texts: Sequence[str], options: Message) -> None:
    """Sets the options that the items of a section say; raises InvalidPosition."""
    by_letter = {item.letter: item for item in items}
    expected = f"expected {', '.join(item.expected for item in items)}, each at most once"
    for text in texts:
        item, value = by_letter.get(text[:1]), text[1:]
        if item is None or (item.values is not None and value not in item.values):
            raise InvalidPosition(f"section o (options): found {text!r}; {expected}")
        if options.HasField(item.field):
            raise InvalidPosition(f"section o (options): {text!r} repeats an option; {expected}")
        if item.values is None:
            number = parse_number(value, f"section o (options), {item.what} {item.letter}")
            setattr(options, item.field, number)
        else:
            setattr(options, item.field, item.values[value])
