#!/usr/bin/python3 -B
"""Turn the named statements of a noun.sql into constants in noun.sql.h.

    -- name: run_create(account, experiment, seeds)
    INSERT INTO run (experiment_id, seeds) SELECT e.id, :seeds FROM experiment e WHERE e.id = :experiment AND e.account_id = :account;

becomes `static const char RUN_CREATE_SQL[]`, in which :account is $1, :experiment $2 and :seeds $3: the order of the arguments of
pg_query(). The list of parameters may go on in the next lines of the comment. `-- name: run_get(run) (read)` marks a read-only statement.
Comments are removed; the name stands in front as one, where pg_stat_activity and the log of slow statements show it.

Errors: a duplicate name, a statement without a name, several statements under one name, a name without a statement, a parameter that is
not in the list or not in the statement, a parameter by its number.

usage: sql_header.py noun.sql noun.sql.h
"""

import os
import re
import sys

from c_text import c_string, write_header

NAME = re.compile(r"^--\s*name:\s*([^\s(]*)\s*(\((?!read\))[^)]*\)?)?\s*(\(read\))?\s*$")
CONTINUED = re.compile(r"^--([^)]*\)?)\s*(\(read\))?\s*$")

# PG_READ_MARK of libcommon/pg/pg.h.
READ_MARK = "/* read */ "
WORD = re.compile(r"^[a-z][a-z0-9_]*$")

# The tokens of a statement: comments are removed, quoted text is copied unchanged.
TOKEN = re.compile(
    r"""(?P<comment>--[^\n]*|/\*.*?\*/)
      | (?P<quoted>'(?:[^']|'')*' | "(?:[^"]|"")*" | \$(?P<tag>[A-Za-z_]*)\$.*?\$(?P=tag)\$)
      | (?P<end>;)
      | (?P<cast>::)
      | :(?P<name>[A-Za-z_]\w*)
      | (?P<number>\$\d+)
      | (?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)


class SqlError(Exception):
    pass


class Block:
    """A line `-- name:` and what follows until the next. The text before the first name is a block without a name."""

    def __init__(self, line, name=None, parameters=None, is_read=False):
        self.line, self.name, self.is_read = line, name, is_read
        self.listed = parameters or ""  # "(account, run)", without the end as long as lines of it are missing
        self.text = ""

    def is_open(self):
        return self.listed.startswith("(") and not self.listed.endswith(")")

    def go_on(self, line):
        match = CONTINUED.match(line)
        if not match:
            raise SqlError(f"{self.line}: the parameters of '{self.name}' have no end")
        self.listed += match.group(1)
        self.is_read = match.group(2) is not None

    def parameters(self):
        names = [name.strip() for name in self.listed.strip("()").split(",")] if self.listed else []
        for name in names:
            if not WORD.match(name):
                raise SqlError(f"bad parameter '{name}'")
            if names.count(name) > 1:
                raise SqlError(f"the parameter '{name}' twice")
        return names


def split_blocks(text):
    blocks = [Block(1)]
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        match = NAME.match(line)
        if blocks[-1].is_open():
            blocks[-1].go_on(line)
        elif match:
            blocks.append(Block(number, match.group(1), match.group(2), match.group(3) is not None))
        else:
            blocks[-1].text += line
    return blocks


def statements_of(text, parameters):
    """The statements of a block, without comments, with numbers for the names of parameters."""
    statements, unused = [""], set(parameters)
    for match in TOKEN.finditer(text):
        name = match.group("name")
        if match.group("quoted") and "\n" in match.group("quoted"):
            raise SqlError("quoted text over several lines: write E'...\\n...'")
        if match.group("number"):
            raise SqlError(f"{match.group('number')}: parameters have names")
        if name and name not in parameters:
            raise SqlError(f"the parameter '{name}' is not in the list")
        if match.group("end"):
            statements.append("")
        elif match.group("comment"):
            statements[-1] += " "
        elif name:
            unused.discard(name)
            statements[-1] += f"${parameters.index(name) + 1}"
        else:
            statements[-1] += match.group(0)
    if unused:
        raise SqlError(f"the parameter '{min(unused)}' is not in the statement")
    return [one for one in statements if one.strip()]


def parse_block(block):
    """The lines of a block's statement; None: it is what comes before the first name."""
    if block.name is None:
        if statements_of(block.text, []):
            raise SqlError("a statement without a name")
        return None
    if not WORD.match(block.name):
        raise SqlError(f"bad name '{block.name}'")
    statements = statements_of(block.text, block.parameters())
    if len(statements) != 1:
        raise SqlError(f"'{block.name}' has {len(statements)} statements, not one")
    lines = [line.rstrip() for line in statements[0].splitlines() if line.strip()]
    lines[0] = f"{READ_MARK if block.is_read else ''}/* {block.name} */ {lines[0]}"
    return lines


def parse(text):
    """A dictionary from names to the lines of their statements."""
    found = {}
    for block in split_blocks(text):
        try:
            lines = parse_block(block)
            if block.name in found:
                raise SqlError(f"the name '{block.name}' twice")
        except SqlError as error:
            raise SqlError(f"{block.line}: {error}") from None
        if lines:
            found[block.name] = lines
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
