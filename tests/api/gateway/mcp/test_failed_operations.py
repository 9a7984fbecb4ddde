"""What a client is told when the operation of a tool or of a resource fails in a way of its own: its service is slow, or its answer cannot
be used. A read may be called again. A write that may have been done must not, before the model has looked."""

import json
import secrets
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from lib.http.mcp import Mcp
from lib.outside.stub_server import StubServer
from lib.wait import wait_for

ABSENT = "01970000-0000-7000-8000-0000000000aa"
AGAIN = "not available now, try again"
UNKNOWN = "It is not known whether this was done."
EXPERIMENT = f"expops://experiments/{ABSENT}"

# Tool -> arguments, and what to do when it is not known whether it was done.
WRITES = {
    "rate_recommendation": ({"recommendation_id": ABSENT, "signal": "like"}, "Calling again does no harm."),
    "create_interest": ({"name": "a", "context": "b"}, "See in get_digest whether it is there before you call again."),
    "refresh_recommendations": ({}, "Calling again only computes anew."),
    "save_experiment": ({"name": "a"}, "See in list_experiments or get_experiment before you call again."),
    "report_implementation": ({"experiment_id": ABSENT, "status": "running"}, "Calling again does no harm."),
    "start_run": ({"repo": "acme/ranker", "confirm": True}, "See in get_run_status before you call again: another run costs money."),
}


def problem(status, error):
    body = {"type": "about:blank", "title": "Title", "status": status, "detail": "detail", "error": error}
    return lambda request: request.reply(status, json.dumps(body), Content_Type="application/problem+json")


def aborted(request):
    request.cut("{")


def reset(request):
    """Close the connection when the request was read."""
    request.close_connection = True
    request.connection.shutdown(socket.SHUT_RDWR)


def stalled(request):
    """The head, and then nothing for longer than the message may take."""
    request.send_response(200)
    request.send_header("Content-Length", "1000")
    request.end_headers()
    request.wfile.flush()
    time.sleep(30)


def reply(status, text):
    return lambda request: request.reply(status, text, Content_Type="application/json")


# What BODY_MEMORY has no room for when it is parsed.
LARGE = json.dumps({"id": ABSENT, "numbers": [0] * 2_000_000}, separators=(",", ":"))

UNUSABLE = {
    "slow": problem(504, "timeout"), "aborted": aborted, "no JSON": reply(200, "<html>"), "too long": reply(200, b" " * (9 << 20)),
    "too much": reply(200, LARGE), "of another kind": reply(200, '"text"'),
}
# The service says that it has done nothing.
UNDONE = {"away": problem(503, "unavailable")}
LOST = {"uncertain": problem(503, "outcome_uncertain"), "reset": reset, "bad gateway": problem(502, "bad_gateway"), "bug": problem(500, "internal_error")}


class Services:
    """A gateway whose services are one stub."""

    def __init__(self, stub, gateway, key):
        self.stub, self.gateway, self.key = stub, gateway, key
        self.mcp, self.legacy = Mcp(gateway.url, key), Mcp(gateway.url, key, is_modern=False)

    def answer(self, answer):
        self.stub.answer = answer


@contextmanager
def stubbed(cluster, label, key, **changes):
    stub = StubServer(reply(200, "{}"))
    urls = {f"{name}_URL": stub.url for name in ("SEARCH", "INTERESTS", "EXPERIMENTS", "FLEET")}
    gateway = cluster.separate("gateway", label, BODY_MEMORY="16MiB", **urls, **changes)
    gateway.start()
    gateway.wait_ready()
    try:
        yield Services(stub, gateway, key)
    finally:
        gateway.stop()
        stub.close()
    assert gateway.check() == []


@pytest.fixture(scope="module")
def services(cluster):
    with stubbed(cluster, "mcp-stub", cluster.user().key) as made:
        yield made


def first_line(text):
    return text.splitlines()[0]


@pytest.mark.parametrize("answer", [*UNUSABLE.values(), *UNDONE.values(), *LOST.values()], ids=[*UNUSABLE, *UNDONE, *LOST])
def test_a_read_that_fails_may_be_called_again(services, answer):
    services.answer(answer)
    for tool, arguments in (("list_inbox", {}), ("get_experiment", {"experiment_id": ABSENT}), ("search_papers", {"query": "x"})):
        assert first_line(services.mcp.fault(tool, **arguments)) == AGAIN, tool
    for client in (services.mcp, services.legacy):
        assert client.error("resources/read", {"uri": EXPERIMENT}) == {"code": -32603, "message": AGAIN}


@pytest.mark.parametrize("answer", [*UNUSABLE.values(), *LOST.values()], ids=[*UNUSABLE, *LOST])
def test_a_write_that_may_have_been_done_is_not_called_again_before_looking(services, answer):
    services.answer(answer)
    for tool, (arguments, advice) in WRITES.items():
        assert services.mcp.fault(tool, **arguments).splitlines()[:2] == [UNKNOWN, advice], tool


@pytest.mark.parametrize("answer", UNDONE.values(), ids=UNDONE)
def test_a_write_that_was_not_done_may_be_called_again(services, answer):
    services.answer(answer)
    for tool, (arguments, _) in WRITES.items():
        assert first_line(services.mcp.fault(tool, **arguments)) == AGAIN, tool


@pytest.mark.parametrize("body", ["{}", '{"title": 1, "detail": []}', '{"title": null}'])
def test_a_refusal_that_is_no_problem_document_has_no_words(services, body):
    services.answer(reply(400, body))
    assert first_line(services.mcp.fault("list_inbox")) == AGAIN


def test_reading_a_task_is_no_write(services):
    services.answer(problem(504, "timeout"))
    assert first_line(services.mcp.fault("refresh_recommendations", task_id=ABSENT)) == AGAIN


@pytest.mark.parametrize("client", ["mcp", "legacy"])
def test_a_key_that_ends_meanwhile_is_401(services, client):
    services.answer(problem(401, "unauthenticated"))
    for method, params in (("tools/call", {"name": "list_inbox"}), ("resources/read", {"uri": EXPERIMENT})):
        answer = getattr(services, client).answer(method, params)
        assert answer.status_code == 401 and answer.headers["www-authenticate"].startswith("Bearer"), method


@pytest.mark.parametrize("client", ["mcp", "legacy"])
def test_a_resource_that_the_key_may_not_read_is_not_said_to_be_absent(services, client):
    services.answer(problem(403, "forbidden"))
    error = getattr(services, client).error("resources/read", {"uri": EXPERIMENT})
    assert error == {"code": -32602, "message": "this key may not read the resource"}


def test_a_service_that_stands_still_is_told(cluster, user):
    """REQUEST_TIMEOUT of the gateway is that of its services, which would have answered by then. A client waits for 60 s."""
    with stubbed(cluster, "mcp-still", user.key, REQUEST_TIMEOUT="1s", BODY_PAUSE="15s") as services, ThreadPoolExecutor() as pool:
        services.answer(lambda request: stalled(request) if request.command == "GET" else time.sleep(30))
        inbox = pool.submit(services.mcp.fault, "list_inbox")
        resource = pool.submit(services.mcp.error, "resources/read", {"uri": EXPERIMENT})
        assert first_line(services.mcp.fault("search_papers", query="x")) == AGAIN
        assert first_line(services.mcp.fault("save_experiment", name="a")) == UNKNOWN
        assert first_line(inbox.result()) == AGAIN and resource.result()["code"] == -32603


def test_a_gateway_that_ends_tells_what_is_not_known(cluster, user):
    changes = {"DRAIN_DELAY": "0s", "DRAIN_DELAY_MAX": "0s", "DRAIN_TIMEOUT": "1s"}
    with stubbed(cluster, "mcp-ends", user.key, **changes) as services, ThreadPoolExecutor() as pool:
        services.answer(lambda request: time.sleep(30))
        text = pool.submit(services.mcp.fault, "save_experiment", name="a")
        wait_for(lambda: services.stub.requests, "the service has the request")
        services.gateway.stop()
        assert first_line(text.result()) == UNKNOWN


# --- Starting a run


def started(request):
    body = {"dispatched": True, "repo": "acme/ranker", "run_id": 1} if request.command == "POST" else {"kpis": {}}
    request.reply(200, json.dumps(body), Content_Type="application/json")


@pytest.mark.parametrize("answer", [LOST["uncertain"], started], ids=["uncertain", "started"])
def test_who_asks_anew_hears_that_a_run_may_have_been_started(services, answer):
    """By the argument: what the user agrees to then is another run."""
    repo = {"repo": f"acme/{secrets.token_hex(8)}"}
    services.answer(started)
    assert "less than 10 minutes ago" not in services.mcp.fault("start_run", **repo)
    services.answer(answer)
    services.mcp.tool("start_run", **repo, confirm=True)
    services.answer(started)
    keys = {services.stub.requests[-1][2]["Idempotency-Key"]}
    for _ in range(2):
        text = services.mcp.fault("start_run", **repo)
        assert "The same was confirmed less than 10 minutes ago" in text and "get_run_status" in text and "confirm true" in text
    for _ in range(2):
        services.mcp.tool("start_run", **repo, confirm=True)
        keys.add(services.stub.requests[-1][2]["Idempotency-Key"])
    assert len(keys) == 2  # what they agreed to is another run, and once


def test_a_form_says_that_a_run_may_have_been_started(cluster, services):
    asking = Mcp(services.gateway.url, services.key, capabilities={"elicitation": {}})
    repo = {"repo": f"acme/{secrets.token_hex(8)}"}

    def question():
        asked = asking.tool("start_run", **repo)
        return asked["requestState"], asked["inputRequests"]["confirm"]["params"]["message"]

    state, message = question()
    assert message == f"Start the coding agent on {repo['repo']}? It runs with your model key."
    services.answer(LOST["uncertain"])
    response = {"action": "accept", "content": {"confirm": True}}
    params = {"name": "start_run", "arguments": repo, "requestState": state, "inputResponses": {"confirm": response}}
    assert first_line(asking.result("tools/call", params)["content"][0]["text"]) == UNKNOWN
    first_key = services.stub.requests[-1][2]["Idempotency-Key"]
    assert "The same was confirmed less than 10 minutes ago" in question()[1] and "less than 10 minutes ago" in question()[1]
    asking.result("tools/call", params)
    assert services.stub.requests[-1][2]["Idempotency-Key"] == first_key
