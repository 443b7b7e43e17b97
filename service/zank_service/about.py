"""The service `Server`: what this server is."""

from zank import v1 as wire
from zank.v1 import Device, GetInfoRequest, GetInfoResponse, PresetInfo, Program, ServerServicer
from zank_kernel.engine import Engine
from zank_service.calls import Context
from zank_service.families import FAMILIES
from zank_service.limits import Limits
from zank_service.version import ENGINE_VERSION


class About(ServerServicer):
    """Says what the engine and the limits are."""

    def __init__(self, engine: Engine, limits: Limits) -> None:
        self._engine = engine
        self._limits = limits

    async def GetInfo(self, request: GetInfoRequest, context: Context) -> GetInfoResponse:
        """Describe the server."""
        devices, limits = self._engine.devices, self._limits
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
                Device(platform=device.platform, kind=device.device_kind, workers=self._engine.workers)
                for device in devices
            ],
            limits=wire.Limits(
                max_message_bytes=limits.max_message_bytes,
                default_hint_rollouts=limits.hint_rollouts,
                max_rollouts=limits.max_rollouts,
                default_best_move_rollouts=limits.best_move_rollouts,
                default_analysis_rollouts=limits.analysis_rollouts,
                max_time_ms=limits.max_time_ms,
                default_deadline_ms=round(limits.default_deadline_seconds * 1000),
            ),
            programs=[
                Program(name=program.name, sizes=program.sizes, compile_seconds=program.compile_seconds)
                for program in self._engine.programs.values()
            ],
        )
