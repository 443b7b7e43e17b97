"""The families served."""

from typing import Final

from zank_service import malice
from zank_service.family import AnyFamily

FAMILIES: Final[tuple[AnyFamily, ...]] = (malice.FAMILY,)

BY_PRESET: Final = {preset: family for family in FAMILIES for preset in family.presets}
