from click.testing import CliRunner, Result

from tests.client.fake_server import FakeServer
from zank.cli import main


def zank(*arguments: str, fake: FakeServer | None = None, stdin: str = "", encoding: str = "utf-8") -> Result:
    """Runs the `zank` command in this process, against the fake if there is one."""
    command = list(arguments)
    if fake is not None:
        command += ["--server", fake.target]
    return CliRunner(charset=encoding).invoke(main, command, input=stdin)
