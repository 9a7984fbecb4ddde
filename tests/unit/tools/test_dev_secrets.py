"""Keys and passwords of the cluster of deploy/dev are shown to no other user of the machine: in no file, and in no argument of a program."""

import importlib.util
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
SECRET = "dc4a1c8be6"
URL = f"postgresql://owner:{SECRET}@127.0.0.1:1/expops"

# Saves the settings of a cluster, and prints before each write which rights the file has.
SAVE = """
set -euo pipefail
umask 022
DEV=$1
. "$2/deploy/dev.d/cluster.sh"
SETTINGS=([EXPOPS_KEY]=usr_x [DATABASE_URL]=postgresql://)
printf() {
	[[ ! -e $ENV_FILE.new ]] || stat -c %a "$ENV_FILE.new" >&2
	builtin printf "$@"
}
settings_save
"""


@pytest.mark.parametrize("is_left_over", [False, True])
def test_the_settings_are_never_readable_by_others(tmp_path, is_left_over):
    """Also where a run that was killed has left its file."""
    if is_left_over:
        (tmp_path / "env.new").write_text("")
        (tmp_path / "env.new").chmod(0o644)
    done = subprocess.run(["bash", "-c", SAVE, "save", tmp_path, ROOT], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "EXPOPS_KEY=usr_x" in (tmp_path / "env").read_text(), done.stderr
    modes = done.stderr.split()
    assert len(modes) >= 2 and set(modes) == {"600"}
    assert (tmp_path / "env").stat().st_mode & 0o777 == 0o600


RECORDER = """#!/usr/bin/python3
import json, os, sys
with open({path!r}, "a") as file:
    file.write(json.dumps([sys.argv, dict(os.environ)]) + "\\n")
"""


@pytest.fixture
def recorder(tmp_path):
    """A program that writes down its arguments and its environment."""
    program = tmp_path / "recorder"
    program.write_text(RECORDER.format(path=str(tmp_path / "calls")))
    program.chmod(0o755)
    return program


def calls(tmp_path):
    return [json.loads(line) for line in (tmp_path / "calls").read_text().splitlines()]


def test_pg_dump_has_no_password_among_its_arguments(tmp_path, recorder, monkeypatch):
    spec = importlib.util.spec_from_file_location("schema", ROOT / "deploy/dev.d/schema.py")
    schema = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(schema)
    monkeypatch.setattr(schema, "pg_dump", lambda: str(recorder))
    schema.describe(URL)
    assert calls(tmp_path)
    for arguments, environment in calls(tmp_path):
        assert not [one for one in arguments if SECRET in one] and environment["PGPASSWORD"] == SECRET


def test_deploy_dev_schema_has_none_either(tmp_path, recorder):
    tree = tmp_path / "tree"
    (tree / "deploy").mkdir(parents=True)
    shutil.copy(ROOT / "deploy/dev", tree / "deploy")
    shutil.copy(ROOT / "deploy/processes", tree / "deploy")
    shutil.copytree(ROOT / "deploy/dev.d", tree / "deploy/dev.d")
    shutil.copy(recorder, tree / "deploy/dev.d/schema.py")
    (tree / ".dev").mkdir()
    (tree / ".dev/env").write_text(f"DATABASE_URL={URL}\n")
    done = subprocess.run([tree / "deploy/dev", "schema"], env=os.environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    ((arguments, environment),) = calls(tmp_path)
    assert not [one for one in arguments if SECRET in one] and environment["DATABASE_URL"] == URL
