"""Games that the engine plays against itself, many at once."""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import jax
import numpy as np

from zank.players import Player
from zank.records import canonical_record
from zank.v1 import Deal, GameRecord, Position, RecordEvent, RuleSet
from zank_kernel import search
from zank_kernel.engine import FAMILIES, RULED, Control, Engine, Question
from zank_service.families import BY_PRESET
from zank_service.family import AnyFamily
from zank_service.plays import Plays
from zank_service.refusals import Refusal

MOST_MOVES: Final = 20_000  # of a game, which is abandoned then


@dataclass
class _Game:
    """A game that is being played."""

    number: int
    position: Position
    chance: random.Random
    moves: list[str] = field(default_factory=list)


def simulate(
    engine: Engine,
    rule_set: RuleSet,
    games: int,
    seed: int,
    players: tuple[Player, Player],
    stopped: Callable[[], bool] = lambda: False,
) -> Iterator[GameRecord]:
    """Plays so many games and yields their canonical records in order; ends early once it is `stopped`.

    Game number i depends on the seed, i, the rule set and the players only, in whichever lane it is played.
    """
    table = _Table(engine, rule_set, seed, players, stopped)
    done: dict[int, GameRecord] = {}
    following = begun = 0
    while following < games and not stopped():
        while begun < games and table.has_room:
            table.begin(begun)
            begun += 1
        done.update(table.step())
        while following in done:
            yield done.pop(following)
            following += 1


class _Table:
    """Up to RULED games side by side."""

    def __init__(
        self,
        engine: Engine,
        rule_set: RuleSet,
        seed: int,
        players: tuple[Player, Player],
        stopped: Callable[[], bool],
    ) -> None:
        self._engine = engine
        self._rule_set = rule_set
        self._family: AnyFamily = BY_PRESET[rule_set.preset]
        self._rules = self._family.rules(rule_set)
        self._seed = seed
        self._players = players
        self._stopped = stopped
        self._plays = Plays(engine, self._family, RULED)
        self._policy = jax.jit(FAMILIES[self._family.name].choose)
        self._games: dict[int, _Game] = {}
        self._free = list(range(RULED))

    @property
    def has_room(self) -> bool:
        return bool(self._free)

    def begin(self, number: int) -> None:
        """Deals a game."""
        chance = random.Random(f"{self._seed} {number}")
        game = _Game(number, self._family.deal(self._rule_set, chance.getrandbits(64)), chance)
        lane = self._free.pop()
        self._games[lane] = game
        self._plays.sit(lane, game.position, self._rules, all_seen=True)

    def step(self) -> Iterator[tuple[int, GameRecord]]:
        """Plays a move in every game; yields those that are over, with their numbers."""
        rulings = self._plays.rulings()
        legal = np.asarray(rulings.barred) == 0
        policy: Sequence[int] = np.asarray(self._policy(self._plays.state())).tolist()
        moves: dict[int, str] = {}
        for lane, game in self._games.items():
            move = self._decision(lane, game, np.flatnonzero(legal[:, lane]).tolist(), policy[lane])
            if move is None:
                return
            moves[lane] = move
        for lane, outcome in self._plays.move(moves, {}).items():
            if isinstance(outcome, Refusal):
                raise outcome
            game = self._games[lane]
            game.moves.append(outcome.move)
            if game.position.HasField("result") or len(game.moves) >= MOST_MOVES:
                del self._games[lane]
                self._plays.leave(lane)
                self._free.append(lane)
                yield game.number, self._record(game)

    def _decision(self, lane: int, game: _Game, legal: Sequence[int], policy: int) -> str | None:
        """The move of the player to move; None where the work was stopped."""
        player = self._players[game.position.player_to_move - 1]
        if player.rollouts and len(legal) > 1:
            return self._searched(game, player.rollouts)
        if player.random_share and game.chance.random() < player.random_share:
            policy = legal[int(game.chance.random() * len(legal))]
        return self._plays.name(lane, policy if policy in legal else legal[0])

    def _searched(self, game: _Game, rollouts: int) -> str | None:
        known = self._family.view(game.position, game.position.player_to_move)
        question = Question(
            family=self._family.name,
            table=self._family.table(known, self._rules),
            rollouts=rollouts,
            seed=game.chance.getrandbits(64),
            objective="points" if self._family.scored(self._rules) else "win",
        )
        try:
            action = self._engine.answer(question, Control(stopped=self._stopped)).evaluations[0].action
        except search.Stopped:
            return None
        return self._family.move_name(known, action)  # the question's cards in hand lie elsewhere than the lane's

    def _record(self, game: _Game) -> GameRecord:
        events: list[Any] = [RecordEvent(move=move) for move in game.moves]
        over = game.position.HasField("result")
        events.append(RecordEvent(over=game.position.result) if over else RecordEvent(abandoned=0))
        record = GameRecord(
            rule_set=self._rule_set,
            players=[player.name for player in self._players],
            deal=Deal(seed=game.position.shuffle.seed),
            events=events,
            tags={"simulation": f"seed {self._seed}, game {game.number}"},
        )
        return canonical_record(record)
