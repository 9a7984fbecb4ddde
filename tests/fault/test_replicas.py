"""Two replicas of each process share the work, and one can restart without an outage."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from lib.wait import wait_for

READS = ["/account/api-keys", "/search/stats", "/interests"]
CALLERS = 8


@pytest.fixture
def user(pair):
    return pair.user()


def read_in_a_loop(api, stopped):
    """Read until stopped() is true; returns the number of reads, and the answers of the failed ones."""
    count, failed = 0, []
    while not stopped():
        for path in READS:
            answer = api.get(path)
            count += 1
            if answer.status_code != 200:
                failed.append((path, answer.text))
    return count, failed


def test_both_replicas_get_requests(pair, user):
    for _ in range(20):
        fresh = user.api.as_key(user.key)  # a new connection each time, for the balancer to distribute
        for path in READS:
            fresh.get(path, expect=200)
    for name in ("svc-search", "svc-interests"):
        for process in pair[name]:
            assert process.metric("expops_http_requests_total") > 0, f"a replica of {name} got no request"


@pytest.mark.parametrize("name", ["svc-search", "svc-interests"])
def test_rolling_restart_fails_no_read(pair, user, name):
    done = []
    with ThreadPoolExecutor(CALLERS) as callers:
        apis = [user.api.as_key(user.key) for _ in range(CALLERS)]
        loops = [callers.submit(read_in_a_loop, api, lambda: bool(done)) for api in apis]
        try:
            for process in pair[name]:
                process.restart()
                process.wait_ready()
        finally:
            done.append(True)
        results = [loop.result() for loop in loops]
    failed = [one for _, some in results for one in some]
    assert not failed, f"{len(failed)} of {sum(count for count, _ in results)} reads failed: {failed[:5]}"


def test_two_replicas_run_a_task_once(pair, user):
    interest = {"name": "Once", "context": "Exactly-once processing in distributed stream systems."}
    made = user.api.post("/interests", interest, expect=201).json()
    started = [user.api.post("/papers/recommended/refresh", {"interest_id": made["id"]}, expect=202) for _ in range(4)]
    for answer in started:
        assert user.api.wait_task(answer)["status"] == "completed"
    papers = user.api.get("/papers/recommended", params={"interest_id": made["id"], "limit": 50}, expect=200).json()
    ids = [paper["resource_id"] for paper in papers]
    assert len(ids) == len(set(ids)), "a paper was recommended twice"


def test_both_replicas_refuse_a_revoked_key(pair, user):
    made = user.api.post("/account/api-keys", {"name": "second"}, expect=201).json()
    seconds = [user.api.as_key(made["key"]) for _ in range(10)]
    for second in seconds:
        second.get("/interests", expect=200)
    user.api.post(f"/account/api-keys/{made['id']}/revoke", expect=200)
    for second in seconds:
        wait_for(lambda second=second: second.get("/interests").status_code == 401, "refused by every replica")
