"""The command `zank serve`, also `python -m zank_service`."""

import argparse
import asyncio
import logging
import os
import signal
import sys
from collections.abc import Sequence

from zank_service.cache import UnsafeCache, private_directory
from zank_service.config import InvalidConfiguration, add_flags, configured
from zank_service.settings import LOG_LEVELS, Settings

logger = logging.getLogger("zank_service")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a server until it is stopped; returns the exit status."""
    parser = _parser()
    parsed = parser.parse_args(arguments)
    try:
        configuration = configured(parsed, os.environ)
    except InvalidConfiguration as error:
        for fault in error.faults:
            print(f"{parser.prog}: {fault}", file=sys.stderr)
        return 2
    if parsed.print_config:
        print(configuration.as_toml(), end="")
        return 0
    return _serve(configuration.settings, announce=parsed.announce, exit_with_stdin=parsed.exit_with_stdin)


def _serve(settings: Settings, *, announce: bool, exit_with_stdin: bool) -> int:
    # Until the event loop takes signals, Ctrl-C ends the process: raised as an exception while JAX loads, it could be
    # swallowed, or end in a traceback.
    signal.signal(signal.SIGINT, lambda number, _: os._exit(128 + number))
    from zank_service.lifecycle import run  # JAX, which takes seconds to load
    from zank_service.server import PortUnavailable

    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(message)s")
    logger.setLevel(LOG_LEVELS[settings.log_level])
    try:
        private_directory(settings.cache_dir)
        asyncio.run(run(settings, announce=announce, exit_with_stdin=exit_with_stdin))
    except (PortUnavailable, UnsafeCache) as error:
        logger.error("%s", error)
        return 1
    except Exception:
        logger.exception("the server failed to start")
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="zank serve",
        description="Run a server until SIGTERM, SIGINT or, with --exit-with-stdin, the end of standard input.",
        epilog="A setting is taken from its flag (--max-rollouts), else from its environment variable"
        " (ZANK_MAX_ROLLOUTS), else from the file (max_rollouts), else it has its default.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--print-config", action="store_true", help="print the settings in effect as TOML, with their origins, and exit"
    )
    parser.add_argument(
        "--announce", action="store_true", help='print {"port": PORT} on standard output once the server serves'
    )
    parser.add_argument("--exit-with-stdin", action="store_true", help="stop when standard input ends")
    add_flags(parser)
    return parser


if __name__ == "__main__":
    sys.exit(main())
