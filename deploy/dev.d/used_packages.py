"""Checks that the headers and the Python modules that the tree uses are of packages that deploy/dev installs.

usage: used_packages.py ROOT BUILD PACKAGES   PACKAGES is a file with the names of those packages

Prints each file of another package and exits with 1. Programs need no such check: packages_isolate() leaves no others in PATH.
"""

import ast
import importlib.util
import re
import subprocess
import sys
from pathlib import Path

PYTHON_FOLDERS = ["deploy", "libcommon", "tests"]
LEFT_OUT = {"node_modules", "bench"}  # benchmarks ask for what they need


def headers(build):
    """The headers of the system that the compiler has read."""
    deps = subprocess.run(["ninja", "-C", build, "-t", "deps"], check=True, capture_output=True, text=True).stdout
    return set(re.findall(r"^ +(/usr/\S+)$", deps, re.MULTILINE))


def imported(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.module


def modules(root):
    """The files of the modules that the tree's Python programs import, except their own and Python's."""
    paths = [path for folder in PYTHON_FOLDERS for path in (root / folder).rglob("*.py") if not LEFT_OUT & set(path.parts)]
    names = {name.split(".")[0] for path in paths for name in imported(path)}
    for name in sorted(names - set(sys.stdlib_module_names)):
        spec = importlib.util.find_spec(name)
        if spec and spec.origin:
            yield spec.origin


def owners(files):
    """(package, file) of each file that a package owns."""
    found = subprocess.run(["dpkg", "-S", *sorted(files)], capture_output=True, text=True).stdout
    for line in found.splitlines():
        packages, _, path = line.partition(": ")
        for package in packages.split(", "):
            yield package.partition(":")[0], path


def main():
    root, build, installed = Path(sys.argv[1]), sys.argv[2], set(Path(sys.argv[3]).read_text().split())
    faults = [(package, path) for package, path in owners(headers(build) | set(modules(root))) if package not in installed]
    for package, path in faults:
        print(f"{path} is of the package {package}, which deploy/dev.d/packages.sh does not install")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
