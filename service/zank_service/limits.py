"""What a server accepts."""

import dataclasses
from typing import Final

from zank_kernel import defaults

MAX_MESSAGE_BYTES: Final = 64 * 1024  # one request
MAX_REQUEST_ID: Final = 128  # characters
SHOWN: Final = 32  # characters of a client's text that a refusal repeats: it travels in a header
SHOWN_OF_FAULT: Final = 400  # characters of what is wrong with a record, which may repeat some of it
MAX_CALLS: Final = 1_024  # calls under way, health watchers included

MAX_ROLLOUTS: Final = 1_000_000
MAX_TIME_MS: Final = 60_000
HINT_ROLLOUTS: Final = defaults.HINT_ROLLOUTS
BEST_MOVE_ROLLOUTS: Final = 65_536
ANALYSIS_ROLLOUTS: Final = 262_144

# By priority, the most urgent first; each twice, for short questions and for long ones, which must not hold the places
# that hints need. The engine shares its time out between them (zank_kernel.schedule.SHARES).
ANSWERS_AT_ONCE: Final = (8, 2, 2)
LONG_ROLLOUTS: Final = 100_000  # a question of more is long …
LONG_SECONDS: Final = 1.0  # … and so is one that may take longer
ANSWERS_WAITING: Final = 64
ANSWERS_PER_CLIENT: Final = 32
INTERACTIVE_PER_CLIENT: Final = 16
ANALYSES_AT_ONCE: Final = 8  # calls that analyse games
ANALYSIS_GAMES_AT_ONCE: Final = 4  # of one call: the records in memory
ANALYSIS_THREADS: Final = 6  # for their turns: enough to keep the workers busy while moves are being found
ANALYSIS_MOVE_ROLLOUTS: Final = 16_384
ANALYSIS_LUCK_ROLLOUTS: Final = 1_024
LEAST_MOVE_ROLLOUTS: Final = 64
LEAST_LUCK_ROLLOUTS: Final = 16
MAX_LUCK_ROLLOUTS: Final = 65_536
DEFAULT_DEADLINE_SECONDS: Final = 600
RULINGS_AT_ONCE: Final = 1  # what a referee is asked takes a few milliseconds
RULINGS_WAITING: Final = 256

MAX_TURNS: Final = 1_000_000
MAX_SHUFFLES: Final = 1_000_000
MAX_MATCH_TARGET: Final = 1_000  # points


@dataclasses.dataclass(frozen=True, kw_only=True)
class Limits:
    """What one server accepts, and what it takes where a request says nothing; the defaults are the constants above."""

    max_message_bytes: int = MAX_MESSAGE_BYTES
    max_rollouts: int = MAX_ROLLOUTS  # largest budget
    max_time_ms: int = MAX_TIME_MS  # largest budget
    hint_rollouts: int = HINT_ROLLOUTS  # of a hint without a budget
    best_move_rollouts: int = BEST_MOVE_ROLLOUTS  # of a best move without a budget
    analysis_rollouts: int = ANALYSIS_ROLLOUTS  # of an analysis without a budget
    answers_waiting: int = ANSWERS_WAITING  # short questions of one priority that wait for their turn, and long ones
    answers_per_client: int = ANSWERS_PER_CLIENT  # questions of one client, under way or waiting
    interactive_per_client: int = INTERACTIVE_PER_CLIENT  # of these interactive; further ones are taken as normal
    default_deadline_seconds: float = DEFAULT_DEADLINE_SECONDS  # of a call that names no deadline
