from hypothesis import given

from tests.client.strategies import expressible_positions, game_positions
from zank.board import draw
from zank.cards import parse_card
from zank.text import parse_position
from zank.v1 import ENDING_OUT, GameResult, Position

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


@given(game_positions())
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


@given(game_positions())
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


@given(game_positions())
def test_a_narrow_board_has_the_hands_in_lines_of_their_own(position: Position) -> None:
    drawn = draw(position, width=40)
    assert all(len(line) <= 40 for line in drawn.splitlines()[1:])
    hands = [line for line in drawn.splitlines() if line[10:].startswith("hand  ")]
    assert len(hands) == 2
