"""The scheduled harvest: what is known of it, and replicas that harvest from a stand-in of a source."""

import time
from datetime import UTC, datetime, timedelta

import pytest

from lib.outside import oai
from lib.system.search_replica import replica  # noqa: F401
from lib.wait import wait_for

TODAY = datetime.now(UTC).date()
COLUMNS = "state, records, added, changed, withdrawn, skipped, error, response_date, cursor, next_at, finished_at, fresh_at"


def day(ago):
    return str(TODAY - timedelta(days=ago))


def new_record(name, **members):
    """A record as an announcement of today has them."""
    return oai.record(name, **{"created": day(1), "updated": None, **members})


@pytest.fixture
def table(db):
    """The table of the sets; nothing is in it before and after the test."""
    db.autocommit = True
    db.execute("DELETE FROM source")
    db.execute("DELETE FROM source_pace")
    yield db
    db.execute("DELETE FROM source")


@pytest.fixture
def row(table):
    """row(set): what is known of a set; None: nothing."""

    def read(name="cs"):
        found = table.execute(f"SELECT {COLUMNS} FROM source WHERE set = %s", [name]).fetchone()
        return found and dict(zip(COLUMNS.split(", "), found, strict=True))

    return read


@pytest.fixture
def ended(row):
    """ended(set): wait until a run of the set has ended; returns its row."""

    def wait(name="cs", after=None):
        def is_ended():
            found = row(name)
            return found and found["state"] != "running" and found["finished_at"] not in (None, after) and found

        return wait_for(is_ended, f"the harvest of {name} ends")

    return wait


@pytest.fixture
def server(stub_server):
    """server(answers): a server that gives these answers, one for each request: texts, or functions of the request. Its
    `asked` has the arguments of each request, and `times` when they came."""

    def start(answers):
        left = list(answers)

        def answer(request):
            stub.times.append(time.monotonic())
            stub.asked.append(oai.arguments(request.path))
            now = left.pop(0) if left else oai.page([])
            if callable(now):
                now(request)
            else:
                request.reply(200, now)

        stub = stub_server(answer)
        stub.times, stub.asked = [], []
        return stub

    return start


@pytest.fixture
def harvest(table, replica, server):
    """harvest(answers, ...): start a replica that harvests from a server with these answers; returns the server."""

    def start(answers, **settings):
        stub = server(answers)
        stub.replica = replica(**{"OAI_URL": stub.url + "/oai", "BIORXIV_URL": stub.url, "HARVEST_DELAY": "0", "HARVEST_SETS": "cs", **settings})
        return stub

    return start


def make_due(table, name="cs"):
    table.execute("UPDATE source SET next_at = now() WHERE set = %s", [name])
