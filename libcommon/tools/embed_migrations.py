#!/usr/bin/python3 -B
"""Embed a folder's migrations, NNNN_what.sql, as a table of struct migration (libcommon/migrate.h).

usage: embed_migrations.py TABLE migrations.h 0001_first.sql 0002_next.sql ...

Numbers start at 1 and have no gap and no double.
"""

import os
import re
import sys

from c_text import c_bytes, c_string, write_header

FILE_NAME = re.compile(r"^(\d{4})_[a-z0-9_]+\.sql$")


def check_names(names):
    for expected, name in enumerate(names, 1):
        match = FILE_NAME.match(name)
        if not match:
            sys.exit(f"{name}: a migration is called NNNN_what.sql")
        if int(match.group(1)) != expected:
            sys.exit(f"{name}: expected number {expected:04}")


def main():
    table, target, *sources = sys.argv[1:]
    sources.sort(key=os.path.basename)
    names = [os.path.basename(path) for path in sources]
    check_names(names)
    lines = ['#include "migrate.h"', ""]
    rows = []
    for path, name in zip(sources, names):
        symbol = f"{table}_{name[:4]}"
        with open(path, encoding="utf-8") as file:
            lines += c_bytes(symbol, file.read()) + [""]
        rows.append(f"\t{{{c_string(name.removesuffix('.sql'))}, {symbol}}},")
    lines += [f"static const struct migration {table}[] __attribute__((unused)) = {{", *rows, "\t{0},", "};"]
    write_header(target, "migrations/", lines)


if __name__ == "__main__":
    main()
