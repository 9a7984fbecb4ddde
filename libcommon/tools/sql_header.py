#!/usr/bin/python3 -B
"""Turn the named statements of a noun.sql into constants in noun.sql.h.

    -- name: run_create
    INSERT INTO run (seeds) VALUES ($1);

becomes `static const char RUN_CREATE_SQL[]`. `-- name: run_get (read)` marks a read-only statement. Comments are
removed; the name stands in front as one, where pg_stat_activity and the log of slow statements show it. Errors: a duplicate name, a statement without a name, several statements under one name, a name without a
statement.

usage: sql_header.py noun.sql noun.sql.h
"""

import os
import re
import sys

from c_text import c_string, write_header

NAME = re.compile(r"^--\s*name:\s*(\S*)\s*?(\s\(read\))?\s*$")

# PG_READ_MARK of libcommon/pg/pg.h.
READ_MARK = "/* read */ "
WORD = re.compile(r"^[a-z][a-z0-9_]*$")

# The tokens of a statement: comments are removed, quoted text is copied unchanged.
TOKEN = re.compile(
    r"""(?P<comment>--[^\n]*|/\*.*?\*/)
      | (?P<quoted>'(?:[^']|'')*' | "(?:[^"]|"")*" | \$(?P<tag>[A-Za-z_]*)\$.*?\$(?P=tag)\$)
      | (?P<end>;)
      | (?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)


class SqlError(Exception):
    pass


def split_blocks(text):
    """(line number, name, is it read-only, text) of each block. The text before the first name has the name None."""
    blocks = [[1, None, False, ""]]
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        match = NAME.match(line)
        if match:
            blocks.append([number, match.group(1), match.group(2) is not None, ""])
        else:
            blocks[-1][3] += line
    return blocks


def strip_comments(text):
    """The statements of a block, without comments."""
    statements = [""]
    for match in TOKEN.finditer(text):
        if match.group("quoted") and "\n" in match.group("quoted"):
            raise SqlError("quoted text over several lines: write E'...\\n...'")
        if match.group("end"):
            statements.append("")
        elif match.group("comment"):
            statements[-1] += " "
        else:
            statements[-1] += match.group(0)
    return [one for one in statements if one.strip()]


def parse(text):
    """A dictionary from names to the lines of their statements."""
    found = {}
    for number, name, is_read, body in split_blocks(text):
        try:
            statements = strip_comments(body)
            if name is None:
                if statements:
                    raise SqlError("a statement without a name")
                continue
            if not WORD.match(name):
                raise SqlError(f"bad name '{name}'")
            if name in found:
                raise SqlError(f"the name '{name}' twice")
            if len(statements) != 1:
                raise SqlError(f"'{name}' has {len(statements)} statements, not one")
        except SqlError as error:
            raise SqlError(f"{number}: {error}") from None
        found[name] = [line.rstrip() for line in statements[0].splitlines() if line.strip()]
        found[name][0] = f"{READ_MARK if is_read else ''}/* {name} */ {found[name][0]}"
    return found


def render(statements):
    lines = []
    for name, body in statements.items():
        lines.append(f"static const char {name.upper()}_SQL[] __attribute__((unused)) =")
        pieces = [line + "\n" for line in body[:-1]] + [body[-1]]
        lines += ["\t" + c_string(piece) for piece in pieces]
        lines[-1] += ";"
        lines.append("")
    return lines[:-1]


def main():
    source, target = sys.argv[1:3]
    with open(source, encoding="utf-8") as file:
        text = file.read()
    try:
        write_header(target, os.path.basename(source), render(parse(text)))
    except SqlError as error:
        sys.exit(f"{source}:{error}")


if __name__ == "__main__":
    main()
