"""Spite & Malice on the wire, as an implementation of the family protocol."""

from typing import Final

from zank_kernel import malice as kernel
from zank_kernel.malice.rules import PRESETS, Rules
from zank_kernel.malice.table import Table
from zank_service.family import Family
from zank_service.malice import check, knowledge, moves, reasons, referee, rule_sets

FAMILY: Final[Family[Rules, Table]] = Family(
    name=kernel.FAMILY.name,
    presets=PRESETS,
    check_options=rule_sets.check_options,
    rules=rule_sets.rules,
    defaults=rule_sets.defaults,
    description=lambda rules: rules.description,
    scored=lambda rules: rules.scored,
    check_table=check.check_table,
    check_known=check.check_known,
    view=knowledge.view,
    laid_open=knowledge.laid_open,
    table=knowledge.table,
    revealed=knowledge.revealed,
    move_name=moves.move_name,
    action=lambda position, text: moves.choice(position, text).action,
    reasons=reasons.reasons,
    deal=referee.deal,
    legal_moves=referee.legal_moves,
    choice=moves.choice,
    lane=referee.lane,
    exact=referee.exact,
    hands_known=referee.hands_known,
    action_in=referee.action_in,
    name_in=referee.name_in,
    broken=referee.broken,
    game=referee.game,
    carry_out=referee.carry_out,
    endings=referee.ENDINGS,
    ended_by=referee.ENDED_BY,
)

__all__ = ["FAMILY"]
