import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from rich.console import Console

from tests.client.command import zank
from tests.client.fake_server import DEALT, ILLEGAL, INVALID, FakeServer, refusal
from zank.cli import main
from zank.embedded import EmbeddedServer
from zank.positions import load, to_json
from zank.text import parse_position
from zank.v1 import (
    OBJECTIVE_WIN,
    PRIORITY_BULK,
    RESERVE_FIRST_FOUNDATION,
    STALEMATE_SCORING_DIFFERENCE,
    AnalyzeRequest,
    Answer,
    ApplyMoveRequest,
    BankOptions,
    Budget,
    CheckMoveRequest,
    DealRequest,
    GetBestMoveRequest,
    GetHintRequest,
    LegalMove,
    MaliceOptions,
    MatchScore,
    Question,
    Reveal,
    RuleSet,
    Slot,
)

POSITION = parse_position(DEALT)
BANK = "bank-spiteful~1~a.11-7h1.20-.Kd2~b.12-9s2.30-.2c2~f.Ac1.......~h.Qs1..5d24s1..3c2.8d1.Td2.6s1~d.4h2"


def test_a_deal_is_printed_as_a_file_that_can_be_read_back(fake: FakeServer) -> None:
    result = zank("deal", "malice-match", "--seed", "7", fake=fake)
    assert result.exit_code == 0
    *comments, text = result.stdout.splitlines()
    assert text == DEALT
    assert all(line.startswith("#") and len(line) <= 80 for line in comments)
    assert comments[0] == "# malice-match · turn 1 · player 1 to move"
    assert load(result.stdout) == [POSITION]
    assert fake.requests == [DealRequest(rule_set=RuleSet(preset="malice-match"), seed=7)]


def test_the_options_of_a_rule_set_are_flags(fake: FakeServer) -> None:
    zank("deal", "malice-classic", "--payoff-cards", "5", "--no-wild-starts-stack", "--match-target", "0", fake=fake)
    options = MaliceOptions(payoff_cards=5, wild_starts_stack=False, match_target=0)
    assert fake.requests == [DealRequest(rule_set=RuleSet(preset="malice-classic", malice=options))]


def test_the_options_of_russian_bank_are_flags(fake: FakeServer) -> None:
    flags = (
        "--reserve-cards 12 --reserve-first foundation --stalemate-scoring difference --max-turns 0 --match-target 9"
    )
    assert zank("deal", "bank-spiteful", *flags.split(), fake=fake).exit_code == 0
    options = BankOptions(
        reserve_cards=12,
        reserve_first=RESERVE_FIRST_FOUNDATION,
        stalemate_scoring=STALEMATE_SCORING_DIFFERENCE,
        max_turns=0,
        match_target=9,
    )
    assert fake.requests == [DealRequest(rule_set=RuleSet(preset="bank-spiteful", bank=options))]


def test_every_option_of_a_rule_set_is_a_flag() -> None:
    names = {*MaliceOptions.DESCRIPTOR.fields_by_name, *BankOptions.DESCRIPTOR.fields_by_name}
    assert names <= {parameter.name for parameter in main.commands["deal"].params}


@pytest.mark.parametrize("as_json", [[], ["--json"]])
def test_what_one_command_prints_the_next_one_reads(fake: FakeServer, as_json: list[str]) -> None:
    dealt = zank("deal", "malice-match", *as_json, fake=fake)
    applied = zank("apply", "Q-S1", *as_json, fake=fake, stdin=dealt.stdout)
    assert zank("hint", *as_json, fake=fake, stdin=applied.stdout).exit_code == 0
    apply_request, hint_request = fake.requests[1:]
    assert apply_request == ApplyMoveRequest(position=POSITION, move="Q-S1")
    assert isinstance(hint_request, GetHintRequest)
    assert hint_request.question.position.player_to_move == 2


def test_json_is_one_object_a_line_on_every_command(fake: FakeServer) -> None:
    for command in (
        ["deal", "malice-match"],
        ["legal", DEALT],
        ["check", "Q-S1", DEALT],
        ["apply", "Q-S1", DEALT],
        ["view", "--player", "1", DEALT],
        ["hint", DEALT],
        ["best", DEALT],
        ["info"],
    ):
        result = zank(*command, "--json", fake=fake)
        assert result.exit_code == 0, result.output
        assert len(result.stdout.splitlines()) == 1
        json.loads(result.stdout)


def test_a_move_is_played_and_told(fake: FakeServer) -> None:
    result = zank("apply", "Q-S1", DEALT, fake=fake)
    assert "# Player 1: Q♠ H → S1.\n# Player 2 is to move.\nmalice-match~2~t.1~" in result.stdout


def test_legal_moves_are_listed_in_words(fake: FakeServer) -> None:
    assert zank("legal", DEALT, fake=fake).stdout.splitlines() == [
        "A-C1    Play the A♦ from hand onto center stack 1, which needs an ace.",
        "A-C2    Play the A♦ from hand onto center stack 2, which needs an ace. (the same as A-C1)",
        "Q-S1    Discard the Q♠ on side stack 1, which ends the turn.",
    ]


def test_a_check_prints_legal_or_the_rule_and_its_exit_status_says_which(fake: FakeServer) -> None:
    legal = zank("check", "Q-S1", DEALT, fake=fake)
    assert (legal.exit_code, legal.stdout) == (0, "legal\n")
    illegal = zank("check", "8-C1", DEALT, fake=fake)
    assert (illegal.exit_code, illegal.stdout) == (3, "M3: C1 needs an ace\n")
    as_json = zank("check", "8-C1", DEALT, "--json", fake=fake)
    assert (as_json.exit_code, json.loads(as_json.stdout)["rule"]) == (3, "M3")


def test_what_must_be_played_first_is_told(fake: FakeServer) -> None:
    fake.obligatory = ["R-F", "T1-F"]
    result = zank("check", "TURN", BANK, fake=fake)
    assert (result.exit_code, result.stdout) == (3, "M3: C1 needs an ace\nTo be played first: R-F, T1-F\n")
    assert fake.requests == [CheckMoveRequest(position=parse_position(BANK), move="TURN")]


def test_the_rule_that_compels_a_player_is_told(fake: FakeServer) -> None:
    fake.legal_moves = [
        LegalMove(move="R-T2", compelled_by="S4", forced=True),
        LegalMove(move="R-T4", equivalent_to="R-T2", compelled_by="S4", forced=True),
        LegalMove(move="END"),
    ]
    assert zank("legal", BANK, fake=fake).stdout.splitlines() == [
        "R-T2    Play the 7♥ from the reserve to the space at tableau pile 2. The only legal move. (compelled by S4)",
        "R-T4    Play the 7♥ from the reserve to the space at tableau pile 4. (the same as R-T2, compelled by S4)",
        "END     End the turn: the 4♥ goes to the waste.",
    ]


def test_a_move_of_russian_bank_is_played(fake: FakeServer) -> None:
    result = zank("apply", "t3-or", BANK, "--reveal", "R=10c1", "--reveal", "d=2h", fake=fake)
    assert result.exit_code == 0
    reveals = [Reveal(slot=Slot(player=1, place="R"), card="Tc1"), Reveal(slot=Slot(player=1, place="D"), card="2h")]
    assert fake.requests == [ApplyMoveRequest(position=parse_position(BANK), move="T3-OR", reveals=reveals)]
    *comments, text = result.stdout.splitlines()
    assert comments[0] == "# bank-spiteful · turn 2 · player 2 to move"
    assert all(line.startswith("#") and len(line) <= 80 for line in comments)
    assert text == BANK.replace("~1~", "~2~t.1~")


def test_what_must_be_revealed_in_russian_bank_is_printed_as_the_options_that_do_it(fake: FakeServer) -> None:
    fake.needed = [Slot(player=1, place="R"), Slot(player=1, place="D")]
    result = zank("apply", "R-F", BANK, fake=fake)
    assert result.exit_code == 3
    assert [line.rstrip() for line in result.stdout.splitlines()[1:]] == [
        "  --reveal R=  the next reserve card of player 1",
        "  --reveal D=  the card that player 1 turns from the stock",
    ]


def test_a_view_is_a_file_drawn_for_its_player(fake: FakeServer) -> None:
    result = zank("view", "--player", "2", DEALT, fake=fake)
    assert result.exit_code == 0
    *comments, text = result.stdout.splitlines()
    assert text == DEALT.removesuffix("~s.7.1")
    player2 = next(line for line in comments if line.startswith("# Player 2  payoff"))
    assert player2.endswith("hand  2♠  3♠  4♠  5♠  6♠")
    assert comments.index(player2) > comments.index(next(line for line in comments if line.startswith("# Player 1")))


def test_what_must_be_revealed_is_printed_as_the_options_that_do_it(fake: FakeServer) -> None:
    fake.needed = [Slot(player=1, place="P"), Slot(player=1, place="H"), Slot(player=2, place="H", index=1)]
    result = zank("apply", "A-C1", DEALT, fake=fake)
    assert result.exit_code == 3
    assert [line.rstrip() for line in result.stdout.splitlines()] == [
        "Not played. These cards come to light, and the position does not hold them:",
        "  --reveal P=     the next payoff card of player 1",
        "  --reveal H0=    card 1 that player 1 draws",
        "  --reveal 2:H1=  card 2 that player 2 draws",
    ]
    as_json = zank("apply", "A-C1", DEALT, "--json", fake=fake)
    assert (as_json.exit_code, len(json.loads(as_json.stdout)["needed"])) == (3, 3)
    revealed = zank("apply", "A-C1", DEALT, "--reveal", "P=7h", "--reveal", "2:H1=2c", fake=fake)
    assert revealed.exit_code == 0
    assert fake.requests[-1] == ApplyMoveRequest(
        position=POSITION,
        move="A-C1",
        reveals=[Reveal(slot=fake.needed[0], card="7h"), Reveal(slot=fake.needed[2], card="2c")],
    )


HINT = """\
A-C1  Play the A♦ from hand onto center stack 1, which needs an ace.
Why: It empties side stack 2.
But: It lets the other player's 9♠ onto center stack 1.
The same as A-C2, A-C3.
Wins 63 % ± 2 %, +3.1 ± 0.4 points expected.
As good as far as 500 rollouts a move can tell: Q-S1, Q-S2, Q-S3.

move   wins         points       behind by   rollouts
A-C1   63 % ± 2 %   +3.1 ± 0.4   –           500
Q-S1   63 % ± 2 %   +3.1 ± 0.4   0.2 ± 0.3   500        as good
Q-S2   63 % ± 2 %   +3.1 ± 0.4   0.2 ± 0.3   500        as good
Q-S3   63 % ± 2 %   +3.1 ± 0.4   0.2 ± 0.3   500        as good
T-S1   63 % ± 2 %   +3.1 ± 0.4   0.2 ± 0.3   500
T-S2   63 % ± 2 %   +3.1 ± 0.4   0.2 ± 0.3   500
4 more moves
1,024 rollouts, seed 5; ± is one standard error.
"""


def test_a_hint_is_the_board_the_move_in_words_and_the_alternatives(fake: FakeServer) -> None:
    result = zank("hint", DEALT, fake=fake)
    assert result.stdout.startswith("malice-match · turn 1 · player 1 to move\n")
    assert result.stdout.endswith(HINT)


BEST = """\
A-C1  Play the A♦ from hand onto center stack 1, which needs an ace.
Why: It empties side stack 2.
But: It lets the other player's 9♠ onto center stack 1.
The same as A-C2, A-C3.
Wins 63 % ± 2 %, +3.1 ± 0.4 points expected.
As good as far as 500 rollouts a move can tell: Q-S1, Q-S2, Q-S3.

Then:
  Q-S1  Discard the Q♠ on side stack 1, which ends the turn.

1,024 rollouts, seed 5; ± is one standard error.
"""


def test_a_best_move_is_followed_by_the_rest_of_the_turn(fake: FakeServer) -> None:
    result = zank("best", DEALT, fake=fake)
    assert result.stdout.startswith("malice-match · turn 1 · player 1 to move\n")
    assert result.stdout.endswith(BEST)
    assert fake.requests == [GetBestMoveRequest(question=Question(position=POSITION, request_id="the argument:1"))]


def test_an_analysis_elsewhere_than_on_a_terminal_is_its_last_table(fake: FakeServer) -> None:
    result = zank("analyze", DEALT, fake=fake)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    table = lines[lines.index("move   wins         points       behind by   rollouts") :]
    assert table[1:3] == [
        "A-C1   63 % ± 2 %   +3.1 ± 0.4   –           500                  the same as A-C2, A-C3",
        "Q-S1   63 % ± 2 %   +3.1 ± 0.4   0.2 ± 0.3   500        as good",
    ]
    assert table[11:] == ["1,024 rollouts, seed 5; ± is one standard error."]


def test_an_analysis_on_a_terminal_changes_in_place(fake: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.StringIO()
    monkeypatch.setattr("zank.cli.console", lambda: Console(file=screen, force_terminal=True, width=80, height=50))
    assert zank("analyze", DEALT, fake=fake).exit_code == 0
    assert all(f"{rollouts} rollouts, seed 5" in screen.getvalue() for rollouts in ("256", "512", "1,024"))
    assert "\x1b[1A" in screen.getvalue()  # one line up


def test_an_analysis_as_json_is_every_message(fake: FakeServer) -> None:
    messages = [json.loads(line) for line in zank("analyze", DEALT, "--json", fake=fake).stdout.splitlines()]
    assert [message.get("final", False) for message in messages] == [False, False, True]


def test_after_a_time_budget_the_options_that_repeat_the_answer_are_told(fake: FakeServer) -> None:
    for command in ("hint", "best", "analyze"):
        assert zank(command, DEALT, "--time", "0.5", fake=fake).stdout.endswith(
            "The same again: --rollouts 2048 --rounds 2 --seed 5\n"
        )


@pytest.mark.parametrize("command", ["hint", "best", "analyze"])
def test_a_solver_gets_every_option(fake: FakeServer, command: str) -> None:
    arguments = (
        "--rollouts 64 --time 0.25 --rounds 2 --seed 3 --score 38-45 --objective win --priority bulk"
        " --only A-C1 --only Q-S1 --avoid 8-S1 --keep Q-S1"
    )
    assert zank(command, DEALT, *arguments.split(), fake=fake).exit_code == 0
    (request,) = fake.requests
    assert isinstance(request, GetHintRequest | GetBestMoveRequest | AnalyzeRequest)
    assert request.question == Question(
        request_id="the argument:1",
        position=POSITION,
        match_score=MatchScore(player1=38, player2=45),
        budget=Budget(rollouts=64, time_ms=250, rounds=2),
        seed=3,
        objective=OBJECTIVE_WIN,
        priority=PRIORITY_BULK,
        only_moves=["A-C1", "Q-S1"],
        avoid_moves=["8-S1"],
        keep_moves=["Q-S1"],
    )


def test_the_limits_of_a_server_are_told(fake: FakeServer) -> None:
    assert zank("info", fake=fake).stdout.splitlines() == [
        "engine 1.2.3",
        "rollouts 1,024 for a hint, 2,048 for a best move, 4,096 for an analysis, unless the request says otherwise",
        "at most 65,536 rollouts, 2.5 s, and 65,536 bytes a message",
        "preset malice-match: The scored online game.",
        "  payoff cards 20, wild starts stack yes, side play ends turn no, stock out when emptied, match target 50",
        "preset bank-spiteful: The reserve first.",
        "  reserve cards 13, reserve first anywhere, stalemate scoring none, max turns 500, match target 0",
        "compiled programs: 0, ready in 0.0 s",
    ]


def test_several_files_are_answered_in_order_and_named(fake: FakeServer, tmp_path: Path) -> None:
    opening, ending = tmp_path / "opening.txt", tmp_path / "ending.json"
    opening.write_text(f"# The first turn\n{DEALT}\n{DEALT}\n", encoding="utf-8")
    ending.write_text(to_json(POSITION), encoding="utf-8")
    plain = zank("hint", str(opening), str(ending), fake=fake)
    assert plain.exit_code == 0
    assert plain.stdout.count("A-C1  Play") == 3
    assert f"{opening}:2 · The first turn\n" in plain.stdout
    as_json = zank("hint", str(opening), "-", "--json", fake=fake, stdin=DEALT)
    ids = [json.loads(line)["requestId"] for line in as_json.stdout.splitlines()]
    assert ids == [f"{opening}:2"[-128:], f"{opening}:3"[-128:], "standard input:1"]


def test_one_refused_position_of_several_fails_alone(fake: FakeServer) -> None:
    fake.refusals.append(INVALID)
    result = zank("hint", "--json", fake=fake, stdin=f"{DEALT}\n{DEALT}\n")
    assert result.exit_code == 2
    assert "standard input:1: the position is impossible" in result.stderr
    (line,) = result.stdout.splitlines()
    assert json.loads(line)["requestId"] == "standard input:2"


def test_a_refused_input_is_exit_status_2_and_a_failed_server_1(fake: FakeServer) -> None:
    fake.refusals.append(ILLEGAL)
    illegal = zank("apply", "8-C1", DEALT, fake=fake)
    assert illegal.exit_code == 2
    assert illegal.stderr == "Error: a seven does not fit on C2 [ILLEGAL_MOVE]\n  rule: M3\n"
    fake.refusals.append(refusal(13, "the device failed"))
    assert zank("hint", DEALT, fake=fake).exit_code == 1


@pytest.mark.parametrize(
    ("arguments", "stdin", "says"),
    [
        (["deal"], "", "Missing argument"),
        (["deal", "bridge"], "", "'malice-match', 'malice-classic'"),
        (["deal", "malice-match", "--seed", "-1"], "", "0<=x<=18446744073709551615"),
        (["deal", "malice-match", "--payoff-cards", "31"], "", "1<=x<=30"),
        (
            ["deal", "malice-match", "--reserve-first", "anywhere"],
            "",
            "--reserve-first is no option of Spite & Malice, to which malice-match belongs",
        ),
        (
            ["deal", "bank-russian", "--no-wild-starts-stack"],
            "",
            "--wild-starts-stack is no option of Russian Bank, to which bank-russian belongs",
        ),
        (
            ["deal", "bank-russian", "--reserve-first", "foundation"],
            "",
            "--reserve-first is an option of bank-spiteful, not of bank-russian",
        ),
        (
            ["deal", "bank-crapette", "--stalemate-scoring", "none"],
            "",
            "--stalemate-scoring is an option of bank-spiteful, not of bank-crapette",
        ),
        (["deal", "bank-russian", "--reserve-cards", "11"], "", "12<=x<=13"),
        (["deal", "bank-russian", "--max-turns", "30001"], "", "0<=x<=30000"),
        (["apply", "T9-F", BANK], "", "no tableau pile T9: expected T1 to T8"),
        (["apply", "R-F", "--reveal", "R", BANK], "", "'R' is no revealed card: expected SLOT=CARD"),
        (["legal", "no-such-file.txt"], "", "'no-such-file.txt' is no file, and no position: expected a file"),
        (["legal", "malice-match~7"], "", "the argument, line 1: player to move: expected 1 or 2, found '7'"),
        (["legal"], "# nothing\n", "no position in standard input"),
        (["legal"], "malice-match~7", "standard input, line 1: player to move"),
        (["legal"], f"{DEALT}\n{DEALT}\n", "expected one position, found 2"),
        (["legal", "/"], "", "'/' is a directory: expected a file"),
        (["legal", sys.executable], "", f"'{sys.executable}' is not text"),
        (["legal", os.devnull], "", f"{os.devnull} is empty; note that"),
        (["legal"], to_json(Answer(rollouts=3)), "found an object with rollouts,"),
        (["apply", "P-S1", DEALT], "", "only a card from hand goes to a side stack (M7)"),
        (["apply", DEALT, "P-C1"], "", "is no move"),
        (["hint", "--rollouts", "0"], DEALT, "1<=x<=4294967295"),
        (["hint", "--objective", "luck"], DEALT, "'points', 'win'"),
        (["hint", "--score", "38"], DEALT, "expected the points of both players, for example 38-45, found '38'"),
        (["hint", "--score", "3 8-45"], DEALT, "for example 38-45"),
        (["best", "--time", "0"], DEALT, "expected more than 0 seconds"),
        (["best", "--timeout", "nan"], DEALT, "expected more than 0 seconds"),
        (["best", "--rounds", "2"], DEALT, "rounds: expected together with rollouts"),
        (["info", "--server", ""], "", "expected HOST:PORT, for example localhost:50051 or [::1]:50051; found nothing"),
        (["info", "--server", "localhost"], "", "found 'localhost', which has no port"),
        (["info", "--server", "http://localhost:1"], "", "found 'http://localhost:1', which has a scheme"),
        (["info", "--server", "localhost:x"], "", "found 'localhost:x'"),
        (["best", "--rounds", "6"], DEALT, "1<=x<=5"),
        (["analyze", "--only", "7"], DEALT, "'7' is no move"),
        (["analyze"], f"{DEALT}\n{DEALT}\n", "expected one position, found 2"),
        (["view"], DEALT, "Missing option '--player'"),
        (["apply", "P-C1", "--reveal", "7h", DEALT], "", "'7h' is no revealed card: expected SLOT=CARD"),
        (["hint", "{"], "", "not JSON"),
    ],
)
def test_wrong_usage_says_what_was_expected_without_asking_a_server(
    arguments: list[str], stdin: str, says: str
) -> None:
    result = zank(arguments[0], "--server", "127.0.0.1:1", *arguments[1:], stdin=stdin)
    assert result.exit_code == 2
    assert says in " ".join(result.stderr.replace("│", "").split())


def test_a_terminal_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zank._reading._stdin_is_terminal", lambda: True)
    result = zank("hint")
    assert result.exit_code == 2
    assert "a position is missing: expected a file, the text form" in result.stderr


def test_without_the_server_extra_a_command_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zank.embedded._SERVER_MODULES", ("no_such_module",))
    for command in (["hint", DEALT], ["serve", "--port", "1"]):
        result = zank(*command)
        assert result.exit_code == 1
        assert "pip install 'zank[server]', in a clone pip install '.[server]'; or name" in result.stderr


def test_the_server_gets_its_own_arguments(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    package = tmp_path / "zank_service"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "__main__.py").write_text("def main(arguments):\n    print(arguments)\n    return 4\n")
    monkeypatch.setattr("zank.embedded._SERVER_MODULES", ("zank_service",))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "zank_service", raising=False)
    monkeypatch.delitem(sys.modules, "zank_service.__main__", raising=False)
    result = zank("serve", "--help", "--port", "0", "x")
    assert result.stdout == "['--help', '--port', '0', 'x']\n"
    assert result.exit_code == 4


@pytest.mark.parametrize("command", [["deal", "malice-match"], ["apply", "Q-S1"], ["view", "--player", "1"]])
@pytest.mark.parametrize("as_json", [[], ["--json"]])
def test_a_position_is_written_over_the_file_it_was_read_from(
    fake: FakeServer, tmp_path: Path, command: list[str], as_json: list[str]
) -> None:
    game = tmp_path / "game.txt"
    game.write_text(DEALT, encoding="utf-8")
    game.chmod(0o640)
    read = [] if command[0] == "deal" else [str(game)]
    printed = zank(*command, *as_json, *read, fake=fake)
    written = zank(*command, *as_json, *read, "--output", str(game), fake=fake)
    assert (written.exit_code, written.stdout) == (0, "")
    assert game.read_text(encoding="utf-8") == printed.stdout
    assert game.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [game]


def test_a_file_stays_as_it_is_when_there_is_nothing_to_write(fake: FakeServer, tmp_path: Path) -> None:
    game = tmp_path / "game.txt"
    game.write_text(DEALT, encoding="utf-8")
    fake.needed = [Slot(player=1, place="P")]
    assert zank("apply", "A-C1", str(game), "-o", str(game), fake=fake).exit_code == 3
    fake.refusals.append(ILLEGAL)
    assert zank("apply", "A-C1", str(game), "-o", str(game), fake=fake).exit_code == 2
    assert game.read_text(encoding="utf-8") == DEALT
    elsewhere = zank("deal", "malice-match", "-o", str(tmp_path / "no" / "game.txt"), fake=fake)
    assert elsewhere.exit_code == 2
    assert "game.txt cannot be written: No such file or directory" in elsewhere.stderr


def test_what_a_terminal_is_too_narrow_for_is_left_out(fake: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.StringIO()
    narrow = Console(file=screen, force_terminal=True, color_system=None, width=40, highlight=False)
    monkeypatch.setattr("zank.cli.console", lambda: narrow)
    assert zank("hint", DEALT, fake=fake).exit_code == 0
    lines = screen.getvalue().splitlines()
    assert max(map(len, lines)) <= 40
    assert "move   points       behind by" in lines
    assert "Q-S1   +3.1 ± 0.4   0.2 ± 0.3   as good" in lines


def test_sentences_are_broken_on_terminals_only(fake: FakeServer) -> None:
    lines = zank("best", DEALT, fake=fake).stdout.splitlines()
    assert "As good as far as 500 rollouts a move can tell: Q-S1, Q-S2, Q-S3." in lines
    assert all(line == line.rstrip() for line in lines)


def test_an_analysis_that_the_server_broke_off_says_so_and_not_how_to_have_it_again(fake: FakeServer) -> None:
    command = ("analyze", DEALT, "--time", "1")
    note, again = "The server stopped before this was complete.", "The same again"
    whole = zank(*command, fake=fake).stdout
    assert again in whole
    assert note not in whole
    fake.partial = True
    broken_off = zank(*command, fake=fake).stdout
    assert note in broken_off
    assert again not in broken_off


def test_few_rollouts_are_told(fake: FakeServer) -> None:
    note = "Few rollouts: these numbers say little."
    fake.rollouts_a_move = 30
    for command in ("hint", "best", "analyze"):
        assert note not in zank(command, DEALT, fake=fake).stdout
    fake.rollouts_a_move = 29
    for command in ("hint", "best", "analyze"):
        assert note in zank(command, DEALT, fake=fake).stdout
    fake.rollouts = 1
    assert "\n1 rollout, seed 5;" in zank("hint", DEALT, fake=fake).stdout


@pytest.mark.parametrize(
    ("encoding", "payoff", "effort"),
    [("cp1252", "Player 1  payoff  7h", "±"), ("ascii", "Player 1  payoff  7h", "~"), ("utf-8", "payoff  7♥", "±")],
)
def test_an_output_without_suits_shows_letters(fake: FakeServer, encoding: str, payoff: str, effort: str) -> None:
    result = zank("hint", DEALT, fake=fake, encoding=encoding)
    assert result.exit_code == 0
    assert payoff in result.stdout
    assert f"; {effort} is one standard error" in result.stdout


def test_positions_are_read_from_pipes_and_with_a_byte_order_mark(fake: FakeServer, tmp_path: Path) -> None:
    marked = tmp_path / "marked.txt"
    marked.write_text(f"# Größe\n{DEALT}", encoding="utf-8-sig")
    assert zank("hint", str(marked), fake=fake).exit_code == 0
    assert zank("hint", fake=fake, stdin="\ufeff" + to_json(POSITION)).exit_code == 0
    reading, writing = os.pipe()
    os.write(writing, DEALT.encode("utf-8"))
    os.close(writing)
    assert zank("hint", f"/dev/fd/{reading}", fake=fake).exit_code == 0
    os.close(reading)
    assert [request.question.position for request in fake.requests if isinstance(request, GetHintRequest)] == [
        POSITION
    ] * 3


def test_an_answer_in_json_has_numbers_that_are_zero(fake: FakeServer) -> None:
    answer = json.loads(zank("hint", DEALT, "--json", fake=fake).stdout)
    assert answer["forced"] is False
    assert "value" in answer["moves"][0]
    assert "gap" not in answer["moves"][0]


def test_moves_are_read_as_people_write_them(fake: FakeServer) -> None:
    assert zank("apply", "10d-s1", DEALT, fake=fake).exit_code == 0
    assert fake.requests == [ApplyMoveRequest(position=POSITION, move="Td-S1")]


def test_an_answer_that_is_late_names_the_option(fake: FakeServer) -> None:
    fake.delay = 0.5
    result = zank("hint", DEALT, "--timeout", "0.05", fake=fake)
    assert result.exit_code == 1
    assert "no answer within 0.05 s; to wait longer:" in result.stderr
    assert "--timeout SECONDS on the command line" in result.stderr


def test_a_server_that_is_not_there_is_told_soon() -> None:
    started = time.monotonic()
    result = zank("hint", DEALT, "--server", "127.0.0.1:1")
    assert time.monotonic() - started < 5
    assert result.exit_code == 1
    assert result.stderr == "Error: no server serves at 127.0.0.1:1: nothing listens there [UNAVAILABLE]\n"


def test_an_interrupt_ends_a_command_quietly(fake: FakeServer) -> None:
    fake.delay = 3
    arguments = [sys.executable, "-m", "zank", "hint", DEALT, "--server", fake.target]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as command:
        while not fake.requests and command.poll() is None:
            time.sleep(0.01)
        command.send_signal(signal.SIGINT)
        output, errors = command.communicate()
    assert (command.returncode, output, errors) == (130, b"", b"")


def test_an_interrupt_while_the_server_starts_leaves_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    ended = tmp_path / "ended"
    script = tmp_path / "server"
    script.write_text(f'#!/bin/sh\ncat\ntouch "{ended}"\n')
    script.chmod(0o755)
    monkeypatch.setattr("zank.embedded.require_server", lambda: None)
    monkeypatch.setattr(sys, "executable", str(script))

    def interrupt(server: EmbeddedServer, timeout: float) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(EmbeddedServer, "wait", interrupt)
    result = zank("hint", DEALT)
    assert (result.exit_code, result.output) == (130, "")
    assert ended.exists()
