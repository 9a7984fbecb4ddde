#!/usr/bin/python3 -B
"""Embed a component's migrations, NNNN_what.sql, and functions, noun.fn.sql, as a struct schema (libcommon/pg/migrate.h).

usage: embed_schema.py [--prefix PREFIX] SYMBOL OWNER VERSIONS schema.h FILE...

Numbers of migrations ascend; gaps are allowed; all of a folder are given. Functions are installed in the order of their files here. PREFIX is put before the
name of each migration. A first line `-- original-sha256: HEX` becomes the field original_sha256; first lines
`-- replaces: NEWEST and NAME NAME ...` the field replaces. VERSIONS is a file of functions_version.py.
"""

import argparse
import os
import re
import sys

from c_text import c_bytes, c_string, write_header
from functions_version import FUNCTIONS, read_versions

FILE_NAME = re.compile(r"^(\d{4})_[a-z0-9_]+\.sql$")
ORIGINAL = re.compile(r"-- original-sha256: ([0-9a-f]{64})\n")
REPLACES = re.compile(r"(?:-- replaces: [a-z0-9_ ]+\n)+")


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


def check_listed(paths):
    """Each migration of the folder is listed: one that is not would never be applied."""
    listed = {os.path.basename(path) for path in paths}
    for folder in {os.path.dirname(path) for path in paths}:
        for name in sorted(os.listdir(folder or ".")):
            if FILE_NAME.match(name) and name not in listed:
                sys.exit(f"{name}: the migration is not listed in meson.build")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def replaced(text, prefix):
    found = REPLACES.match(text)
    names = found.group(0).replace("-- replaces:", "").replace(" and ", " ").split() if found else []
    return "".join(f"{prefix}{name} " for name in names)


def table(kind, symbol, rows, end):
    return [f"static const struct {kind} {symbol}[] __attribute__((unused)) = {{", *rows, f"\t{{{end}}},", "};", ""]


def migrations(symbol, prefix, sources):
    lines, rows = [], []
    for path in sources:
        name, text = os.path.basename(path), read(path)
        original, names = ORIGINAL.match(text), replaced(text, prefix)
        lines += c_bytes(f"{symbol}_{name[:4]}", text) + [""]
        fields = [
            c_string(prefix + name.removesuffix(".sql")),
            f"{symbol}_{name[:4]}",
            c_string(original[1]) if original else "NULL",
            c_string(names) if names else "NULL",
        ]
        rows.append(f"\t{{{', '.join(fields)}}},")
    return lines + table("migration", f"{symbol}_MIGRATIONS", rows, "NULL, NULL, NULL, NULL")


def functions(symbol, sources):
    lines, rows = [], []
    for number, path in enumerate(sources):
        lines += c_bytes(f"{symbol}_FN{number}", read(path)) + [""]
        rows.append(f"\t{{{c_string('/'.join(path.split('/')[-2:]))}, {symbol}_FN{number}}},")
    return lines + table("function_file", f"{symbol}_FUNCTIONS", rows, "NULL, NULL")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--prefix", default="")
    for name in ("symbol", "owner", "versions", "target"):
        parser.add_argument(name)
    parser.add_argument("sources", nargs="*")
    args = parser.parse_args()
    fn_files = [path for path in args.sources if path.endswith(FUNCTIONS)]
    sql_files = sorted((path for path in args.sources if path not in fn_files), key=os.path.basename)
    check_names([os.path.basename(path) for path in sql_files])
    check_listed(sql_files)
    version = read_versions(args.versions).get(args.owner, (0, ""))[0]
    if fn_files and not version:
        sys.exit(f"{args.owner}: no version of its functions in {args.versions}")
    lines = ['#include "pg/migrate.h"', "", "#include <stddef.h>", ""]
    lines += migrations(args.symbol, args.prefix, sql_files) + functions(args.symbol, fn_files)
    members = [
        f".owner = {c_string(args.owner)}",
        f".migrations = {args.symbol}_MIGRATIONS",
        f".functions = {args.symbol}_FUNCTIONS" if fn_files else ".functions = NULL",
        f".functions_version = {version}",
    ]
    lines += [f"static const struct schema {args.symbol} __attribute__((unused)) = {{", *(f"\t{one}," for one in members), "};"]
    write_header(args.target, "migrations/ and *.fn.sql", lines)


if __name__ == "__main__":
    main()
