"""What a client, the log and /readyz are told when Postgres or Redis fails in a certain way."""

import json
from contextlib import contextmanager

import pytest

from lib.http import plain_http
from lib.wait import wait_for

NAME = "svc-interests"
ROLE = "expops_interests"

# SQLSTATE -> a part of the problem's detail, a part of the summary in the log and in /readyz
STATEMENT_FAULTS = {
    "53100": ("disk of the database is full", "the disk of Postgres is full"),
    "53200": ("out of memory", "Postgres is out of memory"),
    "58030": ("cannot use its storage", "Postgres cannot use its storage"),
    "25006": ("read-only", "Postgres is read-only"),
}


REQUESTS = 3


def interest(name):
    return {"name": name, "context": "What is told of a fault."}


def readiness(process):
    return plain_http.get(process.admin_url + "/readyz").json()


def log_lines(process, offset=0):
    lines = process.log()[offset:].splitlines()
    return [json.loads(line) for line in lines if line.startswith("{")]


@contextmanager
def failing_writes(cluster, sqlstate):
    """Each new interest fails with the SQLSTATE."""
    with cluster.postgres.connect("interests") as owner:
        owner.execute(
            f"""CREATE FUNCTION fail_write() RETURNS trigger LANGUAGE plpgsql AS
                $$ BEGIN RAISE SQLSTATE '{sqlstate}' USING MESSAGE = 'secret_role has a fault'; END $$;
                CREATE TRIGGER fail_write BEFORE INSERT ON interest FOR EACH ROW EXECUTE FUNCTION fail_write()"""
        )
        try:
            yield
        finally:
            owner.execute("DROP TRIGGER fail_write ON interest; DROP FUNCTION fail_write()")


@pytest.mark.parametrize("sqlstate", STATEMENT_FAULTS)
def test_a_fault_of_postgres_is_told(cluster, user, sqlstate):
    (process,) = cluster[NAME]
    detail, summary = STATEMENT_FAULTS[sqlstate]
    offset = len(process.log())
    with failing_writes(cluster, sqlstate):
        for number in range(REQUESTS):
            problem = user.api.post("/interests", interest(f"{sqlstate} {number}"), expect=503).json()
            assert problem["error"] == "unavailable"
            assert detail in problem["detail"]
            assert "secret_role" not in problem["detail"]
        assert any(summary in fault for fault in readiness(process)["faults"])
        lines = wait_for(
            lambda: [line for line in log_lines(process, offset) if line.get("error_code") == sqlstate],
            "a log line names the SQLSTATE",
        )
    assert len(lines) < REQUESTS, "not a line for each request"
    assert summary in lines[0]["message"]
    user.api.post("/interests", interest(f"after {sqlstate}"), expect=201)


def test_a_missing_database_is_told(cluster):
    url = cluster.postgres.url(ROLE, "no_such_database")
    unready_process(cluster, "3D000", "does not exist", DATABASE_URL=url)


def test_a_wrong_password_is_told(cluster):
    url = cluster.postgres.url(ROLE).replace(cluster.postgres.role_password(ROLE), "a-wrong-password")
    process = unready_process(cluster, "28P01", "refuses the login", DATABASE_URL=url)
    assert "a-wrong-password" not in process.log()


def unready_process(cluster, sqlstate, summary, **changes):
    """Start a process that cannot use its database; the log and /readyz must say why."""
    process = cluster.separate(NAME, f"fault-{sqlstate}", **changes)
    process.start()
    try:
        wait_for(lambda: any(line.get("error_code") == sqlstate for line in log_lines(process)), "it logs the SQLSTATE")
        answer = readiness(process)
        assert answer["status"] == "unready"
        assert any(summary in fault for fault in answer["faults"]), answer
    finally:
        process.stop()
    assert not process.check()
    return process


def test_a_server_without_free_connections_is_told(cluster, user):
    with cluster.postgres.connect() as owner:
        owner.execute(f"ALTER ROLE {ROLE} CONNECTION LIMIT 0")
        try:
            owner.execute(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '{ROLE}'")
            problem = user.api.get("/interests", expect=503).json()
            assert "no free connection" in problem["detail"]
            reasons = readiness(cluster[NAME][0])["reasons"]
            assert any("no free connection" in reason for reason in reasons), reasons
        finally:
            owner.execute(f"ALTER ROLE {ROLE} CONNECTION LIMIT -1")
    cluster.wait_ready(NAME)
    user.api.get("/interests", expect=200)


def test_a_full_redis_is_told(cluster, user):
    (process,) = cluster[NAME]
    client = cluster.redis.client()
    client.config_set("maxmemory", 1)
    try:
        user.api.post("/interests", interest("while Redis is full"), expect=201)
        wait_for(
            lambda: any("Redis is out of memory" in fault for fault in readiness(process)["faults"]), "/readyz tells it"
        )
    finally:
        client.config_set("maxmemory", 0)
    wait_for(lambda: process.metric("expops_outbox_unsent") == 0, "the relay goes on")
