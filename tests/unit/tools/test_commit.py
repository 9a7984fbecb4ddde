"""libcommon/tools/commit.py: the commit that `PROCESS --version` prints, with git and without it."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

TOOL = Path(__file__).resolve().parents[3] / "libcommon" / "tools" / "commit.py"
COMMIT = "0123456789abcdef0123456789abcdef01234567"
BRANCH = "refs/heads/release/2"


def commit_of(root, path):
    env = {**os.environ, "PATH": path}
    done = subprocess.run(["/usr/bin/python3", TOOL, root], env=env, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.mark.parametrize(
    "files, expected",
    [
        ({"HEAD": COMMIT}, COMMIT[:12]),
        ({"HEAD": f"ref: {BRANCH}", BRANCH: COMMIT}, COMMIT[:12]),
        ({"HEAD": f"ref: {BRANCH}", "packed-refs": f"# pack-refs with: peeled\n{COMMIT} {BRANCH}\n^{COMMIT}\n"}, COMMIT[:12]),
        ({"HEAD": f"ref: {BRANCH}", "packed-refs": f"{COMMIT} {BRANCH}0\n"}, "unknown"),
        ({"HEAD": f"ref: {BRANCH}"}, "unknown"),
        ({}, "unknown"),
    ],
)
def test_the_commit_is_read_from_files(tmp_path, files, expected):
    for name, content in files.items():
        path = tmp_path / ".git" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content + "\n")
    assert commit_of(tmp_path, "/nowhere") == expected


@pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")
def test_git_tells_of_changes(tmp_path):
    def git(*args):
        identity = ["-c", "user.name=n", "-c", "user.email=n@example.org"]
        return subprocess.run(["git", "-C", tmp_path, *identity, *args], capture_output=True, text=True, check=True).stdout.strip()

    file = tmp_path / "file"
    file.write_text("one")
    git("init", "-q")
    git("add", ".")
    git("commit", "-q", "-m", "one")
    commit = git("rev-parse", "HEAD")[:12]
    assert commit_of(tmp_path, os.environ["PATH"]) == commit
    file.write_text("two")
    assert commit_of(tmp_path, os.environ["PATH"]) == f"{commit}-dirty"
    (tmp_path / "sub").mkdir()
    assert commit_of(tmp_path / "sub", os.environ["PATH"]) == "unknown"
