"""Completion: what `expops complete` offers, and the three shells in a pseudo-terminal."""

import json
import re
import shutil

import pytest

from lib.outside.stub_server import StubServer
from lib.system.command_line import Terminal


def offered(cli, *words):
    return [line.split("\t")[0] for line in cli.run("complete", "--", *words, status=None).stdout.splitlines()]


@pytest.mark.parametrize("words, expected", [
    (["dig"], ["digest"]),
    (["interest", "a"], ["add"]),
    (["eval", "r"], ["runs", "run"]),
    (["digest", "--w"], ["--week"]),
    (["digest", "-o", ""], ["text", "json", "jsonl"]),
    (["-o", "json", "dig"], ["digest"]),
    (["help", "dig"], ["digest"]),
    (["completion", ""], ["bash", "zsh", "fish"]),
    (["experiments", "--status", "ru"], ["running"]),
    (["api", "interest_c"], ["interest_create"]),
    (["api", "interest_create", "daily"], ["daily_count="]),
    (["api", "experiment_create", "outcome="], ["outcome=ship", "outcome=iterate", "outcome=abandon"]),
    (["login", "--ca-file", ""], []),
    (["nothing", ""], []),
    (["digest", "--week", "extra", ""], []),
])  # fmt: skip
def test_words(bare, words, expected):
    assert offered(bare, *words) == expected


def test_every_command_is_offered(bare):
    first = {line.split()[0] for line in bare.run("help").stdout.splitlines() if line.startswith("  ") and line[2].islower()}
    assert set(offered(bare, "")) == first


def test_names(reader):
    reader.run("interest", "add", "Sparse $(touch x) attention", "-c", "-", input="Attention.")
    assert offered(reader, "interest", "que") == ["Question answering"]
    assert offered(reader, "refresh", "-i", "sp") == ["Sparse $(touch x) attention"]


INTERESTS = '[{"id": "1", "name": "a\\u001b[31m\\nb"}, {"id": "2", "name": "Sparse $(touch ran)"}, 3]'


@pytest.fixture
def named(against):
    """The command line of somebody whose interests have these names."""
    server = StubServer(lambda request: request.reply(200, INTERESTS, Content_Type="application/json"))
    yield against(server.url)
    server.close()


def test_hostile_names_and_none(bare, named):
    assert offered(named, "interest", "a") == ["add", "a\\u001b[31m\\nb"]
    assert offered(bare, "interest", "x") == []


SHELLS = {
    "bash": (["--norc", "--noprofile", "-i"], 'eval "$(expops completion bash)"'),
    "zsh": (["-f", "-i"], 'autoload -U compinit; compinit -D; eval "$(expops completion zsh)"'),
    "fish": (["--no-config", "-i"], "expops completion fish | source"),
}


@pytest.mark.parametrize("shell", SHELLS)
def test_a_shell(named, tmp_path, shell):
    """Words are completed, and a name as one word of which the shell runs nothing."""
    options, setup = SHELLS[shell]
    env = named.environment({"PATH": f"{named.binary.parent}:{named.env['PATH']}", "TERM": "xterm", "PS1": "$ "})
    with Terminal([shutil.which(shell), *options], env, 200) as terminal:
        terminal.type(f"cd {tmp_path}; {setup}; echo se''t\n")
        terminal.expect("set\n")
        terminal.type("expops help dig\t\n")
        terminal.expect("usage: expops digest")
        terminal.type("expops refresh -i Spar\t --help; printf '<%s>' 'e''nd'\n")
        terminal.expect("<end>")
        assert "usage: expops refresh" in terminal.output
    assert not (tmp_path / "ran").exists()


def asked_for(against, shell, folder, names, lines):
    """The numbers of the interests of these names for which the lines ask, typed into a shell in `folder`."""
    rows = json.dumps([{"id": str(number), "name": name} for number, name in enumerate(names)])
    server = StubServer(lambda request: request.reply(200, rows if "?" in request.path else "{}", Content_Type="application/json"))
    cli = against(server.url)
    options, setup = SHELLS[shell]
    env = cli.environment({"PATH": f"{cli.binary.parent}:{cli.env['PATH']}", "TERM": "xterm", "PS1": "$ "})
    try:
        with Terminal([shutil.which(shell), *options], env, 200) as terminal:
            terminal.type(f"cd {folder}; {setup}; echo se''t\n")
            terminal.expect("set\n")
            for number, line in enumerate(lines):
                terminal.type(f"{line}\nprintf '<%s>' 'e''nd'{number}\n")
                terminal.expect(f"<end{number}>")
    finally:
        server.close()
    return [int(path.rpartition("/")[2]) for _, path, *_ in server.requests if "?" not in path]


NAMES = ["kernels $(touch ran)", "back `touch ran`", "it's; touch ran; '", 'quote"; touch ran; "', "bang !touch", 'slash\\"; touch ran']


@pytest.mark.parametrize("quote", ["", "'", '"'])
@pytest.mark.parametrize("shell", SHELLS)
def test_a_name_in_quotes(against, tmp_path, shell, quote):
    """The name is one word, whatever it contains and whichever quote is open before it, and the shell runs nothing of it."""
    lines = [f"expops interest {quote}{re.match('[a-z]+', name)[0]}\t" for name in NAMES]
    asked = asked_for(against, shell, tmp_path, NAMES, lines)
    assert not (tmp_path / "ran").exists()
    assert asked == list(range(len(NAMES)))


def test_bash_reads_the_line_up_to_the_cursor(against, tmp_path):
    """Words in quotes, a colon, a quote within the word, and a cursor before the quote that ends it."""
    words = ['"interest" KV:\t', '-o "json" interest "KV: c\t', "interest K'V\t", 'interest "KV"\x1b[D\t']
    asked = asked_for(against, "bash", tmp_path, ["KV: cache $(touch ran)"], [f"expops {word}" for word in words])
    assert not (tmp_path / "ran").exists()
    assert asked == [0] * len(words)
