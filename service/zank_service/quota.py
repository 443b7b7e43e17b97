"""What one client may have under way, so that nobody fills the queues that all share."""

import ipaddress
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from zank.v1 import PRIORITY_INTERACTIVE, PRIORITY_NORMAL, Priority
from zank_service.limits import Limits
from zank_service.refusals import over_quota


class Quota:
    """Counts the questions of every client, under way or waiting."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._all = Counter[str]()
        self._interactive = Counter[str]()

    @contextmanager
    def counted(self, client: str, priority: Priority.ValueType, wait: float) -> Iterator[Priority.ValueType]:
        """Counts one more question of a client, and gives the priority that it gets.

        An interactive one beyond those that the client may have is lowered to normal. Raises Refusal, with so many
        seconds to wait, where the client has as many questions as it may.
        """
        if self._all[client] >= self._limits.answers_per_client:
            raise over_quota(wait)
        interactive = priority == PRIORITY_INTERACTIVE
        if interactive and self._interactive[client] >= self._limits.interactive_per_client:
            interactive, priority = False, PRIORITY_NORMAL
        self._all[client] += 1
        self._interactive[client] += interactive
        try:
            yield priority
        finally:
            for counts, count in ((self._all, 1), (self._interactive, interactive)):
                counts[client] -= count
                if not counts[client]:
                    del counts[client]


def client_of(peer: str) -> str:
    """Who makes a call, by gRPC's name of the peer: a machine, or a connection where it comes from this machine."""
    kind, _, address = peer.partition(":")
    host = address.rpartition(":")[0].replace("%5B", "").replace("%5D", "").strip("[]")
    try:
        return peer if ipaddress.ip_address(host).is_loopback else f"{kind}:{host}"
    except ValueError:
        return peer
