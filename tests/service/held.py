"""An engine that answers no question before it is told to."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from zank_kernel import engine as engines
from zank_kernel.engine import Control, Engine
from zank_kernel.search import Answer


class HeldEngine:
    """Lets no question through to the engine before `release`, and counts those that were put."""

    def __init__(self, engine: Engine) -> None:
        self.asked = 0
        self._questions = asyncio.Queue[engines.Question]()
        self._loop = asyncio.get_running_loop()
        self._answer = engine.answer
        self._released = threading.Event()

    def answer(self, question: engines.Question, control: Control) -> Answer:
        self.asked += 1
        self._loop.call_soon_threadsafe(self._questions.put_nowait, question)
        assert self._released.wait(20)
        return self._answer(question, control)

    def release(self) -> None:
        self._released.set()

    async def wait_until_asked(self, count: int) -> None:
        async with asyncio.timeout(5):
            for _ in range(count):
                await self._questions.get()


@contextmanager
def held(engine: Engine) -> Iterator[HeldEngine]:
    holder = HeldEngine(engine)
    with patch.object(engine, "answer", holder.answer):
        try:
            yield holder
        finally:
            holder.release()
