"""The network between a process and Postgres goes away, or the process itself: who is unready, and what is freed."""

import threading
from contextlib import contextmanager

import psycopg

from lib.http import plain_http
from lib.system.tcp_proxy import TcpProxy
from lib.wait import wait_for

NAME = "svc-interests"
ROLE = "expops_interests"
INTEREST = {"name": "Partition", "context": "Systems that lose their network."}


def readiness(process):
    return plain_http.get(process.admin_url + "/readyz").json()


@contextmanager
def replica_behind(cluster, proxy, label):
    """A replica whose connections to Postgres go through the proxy."""
    url = cluster.postgres.url(ROLE).replace(f":{cluster.postgres.port}/", f":{proxy.port}/")
    process = cluster.separate(NAME, label, DATABASE_URL=url, DATABASE_DIRECT_URL=url)
    process.start()
    try:
        process.wait_ready()
        yield process
    finally:
        proxy.restore()
        process.stop()
        assert not process.check()


def in_transactions(connection):
    """The backends of the service that wait for their client inside a transaction."""
    sql = "SELECT pid FROM pg_stat_activity WHERE usename = %s AND state LIKE 'idle in transaction%%'"
    return connection.execute(sql, [ROLE]).fetchall()


def lock_waiters(connection):
    sql = "SELECT count(*) FROM pg_locks WHERE relation = 'interests.interest'::regclass AND NOT granted"
    return connection.execute(sql).fetchone()[0]


def test_a_silent_partition_makes_an_idle_process_unready(cluster):
    with TcpProxy(cluster.postgres.port) as proxy, replica_behind(cluster, proxy, "silent") as process:
        proxy.swallow()
        wait_for(lambda: readiness(process)["reasons"], "not ready behind a partition")
        assert readiness(process)["reasons"] in (["Postgres does not answer"], ["Postgres cannot be reached"])
        proxy.restore()
        process.wait_ready()


def test_a_replica_recovers_from_reset_connections(cluster):
    with TcpProxy(cluster.postgres.port) as proxy, replica_behind(cluster, proxy, "reset") as process:
        proxy.reset()
        wait_for(lambda: readiness(process)["reasons"], "not ready without connections")
        assert "the connection to Postgres was lost" in readiness(process)["faults"]
        proxy.restore()
        process.wait_ready()


@contextmanager
def request_in_transaction(cluster, user, name):
    """A request that waits for a lock inside its transaction. At the end of the block the lock is free."""
    interest = {**INTEREST, "name": name}
    headers = {"Idempotency-Key": name.replace(" ", "-")}
    request = threading.Thread(target=user.api.post, args=("/interests", interest), kwargs={"headers": headers})
    with cluster.postgres.connect() as holder:
        holder.execute("BEGIN")
        holder.execute("LOCK TABLE interests.interest IN EXCLUSIVE MODE")
        request.start()
        with cluster.postgres.connect() as observer:
            wait_for(lambda: lock_waiters(observer) > 0, "the request waits for the lock")
        yield
        holder.execute("ROLLBACK")


def test_a_stopped_process_loses_its_transaction(cluster, user):
    (process,) = cluster[NAME]
    name = "Stopped in a transaction"
    with cluster.postgres.connect() as observer:
        with request_in_transaction(cluster, user, name):
            process.pause()
        try:
            wait_for(lambda: in_transactions(observer), "the transaction is idle")
            wait_for(lambda: not in_transactions(observer), "the server ends the transaction")
        finally:
            process.resume()
    process.wait_ready()
    headers = {"Idempotency-Key": name.replace(" ", "-")}
    wait_for(lambda: user.api.post("/interests", {**INTEREST, "name": name}, headers=headers).status_code == 201)
    assert [one["name"] for one in user.api.get("/interests", expect=200).json()] == [name]


def test_sessions_notice_that_their_process_has_vanished(cluster):
    """The server's own keepalives, as its sockets have them."""
    expected = {
        "tcp_keepalives_idle": "5",
        "tcp_keepalives_interval": "2",
        "tcp_keepalives_count": "3",
        "tcp_user_timeout": "10000",
        "idle_in_transaction_session_timeout": "10s",
        "statement_timeout": "30s",
    }
    with psycopg.connect(cluster.postgres.url(ROLE)) as session:
        actual = {name: session.execute(f"SHOW {name}").fetchone()[0] for name in expected}
    assert actual == expected
    for process in cluster.all():
        assert "lacks a setting" not in process.log()
