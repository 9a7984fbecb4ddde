"""gateway/mcp/tools_header.py: what is wrong in tools.yaml is refused when it is built."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[3]
MCP = ROOT / "gateway" / "mcp"
DESCRIPTIONS = [ROOT / "gateway" / "openapi.yaml", *sorted(ROOT.glob("svc-*/openapi.yaml"))]


def rows():
    return yaml.safe_load((MCP / "tools.yaml").read_text(encoding="utf-8"))


def header(tmp_path, tools):
    """Run it on the rows; returns what went wrong and the header."""
    source, target = tmp_path / "tools.yaml", tmp_path / "tools.h"
    source.write_text(json.dumps(tools))
    made = subprocess.run([sys.executable, "-B", MCP / "tools_header.py", target, source, *DESCRIPTIONS], capture_output=True, text=True, check=False)
    return made.stderr, target.read_text() if made.returncode == 0 else None


def test_the_rows_are_taken(tmp_path):
    fault, made = header(tmp_path, rows())
    assert not fault and "What to look for, in plain words." in made


@pytest.mark.parametrize(("tool", "argument", "changes", "fault"), [
    ("search_papers", "query", {"description": "What", "in plain words.": None}, "search_papers: query has unknown keys: in plain words."),
    ("get_fleet_report", "repos", {"description": "Only these."}, "get_fleet_report: repos is an array and needs maxItems"),
    ("get_digest", "limit", {}, "get_digest: limit needs a description of at most 100 characters"),
    ("get_digest", "unheard_of", {"description": "x"}, "get_digest: recommendations_digest_get has no unheard_of"),
])
def test_a_wrong_argument_is_refused(tmp_path, tool, argument, changes, fault):
    tools = rows()
    tools[tool]["arguments"][argument] = changes
    assert header(tmp_path, tools)[0] == f"tools_header.py: {fault}\n"


@pytest.mark.parametrize(("tool", "hints"), [("start_run", "R"), ("get_digest", "W")])
def test_a_tool_that_writes_says_what_to_do_when_that_is_uncertain(tmp_path, tool, hints):
    tools = rows()
    tools[tool]["hints"] = hints
    assert header(tmp_path, tools)[0] == f"tools_header.py: {tool}: a tool that writes needs uncertain, and no other\n"


def test_an_unknown_key_of_a_row_is_refused(tmp_path):
    tools = rows()
    tools["get_digest"]["hint"] = "R"
    assert header(tmp_path, tools)[0] == "tools_header.py: get_digest has unknown keys: hint\n"
