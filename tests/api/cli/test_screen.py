"""Tables in terminals of several widths, colours, and neither of them in a pipe."""

import json
import subprocess
import unicodedata

import pytest

from lib.http.openapi import operations
from lib.outside.stub_server import StubServer
from lib.system.command_line import ESCAPE, without_styles


def lines(text):
    return without_styles(text).splitlines()


def test_a_narrow_terminal(bare):
    shown = lines(bare.screen("api", columns=60))
    assert max(map(len, shown)) <= 60 and any(line.endswith("…") for line in shown)
    assert shown[0].split() == ["OPERATION", "SUMMARY"]  # the others have no room


def test_a_wide_terminal(bare):
    shown = lines(bare.screen("api", columns=200))
    assert shown[0].split() == ["OPERATION", "SUMMARY", "SCOPE", "PATH"]
    assert 130 < max(map(len, shown)) <= 200 and not any("…" in line for line in shown)


def test_the_environment_says_how_wide(bare):
    assert max(map(len, lines(bare.screen("api", columns=200, COLUMNS="60")))) <= 60
    assert max(map(len, bare.run("api", COLUMNS="60").stdout.splitlines())) <= 60
    for nonsense in ("0", "-1", "wide", "99999999999999999999"):
        assert max(map(len, lines(bare.screen("api", columns=60, COLUMNS=nonsense)))) <= 60


def width(text):
    """The columns of a text, as Unicode's East Asian Width has it."""
    return sum(0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)


def test_wide_and_combining_characters(against):
    names = ["plain", "\u6ce8\u610f\u529b" * 20, "e\u0301" * 60, "\U0001f600" * 40, "Ame\u0301lie \ud55c\uad6d\uc5b4"]
    rows = json.dumps([{"name": name, "pool_size": 12345} for name in names])
    server = StubServer(lambda request: request.reply(200, rows, Content_Type="application/json"))
    try:
        for columns in (60, 90, 200):
            shown = lines(against(server.url).screen("interests", columns=columns))
            assert max(map(width, shown)) <= columns
            assert len({width(line[: line.index("12345")]) for line in shown if "12345" in line}) <= 1
    finally:
        server.close()


def test_a_pipe_has_no_colours_and_cuts_nothing(bare):
    shown = bare.run("api").stdout
    assert not ESCAPE.search(shown) and "…" not in shown
    assert all(one.path in shown for one in operations().values() if not one.has_any_method)


def test_colours_can_be_switched_off(bare):
    assert ESCAPE.search(bare.screen("api"))
    assert not ESCAPE.search(bare.screen("api", NO_COLOR="1"))
    assert not ESCAPE.search(bare.screen("api", TERM="dumb"))
    assert ESCAPE.search(bare.screen("api", NO_COLOR=""))


def test_help_fits_the_terminal(bare):
    for args in ([], ["login", "--help"], ["api", "interest_create", "--help"]):
        shown = bare.screen(*args, columns=60, status=2 if not args else 0)
        assert max(len(line) for line in lines(shown) if "[" not in line) <= 60


@pytest.mark.parametrize("words", [["api"], ["--version"], ["digest", "--help"], ["--help"], ["interests"]], ids=" ".join)
def test_output_that_cannot_be_written(against, words):
    """Also by a list that is cut, where standard error says so."""
    server = StubServer(lambda request: request.reply(200, '[{"id": "1"}]', Content_Type="application/json", X_Total_Count="9"))
    cli = against(server.url)
    with open("/dev/full", "w") as full:
        done = subprocess.run([cli.binary, *words], env=cli.env, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1 and "cannot be written" in done.stderr
    server.close()
