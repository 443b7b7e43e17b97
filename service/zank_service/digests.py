"""Digests: what was asked, in 32 hexadecimal characters."""

from hashlib import blake2b
from typing import Final

from zank.text import format_position
from zank.v1 import Position

DIGEST_BYTES: Final = 16


def position_digest(masked: Position) -> str:
    """Digest of the text form of a masked position."""
    return _digest(format_position(masked))


def rule_set_digest(masked: Position) -> str:
    """Digest of the part of the text form that says the rule set: the preset and, if any, the section of options."""
    preset, second, *_ = format_position(masked).split("~")
    return _digest(f"{preset}~{second}" if second.startswith("o.") else preset)


def default_seed(digest: str) -> int:
    """The seed of a request that names none: the first 8 bytes of the position's digest, little-endian."""
    return int.from_bytes(bytes.fromhex(digest)[:8], "little")


def _digest(text: str) -> str:
    return blake2b(text.encode("ascii"), digest_size=DIGEST_BYTES).hexdigest()
