"""Games of the rollout policy against itself from full deals: their length, who wins them and how they end."""

import argparse
import functools
import json
from typing import Any, Final

import jax
import numpy as np
import numpy.typing as npt

from benchmarks import positions
from zank_kernel import engine as engines
from zank_kernel.bank.state import STALEMATE
from zank_kernel.family import ADJUDICATED
from zank_kernel.malice.state import OUT, STOCK_OUT
from zank_kernel.rollout import MOVE_LIMIT

ENDINGS: Final = {"out": OUT, "stock_out": STOCK_OUT, "stalemate": STALEMATE, "adjudicated": ADJUDICATED}


def measure(preset: str, games: int) -> dict[str, Any]:
    """Play deals 0 … games - 1, each in a lane of its own."""
    game = positions.GAMES[preset]
    start = game.started(game.presets[preset], games)

    def goes_on(lanes: Any) -> jax.Array:
        some: jax.Array = ((lanes.ending == 0) & (lanes.moves < MOVE_LIMIT)).any()
        return some

    @functools.partial(jax.jit, compiler_options=engines.CPU_OPTIONS)
    def play(lanes: Any) -> Any:
        return jax.lax.while_loop(goes_on, game.family.step, lanes)

    end = jax.tree.map(np.asarray, play(start))
    ending = np.where(end.ending == 0, ADJUDICATED, end.ending)
    points = np.where(start.mover == 0, 1, -1) * end.points  # of the player who starts
    score = engines.score(game.family, points, ending)
    return {
        "games": games,
        "moves": spread(end.moves),
        **({"turns": spread(end.turns)} if hasattr(end, "turns") else {}),
        "won_by_starter": float((score[score != 1] == 2).mean()),  # of the games that are no ties
        "tied": float((score == 1).mean()),
        "endings": {name: float((ending == number).mean()) for name, number in ENDINGS.items()},
        "points": float(abs(points).mean()),  # what the winner gets
        "points_of_starter": float(points.mean()),
    }


def spread(values: npt.NDArray[Any]) -> dict[str, float]:
    """Mean and percentiles."""
    percentiles = {f"p{each}": int(np.percentile(values, each, method="nearest")) for each in (10, 50, 90)}
    return {"mean": float(values.mean()), **percentiles}


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--preset", default="malice-match", choices=positions.GAMES)
    parser.add_argument("--games", type=int, default=4_000)
    options = parser.parse_args()
    print(json.dumps(measure(options.preset, options.games)))
