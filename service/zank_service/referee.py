"""The service `Referee`: the rules, for hosts of games."""

import secrets
from functools import partial

from zank.v1 import (
    ApplyMoveRequest,
    ApplyMoveResponse,
    CheckMoveRequest,
    CheckMoveResponse,
    DealRequest,
    DealResponse,
    ListLegalMovesRequest,
    ListLegalMovesResponse,
    RefereeServicer,
    ViewRequest,
    ViewResponse,
)
from zank_kernel.engine import Engine
from zank_service.calls import Context
from zank_service.gate import Gate
from zank_service.plays import apply_move, check_move
from zank_service.positions import checked_position, checked_rule_set
from zank_service.refusals import game_over, invalid


class Referee(RefereeServicer):
    """Answers with the kernel's programs; stateless."""

    def __init__(self, engine: Engine, gate: Gate) -> None:
        self._engine = engine
        self._gate = gate

    async def Deal(self, request: DealRequest, context: Context) -> DealResponse:
        """Deal a game."""
        family = checked_rule_set(request.rule_set, "rule_set", "INVALID_RULE_SET")
        seed = request.seed if request.HasField("seed") else secrets.randbits(64)
        position, _ = await self._gate.run(partial(family.deal, request.rule_set, seed))
        return DealResponse(position=position)

    async def View(self, request: ViewRequest, context: Context) -> ViewResponse:
        """Mask a position."""
        if request.player not in (1, 2):
            raise invalid("INVALID_REQUEST", "player", f"expected 1 or 2, found {request.player}")
        asked = checked_position(request, request.position, hand_known=False)
        return ViewResponse(position=asked.family.view(asked.position, request.player))

    async def ListLegalMoves(self, request: ListLegalMovesRequest, context: Context) -> ListLegalMovesResponse:
        """List the legal moves of a position."""
        asked = checked_position(request, request.position)
        if asked.over:
            return ListLegalMovesResponse()
        work = partial(asked.family.legal_moves, self._engine, asked.position, asked.rules)
        moves, _ = await self._gate.run(work)
        return ListLegalMovesResponse(moves=moves)

    async def CheckMove(self, request: CheckMoveRequest, context: Context) -> CheckMoveResponse:
        """Say whether a move is legal."""
        asked = checked_position(request, request.position, hand_known=False)
        if asked.over:
            raise game_over()
        work = partial(check_move, self._engine, asked, request.move)
        response, _ = await self._gate.run(work)
        return response

    async def ApplyMove(self, request: ApplyMoveRequest, context: Context) -> ApplyMoveResponse:
        """Play a move."""
        asked = checked_position(request, request.position, hand_known=False)
        if asked.over:
            raise game_over()
        work = partial(apply_move, self._engine, asked, request.move, list(request.reveals))
        response, _ = await self._gate.run(work)
        return response
