"""ROLES: processes that only answer requests, and processes that only work in the background."""

import json
import secrets
import subprocess
import uuid
from pathlib import Path

import httpx
import pytest

from lib.http import plain_http
from lib.http.identity import identity
from lib.wait import PATIENCE_SECONDS, wait_for
from lib.scenario.words import new_word

ACCOUNT = str(uuid.uuid4())


def threads(process):
    """The names of the threads of a process."""
    return {path.read_text().strip() for path in Path(f"/proc/{process.popen.pid}/task").glob("*/comm")}


def call(cluster, process, method, path, body=None):
    return plain_http.request(
        method, f"{process.url}/api/v1.0{path}", json=body,
        auth=identity(cluster, process.name, account=ACCOUNT),
    )  # fmt: skip


@pytest.fixture
def alone(cluster):
    """alone(name, roles): start a process of its own with these roles, while the cluster's own replicas are stopped."""
    made = []

    def start(name, roles):
        cluster.stop(name)
        # The jobs end at once on SIGTERM: there are no connections to wait for.
        delay = {"DRAIN_DELAY": "600s"} if roles == "jobs" else {}
        process = cluster.separate(name, f"{roles}-{secrets.token_hex(4)}", ROLES=roles, **delay)
        made.append(process)
        process.start()
        process.wait_ready()
        return process

    yield start
    for process in made:
        process.stop()
        assert process.check() == []


def test_requests_and_jobs_in_two_processes(cluster, alone):
    http = alone("svc-interests", "http")
    assert "background" not in threads(http)
    body = {"name": "Roles", "context": new_word()}
    newest = lambda: cluster.redis.client().xinfo_stream("jobs.svc-interests")["last-generated-id"]  # noqa: E731
    before = newest()
    made = call(cluster, http, "POST", "/interests", body)
    assert made.status_code == 201, made.text
    wait_for(lambda: newest() != before, "an entry for a process that runs jobs")
    with cluster.postgres.connect("interests") as database:
        tasks = "SELECT DISTINCT status FROM task WHERE input->>'interest_id' = %s"
        statuses = lambda: database.execute(tasks, [made.json()["id"]]).fetchall()  # noqa: E731
        assert statuses() == [("pending",)]
        jobs = alone("svc-interests", "jobs")
        wait_for(lambda: statuses() == [("completed",)], "the task of the interest is completed")
    wait_for(lambda: jobs.metric("expops_jobs_total") > 0, "the attempt is counted")
    assert http.metric("expops_jobs_total") == 0
    with pytest.raises(httpx.ConnectError):
        plain_http.get(jobs.url)
    assert plain_http.get(jobs.admin_url + "/healthz").status_code == 200


def test_a_search_process_without_jobs_follows_the_papers(cluster, alone):
    http = alone("svc-search", "http")
    word = new_word()
    path = f"/search/assets/{secrets.randbelow(9000) + 1000}.{secrets.randbelow(90000) + 10000}"
    made = call(cluster, http, "PUT", path, {"title": f"On {word}", "abstract": "Roles.", "categories": ["cs.LG"]})
    assert made.status_code == 200, made.text

    def is_found():
        hits = call(cluster, http, "POST", "/search/assets", {"query": word}).json()
        return any(word in json.dumps(hit) for hit in hits)

    wait_for(is_found, "the paper is found")


def test_a_search_process_without_requests_is_ready(alone):
    jobs = alone("svc-search", "jobs")
    assert "background" not in threads(jobs)  # it runs on the main thread
    assert jobs.is_ready()


@pytest.mark.parametrize("roles", ["web", "http,web", "http,http", "jobs,", "http jobs"])
def test_a_bad_value_is_refused_in_one_line(cluster, roles):
    settings = cluster.settings("svc-search", "roles", ROLES=roles)
    done = subprocess.run(
        [cluster.binary("svc-search")], env=settings, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False
    )
    assert done.returncode == 2
    assert done.stderr == "ROLES: must be http, jobs or http,jobs\n"
    assert done.stdout == ""
