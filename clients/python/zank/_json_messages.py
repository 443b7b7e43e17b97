"""Messages from JSON that others wrote: unknown fields are noted and left out, wrong types named by their path."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

from google.protobuf import json_format
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from zank.errors import InvalidRecord

_SHOWN: Final = 40  # characters of a value that an error repeats
_MOST_DEPTH: Final = 12  # no record goes deeper
_NUMBERS: Final = (
    FieldDescriptor.CPPTYPE_INT32,
    FieldDescriptor.CPPTYPE_INT64,
    FieldDescriptor.CPPTYPE_UINT32,
    FieldDescriptor.CPPTYPE_UINT64,
)


def parse_object(text: str) -> dict[str, Any]:
    """The JSON object in `text`; raises InvalidRecord."""
    try:
        value = json.loads(text)
    except RecursionError:
        raise InvalidRecord("", "expected JSON of a record; found brackets in brackets without end") from None
    except ValueError as error:
        raise InvalidRecord("", f"expected JSON: {error}") from None
    if not isinstance(value, dict):
        raise InvalidRecord("", f"expected a JSON object, found {shown(value)}")
    return value


def read_into(message: Message, value: object, path: str = "") -> list[str]:
    """Fills a message at this path by its JSON; returns the paths of fields that it does not have.

    Raises InvalidRecord.
    """
    unknown: list[str] = []
    known = _known(value, cast(Descriptor, message.DESCRIPTOR), path, unknown, 0)
    try:
        json_format.ParseDict(known, message)
    except json_format.ParseError as error:
        raise InvalidRecord(path, f"expected the JSON of a {message.DESCRIPTOR.name}: {error}") from None
    return unknown


def shown(value: object) -> str:
    """A value as an error shows it."""
    text = json.dumps(value, ensure_ascii=False) if isinstance(value, str | int | float | None) else _kind(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def _known(value: object, kind: Descriptor, path: str, unknown: list[str], depth: int) -> dict[str, Any]:
    """The fields of an object that a message has."""
    if not isinstance(value, dict):
        raise InvalidRecord(path, f"expected an object, found {shown(value)}")
    if depth > _MOST_DEPTH:
        raise InvalidRecord(path, "expected no objects so deep in each other")
    fields = _fields(kind)
    known: dict[str, Any] = {}
    for name, part in value.items():
        field = fields.get(name)
        place = f"{path}.{name}" if path else name
        if field is None:
            unknown.append(place)
        elif part is not None:  # null is how protobuf's JSON may write what is absent
            place = f"{path}.{field.name}" if path else field.name
            if field.json_name in known:
                raise InvalidRecord(place, "expected once, found it in both of its spellings")
            known[field.json_name] = _read(part, field, place, unknown, depth + 1)
    return known


def _read(value: object, field: FieldDescriptor, path: str, unknown: list[str], depth: int) -> object:
    """The value of a field, without what is not known of it."""
    message = field.message_type
    if message is not None and message.GetOptions().map_entry:
        if not isinstance(value, dict):
            raise InvalidRecord(path, f"expected an object, found {shown(value)}")
        entry = message.fields_by_name["value"]
        return {key: _one(part, entry, f"{path}.{key}", unknown, depth) for key, part in value.items()}
    if field.is_repeated:
        if not isinstance(value, list):
            raise InvalidRecord(path, f"expected an array, found {shown(value)}")
        return [_one(part, field, f"{path}[{index}]", unknown, depth) for index, part in enumerate(value)]
    return _one(value, field, path, unknown, depth)


def _one(value: object, field: FieldDescriptor, path: str, unknown: list[str], depth: int) -> object:
    if field.message_type is not None:
        return _known(value, field.message_type, path, unknown, depth)
    if field.enum_type is not None:
        names = field.enum_type.values_by_name
        if not isinstance(value, str) or value not in names:
            raise InvalidRecord(path, f"expected one of {', '.join(names)}; found {shown(value)}")
    elif field.cpp_type == FieldDescriptor.CPPTYPE_STRING:
        if not isinstance(value, str):
            raise InvalidRecord(path, f"expected a string, found {shown(value)}")
        if not value.isascii() and any("\ud800" <= character <= "\udfff" for character in value):
            raise InvalidRecord(path, "expected Unicode text, found half of a surrogate pair")
    elif field.cpp_type == FieldDescriptor.CPPTYPE_BOOL:
        if not isinstance(value, bool):
            raise InvalidRecord(path, f"expected true or false, found {shown(value)}")
    elif field.cpp_type in _NUMBERS:
        bits = 64 if field.cpp_type in (FieldDescriptor.CPPTYPE_INT64, FieldDescriptor.CPPTYPE_UINT64) else 32
        digits = isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 20
        number = int(value) if digits and isinstance(value, str) else value
        if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number < 1 << bits:
            raise InvalidRecord(path, f"expected a whole number of {bits} bits, found {shown(value)}")
    return value


_known_fields: Final[dict[str, Mapping[str, FieldDescriptor]]] = {}


def _fields(kind: Descriptor) -> Mapping[str, FieldDescriptor]:
    """The fields of a message by both of their names."""
    if kind.full_name not in _known_fields:
        _known_fields[kind.full_name] = dict(_names(kind))
    return _known_fields[kind.full_name]


def _names(kind: Descriptor) -> Iterator[tuple[str, FieldDescriptor]]:
    for field in kind.fields:
        yield field.name, field
        yield field.json_name, field


def _kind(value: object) -> str:
    return "an object" if isinstance(value, dict) else "an array"
