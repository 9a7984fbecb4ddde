"""The scheduled harvest: what is known of it, and replicas that harvest from a stand-in of a source."""

import time
from datetime import UTC, datetime, timedelta

import pytest

from lib.outside import oai
from lib.system.search_replica import replica  # noqa: F401
from lib.tables import search as search_tables
from lib.wait import wait_for


def day(ago=0):
    """The day so many days before today, which may be another one than when the tests began."""
    return str(datetime.now(UTC).date() - timedelta(days=ago))


def new_record(name, **members):
    """A record as an announcement of today has them."""
    return oai.record(name, **{"created": day(1), "updated": None, **members})


@pytest.fixture
def table(db):
    """The table of the sets; nothing is in it before and after the test."""
    db.autocommit = True
    search_tables.forget_sets(db)
    search_tables.free_turns(db)
    yield db
    search_tables.forget_sets(db)


@pytest.fixture
def row(table):
    """row(set): what is known of a set; None: nothing."""
    return lambda name="cs": search_tables.harvested_set(table, name)


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
