"""What keys were used for: counts of requests by day, scope and status, over all workers and replicas."""

import contextlib
import signal

import pytest

from lib.http import plain_http
from lib.http.client import PREFIX
from lib.tables import gateway as gateway_tables
from lib.wait import wait_for

SCOPES = ["fleet:read", "experiments:read"]


@pytest.fixture
def gateway(cluster):
    """gateway(label, **settings): a replica that the test ends or that ends with it."""
    with contextlib.ExitStack() as stack:

        def start(label, **settings):
            process = cluster.separate("gateway", label, WORKERS="2", **settings)
            process.start()
            stack.callback(process.stop)
            process.wait_ready()
            return process

        yield start


@pytest.fixture
def key(api):
    return api.post("/account/api-keys", {"name": "used", "scopes": SCOPES}, expect=201).json()


def send(process, key, count, method="GET", path="/fleet/runs", status=200, **body):
    """So many requests, each on a connection of its own, which any worker takes."""
    for _ in range(count):
        answer = plain_http.request(method, f"{process.url}{PREFIX}{path}", headers={"Authorization": f"Bearer {key['key']}"}, **body)
        assert answer.status_code == status, answer.text


def usage(api, key):
    return api.get(f"/account/api-keys/{key['id']}/usage", expect=200).json()


def counts(api, key):
    """{(family, status): requests} of all days."""
    return {(each["family"], each["status"]): each["requests"] for day in usage(api, key) for each in day["counts"]}


def test_workers_and_replicas_add_up_and_an_orderly_end_loses_nothing(api, gateway, key):
    replicas = [gateway(label, KEY_USAGE_STORE="1h") for label in ("first", "second")]
    for process, count in zip(replicas, (7, 5)):
        send(process, key, count)
    send(replicas[1], key, 3, path="/experiments/0197a0b1-c2d3-7e4f-8a5b-6c7d8e9f0a1b", status=404)
    send(replicas[0], key, 2, "POST", "/experiments", 403, json={"name": "x"})
    send(replicas[0], key, 1, path="/account/api-keys", status=403)  # one of the gateway's own operations
    assert usage(api, key) == []
    for process in replicas:
        process.stop()
    expected = {("fleet:read", 200): 12, ("experiments:read", 404): 3, ("experiments:write", 403): 2, ("account:read", 403): 1}
    assert counts(api, key) == expected
    assert sum(day["requests"] for day in usage(api, key)) == 18


def test_counts_are_stored_at_intervals_and_once(api, gateway, key):
    process = gateway("frequent", KEY_USAGE_STORE="50ms")
    send(process, key, 3)
    wait_for(lambda: counts(api, key) == {("fleet:read", 200): 3}, "the requests are stored")
    process.kill9()
    process.start()
    process.wait_ready()
    send(process, key, 2)
    wait_for(lambda: counts(api, key) == {("fleet:read", 200): 5}, "those of the process after it are added")


def test_the_gateway_s_own_operations_and_tools_are_counted(api, gateway):
    made = api.post("/account/api-keys", {"name": "used", "preset": "agent"}, expect=201).json()
    process = gateway("tools", KEY_USAGE_STORE="1h")
    send(process, made, 1, path="/account/api-keys")
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "list_inbox", "arguments": {}}}
    headers = {"Authorization": f"Bearer {made['key']}", "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}
    assert plain_http.request("POST", f"{process.url}/mcp", headers=headers, json=call).status_code == 200
    process.stop()
    assert counts(api, made) == {("account:read", 200): 1, ("mcp", 200): 1, ("fleet:read", 200): 1}


def test_days_are_listed_newest_first_for_ninety_days(cluster, api, gateway, key):
    with cluster.postgres.connect("account") as db:
        for days in (91, 90, 1):
            gateway_tables.add_usage(db, key["id"], days, "fleet:read", 200, days)
    assert [day["requests"] for day in usage(api, key)] == [1, 90, 91]
    answer = api.get(f"/account/api-keys/{key['id']}/usage?limit=1&offset=1", expect=200)
    assert ([day["requests"] for day in answer.json()], answer.headers["X-Total-Count"]) == ([90], "3")
    gateway("forgetting").popen.send_signal(signal.SIGHUP)
    wait_for(lambda: [day["requests"] for day in usage(api, key)] == [1, 90], "what is older is deleted")


def test_who_sees_the_usage_of_a_key(api, other_user, key):
    path = f"/account/api-keys/{key['id']}/usage"
    other_user.api.problem("GET", path, 404, "not_found")
    limited = {"name": "agent", "kind": "automation", "scopes": ["account:read"], "repo": "acme/ranker"}
    made = api.post("/account/api-keys", limited, expect=201).json()
    agent = api.as_key(made["key"])
    assert agent.get(f"/account/api-keys/{made['id']}/usage", expect=200).json() == []
    agent.problem("GET", path, 404, "not_found")
    api.post(f"/account/api-keys/{key['id']}/revoke", expect=200)
    assert usage(api, key) == []
    api.delete(f"/account/api-keys/{key['id']}", expect=200)
    api.problem("GET", path, 404, "not_found")
