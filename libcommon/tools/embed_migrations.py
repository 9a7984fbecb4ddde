#!/usr/bin/python3 -B
"""Embed a folder's migrations, NNNN_what.sql, as a table of struct migration (libcommon/pg/migrate.h).

usage: embed_migrations.py [--prefix PREFIX] TABLE migrations.h 0001_first.sql 0002_next.sql ...

Numbers ascend; gaps are allowed. PREFIX is put before each name in the table. A first line `-- original-sha256: HEX` becomes the
field original_sha256.
"""

import argparse
import os
import re
import sys

from c_text import c_bytes, c_string, write_header

FILE_NAME = re.compile(r"^(\d{4})_[a-z0-9_]+\.sql$")
ORIGINAL = re.compile(r"-- original-sha256: ([0-9a-f]{64})\n")


def check_names(names):
    """Numbers are unique, and ascend. Gaps are allowed: changes that are made in parallel take different numbers."""
    last = 0
    for name in names:
        match = FILE_NAME.match(name)
        if not match:
            sys.exit(f"{name}: the name of a migration must be NNNN_what.sql")
        number = int(match.group(1))
        if number <= last:
            sys.exit(f"{name}: the number {number:04} is taken")
        last = number


def render(table, prefix, sources):
    lines = ['#include <stddef.h>', "", '#include "pg/migrate.h"', ""]
    rows = []
    for path in sources:
        name = os.path.basename(path)
        symbol = f"{table}_{name[:4]}"
        with open(path, encoding="utf-8") as file:
            text = file.read()
        original = ORIGINAL.match(text)
        lines += c_bytes(symbol, text) + [""]
        fields = [c_string(prefix + name.removesuffix(".sql")), symbol, c_string(original[1]) if original else "NULL"]
        rows.append(f"\t{{{', '.join(fields)}}},")
    end = "\t{NULL, NULL, NULL},"
    return lines + [f"static const struct migration {table}[] __attribute__((unused)) = {{", *rows, end, "};"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--prefix", default="")
    parser.add_argument("table")
    parser.add_argument("target")
    parser.add_argument("sources", nargs="*")
    args = parser.parse_args()
    sources = sorted(args.sources, key=os.path.basename)
    check_names([os.path.basename(path) for path in sources])
    write_header(args.target, "migrations/", render(args.table, args.prefix, sources))


if __name__ == "__main__":
    main()
