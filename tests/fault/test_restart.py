"""Servers and processes are stopped, killed and started again; the product recovers by itself and loses no data."""

import httpx
import pytest

from lib.http import plain_http
from lib.system.servers import read_processes
from lib.wait import wait_for

PROCESSES = [name for name, _, _ in read_processes()]

# Process -> path of a cheap read.
READS = {
    "gateway": "/account/api-keys",
    "svc-search": "/search/stats",
    "svc-interests": "/interests",
    "svc-experiments": "/experiments",
    "svc-integrations": "/integrations/connections",
    "svc-fleet": "/fleet/runs",
    "svc-evalenv": "/eval-env/templates",
}

INTEREST = {"name": "Recovery", "context": "Systems that survive the death of their parts: replication, logs, consensus."}


def answers(api, path):
    """Returns a function that tells whether a GET of the path is answered with 200."""
    return lambda: api.get(path).status_code == 200


def wait_answers(api, path):
    wait_for(answers(api, path), f"{path} answers")


@pytest.mark.parametrize("name", PROCESSES)
def test_requests_succeed_after_a_restart(cluster, api, name):
    api.get(READS[name], expect=200)
    cluster.restart(name)
    cluster.wait_ready(name)
    wait_answers(api, READS[name])


@pytest.mark.parametrize("end", ["stop", "kill9"])
def test_a_service_calls_another_after_its_restart(cluster, api, end):
    """A process that stops says farewell on the connections that others keep to it."""
    interest = api.post("/interests", INTEREST, expect=201).json()["id"]
    made = api.post("/account/api-keys", {"name": "limited", "kind": "automation", "scopes": ["experiments:read"],
                                          "interest_id": interest}, expect=201).json()
    limited = api.as_key(made["key"])
    limited.get("/experiments", expect=200)  # svc-experiments asks svc-interests
    getattr(cluster, end)("svc-interests")
    cluster.start("svc-interests")
    cluster.wait_ready("svc-interests")
    limited.get("/experiments", expect=200)


@pytest.mark.parametrize("name", PROCESSES)
def test_data_is_kept_after_a_kill(cluster, api, name):
    made = api.post("/interests", INTEREST, expect=201).json()
    cluster.kill9(name)
    cluster.start(name, len(cluster[name]))
    cluster.wait_ready(name)
    wait_answers(api, READS[name])
    assert api.get(f"/interests/{made['id']}", expect=200).json()["name"] == made["name"]


@pytest.mark.parametrize("name", [name for name in PROCESSES if name != "gateway"])
def test_requests_to_a_stopped_service_are_503(cluster, api, name):
    cluster.stop(name)
    answer = api.get(READS[name], expect=503)
    assert int(answer.headers["Retry-After"]) >= 1
    others = [other for other in PROCESSES if other != name]
    for other in others:
        api.get(READS[other], expect=200)


def test_without_postgres_requests_are_503(cluster, api):
    made = api.post("/interests", INTEREST, expect=201).json()
    cluster.postgres.kill9()
    answer = wait_for(lambda: (got := api.get("/interests")).status_code == 503 and got, "503 without Postgres")
    assert int(answer.headers["Retry-After"]) >= 1
    wait_for(lambda: not cluster["svc-interests"][0].is_ready(), "not ready without Postgres")
    cluster.postgres.start()
    cluster.wait_ready()
    for name in PROCESSES:
        wait_answers(api, READS[name])
    assert [one["id"] for one in api.get("/interests", expect=200).json()] == [made["id"]]


@pytest.mark.parametrize("name", ["gateway", "svc-interests"])
def test_a_process_takes_no_connection_before_it_can_answer(cluster, name):
    """So that a replica that starts gets no request that the others could answer."""
    process = cluster[name][0]
    cluster.stop(name)
    cluster.postgres.kill9()
    process.start()
    wait_for(lambda: "the schema is not migrated" in reasons(process), "the process waits for Postgres")
    with pytest.raises(httpx.ConnectError):
        plain_http.get(process.url)
    cluster.postgres.start()
    cluster.wait_ready()
    assert plain_http.get(f"{process.url}/none").status_code in (401, 404)  # it has no key, and no such path


def reasons(process):
    """Why a process is not ready, by its own account."""
    try:
        return plain_http.get(f"{process.admin_url}/readyz").json()["reasons"]
    except httpx.TransportError:
        return []


def test_requests_succeed_after_a_restart_of_postgres(cluster, api):
    cluster.postgres.restart()
    for name in PROCESSES:
        wait_answers(api, READS[name])


def test_requests_succeed_without_redis(cluster, api):
    cluster.redis.kill9()
    for name in PROCESSES:
        api.get(READS[name], expect=200)
    api.post("/interests", INTEREST, expect=201)


def test_a_task_started_without_redis_runs_later(cluster, api):
    made = api.post("/interests", INTEREST, expect=201).json()
    cluster.redis.kill9()
    started = api.post("/papers/recommended/refresh", {"interest_id": made["id"]}, expect=202)
    cluster.redis.start()
    assert api.wait_task(started)["status"] == "completed"


def test_a_task_survives_the_loss_of_redis_data(cluster, api):
    made = api.post("/interests", INTEREST, expect=201).json()
    cluster.stop("svc-interests")
    cluster.redis.client().flushall()
    cluster.start("svc-interests")
    cluster.wait_ready("svc-interests")
    started = api.post("/papers/recommended/refresh", {"interest_id": made["id"]}, expect=202)
    cluster.redis.client().flushall()
    assert api.wait_task(started)["status"] == "completed"


def test_a_task_survives_a_killed_worker(cluster, api):
    made = api.post("/interests", INTEREST, expect=201).json()
    started = api.post("/papers/recommended/refresh", {"interest_id": made["id"]}, expect=202)
    cluster.kill9("svc-interests")
    cluster.start("svc-interests", len(cluster["svc-interests"]))
    cluster.wait_ready("svc-interests")
    assert api.wait_task(started)["status"] == "completed"


def test_a_revoked_key_is_refused_without_redis(cluster, user):
    made = user.api.post("/account/api-keys", {"name": "second"}, expect=201).json()
    second = user.api.as_key(made["key"])
    second.get("/interests", expect=200)
    cluster.redis.kill9()
    user.api.post(f"/account/api-keys/{made['id']}/revoke", expect=200)
    second.get("/interests", expect=401)
