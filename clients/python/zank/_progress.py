"""How far a command has come, on standard error."""

import sys
import time
from typing import Final

_TERMINAL_SECONDS: Final = 0.2  # between two lines that take each other's place
_LOG_SECONDS: Final = 10.0  # between two lines that stay


class Progress:
    """Says how many games are done, how many a second, and how long the rest will take."""

    def __init__(self, total: int | None = None) -> None:
        self._total: Final = total
        self._begin: Final = time.monotonic()
        self._terminal: Final = sys.stderr.isatty()
        self._said = self._begin
        self._games = 0

    def add(self) -> None:
        """One more game is done."""
        self._games += 1
        now = time.monotonic()
        if now - self._said >= (_TERMINAL_SECONDS if self._terminal else _LOG_SECONDS):
            self._said = now
            self._say(self._line(now), end="" if self._terminal else "\n")

    def end(self) -> None:
        """Says it for the last time."""
        self._say(self._line(time.monotonic()), end="\n")

    @property
    def rate(self) -> float:
        """Games a second."""
        return self._games / max(time.monotonic() - self._begin, 1e-3)

    def clear(self) -> None:
        """Takes back what a terminal shows, so that something else can be printed."""
        if self._terminal:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def _line(self, now: float) -> str:
        rate = self._games / max(now - self._begin, 1e-3)
        if self._total is None:
            return f"{self._games:,} games, {rate:.3g} a second"
        line = f"{self._games:,} of {self._total:,} games, {rate:.3g} a second"
        if self._games < self._total and rate:
            line += f", {_span((self._total - self._games) / rate)} left"
        return line

    def _say(self, line: str, end: str) -> None:
        self.clear()
        sys.stderr.write(line + end)
        sys.stderr.flush()


def _span(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
