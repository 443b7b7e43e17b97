import pytest
from hypothesis import given

from tests.client.strategies import bank_games, expressible_positions, malice_games
from zank.board import draw
from zank.cards import parse_card
from zank.text import parse_position
from zank.v1 import ENDING_ADJUDICATED, ENDING_OUT, GameResult, Position

DEEP = "".join(f"{rank}{suit}" for suit in "cdhs" for rank in "A23456789TJQK")
TEXT = f"malice-match~1~t.12~a.9-7h.2c7hKs.Jd..{DEEP}.~b.10-9s.5-....~c.Ac2dKh.KdAc.~k.63-~r.KsAc"

BOARD = """\
malice-match · turn 13 · player 1 to move

Player 2  payoff  9♠   11 left     hand  5 hidden
          S1  –
          S2  –
          S3  –
          S4  –

Center    C1  4♥  needs 5        C2  K♠  as 3, needs 4  C3  –   needs A or K
Stock     63 left  2 recycled

Player 1  payoff  7♥   10 left     hand  2♣  7♥  10♠
(to move) S1  J♦
          S2  –
          S3  Q♠   over  Q♦  3♣
          S4  –
"""


def test_the_board_shows_every_zone() -> None:
    text = "malice-match~1~t.12~a.9-7h.2c7hTs.Jd..3cQdQs.~b.10-9s.5-....~c.Ac2d3d4h.AsKdKs.~k.63-~r.KsAc"
    assert draw(parse_position(text)) == BOARD


BANK_TEXT = (
    "bank-russian~2~t.31~a.11-7h1Kd2.20-.3c~b.9-9s2.Td2Jc2Qh2Ks2Ac2.2c2Td1Jd1Qc1Kh1As1"
    "~f.Ac12c13c1.Ac2...Ah1..AsKs2.~h.Qs1Jh2Tc19d28s17h26s25d14c23h22s1Ad2..5d24s1.Jh2.3c2.8d1.Td2.6s1~d.4h2~q.1.0"
)

BANK_BOARD = """\
bank-russian · turn 32 · player 2 to move

Player 1       reserve  K♦   13 left  over  7♥
               stock         20 left
1 quiet turn   waste    3♣   1 left

Foundations    ♣  3   A    ♦  –   –    ♥  A   –    ♠  K   –
Tableau        T1  A♦   over  2♠  3♥  4♣  5♦  6♠  7♥  8♠  9♦  10♣ J♥  Q♠
               T2  –
               T3  4♠   over  5♦
               T4  J♥
               T5  3♣
               T6  8♦
               T7  10♦
               T8  6♠

Player 2       reserve  9♠   10 left
(to move)      stock    A♣   5 left   over  K♠  Q♥  J♣  10♦
               waste    A♠   6 left   over  K♥  Q♣  J♦  10♦ 2♣
               drawn    4♥
"""

NARROW_BANK_BOARD = """\
bank-russian · turn 32 · player 2 to move

Player 1       reserve  K♦   13 left
               over  7♥
1 quiet turn   stock         20 left
               waste    3♣   1 left

Foundations    ♣  3   A    ♦  –   –
               ♥  A   –    ♠  K   –
Tableau        T1  A♦
               over  2♠  3♥  4♣  5♦  6♠
                     7♥  8♠  9♦  10♣ J♥
                     Q♠
               T2  –
               T3  4♠   over  5♦
               T4  J♥
               T5  3♣
               T6  8♦
               T7  10♦
               T8  6♠

Player 2       reserve  9♠   10 left
(to move)      stock    A♣   5 left
               over  K♠  Q♥  J♣  10♦
               waste    A♠   6 left
               over  K♥  Q♣  J♦  10♦ 2♣
               drawn    4♥
"""


@pytest.mark.parametrize(("width", "board"), [(80, BANK_BOARD), (40, NARROW_BANK_BOARD)])
def test_the_board_of_russian_bank_shows_every_zone(width: int, board: str) -> None:
    assert draw(parse_position(BANK_TEXT), width=width) == board


def test_without_a_drawn_card_there_is_no_line_for_one() -> None:
    drawn = draw(parse_position(BANK_TEXT.replace("~d.4h2", "")))
    assert drawn == BANK_BOARD.replace("               drawn    4♥\n", "")


def test_the_drawn_card_lies_before_the_player_to_move_and_the_viewer_sits_below() -> None:
    text = BANK_TEXT.replace("~2~", "~1~", 1)
    for viewer in (1, 2):
        drawn = draw(parse_position(text), viewer=viewer)
        assert drawn.index(f"Player {3 - viewer}") < drawn.index("Tableau") < drawn.index(f"Player {viewer}")
        of_player_1 = drawn[drawn.index("Player 1 ") :].partition("\n\n")[0]
        assert "drawn    4♥" in of_player_1
        assert drawn.count("drawn") == 1


def test_a_finished_game_of_russian_bank_is_headed_by_its_result() -> None:
    position = parse_position(BANK_TEXT.replace("~d.4h2", ""))
    position.result.CopyFrom(GameResult(ending=ENDING_ADJUDICATED, winner=1, points=3))
    drawn = draw(position)
    heading = "bank-russian · turn 32 · The turns are used up: player 1 scores the difference (3 points)\n"
    assert drawn.startswith(heading)
    assert "to move" not in drawn


@given(bank_games())
def test_the_board_of_russian_bank_fits_eighty_columns_and_shows_all_that_is_known(position: Position) -> None:
    drawn = draw(position)
    lines = drawn.splitlines()
    assert all(len(line) <= 80 for line in lines)
    for number, pile in enumerate(position.bank.tableau, start=1):
        (line,) = [line for line in lines if line[15:].startswith(f"T{number} ")]
        shown = [parse_card(card, decks=True).face for card in reversed(pile.cards)] or ["–"]
        assert line[15:].replace("over", "").split()[1:] == shown
    for player in position.bank.players:
        for pile in (player.reserve, player.stock, player.waste):
            assert f"{pile.hidden + len(pile.cards)} left" in drawn
            for card in pile.cards:
                assert parse_card(card, decks=True).face in drawn


@given(bank_games())
def test_the_board_of_russian_bank_does_not_depend_on_what_is_hidden(position: Position) -> None:
    masked = Position()
    masked.CopyFrom(position)
    for player in masked.bank.players:
        player.reserve.ClearField("concealed")
        player.stock.ClearField("concealed")
    assert draw(masked) == draw(position)


@given(bank_games())
def test_a_narrow_board_of_russian_bank_fits_forty_columns(position: Position) -> None:
    assert all(len(line) <= 40 for line in draw(position, width=40).splitlines()[1:])


def test_the_notes_in_the_margin_colour_nothing_else() -> None:
    drawn = draw(parse_position(BANK_TEXT), color=True)
    assert "\x1b[1mTableau\x1b[0m" in drawn
    assert "\x1b[1;31m4♥" in drawn  # the drawn card
    assert "\x1b[31m3♥" in drawn  # in a pile
    assert "  20 left" in drawn


@given(malice_games())
def test_the_board_of_a_game_fits_eighty_columns_and_shows_what_the_mover_knows(position: Position) -> None:
    drawn = draw(position)
    assert all(len(line) <= 80 for line in drawn.splitlines())
    assert "\x1b" not in drawn
    mover = position.malice.players[position.player_to_move - 1]
    own = drawn[drawn.index(f"Player {position.player_to_move}  payoff") :]
    for name in [*mover.hand.cards, mover.payoff.cards[-1], *(card for side in mover.sides for card in side.cards)]:
        assert parse_card(name).face in own
    for player in position.malice.players:
        assert f"{player.payoff.hidden + 1} left" in drawn
    assert f"{position.malice.stock.hidden} left" in drawn


@given(malice_games())
def test_the_board_does_not_depend_on_what_is_hidden(position: Position) -> None:
    masked = Position()
    masked.CopyFrom(position)
    for player in masked.malice.players:
        player.payoff.ClearField("concealed")
    masked.malice.stock.ClearField("concealed")
    other = masked.malice.players[2 - masked.player_to_move].hand
    other.hidden = len(other.cards)
    other.ClearField("cards")
    assert draw(masked) == draw(position)


@given(expressible_positions)
def test_even_an_impossible_position_is_drawn(position: Position) -> None:
    assert f"player {position.player_to_move} to move" in draw(position) or position.HasField("result")
    draw(position, width=10, color=True)


def test_a_deep_side_stack_is_listed_whole_from_the_top() -> None:
    drawn = draw(parse_position(TEXT)).splitlines()
    first = next(number for number, line in enumerate(drawn) if "K♠   over" in line)
    assert drawn[first].lstrip().startswith("S3  K♠   over  Q♠  J♠  10♠ 9♠")
    listed = " ".join([drawn[first].partition("over")[2], *drawn[first + 1 : first + 4]]).split()
    assert listed == [parse_card(DEEP[at : at + 2]).face for at in range(len(DEEP) - 4, -2, -2)]


def test_the_needed_rank_follows_the_height_and_the_rule_set() -> None:
    drawn = draw(parse_position(TEXT))
    assert "C1  K♥  as 3, needs 4" in drawn
    assert "C2  A♣  needs 3" in drawn
    assert "C3  –   needs A or K" in drawn
    assert "C3  –   needs A\n" in draw(parse_position(TEXT.replace("malice-match", "malice-classic")))


def test_a_finished_game_is_headed_by_its_result_and_hides_both_hands() -> None:
    position = parse_position(TEXT)
    position.result.CopyFrom(GameResult(ending=ENDING_OUT, winner=1, points=11))
    drawn = draw(position)
    assert drawn.startswith("malice-match · turn 13 · Player 1 has played the last payoff card and wins (11 points)\n")
    assert "to move" not in drawn
    assert "3 hidden" in drawn


def test_colour_is_an_extra() -> None:
    position = parse_position(TEXT)
    drawn = draw(position, color=True)
    assert "\x1b[1;31m7♥" in drawn  # the payoff card
    assert "\x1b[31m7♥" in drawn  # in hand


def test_three_center_stacks_fit_one_line_of_a_position_file() -> None:
    ten_high = "AcKdKsKhKcKdKsKhKcKd"
    text = TEXT.replace("c.Ac2dKh.KdAc.", f"c.{ten_high}.{ten_high}.{ten_high}")
    (center,) = [line for line in draw(parse_position(text), width=78).splitlines() if "needs" in line]
    assert center.count("K♦  as 10, needs J") == 3


@given(malice_games())
def test_a_narrow_board_has_the_hands_in_lines_of_their_own(position: Position) -> None:
    drawn = draw(position, width=40)
    assert all(len(line) <= 40 for line in drawn.splitlines()[1:])
    hands = [line for line in drawn.splitlines() if line[10:].startswith("hand  ")]
    assert len(hands) == 2
