"""A server in this process whose answers are decided by the test: what a client makes of them is what is tested."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event as Signal
from time import sleep

import grpc
from google.protobuf.any_pb2 import Any
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message
from google.rpc import code_pb2, error_details_pb2, status_pb2
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_status import rpc_status

from zank.presets import complete_rule_set
from zank.text import parse_position
from zank.v1 import (
    OBJECTIVE_POINTS,
    REASON_CODE_EMPTIES_SIDE,
    REASON_CODE_LETS_IN,
    AnalyzeRequest,
    AnalyzeResponse,
    Answer,
    ApplyMoveRequest,
    ApplyMoveResponse,
    CheckMoveRequest,
    CheckMoveResponse,
    DealRequest,
    DealResponse,
    Estimate,
    Event,
    GetBestMoveRequest,
    GetBestMoveResponse,
    GetHintRequest,
    GetHintResponse,
    GetInfoRequest,
    GetInfoResponse,
    LegalMove,
    Limits,
    ListLegalMovesRequest,
    ListLegalMovesResponse,
    Moved,
    MoveEvaluation,
    Position,
    PresetInfo,
    Question,
    Reason,
    RefereeServicer,
    RuleSet,
    ServerServicer,
    Slot,
    SolverServicer,
    TurnPassed,
    Value,
    ViewRequest,
    ViewResponse,
    add_RefereeServicer_to_server,
    add_ServerServicer_to_server,
    add_SolverServicer_to_server,
)

DEALT = "malice-match~1~a.2h3c-7h.8cTdTsQsAd....~b.2d3d-9s.2s3s4s5s6s....~c...~k.54-~s.7.1"


def refusal(code: int, message: str, *details: Message) -> status_pb2.Status:
    packed = [Any() for _ in details]
    for any_message, detail in zip(packed, details, strict=True):
        any_message.Pack(detail)
    return status_pb2.Status(code=code, message=message, details=packed)


ILLEGAL = refusal(
    code_pb2.FAILED_PRECONDITION,
    "a seven does not fit on C2",
    error_details_pb2.ErrorInfo(reason="ILLEGAL_MOVE", domain="zank", metadata={"rule": "M3"}),
)
INVALID = refusal(
    code_pb2.INVALID_ARGUMENT,
    "the position is impossible",
    error_details_pb2.BadRequest(
        field_violations=[
            error_details_pb2.BadRequest.FieldViolation(
                field="position.malice.stock.hidden", description="expected 54, found 53"
            )
        ]
    ),
)
OVERLOADED = refusal(
    code_pb2.RESOURCE_EXHAUSTED,
    "too much to do",
    error_details_pb2.RetryInfo(retry_delay=Duration(seconds=1, nanos=500_000_000)),
)


@dataclass
class FakeServer(RefereeServicer, SolverServicer, ServerServicer):
    """Deals one deal, gives one answer; `refusals` are given, one a call, before anything else is answered."""

    target: str = ""
    refusals: list[status_pb2.Status] = field(default_factory=list)
    requests: list[Message] = field(default_factory=list)
    needed: list[Slot] = field(default_factory=list)  # what a move brings to light, unless something is revealed
    rollouts: int = 1024  # said to have been played for an answer
    rollouts_a_move: int = 500  # said of each move
    legal_moves: list[LegalMove] = field(
        default_factory=lambda: [
            LegalMove(move="A-C1"),
            LegalMove(move="A-C2", equivalent_to="A-C1"),
            LegalMove(move="Q-S1"),
        ]
    )
    obligatory: list[str] = field(default_factory=list)  # what an illegal move would have to wait for
    partial: bool = False  # said of the last answer of an analysis
    delay: float = 0.0  # seconds before each answer
    pushback: str = "-1"  # milliseconds that gRPC is told to wait before it repeats an overloaded call; -1: never
    analysis_ended: Signal = field(default_factory=Signal)

    def _receive(self, request: Message, context: grpc.ServicerContext) -> None:
        self.requests.append(request)
        sleep(self.delay)
        if self.refusals:
            status = rpc_status.to_status(self.refusals.pop(0))
            pushback = (("grpc-retry-pushback-ms", self.pushback),)
            overloaded = status.code == grpc.StatusCode.RESOURCE_EXHAUSTED
            context.set_trailing_metadata((*status.trailing_metadata, *(pushback if overloaded else ())))
            context.abort(status.code, status.details)

    def Deal(self, request: DealRequest, context: grpc.ServicerContext) -> DealResponse:
        self._receive(request, context)
        return DealResponse(position=parse_position(DEALT))

    def View(self, request: ViewRequest, context: grpc.ServicerContext) -> ViewResponse:
        self._receive(request, context)
        position = Position()
        position.CopyFrom(request.position)
        position.ClearField("shuffle")
        return ViewResponse(position=position)

    def CheckMove(self, request: CheckMoveRequest, context: grpc.ServicerContext) -> CheckMoveResponse:
        self._receive(request, context)
        if request.move == "Q-S1":
            return CheckMoveResponse(legal=True, canonical="Q-S1")
        return CheckMoveResponse(rule="M3", text="C1 needs an ace", obligatory=self.obligatory)

    def ListLegalMoves(self, request: ListLegalMovesRequest, context: grpc.ServicerContext) -> ListLegalMovesResponse:
        self._receive(request, context)
        return ListLegalMovesResponse(moves=self.legal_moves)

    def ApplyMove(self, request: ApplyMoveRequest, context: grpc.ServicerContext) -> ApplyMoveResponse:
        self._receive(request, context)
        if self.needed and not request.reveals:
            return ApplyMoveResponse(needed=self.needed)
        position = Position()
        position.CopyFrom(request.position)
        position.player_to_move = 3 - position.player_to_move
        position.turns += 1
        return ApplyMoveResponse(
            position=position,
            events=[
                Event(moved=Moved(player=1, card="Qs", origin="H", destination="S1")),
                Event(turn_passed=TurnPassed(player=2)),
            ],
        )

    def GetHint(self, request: GetHintRequest, context: grpc.ServicerContext) -> GetHintResponse:
        self._receive(request, context)
        return GetHintResponse(answer=answer(request.question, self.rollouts, self.rollouts_a_move))

    def GetBestMove(self, request: GetBestMoveRequest, context: grpc.ServicerContext) -> GetBestMoveResponse:
        self._receive(request, context)
        return GetBestMoveResponse(answer=answer(request.question, self.rollouts, self.rollouts_a_move))

    def Analyze(self, request: AnalyzeRequest, context: grpc.ServicerContext) -> Iterator[AnalyzeResponse]:
        context.add_callback(self.analysis_ended.set)
        self._receive(request, context)
        for share in (4, 2):
            yield AnalyzeResponse(answer=answer(request.question, self.rollouts // share, self.rollouts_a_move))
        sleep(self.delay)
        last = answer(request.question, self.rollouts, self.rollouts_a_move)
        yield AnalyzeResponse(answer=last, final=True, partial=self.partial)

    def GetInfo(self, request: GetInfoRequest, context: grpc.ServicerContext) -> GetInfoResponse:
        self._receive(request, context)
        return GetInfoResponse(
            engine_version="1.2.3",
            limits=Limits(
                max_message_bytes=1 << 16,
                default_hint_rollouts=1024,
                max_rollouts=65536,
                default_best_move_rollouts=2048,
                default_analysis_rollouts=4096,
                max_time_ms=2500,
            ),
            presets=[
                PresetInfo(
                    preset="malice-match",
                    description="The scored online game.",
                    defaults=complete_rule_set(RuleSet(preset="malice-match")),
                ),
                PresetInfo(
                    preset="bank-spiteful",
                    description="The reserve first.",
                    defaults=complete_rule_set(RuleSet(preset="bank-spiteful")),
                ),
            ],
        )


def answer(question: Question, rollouts: int, rollouts_a_move: int) -> Answer:
    """What the fake answers to every question."""
    value = Value(
        rollouts=rollouts_a_move,
        win=Estimate(mean=0.632, standard_error=0.021),
        tie=Estimate(mean=0.001, standard_error=0.001),
        loss=Estimate(mean=0.367, standard_error=0.021),
        points=Estimate(mean=3.12, standard_error=0.41),
    )
    gap = Estimate(mean=0.2, standard_error=0.3)
    others = [
        MoveEvaluation(move=f"{rank}-S{number}", value=value, gap=gap, tied_with_best=rank == "Q")
        for rank in "QT8"
        for number in (1, 2, 3)
    ]
    best = MoveEvaluation(
        move="A-C1",
        equivalents=["A-C2", "A-C3"],
        value=value,
        tied_with_best=True,
        line=["A-C1", "Q-S1"],
        reasons=[
            Reason(code=REASON_CODE_LETS_IN, cards=["9s"], places=["C1"]),
            Reason(code=REASON_CODE_EMPTIES_SIDE, places=["S2"]),
        ],
    )
    return Answer(
        request_id=question.request_id,
        moves=[best, *others],
        objective=OBJECTIVE_POINTS,
        rollouts=rollouts,
        schedule_rollouts=2048,
        rounds_done=2,
        seed=5,
    )


@contextmanager
def running(*, serving: bool = True, port: int = 0) -> Iterator[FakeServer]:
    """The fake on a loopback port, a free one unless it is given; its health is SERVING or NOT_SERVING."""
    fake = FakeServer()
    with ThreadPoolExecutor(16) as executor:
        server = grpc.server(executor, options=[("grpc.so_reuseport", 0)])
        add_RefereeServicer_to_server(fake, server)
        add_SolverServicer_to_server(fake, server)
        add_ServerServicer_to_server(fake, server)
        # One that does not block can wait for itself for ever when a watch begins as its connection ends.
        servicer = health.HealthServicer(experimental_non_blocking=False)
        status = health_pb2.HealthCheckResponse
        servicer.set("", status.SERVING if serving else status.NOT_SERVING)
        health_pb2_grpc.add_HealthServicer_to_server(servicer, server)
        fake.target = f"127.0.0.1:{server.add_insecure_port(f'127.0.0.1:{port}')}"
        server.start()
        yield fake
        server.stop(grace=None).wait()
