"""What a server accepts."""

from typing import Final

MAX_MESSAGE_BYTES: Final = 64 * 1024  # one request
MAX_REQUEST_ID: Final = 128  # characters
SHOWN: Final = 32  # characters of a client's text that a refusal repeats: it travels in a header
MAX_CALLS: Final = 1_024  # calls under way, health watchers included

MAX_ROLLOUTS: Final = 1_000_000

ANSWERS_AT_ONCE: Final = 2  # two, so that the host's part of one answer runs beside the rollouts of the other
ANSWERS_WAITING: Final = 64
RULINGS_AT_ONCE: Final = 1  # what a referee is asked takes a few milliseconds
RULINGS_WAITING: Final = 256

MAX_TURNS: Final = 1_000_000
MAX_SHUFFLES: Final = 1_000_000

CARDS: Final = 104  # on every table
COPIES: Final = 2  # of every card
