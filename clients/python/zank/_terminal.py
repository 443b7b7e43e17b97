"""Where the command line prints: what the output can show, and files that are replaced as a whole."""

import codecs
import io
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, TextIO

from rich.console import Console

from zank.cards import SUIT_SYMBOLS

_FALLBACK: Final = "zank-letters"  # how Python calls the handler of characters that an encoding lacks
# Each is as wide as what it stands for, so that tables stay in order.
_SUBSTITUTES: Final = {
    **{symbol: suit for suit, symbol in SUIT_SYMBOLS.items()},
    "±": "~",
    "–": "-",
    "·": "-",
    "→": ">",
}


def prepare_output() -> None:
    """Has standard output and error show letters for the suits, and the like, where their encoding lacks those."""
    codecs.register_error(_FALLBACK, _substitute)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_FALLBACK)


def console() -> Console:
    """Standard output, as wide and as colourful as it is."""
    return Console(highlight=False, markup=False, emoji=False)


def status_console() -> Console:
    """Standard error, for what passes."""
    return Console(stderr=True, highlight=False, markup=False, emoji=False)


class OutputFile:
    """Text to be written to a file, which has its old content until `replace`."""

    def __init__(self, path: str) -> None:
        self._path: Final = path
        self._text: Final = io.StringIO()
        self.console: Final = Console(file=self._text, width=80, color_system=None, highlight=False, markup=False)

    def replace(self) -> None:
        """Writes the file, whole or, on an OSError, not at all."""
        with written_whole(self._path) as file:
            file.write(self._text.getvalue())


@contextmanager
def written_whole(path: str | Path) -> Iterator[TextIO]:
    """A file to write text to, which has its old content until all is written; after an error it keeps that."""
    with replaced_whole(path) as new, open(new, "w", encoding="utf-8") as file:
        yield file


@contextmanager
def replaced_whole(path: str | Path) -> Iterator[str]:
    """The path of a file to write to, which takes the place of the one at `path` unless there is an error."""
    if os.path.exists(path) and not os.path.isfile(path):  # a device, a pipe
        yield str(path)
        return
    path = os.path.realpath(path)  # a link is not replaced, but what it leads to
    folder, name = os.path.split(path)
    descriptor, temporary = tempfile.mkstemp(prefix=f".{name}.", dir=folder)
    os.close(descriptor)
    try:
        yield temporary
        os.chmod(temporary, _mode(path))
        os.replace(temporary, path)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


def _substitute(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end]
    return "".join(_SUBSTITUTES.get(character, "?") for character in text), error.end


def _mode(path: str) -> int:
    """The permissions of a file, or those of a new one."""
    try:
        return os.stat(path).st_mode & 0o7777
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask
