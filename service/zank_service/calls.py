"""What stands between the wire and every method: whether calls are taken, and what becomes of errors."""

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager, nullcontext
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, Final, cast

import grpc
from google.protobuf.message import DecodeError

from zank_service.refusals import Refusal, bad_request, internal, out_of_time, unavailable

type Context = grpc.aio.ServicerContext[Any, Any]
type Handler = grpc.RpcMethodHandler[Any, Any]

CUT: Final = "the server stopped before it had the answer"
UNLIMITED: Final = "/zank.v1.Analyst/"  # analyses of games take as long as there are games
PREFIX: Final = "/zank.v1."  # health and reflection are answered at all times, and hold up no end

if TYPE_CHECKING:  # generic in the stubs only
    Interceptor = grpc.aio.ServerInterceptor[Any, Any]
else:
    Interceptor = grpc.aio.ServerInterceptor

logger = logging.getLogger(__name__)


class Calls(Interceptor):
    """Takes calls to the services of Zank while the server serves, and answers what they raise with a status.

    One that comes without a deadline gets one of `default_deadline` seconds, unless it is UNLIMITED.
    """

    def __init__(self, default_deadline: float) -> None:
        self._default_deadline = default_deadline
        self._closed: str | None = "the server is starting"  # why no calls are taken
        self._under_way = 0
        self.begun = Counter[str]()  # calls so far, by method
        self.ended = Counter[tuple[str, str]]()  # calls so far, by method and the name of the status code
        self._ends = set[asyncio.Timeout]()  # when the calls under way end at the latest
        self._cut = False
        self._idle = asyncio.Event()
        self._idle.set()

    def open(self) -> None:
        """Take calls from now on."""
        self._closed = None

    def close(self) -> None:
        """Refuse calls from now on; those under way go on."""
        self._closed = "the server is stopping"

    def cut(self) -> None:
        """Answer the calls under way, and those to come, with UNAVAILABLE."""
        self.close()
        self._cut = True
        for end in self._ends:
            if not end.expired():
                end.reschedule(0)

    async def idle(self) -> None:
        """Wait until no call is under way."""
        await self._idle.wait()

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Handler]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Handler:
        """Wrap the handler of a method."""
        # None where there is no such method; else one of its three behaviours here is the servicer's function.
        handler: Any = await continuation(handler_call_details)
        if handler is None:
            return cast(Handler, handler)
        method, parse, serialize = (
            handler_call_details.method,
            handler.request_deserializer,
            handler.response_serializer,
        )

        # Bytes that are no message are refused in here: gRPC would answer with the exception's text.
        if handler.unary_unary is not None:

            async def guarded(data: bytes, context: Context) -> Any:
                async with self._guard(method, context):
                    return await handler.unary_unary(_parsed(parse, data), context)

            return grpc.unary_unary_rpc_method_handler(guarded, None, serialize)

        if handler.unary_stream is not None:

            async def guarded_stream(data: bytes, context: Context) -> None:
                async with self._guard(method, context):
                    await _stream(handler.unary_stream, _parsed(parse, data), context)

            return grpc.unary_stream_rpc_method_handler(guarded_stream, None, serialize)

        async def parsed(parts: AsyncIterator[bytes]) -> AsyncIterator[Any]:
            # No generator expression: that would begin `parts` at once, and gRPC warn of it where a call is refused.
            async for data in parts:
                yield _parsed(parse, data)

        async def guarded_streams(parts: AsyncIterator[bytes], context: Context) -> None:
            async with self._guard(method, context):
                await _stream(handler.stream_stream, parsed(parts), context)

        return grpc.stream_stream_rpc_method_handler(guarded_streams, None, serialize)

    @asynccontextmanager
    async def _guard(self, method: str, context: Context) -> AsyncIterator[None]:
        """One call: counted, refused while no calls are taken, and whatever it raises answered with a status."""
        counted = method.startswith(PREFIX)
        self._under_way += counted
        self.begun[method] += 1
        code = grpc.StatusCode.CANCELLED  # unless something else is known
        if counted:
            self._idle.clear()
        try:
            if counted and self._closed is not None:
                raise unavailable(self._closed)
            async with self._limited(method, context) if counted else nullcontext():
                yield
            code = grpc.StatusCode.OK
        except Refusal as refusal:
            code = refusal.code
            await _abort(context, refusal)
        except grpc.aio.AbortError:
            raise
        except Exception:
            code = grpc.StatusCode.INTERNAL
            logger.exception("%s failed", method)
            await _abort(context, internal())
        finally:
            self._under_way -= counted
            self.ended[method, code.name] += 1
            if not self._under_way:
                self._idle.set()

    @asynccontextmanager
    async def _limited(self, method: str, context: Context) -> AsyncIterator[None]:
        """Ends a call that is cut, or has no deadline and takes too long; raises Refusal then."""
        limited = context.time_remaining() is None and not method.startswith(UNLIMITED)
        end = asyncio.timeout(self._default_deadline if limited else None)
        self._ends.add(end)
        try:
            async with end:
                yield
        except TimeoutError:
            if not end.expired():
                raise
            raise (unavailable(CUT) if self._cut else out_of_time(self._default_deadline)) from None
        finally:
            self._ends.discard(end)


async def _stream(behavior: Callable[..., Any], request: Any, context: Context) -> None:
    """Write what a servicer's function streams, unless it writes to the context itself.

    As a generator of answers this would not learn that the call is over while one of them is being written.
    """
    stream = behavior(request, context)
    if isawaitable(stream):
        await stream
        return
    async with aclosing(stream):
        async for answer in stream:
            await context.write(answer)


def _parsed(parse: Callable[[bytes], Any] | None, data: bytes) -> Any:
    assert parse is not None
    try:
        return parse(data)
    except DecodeError:
        raise bad_request("expected a message of this method's request type") from None


async def _abort(context: Context, refusal: Refusal) -> None:
    status = refusal.status()
    await context.abort(status.code, status.details, (*status.trailing_metadata, *refusal.pushback))
