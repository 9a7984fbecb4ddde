"""Postgres is restarted, and Redis fails over to a replica, while clients use the product."""

import pytest

from lib.http.load import Load
from lib.system.tcp_proxy import TcpProxy
from lib.wait import wait_for

REQUESTS = 150
MISSING = """
    SELECT count(*) FROM experiments.experiment e LEFT JOIN interests.experiment i USING (id) WHERE i.version IS DISTINCT FROM e.version
"""


@pytest.fixture
def replica(cluster):
    made = cluster.redis.replica()
    yield made
    made.stop()


def test_postgres_restarts(cluster):
    """Clients are told to come again, for as long as it is away; nothing accepted is lost."""
    with Load(cluster.user(), cluster["gateway"]) as load:
        load.go_on(REQUESTS)
        cluster.postgres.restart()
        cluster.wait_ready()
        failed = len(load.failures)
        load.go_on(REQUESTS)
        assert len(load.failures) == failed, load.failures[failed:]
    for failure in load.failures:
        assert failure.answer and failure.answer[0] == 503, failure
        assert "Retry-After" in failure.answer[1] or "outcome_uncertain" in failure.outcome, failure
    assert list(load.broken()) == []


def test_redis_fails_over(cluster, replica):
    """The address leads to the replica before it is promoted. No request notices, and all events arrive."""
    user = cluster.user()
    interest = user.api.post("/interests", {"name": "Failover", "context": "Replication of logs."}, expect=201).json()["id"]
    tasks = []

    def start_task():
        body = {"interest_id": interest, "num_results": len(tasks) + 1}
        tasks.append(user.api.post("/papers/recommended/refresh", body, expect=202))

    with Load(user, cluster["gateway"]) as load:
        load.go_on(REQUESTS)
        start_task()
        cluster.redis.kill9()
        with TcpProxy(replica.port, cluster.redis.port):
            others = len(replica.client().client_list())
            wait_for(lambda: len(replica.client().client_list()) > others, "processes have connected to the replica")
            start_task()
            load.go_on(REQUESTS)
            replica.client().replicaof("NO", "ONE")
            load.go_on(REQUESTS)
            start_task()
            assert [user.api.wait_task(task)["status"] for task in tasks] == ["completed"] * len(tasks)
            load.is_over.set()
            with cluster.postgres.connect() as db:
                wait_for(lambda: db.execute(MISSING).fetchone()[0] == 0, "every event has arrived")
    assert load.failures == []
    assert list(load.broken()) == []
