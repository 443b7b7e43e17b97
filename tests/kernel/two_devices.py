"""What an engine on all devices of this process answers; run as a program, for devices are made when JAX starts."""

import dataclasses
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any, Final

from benchmarks.deals import known
from zank_kernel.engine import FAMILIES, Engine, Program, Question

ROLLOUTS: Final = 512
DEALS: Final = {"malice": 0, "bank": 1}  # with more than one move to choose from


def question(family: str) -> Question:
    """The question that is asked, of a deal."""
    seed = DEALS[family]
    return Question(family=family, table=known(family, seed), rollouts=ROLLOUTS, seed=seed, objective="points")


def answers(engine: Engine) -> dict[str, str]:
    """The whole answer in each family, every digit of it."""
    return {family: repr(engine.answer(question(family))) for family in FAMILIES}


def main(cache: Path) -> None:
    """Print the answers and how often each program was called."""
    engine = Engine(cache_directory=cache)
    engine.warm_up()
    calls: Counter[str] = Counter()

    def counted(program: Program) -> Program:
        def call(*arguments: Any) -> Any:
            calls[program.name] += 1
            return program.call(*arguments)

        return dataclasses.replace(program, call=call)

    engine.programs = {name: counted(program) for name, program in engine.programs.items()}
    print(json.dumps({"answers": answers(engine), "calls": calls, "devices": len(engine.devices)}))
    engine.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
