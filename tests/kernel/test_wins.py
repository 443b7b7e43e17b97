"""A way to win this turn is found wherever there is one, and is one."""

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
import pytest

from tests.kernel.bank_positions import SPITEFUL
from tests.kernel.test_turns import asked, bank_last_turns, malice_last_turns
from zank_kernel import bank
from zank_kernel.engine import FAMILIES, PACKINGS, Engine

EVERYTHING = 4_000  # nodes
LAST_TURNS = {"malice": malice_last_turns, "bank": bank_last_turns}

# From games of the rollout policy, cards by their numbers: turns in which very many moves lead nowhere.
HIDDEN_AWAY = (
    bank.Table(
        rules=SPITEFUL,
        mover=0,
        foundations=(
            (129, 66, 131, 132, 133, 70, 135, 72, 73, 138),
            (65, 130, 67),
            (81, 82, 83, 148, 149, 150, 151, 152, 153, 90, 155, 156),
            (145, 146, 147),
            (161, 162, 99, 100, 165),
            (97,),
            (113, 178, 179, 116, 181, 118, 183, 184, 185, 122, 187, 188),
            (177, 114, 115, 180),
        ),
        tableau=((139, 154, 137, 168), (121,), (119,), (171, 74, 89, 136), (186,), (141,), (182,), (71,)),
        reserve=((), ()),
        stock=(
            (
                *(189, 124, 169, 104, 93, 85, 84, 76, 87, 88, 106, 105, 123, 125),
                *(120, 163, 164, 101, 86, 117, 98, 170, 107, 75, 134, 69, 68, 157),
            ),
            (103, 166, 167, 102, 173, 108, 109, 172, 140),
        ),
        waste=((92, 91), (77,)),
        quiet=(0, 1),
        turns=42,
    ),
    bank.Table(
        rules=SPITEFUL,
        mover=0,
        foundations=(
            (65, 66, 131, 132, 133, 134, 71, 72, 137, 74, 75, 140, 77),
            (129, 130, 67, 68, 69, 70),
            (145, 82, 83, 148, 85, 150, 151, 152, 153, 90, 91),
            (81, 146),
            (161, 162, 163, 164, 165, 166, 167, 168, 169, 170, 171, 172, 173),
            (97, 98, 99),
            (113, 178, 179, 116, 181, 118, 183, 120, 185),
            (177, 114, 115),
        ),
        tableau=(
            *((157, 76), (119, 102, 117), (186, 89, 136, 87), (109,), (154, 73, 88, 135, 86)),
            *((189, 108, 123, 106), (124,), (138, 105, 184, 103, 182, 101)),
        ),
        reserve=((), ()),
        stock=((104, 100, 92, 155, 156, 93, 180, 187, 121, 122, 107), (147, 84, 149)),
        waste=((125, 188), (141, 139)),
        quiet=(0, 1),
        turns=62,
    ),
)


def way(engine: Engine, family: str, tables: Sequence[Any], actions: Sequence[int] | None = None) -> tuple[int, ...]:
    """A way to win from the first table that comes by none of the others, and begins with one of the actions."""
    words = PACKINGS[family].pack(FAMILIES[family].to_state(tables))
    legal = engine.legal_actions(family, tables[0]) if actions is None else actions
    return tuple(engine.win(family, words, legal, tables[0].mover))


def won(states: Any, mover: int) -> Any:
    """Which states are won by the mover, bool [B]."""
    return (states.ending == 1) & ((1 if mover == 0 else -1) * states.points > 0)


def positions(engine: Engine, table: Any, line: Sequence[int]) -> list[Any]:
    """The states that a line of legal moves goes through."""
    family = "bank" if isinstance(table, bank.Table) else "malice"
    states = [FAMILIES[family].to_state([table])]
    for action in line:
        assert engine.legal(family, states[-1])[action, 0]
        states.append(engine.play(family, states[-1], np.asarray([action], np.int32)))
    return states


def check(engine: Engine, table: Any, line: Sequence[int]) -> None:
    """A line is one of legal moves of one turn, the last of which wins."""
    *before, end = positions(engine, table, line)
    assert all(state.mover[0] == table.mover for state in before)
    assert won(end, table.mover).all()


@pytest.mark.parametrize("family", LAST_TURNS)
def test_what_is_found_is_a_way_to_win(engines: tuple[Engine, Engine], family: str) -> None:
    for table in LAST_TURNS[family](12):
        check(engines[0], table, way(engines[0], family, [table]))


@pytest.mark.parametrize("family", LAST_TURNS)
def test_a_way_is_found_where_one_is_among_all_outcomes_and_nowhere_else(
    engines: tuple[Engine, Engine], family: str
) -> None:
    counts = {False: 0, True: 0}
    for table in LAST_TURNS[family](30):
        for action in engines[0].legal_actions(family, table):
            turn = engines[0].turn(asked(family, table, only=frozenset({action})), EVERYTHING)
            if turn.complete:
                line = way(engines[0], family, [table], [action])
                assert bool(line) == won(turn.outcomes, table.mover).any()
                assert line[:1] in ((), (action,))
                counts[bool(line)] += 1
    assert min(counts.values()) > 5


def test_a_way_does_not_come_by_what_must_not_come_back(engines: tuple[Engine, Engine]) -> None:
    key = jax.jit(bank.FAMILY.key)
    (table,) = bank_last_turns(1)
    legal = engines[0].legal_actions("bank", table)
    states = positions(engines[0], table, way(engines[0], "bank", [table]))
    for barred in states[1:-1]:
        words = np.concatenate([PACKINGS["bank"].pack(each) for each in (states[0], barred)], axis=-1)
        other = engines[0].win("bank", words, legal, table.mover)
        for state in positions(engines[0], table, other):
            assert (np.asarray(key(state)) != np.asarray(key(barred))).any()


@pytest.mark.parametrize("table", HIDDEN_AWAY)
def test_a_win_is_found_where_the_search_of_the_turn_is_broken_off(
    engines: tuple[Engine, Engine], table: bank.Table
) -> None:
    turn = engines[0].turn(asked("bank", table))
    assert not turn.complete
    assert won(turn.outcomes, table.mover).any()
    answer = engines[1].answer(asked("bank", table, 512))
    assert answer.evaluations[0].wins_this_turn
    check(engines[0], table, answer.evaluations[0].line)


def test_of_moves_that_lead_to_one_position_one_is_looked_at(
    engines: tuple[Engine, Engine], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one that the turn knows the position by: otherwise the same move would be told twice."""
    looked: list[list[int]] = []

    def win(self: Engine, family: str, words: Any, actions: Sequence[int], player: int, limit: int) -> Sequence[int]:
        looked.append([*actions])
        return ()

    monkeypatch.setattr(Engine, "win", win)
    groups = 0
    for table in (*HIDDEN_AWAY, *bank_last_turns(30)):
        looked.clear()
        turn = engines[0].turn(asked("bank", table), nodes=16)
        for actions in looked:
            assert [sum(action in members for action in actions) for members in turn.moves] == [1] * len(turn.moves)
            groups += any(len(members) > 1 for members in turn.moves)
    assert groups > 2


def test_after_a_failure_ways_are_found_again(engines: tuple[Engine, Engine], monkeypatch: pytest.MonkeyPatch) -> None:
    (table,) = malice_last_turns(1)
    expected = way(engines[0], "malice", [table])
    with monkeypatch.context() as broken:
        broken.setattr(engines[0], "_call", lost)
        with pytest.raises(RuntimeError, match="lost"):
            way(engines[0], "malice", [table])
    assert way(engines[0], "malice", [table]) == expected


def lost(*_: object) -> None:
    raise RuntimeError("the device was lost")
