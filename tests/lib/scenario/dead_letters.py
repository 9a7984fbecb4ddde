"""What a service has given up: a failed task, and events in its stream of dead letters."""

import uuid

import pytest

from lib.tables import common

SERVICE = "svc-interests"
DEAD = f"events.dead.{SERVICE}"


@pytest.fixture
def interests_db(cluster):
    with cluster.postgres.connect("interests") as made:
        yield made


@pytest.fixture
def failed(api, interests_db):
    """A task that has failed, as the answer to its start told it."""
    api.post("/interests", {"name": "Dead", "context": "letters"}, expect=201)
    started = api.post("/papers/recommended/refresh", {"num_results": 1}, expect=202)
    api.wait_task(started)
    id = started.json()["task_id"]
    common.fail_task(interests_db, id, "the index was away")
    yield started.json()
    common.drop_task(interests_db, id)


@pytest.fixture
def bury(cluster):
    """Adds an event to the dead letters of svc-interests; returns the id of the entry."""
    redis = cluster.redis.client()

    def add(**fields):
        known = {"stream": "events.account", "service": SERVICE, "error": "internal: no", "id": str(uuid.uuid4())}
        return redis.xadd(DEAD, {**known, "account": "", "at": "2026-01-31T09:30:00.000Z", "data": "{}", "request_id": "", "lane": "", **fields})

    yield add
    redis.delete(DEAD)
