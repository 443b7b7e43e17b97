"""Calls in bytes to any method, and what becomes of them."""

from dataclasses import dataclass
from typing import Any, Final

import grpc
from google.protobuf.descriptor import Descriptor, FieldDescriptor, MethodDescriptor

from tests.service.wire import Refused, Served, read
from zank.v1 import analysis_pb2, referee_pb2, server_pb2, solver_pb2

METHODS: Final[dict[str, MethodDescriptor]] = {
    f"{service.name}/{method.name}": method
    for file in (referee_pb2, solver_pb2, analysis_pb2, server_pb2)
    for service in file.DESCRIPTOR.services_by_name.values()
    for method in service.methods
}


@dataclass(frozen=True, kw_only=True)
class Call:
    """One call; `method` is for example "Solver/GetHint"."""

    method: str
    data: bytes
    seconds: float | None = None  # deadline


async def raw(served: Served, call: Call) -> bytes:
    """The bytes that a method answers with, of a stream the last message."""
    path = f"/zank.v1.{call.method}"
    if METHODS[call.method].server_streaming:
        channel = served.channel
        stream: Any = (
            channel.stream_stream(path, bytes, bytes)(iter([call.data]), timeout=call.seconds)
            if METHODS[call.method].client_streaming
            else channel.unary_stream(path, bytes, bytes)(call.data, timeout=call.seconds)
        )
        messages: list[bytes] = [message async for message in stream]
        return messages[-1]
    answer: bytes = await served.channel.unary_unary(path, bytes, bytes)(call.data, timeout=call.seconds)
    return answer


async def fate(served: Served, call: Call) -> bytes | Refused:
    """What becomes of a call that may be refused, but clearly: with a documented status that says no fault's text."""
    try:
        return await raw(served, call)
    except grpc.aio.AioRpcError as error:
        refused = read(error)
    assert refused.code not in (grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN), (call, refused)
    assert refused.message.isprintable(), refused
    assert len(refused.message) < 1_000, refused
    assert not any(words in refused.message for words in ("Traceback", "Error", "Exception", "object at"))
    for field, description in refused.fields.items():
        assert description.isprintable(), refused
        assert is_field(METHODS[call.method].input_type, field), refused
    return refused


def is_field(message: Descriptor, path: str) -> bool:
    """Whether a path such as "position.malice.players[0].hand" leads to a field of a message."""
    name, _, rest = path.partition(".")
    name, _, index = name.partition("[")
    field: FieldDescriptor | None = message.fields_by_name.get(name)
    if field is None or (bool(index) and not field.is_repeated):
        return False
    return not rest or (field.message_type is not None and is_field(field.message_type, rest))
