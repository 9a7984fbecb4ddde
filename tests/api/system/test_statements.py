"""The statements beside the C that runs them: Postgres takes each of them, and they have the columns that the C reads."""

import re

import pytest

from lib.system.servers import ROOT
from lib.system.statements import statement_files, statements_of

PROCESSES = dict(line.split()[:2] for line in (ROOT / "deploy" / "processes").read_text().splitlines() if line and line[0] != "#")
HEADER = re.compile(r'^#include "(?:[\w-]+/)*([\w-]+\.sql)\.h"', re.MULTILINE)
READ = re.compile(r'\bpg_get(?:_int|_float|_bool|_bytes)?\((?:[^;{}"]|\([^()]*\))*?"(\w+)"[,)]')


def columns(pg, text):
    """Those of a statement, as Postgres sees it."""
    prepared = pg.prepare(b"", text.encode())
    assert not prepared.error_message, prepared.error_message.decode()
    described = pg.describe_prepared(b"")
    return [described.fname(number).decode() for number in range(described.nfields)]


def described(db, folder):
    """File -> [(statement, its columns)] of a process or of libcommon."""
    return {path.name: [(name, columns(db.pgconn, text)) for name, text in statements_of(path).items()] for path in statement_files(folder)}


@pytest.mark.parametrize("process", PROCESSES)
def test_statements_have_the_columns_that_are_read(cluster, process):
    with cluster.postgres.connect(PROCESSES[process]) as db:
        shared = described(db, ROOT / "libcommon")
        own = {**shared, **described(db, ROOT / process)}
    faults = []
    for folder, known in ((ROOT / "libcommon", shared), (ROOT / process, own)):
        for path in sorted(folder.rglob("*.c")):
            text = path.read_text()
            results = [row for name in HEADER.findall(text) for row in known.get(name, ())]
            for column in sorted(set(READ.findall(text)) if results else ()):
                having = [(name, names.count(column)) for name, names in results if column in names]
                if not having:
                    faults.append(f"{path.relative_to(ROOT)}: no statement has a column {column}")
                faults += [f"{path.relative_to(ROOT)}: {name} has {count} columns {column}" for name, count in having if count > 1]
    assert faults == []
