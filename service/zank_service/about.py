"""The service `Server`: what this server is."""

from zank.v1 import Device, GetInfoRequest, GetInfoResponse, Limits, PresetInfo, Program, ServerServicer
from zank_kernel.engine import HINT_ROLLOUTS, Engine
from zank_service.calls import Context
from zank_service.families import FAMILIES
from zank_service.limits import MAX_MESSAGE_BYTES, MAX_ROLLOUTS
from zank_service.version import ENGINE_VERSION


class About(ServerServicer):
    """Says what the engine and the limits are."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def GetInfo(self, request: GetInfoRequest, context: Context) -> GetInfoResponse:
        """Describe the server."""
        devices = self._engine.devices
        return GetInfoResponse(
            engine_version=ENGINE_VERSION,
            presets=[
                PresetInfo(
                    preset=preset,
                    family=family.name,
                    description=family.description(rules),
                    defaults=family.defaults(preset),
                )
                for family in FAMILIES
                for preset, rules in family.presets.items()
            ],
            devices=[
                Device(platform=device.platform, kind=device.device_kind, workers=self._engine.workers // len(devices))
                for device in devices
            ],
            limits=Limits(
                max_message_bytes=MAX_MESSAGE_BYTES,
                default_hint_rollouts=HINT_ROLLOUTS,
                max_rollouts=MAX_ROLLOUTS,
            ),
            programs=[
                Program(name=program.name, sizes=program.sizes, compile_seconds=program.compile_seconds)
                for program in self._engine.programs.values()
            ],
        )
