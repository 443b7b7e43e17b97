"""A process of clients that ask for hints; every start and every end is a line of JSON on standard output.

Beside them it can ask after the health of servers, which costs next to nothing: that takes as long as a call must.
"""

import argparse
import asyncio
import dataclasses
import json
import random
import time
from contextlib import suppress

import grpc
from grpc_health.v1 import health_pb2

from zank.v1 import Budget, DealRequest, GetHintRequest, Question, RefereeStub, RuleSet, SolverStub

CHECKED = 5  # requests for each check of health
OPTIONS = (("grpc.use_local_subchannel_pool", 1), ("grpc.enable_retries", 0))  # a connection each, and no second tries


@dataclasses.dataclass(frozen=True, kw_only=True)
class Plan:
    """What a process of clients does."""

    target: str
    preset: str = "malice-match"
    clients: int = 1  # each with a connection
    seconds: float = 0.0  # how long requests are begun; 0: until there were `requests`
    requests: int = 0  # of all clients together at most; 0: no end
    rate: float = 0.0  # requests begun in a second, whatever becomes of them; 0: each client waits for its answer
    checked: tuple[str, ...] = ()  # targets whose health is asked for with every fifth request of those at a rate
    rollouts: int = 0  # of a request; 0: as many as a hint has by default
    priority: int = 0
    cancelled: float = 0.0  # share of requests that are cancelled after a while
    hurried: float = 0.0  # share of requests with a short deadline
    seed: int = 0


@dataclasses.dataclass(frozen=True, kw_only=True)
class Ended:
    """What became of a request."""

    code: str
    target: str  # of a check of health; empty: a hint
    begin: float  # of the monotonic clock
    seconds: float
    rollouts: int


class Clients:
    """Clients that share a plan."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.chance = random.Random(plan.seed)
        self.begun = 0
        self.until = time.monotonic() + plan.seconds

    async def run(self) -> None:
        """Carry the plan out."""
        plan = self.plan
        channels = [grpc.aio.insecure_channel(plan.target, options=OPTIONS) for _ in range(plan.clients)]
        checked = [grpc.aio.insecure_channel(target, options=OPTIONS) for target in plan.checked]
        await asyncio.gather(*(channel.channel_ready() for channel in (*channels, *checked)))
        dealt = await RefereeStub(channels[0]).Deal(DealRequest(rule_set=RuleSet(preset=plan.preset), seed=0))
        question = Question(position=dealt.position, priority=plan.priority)  # type: ignore[arg-type]
        if plan.rollouts:
            question.budget.CopyFrom(Budget(rollouts=plan.rollouts))
        if plan.rate:
            tasks, due = set(), time.monotonic()
            while self.more():
                if self.begun % CHECKED == 0:
                    for target, channel in zip(plan.checked, checked, strict=True):
                        tasks.add(asyncio.create_task(self.check(channel, target)))
                tasks.add(asyncio.create_task(self.ask(channels[self.begun % plan.clients], question)))
                due += self.chance.expovariate(plan.rate)
                await asyncio.sleep(max(0.0, due - time.monotonic()))
            await asyncio.gather(*tasks)
        else:
            await asyncio.gather(*(self.one_after_the_other(channel, question) for channel in channels))
        for channel in (*channels, *checked):
            await channel.close(None)

    def more(self) -> bool:
        """Whether another request is to be begun."""
        plan = self.plan
        in_time = not plan.seconds or time.monotonic() < self.until
        return in_time and (not plan.requests or self.begun < plan.requests)

    async def one_after_the_other(self, channel: grpc.aio.Channel, question: Question) -> None:
        """The requests of one client."""
        while self.more():
            await self.ask(channel, question)

    async def ask(self, channel: grpc.aio.Channel, question: Question) -> None:
        """Make a request, and say what becomes of it."""
        self.begun += 1
        asked = Question()
        asked.CopyFrom(question)
        asked.seed = self.chance.getrandbits(64)
        fate = self.chance.random()
        hurried = fate < self.plan.hurried
        print("{}", flush=True)
        begin = time.monotonic()
        call = SolverStub(channel).GetHint(
            GetHintRequest(question=asked), timeout=self.chance.uniform(0.001, 0.3) if hurried else 120.0
        )
        if not hurried and fate < self.plan.hurried + self.plan.cancelled:
            asyncio.get_running_loop().call_later(self.chance.uniform(0, 0.3), call.cancel)
        with suppress(grpc.aio.AioRpcError, asyncio.CancelledError):
            await call
        code = await call.code()
        rollouts = (await call).answer.rollouts if code == grpc.StatusCode.OK else 0
        say(Ended(code=code.name, target="", begin=begin, seconds=time.monotonic() - begin, rollouts=rollouts))

    async def check(self, channel: grpc.aio.Channel, target: str) -> None:
        """Ask after the health of a server."""
        check = channel.unary_unary(
            "/grpc.health.v1.Health/Check",
            health_pb2.HealthCheckRequest.SerializeToString,
            health_pb2.HealthCheckResponse.FromString,
        )
        begin = time.monotonic()
        await check(health_pb2.HealthCheckRequest())
        say(Ended(code="OK", target=target, begin=begin, seconds=time.monotonic() - begin, rollouts=0))


def say(ended: Ended) -> None:
    """Say what became of a request."""
    print(json.dumps(dataclasses.asdict(ended)), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("plan", type=json.loads)
    asyncio.run(Clients(Plan(**parser.parse_args().plan)).run())
