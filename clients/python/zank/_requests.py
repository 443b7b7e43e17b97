"""Requests made of what the caller of either client gives, and what both make of the answers."""

from collections.abc import Iterable, Iterator
from typing import Final, Literal, TypedDict

from zank import _arguments as arguments
from zank.errors import InvalidInput, RevealsNeeded
from zank.notation import Move
from zank.reveals import format_slot
from zank.v1 import (
    OBJECTIVE_MATCH,
    OBJECTIVE_POINTS,
    OBJECTIVE_UNSPECIFIED,
    OBJECTIVE_WIN,
    PRIORITY_BULK,
    PRIORITY_INTERACTIVE,
    PRIORITY_NORMAL,
    PRIORITY_UNSPECIFIED,
    AnalysisSettings,
    AnalyzeGameRequest,
    AnalyzeGamesRequest,
    ApplyMoveRequest,
    ApplyMoveResponse,
    Budget,
    CheckMoveRequest,
    DealRequest,
    GameRecord,
    ListLegalMovesRequest,
    Position,
    Question,
    Reveal,
    RuleSet,
    ViewRequest,
)

type ObjectiveName = Literal["points", "win", "match"]
type PriorityName = Literal["interactive", "normal", "bulk"]

OBJECTIVES: Final = {"points": OBJECTIVE_POINTS, "win": OBJECTIVE_WIN, "match": OBJECTIVE_MATCH}
PRIORITIES: Final = {"interactive": PRIORITY_INTERACTIVE, "normal": PRIORITY_NORMAL, "bulk": PRIORITY_BULK}

REQUEST_ID_LIMIT: Final = 128  # characters
MAX_ROUNDS: Final = 5


class QuestionOptions(TypedDict, total=False):
    """What may be said beside the position when a solver is asked; everything may be left out."""

    rollouts: int | None
    """Games to play to the end, over all moves together; by default the server's choice."""

    time: float | None
    """Seconds that the work may take: alone, or beside `rollouts` as a limit."""

    rounds: int | None
    """Stop after so many rounds (1 to 5) of the schedule for `rollouts`: to repeat an answer that time cut short."""

    seed: int | None
    """Of the random numbers, 0 to 2**64 - 1; by default the server derives it from the position."""

    objective: ObjectiveName | None
    """What moves are ranked by; by default the match where its score is given, else points where the preset scores."""

    match_score: tuple[int, int] | None
    """Points of player 1 and of player 2 in the match before this game; by default the game is valued by itself."""

    priority: PriorityName | None
    """Who waits: a player ("interactive", the default), somebody with patience ("normal"), nobody ("bulk")."""

    only: Iterable[Move | str]
    """Consider these moves and no others."""

    avoid: Iterable[Move | str]
    """Leave these moves out."""

    keep: Iterable[Move | str]
    """Give these moves as many rollouts as the best, however they do."""

    request_id: str
    """Comes back with the answer; at most 128 characters."""


class AnalysisOptions(TypedDict, total=False):
    """How recorded games are analysed; everything may be left out (see `zank.v1.AnalysisSettings`)."""

    rollouts: int | None
    """Games to play to the end for the moves of a part of a turn, together; by default 16,384."""

    luck_rollouts: int | None
    """Games to play to the end to measure the luck of what comes to light, twice; by default 1,024."""

    seed: int | None
    """Of the random numbers, 0 to 2**64 - 1; by default the server derives it from the record."""

    objective: ObjectiveName | None
    """What moves are judged by; by default points where the preset scores."""

    players: Iterable[int]
    """Whose moves are judged, 1 or 2; by default both players'."""

    priority: PriorityName | None
    """Who waits: a player ("interactive"), somebody with patience ("normal"), nobody ("bulk", the default)."""

    hindsight: bool | None
    """Judge as if both players had known every card that the record tells."""


def analysis_settings(method: str, options: AnalysisOptions) -> AnalysisSettings:
    """How a `method` of the client has games analysed; raises InvalidInput, and TypeError for what is no option."""
    for name in options:
        if name not in AnalysisOptions.__annotations__:
            raise TypeError(f"{method}() got an unexpected keyword argument {name!r}; see zank.AnalysisOptions")
    rollouts, luck, objective, priority = (
        options.get(name) for name in ("rollouts", "luck_rollouts", "objective", "priority")
    )
    return AnalysisSettings(
        rollouts=0 if rollouts is None else arguments.whole_number("rollouts", rollouts, 1, arguments.UINT32),
        luck_rollouts=0 if luck is None else arguments.whole_number("luck_rollouts", luck, 1, arguments.UINT32),
        seed=_seed(options.get("seed")),
        objective=OBJECTIVE_UNSPECIFIED if objective is None else arguments.one_of("objective", objective, OBJECTIVES),
        players=[arguments.whole_number("players", player, 1, 2) for player in options.get("players", ())],
        priority=PRIORITY_UNSPECIFIED if priority is None else arguments.one_of("priority", priority, PRIORITIES),
        hindsight=bool(options.get("hindsight")),
    )


def game_analysis(record: GameRecord, request_id: str, settings: AnalysisSettings) -> AnalyzeGameRequest:
    """For the analysis of one game."""
    return AnalyzeGameRequest(
        request_id=arguments.string("request_id", request_id, REQUEST_ID_LIMIT),
        record=arguments.record(record),
        settings=settings,
    )


class GameAnalyses:
    """Requests to analyse many games, with `settings` where one says none of its own.

    They are sent from elsewhere than where answers are read. So what goes wrong with a game ends them, and is kept: who
    has read all answers raises it by `check`.
    """

    def __init__(self, games: Iterable[GameRecord | AnalyzeGamesRequest], settings: AnalysisSettings) -> None:
        self._games = games
        self._settings = settings
        self._fault: Exception | None = None

    def __iter__(self) -> Iterator[AnalyzeGamesRequest]:
        try:
            for game in self._games:
                if isinstance(game, AnalyzeGamesRequest):
                    yield game
                else:
                    yield AnalyzeGamesRequest(record=arguments.record(game), settings=self._settings)
        except Exception as error:
            self._fault = error

    def check(self) -> None:
        """Raises what went wrong, if anything did."""
        if self._fault is not None:
            raise self._fault


def question(method: str, position: Position | str, options: QuestionOptions) -> Question:
    """What a `method` of the client asks a solver; raises InvalidInput, and TypeError for an option that is none."""
    for name in options:
        if name not in QuestionOptions.__annotations__:
            raise TypeError(f"{method}() got an unexpected keyword argument {name!r}; see zank.QuestionOptions")
    objective, priority, score = options.get("objective"), options.get("priority"), options.get("match_score")
    return Question(
        request_id=arguments.string("request_id", options.get("request_id", ""), REQUEST_ID_LIMIT),
        position=arguments.position(position),
        match_score=None if score is None else arguments.match_score("match_score", score),
        budget=_budget(options.get("rollouts"), options.get("time"), options.get("rounds")),
        seed=_seed(options.get("seed")),
        objective=OBJECTIVE_UNSPECIFIED if objective is None else arguments.one_of("objective", objective, OBJECTIVES),
        priority=PRIORITY_UNSPECIFIED if priority is None else arguments.one_of("priority", priority, PRIORITIES),
        only_moves=arguments.notations("only", options.get("only", ())),
        avoid_moves=arguments.notations("avoid", options.get("avoid", ())),
        keep_moves=arguments.notations("keep", options.get("keep", ())),
    )


def deal(rules: str | RuleSet, seed: int | None) -> DealRequest:
    """For a game of a preset or a rule set."""
    return DealRequest(rule_set=arguments.rule_set(rules), seed=_seed(seed))


def view(position: Position | str, player: int) -> ViewRequest:
    """For what a player can know."""
    return ViewRequest(position=arguments.position(position), player=arguments.whole_number("player", player, 1, 2))


def legal_moves(position: Position | str) -> ListLegalMovesRequest:
    """For the legal moves of a position."""
    return ListLegalMovesRequest(position=arguments.position(position))


def check(position: Position | str, move: Move | str) -> CheckMoveRequest:
    """For whether a move is legal."""
    return CheckMoveRequest(position=arguments.position(position), move=arguments.notation(move))


def apply(position: Position | str, move: Move | str, reveals: Iterable[Reveal | str]) -> ApplyMoveRequest:
    """For a move to be played; raises InvalidReveal."""
    position = arguments.position(position)
    return ApplyMoveRequest(
        position=position,
        move=arguments.notation(move),
        reveals=arguments.reveals(reveals, position.player_to_move),
    )


def played(request: ApplyMoveRequest, response: ApplyMoveResponse) -> ApplyMoveResponse:
    """The answer to a move that was played; raises RevealsNeeded where it was not."""
    if response.needed:
        slots = ", ".join(format_slot(slot, request.position.player_to_move) for slot in response.needed)
        raise RevealsNeeded(
            f"{request.move} is not played: the position does not hold every card that comes to light; reveal {slots}",
            needed=response.needed,
        )
    return response


def deadline(question: Question, timeout: float | None, default: float) -> float:
    """Seconds until an answer is late: `timeout`, or the client's default after the time budget."""
    return default + question.budget.time_ms / 1000 if timeout is None else arguments.seconds("timeout", timeout)


def _seed(seed: int | None) -> int | None:
    return None if seed is None else arguments.whole_number("seed", seed, 0, arguments.UINT64)


def _budget(rollouts: int | None, time: float | None, rounds: int | None) -> Budget | None:
    if rollouts is None and time is None and rounds is None:
        return None
    budget = Budget()
    if rollouts is not None:
        budget.rollouts = arguments.whole_number("rollouts", rollouts, 1, arguments.UINT32)
    if time is not None:
        budget.time_ms = arguments.milliseconds("time", time)
    if rounds is not None:
        budget.rounds = arguments.whole_number("rounds", rounds, 1, MAX_ROUNDS)
        if rollouts is None:
            raise InvalidInput(f"rounds: expected together with rollouts, whose rounds they are; found {rounds} alone")
    return budget
