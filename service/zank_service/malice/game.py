"""A table of Spite & Malice in motion: named cards move as the kernel rules, and every step becomes an event."""

from zank.cards import RANKS, SUITS
from zank.notation import HandCard
from zank.v1 import (
    ApplyMoveResponse,
    CenterRecycled,
    Drawn,
    Event,
    GameResult,
    MalicePlayer,
    Moved,
    Pile,
    Position,
    TurnedUp,
    TurnPassed,
)
from zank_kernel.shuffle import shuffled
from zank_service.malice.moves import Choice
from zank_service.malice.piles import faces_known, piles
from zank_service.refusals import not_possible


class Game:
    """The position while a move is played, changed in place, and what happened to it."""

    def __init__(self, position: Position) -> None:
        self.position = position
        self.events: list[Event] = []

    def response(self) -> ApplyMoveResponse:
        """The position and the events."""
        return ApplyMoveResponse(position=self.position, events=self.events)

    def move(self, choice: Choice) -> None:
        """The chosen card goes where it was meant to."""
        player = self._mover
        from_hand = isinstance(choice.move.source, HandCard)
        del choice.pile.cards[choice.index]
        target = player.sides if choice.move.is_discard else self.position.malice.centers
        target[choice.move.target.number - 1].cards.append(choice.card)
        recycled = self.position.malice.recycled.cards
        if from_hand and choice.card in recycled:
            recycled.remove(choice.card)
        moved = Moved(
            player=self.position.player_to_move,
            card=choice.card,
            origin="H" if from_hand else str(choice.move.source),
            destination=str(choice.move.target),
        )
        self.events.append(Event(moved=moved))

    def turn_up(self) -> None:
        """The next payoff card comes to light (M5); raises Refusal when its face is not given."""
        payoff = self._mover.payoff
        if payoff.cards or not payoff.hidden:
            return
        if not faces_known(payoff):
            raise _cards_unknown(f"players[{self.position.player_to_move - 1}].payoff")
        card = payoff.concealed.pop()
        payoff.hidden -= 1
        payoff.cards.append(card)
        self.events.append(Event(turned_up=TurnedUp(player=self.position.player_to_move, place="P", card=card)))

    def recycle(self, center: int) -> None:
        """A complete center stack is shuffled into the stock (M9); raises Refusal when that needs a seed."""
        table = self.position.malice
        cards = list(table.centers[center].cards)
        known = faces_known(table.stock)
        stock = [*table.stock.concealed, *cards]
        full = all(faces_known(pile) for _, pile in piles(table, ""))
        del table.centers[center].cards[:]
        table.stock.hidden += len(cards)
        table.stock.ClearField("concealed")
        if self.position.HasField("shuffle"):
            shuffle = self.position.shuffle
            if known:
                table.stock.concealed.extend(shuffled(stock, shuffle.seed, shuffle.count))
            shuffle.count += 1
        elif full or (known and len(stock) > len(cards)):
            raise not_possible(
                "SHUFFLE_UNKNOWN", "this move shuffles the stock, whose order the position gives without a shuffle"
            )
        if table.HasField("recycled"):
            together = sorted([*table.recycled.cards, *cards], key=_by_rank)
            del table.recycled.cards[:]
            table.recycled.cards.extend(together)
        self.events.append(Event(center_recycled=CenterRecycled(place=f"C{center + 1}", cards=cards)))

    def pass_turn(self) -> None:
        """The other player is to move (M6)."""
        self.position.player_to_move = 3 - self.position.player_to_move
        self.position.turns += 1
        hand = self._mover.hand
        if faces_known(hand):  # a mover's hand is known
            hand.CopyFrom(Pile(cards=[*hand.concealed, *hand.cards]))
        self.events.append(Event(turn_passed=TurnPassed(player=self.position.player_to_move)))

    def next_cards(self, most: int) -> list[str]:
        """The cards on top of the stock, at most so many, the first drawn first; raises Refusal when not given."""
        stock = self.position.malice.stock
        if not faces_known(stock):
            raise _cards_unknown("stock")
        return list(stock.concealed)[::-1][:most]

    def draw(self, count: int) -> None:
        """The player to move draws so many cards (M2, M8)."""
        cards = self.next_cards(count)
        if not cards:
            return
        stock = self.position.malice.stock
        del stock.concealed[-len(cards) :]
        stock.hidden -= len(cards)
        self._mover.hand.cards.extend(cards)
        self.events.append(Event(drawn=Drawn(player=self.position.player_to_move, cards=cards)))

    def finish(self, result: GameResult) -> None:
        """The game is over."""
        self.position.result.CopyFrom(result)
        self.events.append(Event(game_over=result))

    @property
    def _mover(self) -> MalicePlayer:
        return self.position.malice.players[self.position.player_to_move - 1]


def _by_rank(card: str) -> tuple[int, int]:
    return RANKS.index(card[0]), SUITS.index(card[1])


def _cards_unknown(pile: str) -> Exception:
    path = f"position.malice.{pile}"
    return not_possible(
        "CARDS_UNKNOWN", f"this move brings a card to light that the position does not give: {path}", {"pile": path}
    )
