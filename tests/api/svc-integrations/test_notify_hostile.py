"""Receivers that hang, drip, redirect, answer gigabytes or are inside: they gain nothing, and cost the others nothing."""

import socket
import threading

import pytest

from lib.outside.receiver import HOST, Hanging, Receiver, Sender, status, webhook
from lib.outside.stub_server import StubServer
from lib.tables import integrations as integrations_tables
from lib.wait import wait_for

WEBHOOKS = "/webhooks"
ACCOUNT_SLOTS = 8  # DISPATCHER_ACCOUNT_SLOTS
UNREACHABLE = "the host has no address that messages are sent to"


@pytest.fixture
def sender(cluster, user):
    return Sender(cluster, user.account)


@pytest.fixture
def inside():
    """A server of the private network, which nobody may reach."""
    server = StubServer(lambda request: request.reply(200, "a secret"), "127.0.0.1")
    yield server
    server.close()
    assert server.requests == []


def first_failure(api, endpoint):
    """Wait for the first attempt; what it has left."""
    row = wait_for(lambda: [row for row in api.get(f"{WEBHOOKS}/{endpoint['id']}/deliveries", expect=200).json() if row["attempts"]])[0]
    return api.get(f"{WEBHOOKS}/{endpoint['id']}/deliveries/{row['id']}", expect=200).json()


def drip(request):
    """An answer whose end never comes."""
    request.send_response(200)
    request.send_header("Content-Length", "1000000")
    request.end_headers()
    try:
        while not request.server_stopped.wait(0.2):
            request.wfile.write(b"x")
    except OSError:
        pass


def test_an_answer_of_gigabytes_is_cut(api, sender):
    sent = []

    def flood(request):
        request.send_response(200)
        request.send_header("Content-Length", str(5 << 30))
        request.end_headers()
        try:
            while True:
                sent.append(request.wfile.write(b"y" * 65536))
        except OSError:
            pass

    with Receiver(flood) as receiver:
        endpoint = webhook(api, receiver.url)
        sender.send({"n": 1})
        made = first_failure(api, endpoint)
        assert made["status"] == "delivered" and made["attempt_log"][0]["response"] == "y" * 1024
        wait_for(lambda: sent)
        assert sum(sent) < 64 << 20  # what the buffers of two sockets take


def test_a_redirect_is_not_followed(api, sender, inside):
    with Receiver(status(302, Location=f"{inside.url}/x")) as receiver:
        endpoint = webhook(api, receiver.url)
        sender.send({"n": 1})
        made = first_failure(api, endpoint)
        assert (made["last_status"], made["last_error"]) == (302, "the answer was 302")


def test_a_name_that_resolves_to_the_inside_is_refused(api, sender, inside):
    port = inside.url.rsplit(":", 1)[1]
    for scheme in ("http", "https"):
        endpoint = webhook(api, f"{scheme}://localhost:{port}/")
        sender.send({"n": 1})
        made = first_failure(api, endpoint)
        assert made["last_error"] == UNREACHABLE
        said = api.post(f"{WEBHOOKS}/{endpoint['id']}/test", expect=200).json()
        assert (said["delivered"], said["error"], said["response"]) == (False, UNREACHABLE, None)
        api.delete(f"{WEBHOOKS}/{endpoint['id']}", expect=200)


def test_an_endpoint_whose_address_changes_to_the_inside_is_refused(api, db, sender, inside):
    """As the address of a name may between two attempts: what is checked is the socket's, at each."""
    with Receiver(status(500)) as receiver:
        endpoint = webhook(api, receiver.url)
        sender.send({"n": 1})
        assert first_failure(api, endpoint)["last_status"] == 500
    integrations_tables.set_url(db, endpoint["id"], inside.url)
    sender.send({"n": 2})
    row = wait_for(lambda: (rows := api.get(f"{WEBHOOKS}/{endpoint['id']}/deliveries", expect=200).json()) and len(rows) == 2
                   and rows[0]["attempts"] and rows[0])
    assert row["last_error"] == UNREACHABLE


def test_a_name_without_an_address_is_told_as_one_inside(api, sender):
    """Otherwise an endpoint would tell which names exist inside."""
    endpoint = webhook(api, "https://nowhere.invalid/")
    sender.send({"n": 1})
    made = first_failure(api, endpoint)
    assert (made["last_status"], made["last_error"]) == (None, UNREACHABLE)


def test_one_that_refuses_says_so(api, sender):
    with socket.create_server((HOST, 0)) as free:
        port = free.getsockname()[1]
    endpoint = webhook(api, f"http://{HOST}:{port}/")
    sender.send({"n": 1})
    assert "connect" in first_failure(api, endpoint)["last_error"].lower()


def test_endpoints_that_hang_cost_nobody_a_place(cluster, api, user, other_user, sender, db):
    """Twenty of one account hang, and have the places of an account; everything of the others is delivered while the first attempts still
    hang."""
    others = Sender(cluster, other_user.account)
    with Hanging() as hanging, Receiver() as receiver:
        dead = [webhook(api, f"{hanging.url}{number}") for number in range(20)]
        webhook(other_user.api, receiver.url)
        sender.send(*[{"n": number} for number in range(3)])
        wait_for(lambda: len(hanging.sockets) >= ACCOUNT_SLOTS)
        sent = others.send(*[{"n": number} for number in range(200)])
        receiver.wait(200)
        assert receiver.ids() == sent and len(hanging.sockets) == ACCOUNT_SLOTS
        assert integrations_tables.count_attempts(db, user.account) == 0
        for endpoint in dead:
            api.delete(f"{WEBHOOKS}/{endpoint['id']}", expect=200)


def test_twenty_others_get_everything_whatever_receivers_do(api, other_user, sender):
    """One account's receivers hang, refuse, say 410, ask to wait, and redirect; twenty of another get all while those still hang."""
    others = Sender(cluster=sender.cluster, account=other_user.account)
    with Hanging() as hanging, Receiver() as receiver, Receiver(status(410)) as gone, Receiver(status(429, Retry_After="60")) as busy, \
         Receiver(status(302, Location="http://127.0.0.1/")) as moved:  # fmt: skip
        refusing = f"http://{HOST}:1025/"
        made = [webhook(api, f"{url}?{number}") for url in (hanging.url, refusing, gone.url, busy.url, moved.url) for number in range(4)]
        for number in range(20):
            webhook(other_user.api, f"{receiver.url}/{number}")
        sender.send({"n": 1}, {"n": 2})
        wait_for(lambda: len(hanging.sockets) == 4)
        sent = others.send(*[{"n": number} for number in range(10)])
        receiver.wait(200)
        assert sorted(receiver.ids()) == sorted(sent * 20) and len(hanging.sockets) == 4
        for endpoint in made:
            api.delete(f"{WEBHOOKS}/{endpoint['id']}", expect=200)


def test_one_that_answers_late_by_turns_is_no_quick_one(api, sender, db):
    """It would take the places of those that answer soon, each time when it has just answered soon."""
    answers = []

    def answer(request):
        answers.append(request)
        if len(answers) == 2:
            threading.Event().wait(4)  # more than the 3 s of a quick answer
        request.reply(204, "")

    with Receiver(answer) as receiver:
        endpoint = webhook(api, receiver.url)["id"]

        def deliver(number):
            sender.send({"n": number})
            rows = f"{WEBHOOKS}/{endpoint}/deliveries"
            wait_for(lambda: [row["status"] for row in api.get(rows, expect=200).json()] == ["delivered"] * number)
            return integrations_tables.is_quick(db, endpoint)

        assert [deliver(number) for number in (1, 2, 3)] == [True, False, False]
        integrations_tables.forget_late_answer(db, endpoint)
        assert deliver(4)


def test_an_answer_that_does_not_end_fails_in_time(api, sender):
    stopped = threading.Event()

    def answer(request):
        request.server_stopped = stopped
        drip(request)

    with Receiver(answer) as receiver:
        endpoint = webhook(api, receiver.url)
        sender.send({"n": 1})
        made = first_failure(api, endpoint)
        stopped.set()
        assert made["last_error"] == "there was no complete answer within 15 s"
        (row,) = made["attempt_log"]
        assert 14000 <= row["duration_ms"] <= 20000
