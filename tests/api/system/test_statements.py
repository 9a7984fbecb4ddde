"""The statements beside the C that runs them: Postgres takes each of them, and they have the columns that the C reads."""

import re
import sys

import pytest

from lib.system.servers import ROOT

sys.path.insert(0, str(ROOT / "libcommon" / "tools"))

from sql_header import parse  # noqa: E402

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
    paths = [path for path in sorted(folder.rglob("*.sql")) if "migrations" not in path.parts and not path.name.endswith(".fn.sql")]
    return {path.name: [(name, columns(db.pgconn, "\n".join(lines))) for name, lines in parse(path.read_text()).items()] for path in paths}


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
