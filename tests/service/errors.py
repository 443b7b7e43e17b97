"""The table of errors in `proto/README.md`, which every refusal must be in."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

PAGE: Final = Path(__file__).parents[2] / "proto" / "README.md"
NAME: Final = re.compile(r"`(\w+)`")


@dataclass(frozen=True, kw_only=True)
class Row:
    """One row of the table."""

    code: str
    reason: str  # empty: gRPC itself answers, without details
    when: str
    fields: bool  # whether the fields at fault are named
    metadata: frozenset[str]
    retry: bool  # whether it says when to come back


def table() -> tuple[Row, ...]:
    """The rows in order."""
    section = PAGE.read_text().partition("\n## Errors\n")[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("| `")]
    return tuple(_row([cell.strip() for cell in line.strip("|").split("|")]) for line in lines)


def _row(cells: list[str]) -> Row:
    code, reason, when, details = cells
    words = details.partition("metadata ")
    row = Row(
        code=code.strip("`"),
        reason=reason.strip("`"),
        when=when,
        fields="the fields" in details,
        metadata=frozenset(NAME.findall(words[2])),
        retry="`RetryInfo`" in details,
    )
    assert details in ("", "the fields", "`RetryInfo`") or row.metadata, details
    return row


TABLE: Final = table()
