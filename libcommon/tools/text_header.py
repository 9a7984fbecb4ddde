#!/usr/bin/python3 -B
"""Embed a text file as an array of char.

usage: text_header.py NAME workflow.h expops.yml
"""

import sys
from pathlib import Path

from c_text import c_bytes, write_header


def main():
    name, target, source = sys.argv[1:]
    write_header(target, Path(source).name, c_bytes(name, Path(source).read_text(encoding="utf-8")))


if __name__ == "__main__":
    main()
