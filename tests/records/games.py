"""Games of the oracles, by seed, as records."""

import dataclasses
import random
from collections import Counter
from collections.abc import Sequence
from typing import Protocol

from tests.oracle import bank, malice
from tests.oracle.shuffle import Stream, deal
from zank.records import canonical_record
from zank.v1 import (
    ENDING_ADJUDICATED,
    ENDING_OUT,
    ENDING_STALEMATE,
    ENDING_STOCK_OUT,
    Deal,
    GameRecord,
    GameResult,
    RecordEvent,
    RuleSet,
)

ENDINGS = {
    "out": ENDING_OUT,
    "stock": ENDING_STOCK_OUT,
    "stalemate": ENDING_STALEMATE,
    "adjudicated": ENDING_ADJUDICATED,
}
PRESETS = ("malice-match", "malice-classic", "bank-spiteful", "bank-russian", "bank-crapette")
EAGERNESS = 0.9  # how often a random game plays to the center, to a foundation or from the reserve if it can


class Game(Protocol):
    """A game of an oracle."""

    @property
    def result(self) -> GameResult | None: ...

    def legal(self) -> list[str]: ...

    def broken(self, move: str) -> str | None: ...

    def play(self, move: str) -> None: ...


class MaliceGame:
    """A game of Spite & Malice whose stock is drawn in the order that the documented shuffles give it."""

    def __init__(self, rules: malice.Rules, seed: int) -> None:
        dealt = deal(seed, rules.payoff_cards)
        deck = [*dealt.payoff[0], *dealt.payoff[1], *dealt.hand[0], *dealt.hand[1], *dealt.stock]
        ranks = [malice.RANKS.index(card[0]) + 1 for card in deck]
        self.game = malice.Game.deal(rules, ranks, dealt.starter - 1)
        self.seed = seed
        self.shuffles = 1
        self.stock = ranks[-len(dealt.stock) :]
        self.completed: list[int] = []

    @property
    def result(self) -> GameResult | None:
        return result(self.game.result)

    def legal(self) -> list[str]:
        return sorted(map(str, self.game.legal_moves()))

    def broken(self, move: str) -> str | None:
        return self.game.explain(malice.parse(move))

    def play(self, move: str) -> None:
        parsed = malice.parse(move)
        if parsed.target == "center":
            card = self.game._card(parsed)
            assert card is not None
            self.completed = [*self.game.centers[parsed.index], card]
        self.game.play(parsed, self._draw)
        self._shuffle(self.game.stock.total())

    def _draw(self, player: int, count: int, stock: Counter[int]) -> list[int]:
        self._shuffle(stock.total())
        drawn = self.stock[: -count - 1 : -1]
        del self.stock[-count:]
        return drawn

    def _shuffle(self, size: int) -> None:
        """Shuffles the completed center stack into the stock, if it came back to it."""
        if size == len(self.stock):
            return
        assert size == len(self.stock) + len(self.completed)
        names = list(map(str, [*self.stock, *self.completed]))
        self.stock = list(map(int, Stream(self.seed, self.shuffles).shuffle(names)))
        self.shuffles += 1


class BankGame:
    """A game of Russian Bank."""

    def __init__(self, rules: bank.Rules, seed: int) -> None:
        self.game = bank.Game.from_seed(rules, seed)

    @property
    def result(self) -> GameResult | None:
        return result(self.game.result)

    def legal(self) -> list[str]:
        moves = self.game.legal_moves()
        return sorted(str(move) for move in moves if not self.game.pointless(move)) or sorted(map(str, moves))

    def broken(self, move: str) -> str | None:
        return self.game.explain(bank.parse(move))

    def play(self, move: str) -> None:
        self.game.play(bank.parse(move))


def result(found: malice.Result | bank.Result | None) -> GameResult | None:
    if found is None:
        return None
    winner = 0 if found.winner is None else found.winner + 1
    return GameResult(ending=ENDINGS[found.ending], winner=winner, points=found.points)


def begin(preset: str, seed: int) -> Game:
    match preset:
        case "malice-match":
            return MaliceGame(malice.MALICE_MATCH, seed)
        case "malice-classic":
            return MaliceGame(malice.MALICE_CLASSIC, seed)
    rules = {
        "bank-spiteful": bank.BANK_SPITEFUL,
        "bank-russian": bank.BANK_RUSSIAN,
        "bank-crapette": bank.BANK_CRAPETTE,
    }
    return BankGame(dataclasses.replace(rules[preset]), seed)


def random_record(preset: str, number: int) -> GameRecord:
    """The record of a random game of the oracle."""
    chance = random.Random(f"{preset} {number}")
    seed = chance.getrandbits(64)
    game = begin(preset, seed)
    moves: list[str] = []
    while game.result is None:
        legal = game.legal()
        eager = [move for move in legal if "-C" in move or move.endswith("-F") or move[:2] in ("R-", "D-")]
        moves.append(chance.choice(eager if eager and chance.random() < EAGERNESS else legal))
        game.play(moves[-1])
    return record_of(preset, seed, moves, game.result)


def record_of(preset: str, seed: int, moves: Sequence[str], over: GameResult) -> GameRecord:
    return canonical_record(
        GameRecord(
            rule_set=RuleSet(preset=preset),
            deal=Deal(seed=seed),
            events=[*(RecordEvent(move=move) for move in moves), RecordEvent(over=over)],
        )
    )


def moves_of(record: GameRecord) -> list[str]:
    return [event.move for event in record.events if event.HasField("move")]
