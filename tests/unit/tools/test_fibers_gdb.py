"""tests/lib/system/fibers_gdb.py prints the backtrace of each waiting fiber."""

import os
import re
import subprocess
from pathlib import Path

import pytest

LIB = Path(__file__).resolve().parents[2] / "lib" / "system"
FUNCTIONS = ["wait_for_a_reply", "ask_the_server", "handle_request"]


def gdb(*arguments):
    command = ["gdb", "-batch", "-nx", "-iex", "set debuginfod enabled off", *arguments]
    environment = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, env=environment).stdout


def check_fibers(text):
    shown = re.split(r"^fiber ", text, flags=re.MULTILINE)[1:]
    assert [part.split()[0] for part in shown] == ["request-2", "request-1"], text
    for part in shown:
        positions = [part.find(f" {name} (") for name in FUNCTIONS]
        assert -1 not in positions and positions == sorted(positions), text


@pytest.fixture(name="program")
def _program():
    return os.environ["PARKED_FIBERS"]


def test_live_process(program):
    check_fibers(gdb("-ex", "run", "-ex", f"source {LIB / 'fibers_gdb.py'}", "-ex", "fibers", program))


@pytest.mark.skipif(os.environ.get("SANITIZE", "none") != "none", reason="gdb would write a sanitizer's terabytes of reserved memory")
def test_core_file(program, tmp_path):
    core = tmp_path / "core"
    gdb("-ex", "run", "-ex", f"generate-core-file {core}", program)
    check_fibers(gdb("-ex", f"source {LIB / 'fibers_gdb.py'}", "-ex", "fibers", program, str(core)))
