"""A table of Spite & Malice in motion: named cards move as the kernel rules, and every step becomes an event."""

from functools import partial

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
    Position,
    Slot,
    TurnedUp,
    TurnPassed,
)
from zank_kernel.malice.state import HAND
from zank_kernel.shuffle import shuffled
from zank_service.malice.knowledge import why_not_drawn, why_not_payoff
from zank_service.malice.moves import Choice
from zank_service.piles import faces_known, lay_open, size
from zank_service.refusals import not_possible
from zank_service.reveals import Reveals


class Game:
    """The position while a move is played, changed in place, and what happened to it.

    Cards that come to light are the position's where it gives them, else those that were revealed. `all_seen`: who
    keeps the game sees both hands, and a shuffle without a seed leaves the stock unknown.
    """

    def __init__(self, position: Position, reveals: Reveals, *, all_seen: bool = False) -> None:
        self.position = position
        self.reveals = reveals
        self.events: list[Event] = []
        self._all_seen = all_seen
        self._first_to_move = position.player_to_move
        self._is_hidden = self._mover.hand.hidden > 0  # the hand of that player

    def response(self) -> ApplyMoveResponse:
        """The position and the events, or the slots to be revealed; raises Refusal where one cannot be as revealed."""
        self.reveals.refuse_faults()
        if self.reveals.needed:
            return ApplyMoveResponse(needed=self.reveals.needed)
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
        """The next payoff card comes to light (M5)."""
        player = self.position.player_to_move
        payoff = self._mover.payoff
        if payoff.cards or not payoff.hidden:
            return
        if payoff.concealed:
            card = payoff.concealed.pop()
        else:
            why_not = partial(why_not_payoff, self.position.malice)
            revealed = self.reveals.card(Slot(player=player, place="P"), why_not)
            if revealed is None:
                return
            card = revealed
        payoff.hidden -= 1
        payoff.cards.append(card)
        self.events.append(Event(turned_up=TurnedUp(player=player, place="P", card=card)))

    def recycle(self, center: int) -> None:
        """A complete center stack is shuffled into the stock (M9); raises Refusal when that needs a seed."""
        table = self.position.malice
        cards = list(table.centers[center].cards)
        known = faces_known(table.stock)
        order_given = len(table.stock.concealed) > 0
        stock = [*table.stock.concealed, *cards]
        del table.centers[center].cards[:]
        table.stock.hidden += len(cards)
        table.stock.ClearField("concealed")
        if self.position.HasField("shuffle"):
            shuffle = self.position.shuffle
            if known:
                table.stock.concealed.extend(shuffled(stock, shuffle.seed, shuffle.count))
            shuffle.count += 1
        elif order_given and not self._all_seen:
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
        lay_open(self._mover.hand)
        self.events.append(Event(turn_passed=TurnPassed(player=self.position.player_to_move)))

    def draw(self) -> list[str]:
        """The player to move draws up to five cards in hand, or those there are (M2, M8, M11); those that are seen."""
        table = self.position.malice
        player, hand = self.position.player_to_move, self._mover.hand
        count = min(HAND - size(hand), size(table.stock))
        if count == 0:
            return []
        unseen = self._draws_unseen()
        cards: list[str] = []
        for index in range(count):
            card = table.stock.concealed.pop() if table.stock.concealed else None
            if unseen:
                hand.hidden += 1
            else:
                if card is None:
                    slot = Slot(player=player, place="H", index=index)
                    card = self.reveals.card(slot, partial(why_not_drawn, table))
                if card is None:
                    continue
                hand.cards.append(card)
                cards.append(card)
            table.stock.hidden -= 1
        self.events.append(Event(drawn=Drawn(player=player, cards=cards, count=count)))
        return cards

    def finish(self, result: GameResult) -> None:
        """The game is over."""
        self.position.result.CopyFrom(result)
        self.events.append(Event(game_over=result))

    def _draws_unseen(self) -> bool:
        """Whether the hand of the player to move, who draws, is hidden."""
        hand = self._mover.hand
        if self._all_seen:
            return False
        if hand.hidden or hand.cards:
            return hand.hidden > 0
        if self.position.player_to_move == self._first_to_move:
            return self._is_hidden
        # An empty hand does not say whether it is hidden. Who knows one hand, but not the stock, does not know the
        # other.
        return not self._is_hidden and not faces_known(self.position.malice.stock)

    @property
    def _mover(self) -> MalicePlayer:
        return self.position.malice.players[self.position.player_to_move - 1]


def _by_rank(card: str) -> tuple[int, int]:
    return RANKS.index(card[0]), SUITS.index(card[1])
