"""A file to which finished pieces of work are added, and which outlives being killed."""

import os
import struct
import sys
import zlib
from pathlib import Path
from typing import IO, Final, Self

from zank.errors import InvalidInput

if sys.platform != "win32":  # where nothing keeps two processes apart
    import fcntl

_HEAD: Final = struct.Struct("<32sII")  # key, bytes that follow, their checksum
_MAGIC: Final = b"zank journal 1\n"


class Journal:
    """Entries by a key of 32 bytes; those that were not written to their end are forgotten when it is opened again."""

    def __init__(self, path: Path) -> None:
        """Opens or begins a journal; raises InvalidInput where it is none, or another process has it open."""
        self._file: IO[bytes] = open(path, "a+b")  # noqa: SIM115 - closed by `close`
        self._places: dict[bytes, tuple[int, int]] = {}
        try:
            if sys.platform != "win32":
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._file.close()
            raise InvalidInput(f"{path}: expected to have it alone; another process is at work here") from None
        try:
            self._read(path)
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def __contains__(self, key: bytes) -> bool:
        return key in self._places

    def add(self, key: bytes, data: bytes) -> None:
        """Adds an entry, as a whole or, if the process ends meanwhile, not at all."""
        end = self._file.seek(0, os.SEEK_END)
        self._file.write(_HEAD.pack(key, len(data), zlib.crc32(data)) + data)
        self._file.flush()
        self._places[key] = end + _HEAD.size, len(data)

    def __getitem__(self, key: bytes) -> bytes:
        place, size = self._places[key]
        self._file.seek(place)
        return self._file.read(size)

    def _read(self, path: Path) -> None:
        size = self._file.seek(0, os.SEEK_END)
        self._file.seek(0)
        begin = self._file.read(len(_MAGIC))
        if not _MAGIC.startswith(begin):
            raise InvalidInput(f"{path}: expected a journal of this command; found something else")
        place = len(_MAGIC)
        if begin != _MAGIC:
            self._file.truncate(0)
            self._file.write(_MAGIC)
            self._file.flush()
            return
        while len(head := self._file.read(_HEAD.size)) == _HEAD.size:
            key, length, checksum = _HEAD.unpack(head)
            if place + _HEAD.size + length > size or zlib.crc32(self._file.read(length)) != checksum:
                break
            self._places[key] = place + _HEAD.size, length
            place += _HEAD.size + length
        self._file.truncate(place)  # the next entry follows the last whole one
