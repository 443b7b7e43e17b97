"""The families served."""

from typing import Final

from zank_service import bank, malice
from zank_service.family import AnyFamily

FAMILIES: Final[tuple[AnyFamily, ...]] = (malice.FAMILY, bank.FAMILY)

BY_PRESET: Final = {preset: family for family in FAMILIES for preset in family.presets}
