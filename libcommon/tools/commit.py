#!/usr/bin/python3 -B
"""Print the commit that is checked out: its first 12 digits, and `-dirty` if tracked files were changed.

usage: commit.py ROOT

Where git is not installed, as in the stage that builds the image, the commit is read from ROOT/.git, of which HEAD, refs and
packed-refs are enough, and changes are not seen. In an archive that git made, ROOT/deploy/commit has it. Otherwise: unknown.
"""

import subprocess
import sys
from pathlib import Path

DIGITS = 12


def by_git(root):
    """The commit, or None: there is no git, or ROOT is not the top of a repository."""
    try:
        asked = ["git", "-C", root, "describe", "--always", "--dirty", f"--abbrev={DIGITS}", "--match="]
        done = subprocess.run(asked, capture_output=True, text=True)
    except FileNotFoundError:
        return None
    return done.stdout.strip() if done.returncode == 0 and (Path(root) / ".git").exists() else None


def packed(git, name):
    """The commit of a branch in packed-refs."""
    path = git / "packed-refs"
    rows = [line.split() for line in path.read_text().splitlines()] if path.exists() else []
    return next((row[0] for row in rows if len(row) == 2 and row[1] == name), None)


def by_files(root):
    git = Path(root) / ".git"
    if not (git / "HEAD").exists():
        return None
    head = (git / "HEAD").read_text().strip()
    if not head.startswith("ref: "):
        return head[:DIGITS]
    name = head.removeprefix("ref: ")
    loose = git / name
    commit = loose.read_text().strip() if loose.exists() else packed(git, name)
    return commit[:DIGITS] if commit else None


def by_archive(root):
    path = Path(root) / "deploy" / "commit"
    commit = path.read_text().strip() if path.exists() else ""
    return None if commit.startswith("$") else commit[:DIGITS]  # git archive has not replaced it


if __name__ == "__main__":
    print(by_git(sys.argv[1]) or by_files(sys.argv[1]) or by_archive(sys.argv[1]) or "unknown")
