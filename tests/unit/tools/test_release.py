"""deploy/release in a small repository, without a builder of images: what it makes is the same each time. And what the previous version is."""

import hashlib
import json
import os
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
COPIED = [
    ".gitattributes", "deploy/commit", "deploy/release", "deploy/dev.d/previous.sh", "deploy/processes", "deploy/previous", "gateway/openapi.yaml",
    "libcommon/tools",
]  # fmt: skip

# In place of deploy/deb, which compiles: the same commands of dpkg on one file.
DEB = """#!/bin/bash
set -euo pipefail
STAGE=$(mktemp -d)
chmod 0755 "$STAGE"
install -D -m 0755 "$(dirname "$0")/release" "$STAGE/usr/bin/expops"
mkdir -p "$STAGE/DEBIAN"
printf 'Package: expops\\nVersion: 1.2.3\\nArchitecture: all\\nMaintainer: A <a@localhost>\\nDescription: a\\n' >"$STAGE/DEBIAN/control"
dpkg-deb --root-owner-group --build "$STAGE" "$1/expops_1.2.3_all.deb" >/dev/null
rm -r "$STAGE"
"""


def git(root, *arguments):
    identity = ["-c", "user.name=a", "-c", "user.email=a@localhost", "-c", "commit.gpgsign=false", "-c", "tag.gpgsign=false"]
    return subprocess.run(["git", "-C", root, *identity, *arguments], check=True, capture_output=True, text=True).stdout.strip()


def commit(root, message):
    git(root, "add", "-A")
    git(root, "commit", "-q", "--allow-empty", "-m", message)


@pytest.fixture
def tree(tmp_path):
    root = tmp_path / "tree"
    for name in [*COPIED, *(str(path.relative_to(ROOT)) for path in ROOT.glob("svc-*/openapi.yaml"))]:
        target = root / name
        target.parent.mkdir(parents=True, exist_ok=True)
        source = ROOT / name
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__")) if source.is_dir() else shutil.copy(source, target)
    (root / "deploy" / "deb").write_text(DEB)
    (root / "deploy" / "deb").chmod(0o755)
    (root / "meson.build").write_text("project('expops', 'c',\n  version: '1.2.3',\n)\n")
    (root / "deploy" / "CHANGELOG.md").write_text("# Changelog\n\n## [1.2.3] - 2026-01-31\n")
    git(tmp_path, "init", "-q", "-b", "main", root)
    commit(root, "the first")
    return root


def release(root, out, **env):
    command = [root / "deploy" / "release", out]
    return subprocess.run(command, env={**os.environ, "RELEASE_IMAGES": "no", **env}, capture_output=True, text=True, check=False)


def made(root, out, **env):
    done = release(root, out, **env)
    assert done.returncode == 0, done.stderr
    return {path.name: path.read_bytes() for path in out.iterdir()}


def test_it_is_the_same_twice(tree, tmp_path):
    """Also where the clock, the umask, the language and the times of files are others."""
    first = made(tree, tmp_path / "first")
    for path in tree.rglob("*"):
        if ".git" not in path.parts:
            os.utime(path, (1, 1))
    other = os.umask(0o077)
    try:
        second = made(tree, tmp_path / "second", TZ="Asia/Tokyo", LC_ALL="C.UTF-8", SOURCE_DATE_EPOCH="7")
    finally:
        os.umask(other)
    assert sorted(first) == ["SHA256SUMS", "expops-1.2.3-openapi.json", "expops-1.2.3.tar.gz", "expops_1.2.3_all.deb"]
    assert first == second


def test_what_it_is(tree, tmp_path):
    files = made(tree, tmp_path / "out")
    for line in files["SHA256SUMS"].decode().splitlines():
        digest, name = line.split()
        assert hashlib.sha256(files[name]).hexdigest() == digest
    document = json.loads(files["expops-1.2.3-openapi.json"])
    assert document["info"]["version"] == "1.2.3"
    assert {"/api/v1.0/version", "/api/v1.0/fleet/runs", "/api/v1.0/search/assets"} <= set(document["paths"])
    with tarfile.open(tmp_path / "out" / "expops-1.2.3.tar.gz") as archive:
        assert {name.split("/")[0] for name in archive.getnames()} == {"expops-1.2.3"}
        archive.extractall(tmp_path / "unpacked")
    unpacked = tmp_path / "unpacked" / "expops-1.2.3"
    told = subprocess.run([unpacked / "libcommon" / "tools" / "commit.py", unpacked], capture_output=True, text=True, check=True).stdout
    assert told.strip() == git(tree, "rev-parse", "HEAD")[:12]


def test_another_commit_is_another_release(tree, tmp_path):
    first = made(tree, tmp_path / "first")
    (tree / "deploy" / "previous").write_text("other\n")
    commit(tree, "another")
    second = made(tree, tmp_path / "second")
    assert first["expops-1.2.3.tar.gz"] != second["expops-1.2.3.tar.gz"]


@pytest.mark.parametrize("path, text, fault", [
    ("deploy/CHANGELOG.md", "# Changelog\n\n## [Unreleased]\n", "has no section '## [1.2.3] - DATE'"),
    ("meson.build", "project('expops', 'c')\n", "meson.build has no version"),
])  # fmt: skip
def test_what_is_no_release(tree, tmp_path, path, text, fault):
    (tree / path).write_text(text)
    commit(tree, "not yet")
    done = release(tree, tmp_path / "out")
    assert done.returncode == 1 and fault in done.stderr, done.stderr
    assert not (tmp_path / "out").exists()


def test_changes_that_are_not_committed_and_a_tag_elsewhere(tree, tmp_path):
    git(tree, "tag", "v1.2.3")
    assert release(tree, tmp_path / "out").returncode == 0
    (tree / "more").write_text("more")
    done = release(tree, tmp_path / "out")
    assert done.returncode == 1 and "not committed" in done.stderr
    commit(tree, "more")
    done = release(tree, tmp_path / "out")
    assert done.returncode == 1 and "the tag v1.2.3 is of another commit" in done.stderr


def previous(root):
    script = 'ROOT=$1; DEV=$1; . "$1/deploy/dev.d/previous.sh"; previous_name'
    return subprocess.run(["bash", "-euo", "pipefail", "-c", script, "-", root], capture_output=True, text=True, check=True).stdout.strip()


def test_the_previous_version_is_the_newest_tag_of_another_version(tree):
    (named,) = [line for line in (ROOT / "deploy" / "previous").read_text().splitlines() if not line.startswith("#")]
    assert previous(tree) == named
    for tag in ("v1.2.3", "v0.1.0", "latest"):
        git(tree, "tag", tag)
    assert previous(tree) == "v0.1.0"
    git(tree, "tag", "v0.10.0")
    git(tree, "tag", "v0.9.0")
    assert previous(tree) == "v0.10.0"
    git(tree, "checkout", "-q", "-b", "later")
    commit(tree, "later")
    git(tree, "tag", "v1.0.0")
    git(tree, "checkout", "-q", "main")
    assert previous(tree) == "v0.10.0", "a tag of another branch is no version before this one"
