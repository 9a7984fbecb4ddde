#!/usr/bin/python3
"""The slowest tests of a run, each as the part of `deploy/dev test` that runs it alone.

usage: slowest.py FOLDER         with the JUnit files of meson and pytest, *.xml
"""

import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

COUNT = 10


def part_of(case):
    """meson names a unit test `expops:unit+libcommon / libcommon/pg/pool`; pytest has the path with dots as the class."""
    suites, separator, name = case.get("name").partition(" / ")
    if separator and ":unit" in suites:
        return f"unit/{name}"
    if case.get("classname") == suites.partition(":")[0]:
        return name
    return f"{case.get('classname').replace('.', '/')}.py::{case.get('name')}"


def main(folder):
    cases = [case for path in sorted(Path(folder).glob("*.xml")) for case in ElementTree.parse(path).iter("testcase")]
    slowest = sorted(cases, key=lambda case: float(case.get("time")), reverse=True)[:COUNT]
    if slowest:
        print(f"\nThe slowest of {len(cases)} tests, with what they set up:")
    for case in slowest:
        print(f"{float(case.get('time')):8.1f} s  {part_of(case)}")


if __name__ == "__main__":
    main(sys.argv[1])
