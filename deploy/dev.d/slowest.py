#!/usr/bin/python3
"""The slowest tests of a run, each as the part of `deploy/dev test` that runs it alone, and the slowest files of black-box tests.

usage: slowest.py FOLDER         with the JUnit files of meson and pytest, *.xml
"""

import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path

COUNT = 10


def part_of(case):
    """meson names a unit test `expops:unit+libcommon / libcommon/pg/pool`; pytest has the path with dots as the class."""
    suites, separator, name = (case.get("name") or "").partition(" / ")  # a test that was ended has none
    if separator and ":unit" in suites:
        return f"unit/{name}"
    if case.get("classname") == suites.partition(":")[0]:
        return name
    return f"{case.get('classname').replace('.', '/')}.py::{case.get('name')}"


def show(title, times):
    """`times`: (name, seconds)"""
    if times:
        print(f"\n{title}:")
    for name, seconds in sorted(times, key=lambda row: row[1], reverse=True)[:COUNT]:
        print(f"{seconds:8.1f} s  {name}")


def main(folder):
    cases = [case for path in sorted(Path(folder).glob("*.xml")) for case in ElementTree.parse(path).iter("testcase")]
    tests, files = [(part_of(case), float(case.get("time"))) for case in cases], Counter()
    for part, seconds in tests:
        if "::" in part:
            files[part.partition("::")[0]] += seconds
    show(f"The slowest of {len(tests)} tests, with what they set up", tests)
    show(f"The slowest of {len(files)} files, which take {sum(files.values()):.0f} s of one worker", files.items())


if __name__ == "__main__":
    main(sys.argv[1])
