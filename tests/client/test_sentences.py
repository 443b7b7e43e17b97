from collections import Counter

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.client.strategies import bank_games, bank_moves, expressible_positions, moves
from zank._bank_sentences import foresee_bank
from zank.english import ENGLISH
from zank.notation import BankMove, Move
from zank.sentences import (
    _AGAINST,
    _IMPORTANCE,
    describe_event,
    describe_hint,
    describe_line,
    describe_move,
    describe_place,
    describe_reason,
    describe_reasons,
    describe_result,
    describe_slot,
    format_chance,
    format_points,
)
from zank.text import parse_position
from zank.v1 import (
    ENDING_ADJUDICATED,
    ENDING_OUT,
    ENDING_STALEMATE,
    ENDING_STOCK_OUT,
    OBJECTIVE_POINTS,
    REASON_CODE_UNSPECIFIED,
    Answer,
    CenterRecycled,
    Drawn,
    Estimate,
    Event,
    GameResult,
    Moved,
    MoveEvaluation,
    Position,
    Reason,
    ReasonCode,
    RuleSet,
    Slot,
    TurnedUp,
    TurnPassed,
    Value,
    WasteTurnedOver,
)

POSITION = parse_position(
    "malice-match~1~t.12~a.9-7h.7c7sKsQs8h.Jd..Ks.Tc~b.10-9s.5-....~c.Ac2d3d4h5h6c.AsKdKs4d5d6d7d.~k.63-"
)
MATCH = RuleSet(preset="malice-match")
CLASSIC = RuleSet(preset="malice-classic")
SPITEFUL = RuleSet(preset="bank-spiteful")
RUSSIAN = RuleSet(preset="bank-russian")

BANK_TABLE = "f.Ac1.......~h.Qs1Jh2..5d24s1.Jh2.3c2.8d1.Td2.6s1"
BANK = parse_position(f"bank-russian~1~a.11-7h1.20-.Kd2~b.12-9s2.30-.2c2~{BANK_TABLE}~d.4h2")
TURNED_OVER = parse_position(f"bank-russian~1~a.11-7h1..3dKd2~b.12-9s2.30-.2c2~{BANK_TABLE}")


@pytest.mark.parametrize(
    ("move", "sentence"),
    [
        ("P-C1", "Play the 7♥ from the payoff pile onto center stack 1, which needs a 7"),
        ("7-C1", "Play the 7♣ from hand onto center stack 1, which needs a 7"),
        ("7s-C1", "Play the 7♠ from hand onto center stack 1, which needs a 7"),
        ("8-C2", "Play the 8♥ from hand onto center stack 2, which needs an 8"),
        ("K-C1", "Play the K♠ from hand onto center stack 1 as a 7"),
        ("K-C3", "Play the K♠ from hand onto center stack 3 as an ace"),
        ("S3-C2", "Play the K♠ from side stack 3 onto center stack 2 as an 8"),
        ("Q-S2", "Discard the Q♠ on side stack 2, which ends the turn"),
        ("T-S2", "Discard the 10 on side stack 2, which ends the turn"),
        ("P-C2", "Play the 7♥ from the payoff pile onto center stack 2"),
    ],
)
def test_a_move_in_words(move: str, sentence: str) -> None:
    assert describe_move(move, POSITION) == sentence


def test_a_side_play_that_ends_the_turn_says_so() -> None:
    position = Position()
    position.CopyFrom(POSITION)
    position.rule_set.malice.side_play_ends_turn = True
    assert describe_move("S3-C2", position).endswith("as an 8; this ends the turn")
    assert describe_move("P-C1", position) == describe_move("P-C1", POSITION)


@pytest.mark.parametrize(
    ("move", "sentence"),
    [
        ("R-F", "Play the 7♥ from the reserve to the foundations"),
        ("R-T1", "Play the 7♥ from the reserve onto tableau pile 1"),
        ("R-T2", "Play the 7♥ from the reserve to the space at tableau pile 2"),
        ("R-OR", "Load the 7♥ from the reserve onto the other player's reserve"),
        ("R-OW", "Load the 7♥ from the reserve onto the other player's waste"),
        ("D-F", "Play the 4♥ from the stock to the foundations"),
        ("D-T8", "Play the 4♥ from the stock onto tableau pile 8"),
        ("D-OW", "Load the 4♥ from the stock onto the other player's waste"),
        ("T3-F", "Play the 4♠ from tableau pile 3 to the foundations"),
        ("T7-T4", "Play the 10♦ from tableau pile 7 onto tableau pile 4"),
        ("T7-T2", "Play the 10♦ from tableau pile 7 to the space at tableau pile 2"),
        ("t7-or", "Load the 10♦ from tableau pile 7 onto the other player's reserve"),
        ("T2-F", "Play the ? from tableau pile 2 to the foundations"),
        ("TURN", "Turn the top card of the stock"),
        ("END", "End the turn: the 4♥ goes to the waste"),
    ],
)
def test_a_move_of_russian_bank_in_words(move: str, sentence: str) -> None:
    assert describe_move(move, BANK) == sentence


def test_what_is_known_of_the_stock_is_said_when_it_is_turned() -> None:
    assert describe_move("TURN", TURNED_OVER) == "Turn the waste over, and turn up its first card, the 3♦"
    known = parse_position(f"bank-russian~1~a.11-7h1.Kd23d.~b.12-9s2.30-.2c2~{BANK_TABLE}")
    assert describe_move("TURN", known) == "Turn the top card of the stock, the 3♦"


def test_a_turn_that_ends_without_a_drawn_card_throws_none() -> None:
    assert describe_move("END", TURNED_OVER) == "End the turn"


@given(moves, expressible_positions)
def test_every_move_has_words_in_every_position(move: Move, position: Position) -> None:
    beginnings = ("Play the ", "Load the ", "Turn the ", "End the turn") if isinstance(move, BankMove) else None
    assert describe_move(move, position).startswith(beginnings or ("Play the ", "Discard the "))


def _estimate(mean: float, standard_error: float) -> Estimate:
    return Estimate(mean=mean, standard_error=standard_error)


def _value() -> Value:
    return Value(
        rollouts=400,
        win=_estimate(0.632, 0.021),
        tie=_estimate(0.041, 0.01),
        loss=_estimate(0.327, 0.02),
        points=_estimate(3.12, 0.41),
    )


def _hint(**best: object) -> Answer:
    evaluation = MoveEvaluation(move="P-C1", value=_value(), tied_with_best=True)
    for name, value in best.items():
        setattr(evaluation, name, value)
    return Answer(moves=[evaluation], objective=OBJECTIVE_POINTS, rollouts=1024, seed=5)


def test_a_hint_says_what_to_play_and_how_sure_that_is() -> None:
    assert describe_hint(_hint(), POSITION) == [
        "Play the 7♥ from the payoff pile onto center stack 1, which needs a 7.",
        "Wins 63 % ± 2 %, ties 4 % ± 1 %, +3.1 ± 0.4 points expected.",
    ]


def test_in_a_match_the_chance_to_win_it_comes_first() -> None:
    hint = _hint()
    hint.moves[0].value.match.CopyFrom(_estimate(0.5512, 0.0048))
    assert describe_hint(hint, POSITION)[1] == (
        "Wins the match 55.1 % ± 0.5 %, this game 63 % ± 2 %, ties 4 % ± 1 %, +3.1 ± 0.4 points expected."
    )


def test_a_preset_without_points_speaks_of_the_margin() -> None:
    position = Position()
    position.CopyFrom(POSITION)
    position.rule_set.CopyFrom(CLASSIC)
    assert describe_hint(_hint(), position)[1].endswith("a margin of +3.1 ± 0.4 payoff cards expected.")


def test_moves_that_cannot_be_told_apart_are_named() -> None:
    hint = _hint()
    for move in ("Q-S4", "Q-S1", "7-C1"):
        hint.moves.add(move=move, tied_with_best=move != "7-C1", value=Value(rollouts=len(hint.moves) * 100))
    assert describe_hint(hint, POSITION)[-1] == "As good as far as 100 rollouts a move can tell: Q-S4, Q-S1."
    for number in range(1, 5):
        hint.moves.add(move=f"7-S{number}", tied_with_best=True)
    assert describe_hint(hint, POSITION)[-1].endswith(": Q-S4, Q-S1, 7-S1, 7-S2 and 2 more.")


def test_a_forced_move_is_the_only_one() -> None:
    hint = Answer(moves=[MoveEvaluation(move="Q-S1", equivalents=["Q-S2"], tied_with_best=True)], forced=True)
    assert describe_hint(hint, POSITION) == [
        "Discard the Q♠ on side stack 1, which ends the turn.",
        "The same as Q-S2.",
        "The only legal move.",
    ]


def test_a_move_that_wins_at_once_needs_no_numbers() -> None:
    assert describe_hint(_hint(wins_at_once=True), POSITION)[1:] == ["It wins the game at once."]


def _reason(code: str, cards: str = "", places: str = "") -> Reason:
    return Reason(code=ReasonCode.Value(f"REASON_CODE_{code}"), cards=cards.split(), places=places.split())


@pytest.mark.parametrize(
    ("reason", "sentence"),
    [
        (_reason("WINS"), "It wins the game at once."),
        (_reason("PLAYS_PAYOFF", "7h", "C1"), "It plays the payoff card, the 7♥."),
        (_reason("ON_PATH", "Kd Ts Jc", "H S1 P"), "It leads to the payoff card: next K♦, 10♠, J♣."),
        (_reason("SHUTS_OUT", "6c", "C1"), "It shuts the other player's 6♣ out of center stack 1."),
        (_reason("UNCOVERS", "5d", "S2 C3"), "It uncovers the 5♦ on side stack 2, which fits center stack 3."),
        (_reason("EMPTIES_SIDE", "", "S2"), "It empties side stack 2."),
        (_reason("REFILLS_HAND"), "It empties the hand, and five cards are drawn."),
        (_reason("COMPLETES_STACK", "", "C2"), "It completes center stack 2."),
        (_reason("CONTINUES_RUN", "7s 8h", "S2"), "It continues the run on side stack 2: the 7♠ on the 8♥."),
        (_reason("LETS_IN", "6c", "C1"), "It lets the other player's 6♣ onto center stack 1."),
        (_reason("COVERS_PLAYABLE", "5d", "S2 C3"), "It covers the 5♦ on side stack 2, which fits center stack 3."),
        (_reason("DISCARDS_KING", "Ks"), "It gives the K♠ away."),
        (_reason("LOSES"), "It loses the game at once: the stock runs out."),
        (_reason("ENDS_GAME"), "It ends the game."),
        (_reason("SHUTS_OUT", "9s2", "F"), "It shuts the other player's 9♠ out of the foundations."),
        (_reason("UNCOVERS", "5d2", "T3 F"), "It uncovers the 5♦ on tableau pile 3, which fits the foundations."),
        (_reason("LETS_IN", "9s2", "T7"), "It lets the other player's 9♠ onto tableau pile 7."),
        (_reason("COVERS_PLAYABLE", "5d", "T3 F"), "It covers the 5♦ on tableau pile 3, which fits the foundations."),
        (_reason("PLAYS_TO_FOUNDATION", "2c2"), "It plays the 2♣ to the foundations."),
        (_reason("PLAYS_RESERVE", "7h1", "T8"), "It gets a reserve card away, the 7♥."),
        (_reason("FREES_RESERVE", "7h1", "T8"), "It lets the 7♥ of the reserve onto tableau pile 8."),
        (_reason("FREES_RESERVE", "7h1", "F"), "It lets the 7♥ of the reserve onto the foundations."),
        (_reason("MAKES_SPACE", "", "T5"), "It makes a space of tableau pile 5."),
        (_reason("FILLS_SPACE", "", "T5"), "It fills the only space, tableau pile 5."),
        (_reason("LOADS", "Ts1", "OR"), "It loads the 10♠ onto the other player's reserve."),
        (_reason("LOADS", "Ts1", "OW"), "It loads the 10♠ onto the other player's waste."),
        (_reason("THROWS_PLAYABLE", "4h2", "T3"), "It throws the 4♥ away, which fits tableau pile 3."),
        (_reason("TURNS_WASTE_OVER", "3d"), "It turns the waste over: the 3♦ comes up."),
    ],
)
def test_a_reason_in_words(reason: Reason, sentence: str) -> None:
    assert describe_reason(reason) == sentence


def test_every_reason_has_words_and_a_rank() -> None:
    codes = set(ReasonCode.values()) - {REASON_CODE_UNSPECIFIED}
    assert set(ENGLISH.reasons) == codes
    assert set(_IMPORTANCE) == codes
    assert len(_IMPORTANCE) == len(codes) == 22
    assert codes > _AGAINST
    reasons = [Reason(code=code, cards=["7h", "8h"], places=["S1", "C1"]) for code in codes]
    assert describe_reasons(reasons[::-1]) == describe_reasons(reasons)
    assert len(describe_reasons(reasons)) == len(codes)


def test_what_a_newer_server_says_is_skipped() -> None:
    unknown = Reason()
    unknown.ParseFromString(b"\x08\x63")  # code 99
    missing = _reason("LETS_IN")
    assert describe_reasons([unknown, missing, _reason("EMPTIES_SIDE", "", "X7")]) == ["It empties X7."]


def test_a_hint_gives_the_three_most_important_reasons_and_says_which_speak_against_it() -> None:
    hint = _hint()
    hint.moves[0].reasons.extend(
        [
            _reason("EMPTIES_SIDE", "", "S2"),
            _reason("LETS_IN", "6c", "C1"),
            _reason("COMPLETES_STACK", "", "C1"),
            _reason("PLAYS_PAYOFF", "7h", "C1"),
        ]
    )
    assert describe_hint(hint, POSITION)[1:3] == [
        "Why: It plays the payoff card, the 7♥. It empties side stack 2.",
        "But: It lets the other player's 6♣ onto center stack 1.",
    ]


def test_what_speaks_against_a_move_of_russian_bank_is_said_apart() -> None:
    hint = Answer(moves=[MoveEvaluation(move="END", value=_value(), tied_with_best=True)], objective=OBJECTIVE_POINTS)
    hint.moves[0].reasons.extend(
        [_reason("TURNS_WASTE_OVER", "3d"), _reason("THROWS_PLAYABLE", "4h2", "T3"), _reason("LOADS", "4h2", "OW")]
    )
    assert describe_hint(hint, BANK) == [
        "End the turn: the 4♥ goes to the waste.",
        "Why: It loads the 4♥ onto the other player's waste. It turns the waste over: the 3♦ comes up.",
        "But: It throws the 4♥ away, which fits tableau pile 3.",
        "Wins 63 % ± 2 %, ties 4 % ± 1 %, +3.1 ± 0.4 points expected.",
    ]


def test_a_planned_turn_is_told_as_it_unfolds() -> None:
    position = parse_position(
        "malice-match~1~a.9-Kh.QsQhAc7d.8d..Ks.~b.10-9s.5-....~c.AsKdKs4d5d6d7d8d9dTdJd.Ac.~k.63-"
    )
    assert describe_line(["Q-C1", "S3-C1", "Q-S4", "7-S4"], position) == [
        "Play the Q♠ from hand onto center stack 1, which needs a queen.",
        "Play the K♠ from side stack 3 onto center stack 1 as an ace.",
        "Discard the Q♥ on side stack 4, which ends the turn.",
        "Discard the 7♦ on side stack 4, which ends the turn.",
    ]
    assert position.malice.players[0].hand.cards == ["Qs", "Qh", "Ac", "7d"]


def test_a_planned_turn_of_russian_bank_is_told_as_it_unfolds() -> None:
    before = TURNED_OVER.SerializeToString(deterministic=True)
    assert describe_line(
        ["T3-T2", "T3-F", "R-T3", "T2-OW", "TURN", "D-T2", "T4-T3", "TURN", "D-OR", "END"], TURNED_OVER
    ) == [
        "Play the 4♠ from tableau pile 3 to the space at tableau pile 2.",
        "Play the 5♦ from tableau pile 3 to the foundations.",
        "Play the 7♥ from the reserve to the space at tableau pile 3.",
        "Load the 4♠ from tableau pile 2 onto the other player's waste.",
        "Turn the waste over, and turn up its first card, the 3♦.",
        "Play the 3♦ from the stock to the space at tableau pile 2.",
        "Play the J♥ from tableau pile 4 onto tableau pile 3.",
        "Turn the top card of the stock, the K♦.",
        "Load the K♦ from the stock onto the other player's reserve.",
        "End the turn.",
    ]
    assert TURNED_OVER.SerializeToString(deterministic=True) == before


def test_what_comes_to_light_in_a_planned_turn_is_not_foreseen() -> None:
    assert describe_line(["R-F", "R-T1", "END", "END"], BANK) == [
        "Play the 7♥ from the reserve to the foundations.",
        "Play the ? from the reserve onto tableau pile 1.",
        "End the turn: the 4♥ goes to the waste.",
        "End the turn.",
    ]


def _known_cards(position: Position) -> Counter[str]:
    table = position.bank
    piles = [
        *table.tableau,
        *(pile for player in table.players for pile in (player.reserve, player.stock, player.waste)),
    ]
    return Counter([card for pile in piles for card in pile.cards] + [table.drawn] * bool(table.drawn))


@given(bank_moves, bank_games())
def test_a_move_of_russian_bank_that_is_foreseen_loses_no_card(move: BankMove, position: Position) -> None:
    assume(move.source != "TURN" or not position.bank.drawn)
    before = _known_cards(position)
    foresee_bank(move, position)
    gone = before - _known_cards(position)
    assert _known_cards(position) == before - gone
    assert gone.total() <= (1 if move.target == "F" else 0)


@given(st.lists(moves, max_size=6), expressible_positions)
def test_every_line_has_words_in_every_position(line: list[Move], position: Position) -> None:
    assert len(describe_line(line, position)) == len(line)


def test_a_slot_in_words() -> None:
    assert describe_slot(Slot(player=2, place="P")) == "the next payoff card of player 2"
    assert describe_slot(Slot(player=1, place="H", index=4)) == "card 5 that player 1 draws"
    assert describe_slot(Slot(player=2, place="R")) == "the next reserve card of player 2"
    assert describe_slot(Slot(player=1, place="D")) == "the card that player 1 turns from the stock"


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("C1", "center stack 1"),
        ("S4", "side stack 4"),
        ("T8", "tableau pile 8"),
        ("R", "the reserve"),
        ("D", "the drawn card"),
        ("W", "the waste"),
        ("F", "the foundations"),
        ("OR", "the other player's reserve"),
        ("OW", "the other player's waste"),
        ("X9", "X9"),
        ("", ""),
    ],
)
def test_a_place_in_words(place: str, words: str) -> None:
    assert describe_place(place) == words


@pytest.mark.parametrize(
    ("mean", "standard_error", "text"),
    [
        (0.632, 0.021, "63 % ± 2 %"),
        (0.9987, 0.0013, "99.9 % ± 0.1 %"),
        (0.529, 0.0094, "52.9 % ± 0.9 %"),
        (0.529, 0.0096, "53 % ± 1 %"),
        (0.00001, 0.00001, "0.001 % ± 0.001 %"),
        (1.0, 0.0, "100 % ± 0 %"),
    ],
)
def test_an_error_that_is_not_zero_never_reads_as_zero(mean: float, standard_error: float, text: str) -> None:
    assert format_chance(_estimate(mean, standard_error)) == text


def test_points_carry_their_sign() -> None:
    assert format_points(_estimate(3.12, 0.41)) == "+3.1 ± 0.4"
    assert format_points(_estimate(-0.31, 0.04)) == "-0.31 ± 0.04"
    assert format_points(_estimate(12.0, 2.5), sign=False) == "12.0 ± 2.5"


@pytest.mark.parametrize(
    ("event", "rule_set", "sentence"),
    [
        (
            Event(moved=Moved(player=1, card="Th", origin="H", destination="C2")),
            MATCH,
            "Player 1: 10♥ H → C2.",
        ),
        (Event(turned_up=TurnedUp(player=2, place="P", card="Ks")), MATCH, "Player 2 turns up the K♠ on P."),
        (Event(drawn=Drawn(player=2, cards=["7h"], count=1)), MATCH, "Player 2 draws 1 card."),
        (Event(drawn=Drawn(player=1, count=5)), MATCH, "Player 1 draws 5 cards."),
        (
            Event(center_recycled=CenterRecycled(place="C2", cards=["Ac"] * 12)),
            MATCH,
            "C2 is complete: its 12 cards are shuffled into the stock.",
        ),
        (Event(turn_passed=TurnPassed(player=2)), MATCH, "Player 2 is to move."),
        (
            Event(game_over=GameResult(ending=ENDING_OUT, winner=2, points=7)),
            MATCH,
            "Player 2 has played the last payoff card and wins (7 points).",
        ),
        (
            Event(game_over=GameResult(ending=ENDING_STOCK_OUT, winner=1, points=3)),
            CLASSIC,
            "The stock is out: player 1 wins (a margin of 3 payoff cards).",
        ),
        (Event(game_over=GameResult(ending=ENDING_STOCK_OUT)), MATCH, "The stock is out: a tie."),
        (
            Event(moved=Moved(player=1, card="Th2", origin="T4", destination="OW")),
            SPITEFUL,
            "Player 1: 10♥ T4 → OW.",
        ),
        (Event(turned_up=TurnedUp(player=2, place="R", card="Ks2")), SPITEFUL, "Player 2 turns up the K♠ on R."),
        (
            Event(turned_up=TurnedUp(player=2, place="D", card="3d2")),
            SPITEFUL,
            "Player 2 turns the 3♦ from the stock.",
        ),
        (
            Event(waste_turned_over=WasteTurnedOver(player=1, count=1)),
            RUSSIAN,
            "Player 1 turns the waste over: 1 card.",
        ),
        (
            Event(waste_turned_over=WasteTurnedOver(player=1, count=12)),
            RUSSIAN,
            "Player 1 turns the waste over: 12 cards.",
        ),
        (
            Event(game_over=GameResult(ending=ENDING_OUT, winner=2, points=41)),
            RUSSIAN,
            "Player 2 has no card left and wins (41 points).",
        ),
        (Event(), MATCH, ""),
    ],
)
def test_an_event_in_words(event: Event, rule_set: RuleSet, sentence: str) -> None:
    assert describe_event(event, rule_set) == sentence


@pytest.mark.parametrize(
    ("result", "rule_set", "words"),
    [
        (
            GameResult(ending=ENDING_OUT, winner=1, points=30),
            SPITEFUL,
            "Player 1 has no card left and wins (30 points)",
        ),
        (
            GameResult(ending=ENDING_STALEMATE, winner=2, points=1),
            RUSSIAN,
            "A stalemate: player 2 scores the difference (1 point)",
        ),
        (GameResult(ending=ENDING_STALEMATE), SPITEFUL, "A stalemate: nobody scores"),
        (
            GameResult(ending=ENDING_ADJUDICATED, winner=1, points=12),
            RUSSIAN,
            "The turns are used up: player 1 scores the difference (12 points)",
        ),
        (GameResult(ending=ENDING_ADJUDICATED), SPITEFUL, "The turns are used up: nobody scores"),
    ],
)
def test_a_result_of_russian_bank_in_words(result: GameResult, rule_set: RuleSet, words: str) -> None:
    assert describe_result(result, rule_set) == words


def test_every_kind_of_event_has_words() -> None:
    for field in Event.DESCRIPTOR.oneofs_by_name["kind"].fields:
        event = Event()
        getattr(event, field.name).SetInParent()
        assert describe_event(event, SPITEFUL).endswith(".")
