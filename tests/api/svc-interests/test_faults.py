"""Every task is done exactly once, even if a process, Redis or Postgres fails meanwhile."""

import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from lib.outside.certificate import make_certificate
from lib.tables import common
from lib.tables import interests as interests_tables
from lib.wait import wait_for

NAME = "svc-interests"


@pytest.fixture(autouse=True)
def recovered(cluster, papers):
    yield
    cluster.recover()


@contextmanager
def refresh_before_its_end(cluster, api, db, interest):
    """A refresh whose last transaction waits for the row of the interest, and the connection that has locked the row."""
    with cluster.postgres.connect("interests") as holder:
        holder.autocommit = False
        interests_tables.lock_interest(holder, interest["id"])
        refresh = api.post("/papers/recommended/refresh", {"interest_id": interest["id"]}, expect=202)
        task = refresh.json()["task_id"]
        wait_for(lambda: common.task_status(db, task) == "running", "task runs")
        yield refresh, holder


def kill_at_work(cluster, db, refresh, holder):
    """Kill the processes while the refresh waits for the holder's lock. The lease that they have on its task ends at once."""
    cluster.kill9(NAME)
    holder.rollback()
    common.end_lease(db, refresh.json()["task_id"])


def test_tasks_wait_for_svc_search(cluster, api, interests):
    cluster.stop("svc-search")
    made = interests.create(daily_count=2)
    refresh = api.post("/papers/recommended/refresh", {"interest_id": made["id"]}, expect=202)
    path = refresh.json()["status_url"]
    wait_for(lambda: api.get(path).json()["attempts"] >= 1, "a first attempt was made")
    assert api.get(path).json()["status"] in ("pending", "running")
    assert interests.get(made)["pool_status"] == "building"
    cluster.start("svc-search")
    cluster.wait_ready("svc-search")
    task = api.wait_task(refresh)
    assert task["status"] == "completed" and task["result"]["interests"][0]["recommended"] == 2
    assert interests.wait_pool(made)["pool_size"] > 0


def test_pool_fails_when_a_worker_dies_in_the_last_attempt(cluster, interests, db):
    cluster.stop("svc-search")
    made = interests.create()
    wait_for(lambda: interests_tables.die_in_last_attempt(db, made["id"]), "the first attempt has failed")
    assert interests.wait_pool(made, "failed")["pool_size"] == 0


def test_a_pool_fails_when_two_builds_of_it_fail_at_once(cluster, interests, db):
    made = interests.ready()
    builds = interests_tables.put_later_builds(db, made["id"], 2)
    interests_tables.set_pool_status(db, made["id"], "building")
    with cluster.postgres.connect("interests") as first, cluster.postgres.connect("interests") as watcher, ThreadPoolExecutor() as pool:
        with first.transaction():
            common.end_last_attempt(first, builds[0])
            second = pool.submit(common.end_last_attempt, db, builds[1])
            wait_for(lambda: second.done() or common.blocked_by(watcher, first), "the second one has ended, or waits")
        second.result()
    assert interests.get(made)["pool_status"] == "failed"


def test_refresh_builds_a_pool_that_failed(cluster, interests, db):
    cluster.stop("svc-search")
    made = interests.create(daily_count=2)
    wait_for(lambda: interests_tables.make_interruption_the_last(db, made["id"]), "the first attempt has failed")
    assert interests.wait_pool(made, "failed")["pool_size"] == 0
    (failed, *_) = wait_for(
        lambda: [task for task in common.tasks(db, "pool_build", interest_id=made["id"]) if task.status == "failed"], "the task has failed"
    )
    assert "svc-search" in failed.error
    cluster.start("svc-search")
    cluster.wait_ready("svc-search")
    assert interests.refresh(made)["result"]["interests"][0]["recommended"] == 2
    assert interests.get(made)["pool_status"] == "ready"


def test_refresh_without_svc_search_uses_the_stored_pool(cluster, interests):
    made = interests.ready(daily_count=2)
    cluster.stop("svc-search")
    task = interests.refresh(made)
    assert task["result"]["interests"][0]["recommended"] == 2


def test_scoring_needs_svc_search_for_ids_only(cluster, api, interests, papers):
    made = interests.ready()
    cluster.stop("svc-search")
    assert len(interests.score(made, {"limit": 3}, expect=200).json()) == 3
    assert len(interests.score(made, {"candidates": [{"title": "A text"}]}, expect=200).json()) == 1
    path = f"/experiment-histories/{made['experiment_history_id']}/score-candidates"
    api.problem("POST", path, 503, "unavailable", {"candidates": [list(papers)[0]]})


def test_job_of_a_killed_process_is_taken_over(cluster, api, interests, db):
    made = interests.ready(daily_count=3)
    with refresh_before_its_end(cluster, api, db, made) as (refresh, holder):
        kill_at_work(cluster, db, refresh, holder)
    cluster.start(NAME, len(cluster[NAME]))
    ended = api.wait_task(refresh)
    assert ended["status"] == "completed" and ended["attempts"] >= 2
    assert ended["result"]["interests"][0]["recommended"] == 3
    assert len(interests.recommended(made)) == 3


def test_job_delivered_twice_runs_once(cluster, api, interests):
    made = interests.ready(daily_count=3)
    refresh = api.post("/papers/recommended/refresh", {"interest_id": made["id"]}, expect=202)
    entry = {"task": refresh.json()["task_id"], "kind": "recommendations_refresh"}
    streams = cluster.redis.client()
    for _ in range(3):
        streams.xadd(f"jobs.{NAME}", entry)
    assert api.wait_task(refresh)["attempts"] == 1
    streams.xadd(f"jobs.{NAME}", entry)
    interests.refresh(made, num_results=1)
    assert api.get(refresh.json()["status_url"], expect=200).json()["attempts"] == 1
    assert len(interests.recommended(made)) == 4


def test_redis_flushed_loses_no_task(cluster, account, interests, db):
    made = interests.ready(daily_count=2)
    cluster.stop(NAME)
    common.start_task(db, "recommendations_refresh", account, interest_id=made["id"])
    cluster.redis.client().flushall()
    cluster.start(NAME)
    cluster.wait_ready(NAME)
    wait_for(lambda: len(interests.recommended(made)) == 2, "the task is done")
    cluster.redis.client().flushall()
    interests.refresh(made)
    assert len(interests.recommended(made)) == 4


def test_task_completes_after_a_redis_outage(cluster, api, interests):
    made = interests.ready(daily_count=2)
    cluster.redis.stop()
    refresh = api.post("/papers/recommended/refresh", {"interest_id": made["id"]}, expect=202)
    assert len(interests.recommended(made)) == 0
    cluster.redis.start()
    assert api.wait_task(refresh)["status"] == "completed"
    assert len(interests.recommended(made)) == 2


def test_tasks_run_by_tls_when_redis_was_killed(cluster, interests, tmp_path):
    certificate, key = make_certificate(tmp_path, "localhost")
    process = cluster[NAME][0]
    plain = process.env
    with cluster.redis.with_tls(certificate, key) as port:
        url = plain["REDIS_URL"].replace("redis:", "rediss:").replace(f"127.0.0.1:{cluster.redis.port}", f"localhost:{port}")
        process.env = {**plain, "REDIS_URL": url, "REDIS_CA_FILE": str(certificate)}
        cluster.restart(NAME)
        cluster.wait_ready(NAME)
        made = interests.ready(daily_count=2)
        interests.refresh(made)
        cluster.redis.kill9()
        cluster.redis.start()
        interests.refresh(made)
        assert len(interests.recommended(made)) == 4
    process.env = plain
    cluster.restart(NAME)


def test_refresh_completes_after_a_postgres_restart(cluster, api, interests):
    made = interests.ready(daily_count=2)
    refresh = api.post("/papers/recommended/refresh", {"interest_id": made["id"]}, expect=202)
    cluster.postgres.restart()
    wait_for(lambda: api.get("/interests").status_code == 200, "the database is back")
    assert api.wait_task(refresh)["status"] == "completed"
    assert len(interests.recommended(made)) == 2


@pytest.fixture
def deadlocks(db):
    """Make the next `count` inserts into a table the victims of a deadlock."""
    yield lambda table, count: interests_tables.start_deadlocks(db, table, count)
    interests_tables.end_deadlocks(db)


def test_a_deadlock_does_not_fail_a_task(deadlocks, interests):
    made = interests.ready(daily_count=2)
    deadlocks("recommendation", 2)
    task = interests.refresh(made)
    assert task["status"] == "completed" and task["attempts"] == 3
    assert len(interests.recommended(made)) == 2


def test_a_deadlock_does_not_fail_a_request_with_a_key(api, deadlocks, interests):
    """The request's transaction runs again, and its answer is stored once."""
    deadlocks("interest", 2)
    key = {"Idempotency-Key": uuid.uuid4().hex}
    body = {"name": "Retrieval", "context": "Retrieval-augmented generation."}
    made = api.post("/interests", body, expect=201, headers=key).json()
    assert api.post("/interests", body, expect=201, headers=key).json() == made
    assert [interest["id"] for interest in api.get("/interests").json()] == [made["id"]]


def test_context_changed_during_a_refresh(cluster, api, interests, db):
    """Papers selected for the old context are not stored for the new one."""
    made = interests.ready(daily_count=3)
    with refresh_before_its_end(cluster, api, db, made) as (refresh, holder):
        interests_tables.change_context(holder, made["id"], "Computer vision")
        holder.commit()
    assert api.wait_task(refresh)["status"] == "completed"
    assert interests_tables.recommended_contexts(db, made["id"]) == [2]


@pytest.fixture
def held(cluster, interests):
    """Three interests and a transaction that locks the last one, so that a refresh of all stops there."""
    made = sorted((interests.ready(daily_count=2) for _ in range(3)), key=lambda interest: interest["id"])
    with cluster.postgres.connect("interests") as holder:
        holder.autocommit = False
        interests_tables.lock_interest(holder, made[-1]["id"])
        yield made, holder


def start_refresh_of_all(api, interests, made):
    """Start a refresh of all interests. Returns when all but the last are refreshed."""
    refresh = api.post("/papers/recommended/refresh", {}, expect=202)
    wait_for(lambda: len(interests.recommended(made[-2])) == 2, "the others are refreshed")
    return refresh


def test_a_change_of_one_interest_keeps_the_results_of_the_others(api, interests, held):
    made, holder = held
    refresh = start_refresh_of_all(api, interests, made)
    interests_tables.bump_pool_version(holder, made[-1]["id"])
    holder.commit()
    task = api.wait_task(refresh)
    assert task["status"] == "completed" and task["attempts"] == 1
    assert [one["recommended"] for one in task["result"]["interests"]] == [2, 2, 2]


def test_a_repeated_refresh_leaves_out_what_is_stored(cluster, api, interests, db, held):
    made, holder = held
    refresh = start_refresh_of_all(api, interests, made)
    kill_at_work(cluster, db, refresh, holder)
    cluster.start(NAME)
    task = api.wait_task(refresh)
    assert task["status"] == "completed" and task["attempts"] >= 2
    assert [one["recommended"] for one in task["result"]["interests"]] == [2, 2, 2]
    assert [len(interests.recommended(interest)) for interest in made] == [2, 2, 2]


def test_a_refresh_that_fails_for_one_interest_serves_the_others(cluster, api, interests, db):
    """The first one has no pool, and svc-search is away."""
    made = sorted((interests.ready(daily_count=2) for _ in range(2)), key=lambda interest: interest["id"])
    interests_tables.set_pool_status(db, made[0]["id"], "failed")
    cluster.stop("svc-search")
    refresh = api.post("/papers/recommended/refresh", {}, expect=202)
    wait_for(lambda: len(interests.recommended(made[1])) == 2, "the other one is refreshed")
    cluster.start("svc-search")
    task = api.wait_task(refresh)
    assert [one["recommended"] for one in task["result"]["interests"]] == [2, 2]


def test_two_replicas_share_the_work(second, interests):
    made = [interests.ready(daily_count=2) for _ in range(6)]
    interests.refresh()
    for interest in made:
        assert len(interests.recommended(interest)) == 2


def test_event_delivered_to_two_replicas_counts_once(second, interests, emit, account):
    made = interests.ready(project_id=str(uuid.uuid4()))
    data = {"id": str(uuid.uuid4()), "version": 1, "name": "Once", "status": "running",
            "project_id": made["project_id"], "arxiv_ids": []}
    event = emit("events.experiments", "experiment.created", account, data)
    emit("events.experiments", "experiment.created", account, data, event)
    wait_for(lambda: interests.get(made)["experiment_history"] == "- Once (running)", "the event is stored once")
