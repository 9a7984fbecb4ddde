#!/usr/bin/python3 -B
"""The versions of the functions in the schemas, deploy/schema/functions: a line `OWNER VERSION SHA256` for each component that has
files NOUN.fn.sql. A version rises with every edit, or databases that have the functions would keep the previous ones
(libcommon/pg/migrate.h).

usage: functions_version.py [--raise] ROOT

Print the components whose functions were edited since their version rose, and exit with 1; --raise: write the file with their
versions one higher.
"""

import argparse
import hashlib
import sys
from pathlib import Path

FUNCTIONS = ".fn.sql"
COMPONENTS = {"common": "libcommon"}  # owner -> folder, where they differ
HEAD = "# The versions of the functions in the schemas. Written by libcommon/tools/functions_version.py --raise\n"


def read_versions(path):
    """{owner: (version, sha256)}"""
    lines = [line.split() for line in Path(path).read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    return {owner: (int(version), sha256) for owner, version, sha256 in lines}


def hashes(root):
    """{owner: sha256 of its functions}"""
    found = {}
    for folder in sorted({path.relative_to(root).parts[0] for path in root.glob(f"*/**/*{FUNCTIONS}")}):
        files = sorted((root / folder).rglob(f"*{FUNCTIONS}"))
        text = "".join(f"{path.relative_to(root)}\n{path.read_text(encoding='utf-8')}" for path in files)
        owner = next((name for name, where in COMPONENTS.items() if where == folder), folder)
        found[owner] = hashlib.sha256(text.encode()).hexdigest()
    return found


def edited(root):
    """{owner: (its next version, sha256)} of those whose functions are not those of their version."""
    path = root / "deploy/schema/functions"
    known = read_versions(path) if path.exists() else {}
    return {
        owner: (known.get(owner, (0, ""))[0] + 1, sha256)
        for owner, sha256 in hashes(root).items()
        if known.get(owner, (0, ""))[1] != sha256
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--raise", action="store_true", dest="is_raise")
    parser.add_argument("root", type=Path)
    args = parser.parse_args()
    changed = edited(args.root)
    if args.is_raise:
        path = args.root / "deploy/schema/functions"
        versions = {**read_versions(path), **changed}
        lines = "".join(f"{owner} {version} {sha256}\n" for owner, (version, sha256) in sorted(versions.items()))
        path.write_text(HEAD + lines, encoding="utf-8")
        return 0
    for owner in changed:
        print(f"{owner}: its functions were edited, so their version must rise: libcommon/tools/functions_version.py --raise .")
    return 1 if changed else 0


if __name__ == "__main__":
    sys.exit(main())
