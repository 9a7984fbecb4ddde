"""A server that lies: huge, broken and hostile answers. Nothing of them is obeyed, and each ends in a message."""

import gzip
import json
import re

import pytest

from lib.outside.stub_server import StubServer
from lib.system.command_line import FAILED, NOT_ALLOWED, without_styles

OBEYED = "\x1b]0;title\x07\x1b[31m\x9b2J\u202ered\u2028\r\n"
CONTROL = [chr(code) for code in [*range(0x20), *range(0x7F, 0xA0), 0x202E, 0x2028] if chr(code) not in "\n"]


@pytest.fixture
def lying(against):
    """lying(answer): the command line against a server that answers so: (status, content, type) or a function of the request."""
    servers = []

    def start(answer):
        if not callable(answer):
            status, content, kind = answer
            servers.append(StubServer(lambda request: request.reply(status, content, Content_Type=kind)))
        else:
            servers.append(StubServer(answer))
        return against(servers[-1].url)

    yield start
    for server in servers:
        server.close()


@pytest.mark.parametrize("answer, told", [
    ((200, "[" * 100_000, "application/json"), "not JSON"),
    ((200, b'["\xff\xfe"]', "application/json"), "not JSON"),
    ((200, '{"keys": 1}', "application/json"), "not as expops does"),
    ((200, "", "application/json"), "not as expops does"),
    ((204, "", "text/plain"), "not as expops does"),
    ((500, "<html>", "text/html"), "answered 500"),
    ((418, "[]", "application/json"), "answered 418"),
    ((503, '{"detail": 17, "errors": {"a": 1}}', "application/problem+json"), "answered 503"),
])  # fmt: skip
def test_broken_answers(lying, answer, told):
    message = lying(answer).run("whoami", status=FAILED).stderr
    assert told in message or "not as expops does" in message


def test_a_huge_answer(lying):
    assert "64 MiB" in lying((200, b"[" + b"1," * (33 << 20) + b"1]", "application/json")).run("whoami", status=FAILED).stderr


def test_a_small_answer_that_becomes_huge(lying):
    bomb = gzip.compress(b" " * (80 << 20))
    cli = lying(lambda request: request.reply(200, bomb, Content_Type="application/json", Content_Encoding="gzip"))
    assert "64 MiB" in cli.run("whoami", status=FAILED).stderr


def test_an_answer_that_ends_early(lying):
    assert lying(lambda request: request.cut('{"keys": [')).run("whoami", status=FAILED).stderr.startswith("expops: http://127.0.0.1:")


@pytest.mark.parametrize("headers", [{"X_Total_Count": "-7"}, {"X_Total_Count": "9" * 40}, {"X_Request_Id": "a\x9b31m"}, {"Retry_After": "x"}])
def test_lying_headers(lying, headers):
    cli = lying(lambda request: request.reply(500, "{}", Content_Type="application/json", **headers))
    assert no_control(cli.run("whoami", status=FAILED).stderr)


def no_control(text):
    return not any(char in text for char in CONTROL)


def test_problems_are_data(lying):
    problem = {"title": "No", "detail": f"no {OBEYED}", "errors": [{"field": OBEYED, "message": OBEYED}, 3, None]}
    printed = lying((403, json.dumps(problem), "application/problem+json")).run("api", "interests_list", status=NOT_ALLOWED).stderr
    assert no_control(printed) and "\\u001b]0;title\\u0007" in printed


@pytest.mark.parametrize("form", ["text", "json", "jsonl"])
def test_texts_are_data_in_every_form(lying, form):
    cli = lying((200, json.dumps([{"id": "1", "name": OBEYED, OBEYED: OBEYED}]), "application/json"))
    printed = cli.screen("api", "interests_list", "-o", form)
    assert no_control(without_styles(printed)) and "\\u001b]0;title" in printed.lower()
    if form == "json":
        assert json.loads(cli.run("api", "interests_list").stdout)[0]["name"] == OBEYED


def test_a_key_that_would_end_the_header(lying):
    cli = lying((200, "{}", "application/json"))
    assert "no key has" in cli.run("whoami", status=2, EXPOPS_KEY="usr_x\r\nX-Evil: 1").stderr


# Each command that asks the service, with arguments that it takes.
COMMANDS = [
    ["whoami"], ["digest"], ["digest", "-i", "x"], ["search", "x"], ["paper", "x"], ["like", "ID"], ["why", "ID"], ["refresh"],
    ["interests"], ["interest", "x"], ["interest", "add", "x"], ["interest", "remove", "ID"], ["learn", "ID"],
    ["schedule", "ID", "daily"], ["pause", "ID"], ["resume", "ID"], ["provision", "ID"], ["agents"], ["run", "a/b"], ["run-status", "a/b"], ["runs"], ["report"], ["inbox"],
    ["inbox", "dismiss", "ID"], ["experiments"], ["experiment", "x"], ["experiment", "add", "x"], ["results", "ID"], ["results", "add", "ID", "-"],
    ["context", "ID"], ["implement", "ID"],
    ["eval", "templates"], ["eval", "runs"], ["eval", "run", "ID"], ["eval", "show", "ID"], ["eval", "cancel", "ID"], ["eval", "build"],
    ["keys"], ["key", "add", "x"], ["key", "revoke", "x"], ["task", "ID"], ["api", "interests_list"],
]  # fmt: skip
ID = "019c1d2f-e9f4-7d38-8f21-ddb66cad4a27"
HOSTILE = {name: OBEYED for name in ("id", "name", "title", "status", "message", "error", "formatted", "headline", "text", "pipeline_status",
                                     "run_id", "task_id", "build_id", "arxiv_id", "resource_id", "prefix", "log_tail")}  # fmt: skip
SHAPES = [None, 17, 1e300, "x", [], {}, [[]], [None, 3, "x", {}], {"keys": [[], {"prefix": 3}]}, HOSTILE, [HOSTILE],
          {"interests": [3, {"recommendations": [HOSTILE, 3]}], "keys": [HOSTILE], "agents": [HOSTILE, 3], "kpis": [], "findings": [HOSTILE],
           "matched": [HOSTILE], "preference": {"examples": [HOSTILE]}, **HOSTILE}]  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_survives_every_shape(lying, command):
    """It neither crashes nor lets anything through that a terminal obeys, whatever the answer is."""
    shape = [None]
    cli = lying(lambda request: request.reply(200, json.dumps(shape[0]), Content_Type="application/json", X_Total_Count="99"))
    for shape[0] in SHAPES:
        done = cli.run(*(ID if word == "ID" else word for word in command), status=None)
        assert 0 <= done.returncode <= 4 and no_control(done.stdout + done.stderr), (shape[0], done)


OPTION = re.compile(r"^  (?:-\w, )?(--[\w-]+)( [A-Z]+)?", re.MULTILINE)  # a line of the help


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_option_is_taken(lying, command):
    """Each option fills a field that its operation has."""
    cli = lying((200, json.dumps({"status": "completed", "task_id": ID, **{name: [] for name in ("keys", "interests")}}), "application/json"))
    words = [ID if word == "ID" else word for word in command]
    told = cli.run(*words, "--help").stdout.partition("Options of every command")[0]
    for option, value in OPTION.findall(told):
        if option != "--wait":
            assert "no option" not in cli.run(*words, option, *(["1"] if value else []), status=None).stderr


def test_every_command_is_tried(bare):
    """Those that ask the service: all but these."""
    listed = {line.split()[0] for line in bare.run("help").stdout.splitlines() if line.startswith("  ") and line[2].islower()}
    assert listed - {command[0] for command in COMMANDS} == {
        "login", "logout", "profiles", "profile", "help", "completion", "dislike", "save"}  # fmt: skip
