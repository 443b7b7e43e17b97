"""Word of work under way, of which only the latest counts."""

import asyncio


class News[Item]:
    """What is known so far, for a reader who is told no more than the latest."""

    def __init__(self) -> None:
        self.latest: Item | None = None
        self._loop = asyncio.get_running_loop()
        self._changed = asyncio.Event()
        self._closed = False

    def tell(self, item: Item) -> None:
        """This takes the place of what was told before; may be called by any thread."""
        self._loop.call_soon_threadsafe(self._put, item)

    def close(self) -> None:
        """There is nothing more to be told."""
        self._closed = True
        self._changed.set()

    async def next(self) -> Item | None:
        """The latest, once there is something new; None when there is nothing more to be told."""
        await self._changed.wait()
        self._changed.clear()
        return None if self._closed else self.latest

    def _put(self, item: Item) -> None:
        self.latest = item
        self._changed.set()
