"""What stands between the wire and every method: whether calls are taken, and what becomes of errors."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Final

import grpc
from google.protobuf.message import DecodeError

from zank_service.refusals import Refusal, internal, invalid, unavailable

type Context = grpc.aio.ServicerContext[Any, Any]
type Handler = grpc.RpcMethodHandler[Any, Any]

PREFIX: Final = "/zank.v1."  # health and reflection are left alone

if TYPE_CHECKING:  # generic in the stubs only
    Interceptor = grpc.aio.ServerInterceptor[Any, Any]
else:
    Interceptor = grpc.aio.ServerInterceptor

logger = logging.getLogger(__name__)


class Calls(Interceptor):
    """Takes calls to the services of Zank while the server serves, and answers what they raise with a status."""

    def __init__(self) -> None:
        self._closed: str | None = "the server is starting"  # why no calls are taken
        self._under_way = 0
        self._idle = asyncio.Event()
        self._idle.set()

    def open(self) -> None:
        """Take calls from now on."""
        self._closed = None

    def close(self) -> None:
        """Refuse calls from now on; those under way go on."""
        self._closed = "the server is stopping"

    async def idle(self) -> None:
        """Wait until no call is under way."""
        await self._idle.wait()

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Handler]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Handler:
        """Wrap the handler of a method of Zank."""
        handler = await continuation(handler_call_details)
        answer = getattr(handler, "unary_unary", None)  # there is no handler for a method that is not there
        if answer is None or not handler_call_details.method.startswith(PREFIX):
            return handler
        parse = handler.request_deserializer

        async def guarded(data: bytes, context: Context) -> Any:
            self._under_way += 1
            self._idle.clear()
            try:
                if self._closed is not None:
                    raise unavailable(self._closed)
                return await answer(_parsed(parse, data), context)
            except Refusal as refusal:
                await _abort(context, refusal)
            except grpc.aio.AbortError:
                raise
            except Exception:
                logger.exception("%s failed", handler_call_details.method)
                await _abort(context, internal())
            finally:
                self._under_way -= 1
                if not self._under_way:
                    self._idle.set()

        # Bytes that are no message are refused here: gRPC would answer with the exception's text.
        return grpc.unary_unary_rpc_method_handler(guarded, None, handler.response_serializer)


def _parsed(parse: Callable[[bytes], Any] | None, data: bytes) -> Any:
    assert parse is not None
    try:
        return parse(data)
    except DecodeError:
        raise invalid("INVALID_REQUEST", "", "expected a message of this method's request type") from None


async def _abort(context: Context, refusal: Refusal) -> None:
    status = refusal.status()
    await context.abort(status.code, status.details, status.trailing_metadata)
