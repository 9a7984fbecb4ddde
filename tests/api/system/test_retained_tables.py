"""`PROCESS retention --show`: every table of every schema is declared, with what ends its rows."""

import re

import pytest

from lib.system.servers import read_processes
from lib.tables import common

SCHEMAS = {name: schema for name, schema, _ in read_processes()}


def show(cluster, name, **settings):
    """{table: (rows, bytes, oldest, setting, end)}"""
    lines = cluster.run(name, "retention", "--show", **settings).splitlines()
    assert lines[0].split() == ["TABLE", "ROWS", "BYTES", "OLDEST", "SETTING", "END"]
    fields = [line.split(None, 5) for line in lines[1:]]
    return {table: (rows, int(size), *others) for table, rows, size, *others in fields}


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_table_of_every_schema_is_declared(cluster, name):
    shown = show(cluster, name)  # which fails where a table is not declared, or one is that there is not
    with cluster.postgres.connect(SCHEMAS[name]) as db:
        assert shown.keys() == common.tables(db)
        assert int(shown["migration"][0]) == common.count(db, "migration") > 0
    for table, (rows, size, oldest, setting, end) in shown.items():
        assert re.fullmatch(r"~?\d+", rows) and size >= 0, table
        assert re.fullmatch(r"-|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", oldest), (table, oldest)
        assert re.fullmatch(r"-|[A-Z_]+=\d+", setting), (table, setting)
        assert end


def test_the_setting_is_that_of_the_process(cluster):
    shown = show(cluster, "svc-fleet", RUN_DAYS="500", TASK_RETENTION="7")
    assert (shown["run"][3], shown["task"][3]) == ("RUN_DAYS=500", "TASK_RETENTION=7")


def test_a_table_that_nobody_has_declared_is_an_error(cluster):
    with cluster.postgres.connect("search") as db, common.extra_table(db, "undeclared"):
        with pytest.raises(RuntimeError, match=r"retention --show: 1\n(?s:.*)svc-search: the table undeclared is not declared"):
            show(cluster, "svc-search")


@pytest.mark.parametrize("arguments", [[], ["show"], ["--all"], ["--show", "run"]])
def test_wrong_arguments_are_refused(cluster, arguments):
    with pytest.raises(RuntimeError, match=r": 2\n(?s:.*)usage: svc-search retention --show"):
        cluster.run("svc-search", "retention", *arguments)
