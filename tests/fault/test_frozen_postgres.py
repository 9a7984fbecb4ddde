"""A Postgres that does not answer while its connections stay open."""

import os
import signal
from contextlib import contextmanager, suppress

from lib.http import plain_http
from lib.wait import wait_for

NAME = "svc-interests"
INTEREST = {"name": "While it is frozen", "context": "anything"}


@contextmanager
def frozen(cluster):
    """Stop the postmaster and each backend of the service with SIGSTOP."""
    with cluster.postgres.connect() as connection:
        rows = connection.execute("SELECT pid FROM pg_stat_activity WHERE usename = 'expops_interests'").fetchall()
    pids = [cluster.postgres.pid(), *(pid for (pid,) in rows)]
    assert len(pids) > 1
    try:
        send_signal(pids, signal.SIGSTOP)
        yield
    finally:
        send_signal(pids, signal.SIGCONT)


def send_signal(pids, number):
    for pid in pids:
        with suppress(ProcessLookupError):  # a backend that has ended meanwhile
            os.kill(pid, number)


def reasons(process):
    return plain_http.get(process.admin_url + "/readyz").json()["reasons"]


def test_refused_requests_change_nothing(cluster, user):
    (process,) = cluster[NAME]
    refused = 0

    def is_refused():
        """504: the statement was sent and may be executed. 503: it was not sent and will not be executed."""
        nonlocal refused
        answer = user.api.post("/interests", {**INTEREST, "name": f"{INTEREST['name']} {refused}"})
        refused += 1
        assert answer.status_code in (503, 504), answer.text
        return answer.status_code == 503 and answer.json()["error"] == "unavailable"

    before = user.api.get("/interests", expect=200).json()
    assert before == []
    with frozen(cluster):
        wait_for(lambda: any("Postgres" in reason for reason in reasons(process)), "the process is not ready")
        wait_for(is_refused, "a request is refused")
        last = f"{INTEREST['name']} {refused - 1}"
    process.wait_ready()
    user.api.post("/interests", {**INTEREST, "name": "After it"}, expect=201)
    names = [interest["name"] for interest in user.api.get("/interests", expect=200).json()]
    assert "After it" in names
    assert last not in names


def test_a_process_that_waits_for_its_schema_ends_on_sigterm(cluster):
    """Another process holds the lock of the migrations."""
    waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'relation' AND NOT granted"
    with cluster.postgres.connect("interests") as connection, connection.transaction():
        connection.execute("LOCK TABLE migration IN ACCESS EXCLUSIVE MODE")
        process = cluster.add(NAME)
        wait_for(lambda: connection.execute(waiting).fetchone()[0] == 1, "it waits for the lock")
        assert "the schema is not migrated" in reasons(process)
        process.stop()
    cluster[NAME].remove(process)
    cluster.retired.append(process)
    assert not process.check()
