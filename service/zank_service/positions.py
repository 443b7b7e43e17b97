"""Positions from the wire: checked, and ready to be asked about."""

import dataclasses
from typing import Any

from google.protobuf.message import Message

from zank.v1 import Ending, Position, RuleSet
from zank_service.families import BY_PRESET
from zank_service.family import AnyFamily
from zank_service.limits import MAX_SHUFFLES, MAX_TURNS, SHOWN
from zank_service.refusals import Violations, invalid


@dataclasses.dataclass(frozen=True, kw_only=True)
class Checked:
    """A position that follows the rules of its game, with its family and the kernel's rules."""

    position: Position
    family: AnyFamily
    rules: Any

    @property
    def over(self) -> bool:
        """Whether the game is over."""
        return self.position.HasField("result")


def checked_rule_set(rule_set: RuleSet, field: str, reason: str) -> AnyFamily:
    """The family of a rule set at this path in the request; raises Refusal with `reason` where it cannot be."""
    if rule_set.preset not in BY_PRESET:
        found = f"found {rule_set.preset[:SHOWN]!r}" if rule_set.preset else "found none"
        raise invalid(reason, f"{field}.preset", f"expected one of {', '.join(BY_PRESET)}; {found}")
    family = BY_PRESET[rule_set.preset]
    violations = Violations()
    options = rule_set.WhichOneof("options")
    if options not in (None, family.name):
        violations.add(f"{field}.{options}", f"expected options of the family {family.name}, of {rule_set.preset}")
    else:
        family.check_options(rule_set, field, violations)
    violations.refuse_if_any(reason)
    return family


def checked_position(
    request: Message, position: Position, field: str = "position", *, masked: bool = False, hand_known: bool = True
) -> Checked:
    """The position at path `field` of a request; raises Refusal, with every fault found, for one that cannot be.

    `masked`: what the player to move cannot know is left out before anything is looked at. `hand_known`: the position
    must give what the player to move knows.
    """
    reason = "INVALID_POSITION"
    if not request.HasField("position"):
        raise invalid(reason, field, "expected a position, found none")
    family = checked_rule_set(position.rule_set, f"{field}.rule_set", reason)
    rules = family.rules(position.rule_set)
    violations = Violations()
    _check_frame(position, family, field, violations)
    violations.refuse_if_any(reason)
    if masked:
        position = family.view(position, position.player_to_move)
    family.check_table(position, rules, field, violations)
    if hand_known:
        family.check_known(position, field, violations)
    violations.refuse_if_any(reason)
    return Checked(position=position, family=family, rules=rules)


def _check_frame(position: Position, family: AnyFamily, field: str, violations: Violations) -> None:
    """What a position of any family says."""
    if position.player_to_move not in (1, 2):
        violations.add(f"{field}.player_to_move", f"expected 1 or 2, found {position.player_to_move}")
    if position.turns > MAX_TURNS:
        violations.add(f"{field}.turns", f"expected at most {MAX_TURNS}, found {position.turns}")
    if position.shuffle.count > MAX_SHUFFLES:
        violations.add(f"{field}.shuffle.count", f"expected at most {MAX_SHUFFLES}, found {position.shuffle.count}")
    if position.HasField("result"):
        if position.result.ending not in Ending.values() or not position.result.ending:
            endings = ", ".join(Ending.keys()[1:])
            violations.add(f"{field}.result.ending", f"expected one of {endings}; found {position.result.ending}")
        if position.result.winner > 2:
            violations.add(f"{field}.result.winner", f"expected 0, 1 or 2, found {position.result.winner}")
    if position.WhichOneof("table") != family.name:
        violations.add(f"{field}.{family.name}", f"expected the table of {position.rule_set.preset}, found none")
