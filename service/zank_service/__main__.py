"""The command `zank serve`, also `python -m zank_service`."""

import argparse
import asyncio
import ipaddress
import logging
import sys
from collections.abc import Sequence
from pathlib import Path

from zank_service.cache import UnsafeCache, private_directory
from zank_service.lifecycle import Options, run
from zank_service.server import PortUnavailable

logger = logging.getLogger("zank_service")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a server until it is stopped; returns the exit status."""
    parsed = _parser().parse_args(arguments)
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(message)s")
    logger.setLevel(logging.INFO)
    try:
        options = Options(
            host=parsed.host,
            port=parsed.port,
            workers=parsed.workers,
            cache_directory=private_directory(parsed.cache_dir),
            announce=parsed.announce,
            exit_with_stdin=parsed.exit_with_stdin,
            reflection=not parsed.no_reflection,
        )
        asyncio.run(run(options))
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
    )
    parser.add_argument(
        "--host", type=_loopback, default="127.0.0.1", help="loopback address to listen on (default: %(default)s)"
    )
    parser.add_argument(
        "--port", type=_port, default=50051, help="port to listen on, 0 for any that is free (default: %(default)s)"
    )
    parser.add_argument(
        "--workers", type=_positive, help="rollout threads (default: one per core, one per device on a GPU)"
    )
    parser.add_argument(
        "--cache-dir",
        type=Path,
        help="where compiled programs are kept between starts; must be writable by this user alone"
        " (default: zank in the user's cache directory)",
    )
    parser.add_argument(
        "--announce", action="store_true", help='print {"port": PORT} on standard output once the server serves'
    )
    parser.add_argument("--exit-with-stdin", action="store_true", help="stop when standard input ends")
    parser.add_argument("--no-reflection", action="store_true", help="do not serve gRPC reflection")
    return parser


def _loopback(host: str) -> str:
    try:
        allowed = host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        allowed = False
    if not allowed:
        raise argparse.ArgumentTypeError(
            f"{host} is not a loopback address (127.0.0.1, ::1, localhost): calls are not encrypted, so the server"
            " does not listen elsewhere; put a proxy that does TLS in front of it"
        )
    return host


def _port(text: str) -> int:
    return _number(text, 0, 65_535)


def _positive(text: str) -> int:
    return _number(text, 1, 1_024)


def _number(text: str, least: int, most: int) -> int:
    if not text.isascii() or not text.isdecimal() or not least <= int(text) <= most:
        raise argparse.ArgumentTypeError(f"expected a number from {least} to {most}, found {text!r}")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
