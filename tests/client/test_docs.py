"""The page for game developers, tried: its Python blocks in order, against a real server."""

import asyncio
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from google.protobuf import descriptor_pool, json_format, message_factory
from google.protobuf.message import Message

from tests.service.conftest import serving
from zank import to_json, v1
from zank_kernel.engine import Engine

PAGE = (Path(__file__).parents[2] / "clients" / "python" / "README.md").read_text(encoding="utf-8")
TARGET = "localhost:50051"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)


def run(target: str) -> None:
    names: dict[str, object] = {"__name__": "page"}
    for number, block in enumerate(blocks("python"), start=1):
        exec(compile(block.replace(TARGET, target), f"block {number}", "exec"), names)


async def test_every_python_block_runs(engine: Engine, capsys: pytest.CaptureFixture[str]) -> None:
    async with serving(engine) as served:
        await asyncio.to_thread(run, served.target)
    printed = capsys.readouterr().out
    assert printed.startswith("A-C1\nPlay the A♠ from hand onto center stack 1, which needs an ace\n")
    assert "INVALID_POSITION\nquestion.position.malice" in printed
    assert "final" in printed
    assert "[(1, 'P', 0)]" in printed


def request(method: str, text: str) -> Message:
    """The JSON of a request to a method, which must exist."""
    service, _, name = method.partition("/")
    found = descriptor_pool.Default().FindServiceByName(service).methods_by_name[name]
    return json_format.Parse(text, message_factory.GetMessageClass(found.input_type)())


@pytest.mark.skipif(shutil.which("jq") is None, reason="needs jq")
def test_every_request_of_the_shell_block_is_one() -> None:
    (block,) = blocks("sh")
    deal = re.search(r"^echo '(.*)' \| call (\S+)", block, flags=re.MULTILINE)
    assert deal is not None
    assert request(deal[2], deal[1]) == v1.DealRequest(rule_set=v1.RuleSet(preset="malice-match"), seed=1)
    dealt = to_json(v1.DealResponse(position=v1.Position(rule_set=v1.RuleSet(preset="malice-match"))))
    asked = re.findall(r"^jq '(.*)' deal.json \| call (\S+)", block, flags=re.MULTILINE)
    assert len(asked) == 3
    for program, method in asked:
        text = subprocess.run(["jq", program], input=dealt, capture_output=True, text=True, check=True).stdout
        assert "malice-match" in json.dumps(json_format.MessageToDict(request(method, text)))
