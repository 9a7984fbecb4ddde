#!/usr/bin/python3 -B
"""Today's tables of each schema, as pg_dump shows them: deploy/schema/NAME.sql, and common.sql with those that every schema has.

usage: DATABASE_URL=URL schema.py FOLDER. Writes the files. URL is the owner's. It is no argument, since every user of the machine can
read those of all programs.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^--\n-- Name: (.*); Type: (.*); Schema: .*; Owner: .*\n--\n\n", re.MULTILINE)
LEFT_OUT = {"FUNCTION", "SCHEMA", "TABLE ATTACH", "INDEX ATTACH"}  # functions are in *.fn.sql
PARTITION = re.compile(r"_(\d{6}|\d{8}|default)$")  # of a month, of a day, or for what none of these takes
HEAD = "-- The tables of the schema {}, as pg_dump shows them. Written by deploy/dev schema; do not edit.\n\n"


def schemas():
    """The names of the schemas, by deploy/processes."""
    lines = (ROOT / "deploy/processes").read_text(encoding="utf-8").splitlines()
    return [line.split()[1] for line in lines if line and not line.startswith("#")]


def pg_dump():
    """The program: of the newest server that is installed, or the one in PATH."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_dump"), key=lambda path: int(path.parts[4]))
    return str(found[-1]) if found else shutil.which("pg_dump")


def dump(url, schema):
    parts = urlsplit(url)
    open_url = parts._replace(netloc=parts.netloc.replace(f":{parts.password}@", "@")).geturl()
    command = [pg_dump(), "--schema-only", "--no-owner", "--no-privileges", "--schema", schema, open_url]
    env = {**os.environ, "PGPASSWORD": unquote(parts.password or "")}
    return subprocess.run(command, env=env, stdout=subprocess.PIPE, text=True, check=True).stdout


def table_of(name, kind, text):
    """The table that an object belongs to; itself, where it belongs to none."""
    if kind == "INDEX":
        return re.search(r" ON (?:ONLY )?(\w+)", text)[1]
    return name.split()[0]


def blocks(text, schema):
    """[(table, kind, statement)] of a dump, without the schema's name, a table's together."""
    parts = BLOCK.split(text.replace(f"{schema}.", ""))
    found = []
    for name, kind, body in zip(parts[1::3], parts[2::3], parts[3::3]):
        statement = "\n".join(line for line in body.splitlines() if line and not line.startswith(("SET ", "\\", "--")))
        if kind in LEFT_OUT or not statement:
            continue
        table = table_of(name, kind, statement)
        if not PARTITION.search(table):
            found.append((table, kind, statement))
    places = {}
    for table, _, _ in found:
        places.setdefault(table, len(places))
    return sorted(found, key=lambda block: places[block[0]])


def render(name, found):
    text, last = HEAD.format(name), None
    for table, _, statement in found:
        text += ("\n" if last not in (None, table) else "") + statement + "\n"
        last = table
    return text


def describe(url):
    """{file: text}"""
    found = {schema: blocks(dump(url, schema), schema) for schema in schemas()}
    common = set.intersection(*map(set, found.values()))
    texts = {f"{schema}.sql": render(schema, [one for one in those if one not in common]) for schema, those in found.items()}
    first = next(iter(found.values()))
    return texts | {"common.sql": render("of every service", [one for one in first if one in common])}


def main():
    url, folder = os.environ["DATABASE_URL"], Path(sys.argv[1])
    for name, text in describe(url).items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
