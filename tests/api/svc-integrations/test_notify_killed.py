"""Processes that are killed while they send: nothing is lost, and what comes twice has the same id."""

import threading

import pytest

from lib.outside.receiver import Receiver, Sender, webhook
from lib.tables import integrations as integrations_tables
from lib.wait import wait_for

SERVICE = "svc-integrations"


@pytest.fixture
def sender(cluster, user):
    return Sender(cluster, user.account)


def restart(cluster, db):
    """Kill the process; start it when the claims that it has left have ended."""
    cluster.kill9(SERVICE)
    integrations_tables.end_claims(db)
    cluster.recover()


def test_one_that_dies_between_request_and_commit_sends_again(cluster, api, db, sender):
    received, go_on = threading.Event(), threading.Event()

    def hold_the_first(request):
        if not received.is_set():
            received.set()
            go_on.wait()
        request.reply(200, "")

    with Receiver(hold_the_first) as receiver:
        endpoint = webhook(api, receiver.url)
        sent = sender.send({"n": 0}, {"n": 1})
        wait_for(received.is_set)
        restart(cluster, db)
        go_on.set()
        receiver.wait(3)
        assert receiver.ids() == [sent[0], *sent] and receiver.got[0][1] == receiver.got[1][1]
        path = f"/webhooks/{endpoint['id']}/deliveries"
        wait_for(lambda: {row["status"] for row in api.get(path, expect=200).json()} == {"delivered"})
        assert [row["attempts"] for row in api.get(path, expect=200).json()] == [1, 1]


def test_a_claim_that_has_ended_commits_nothing(api, db, sender):
    """A process that was stopped for longer than its claim."""
    received, go_on = threading.Event(), threading.Event()

    def hold_the_first(request):
        is_first = not received.is_set()
        received.set()
        if is_first:
            go_on.wait()
        request.reply(500 if is_first else 200, "")

    with Receiver(hold_the_first) as receiver:
        endpoint = webhook(api, receiver.url)
        sender.send({"n": 0})
        wait_for(received.is_set)
        integrations_tables.end_claims(db, endpoint["id"])
        path = f"/webhooks/{endpoint['id']}/deliveries"
        wait_for(lambda: {row["status"] for row in api.get(path, expect=200).json()} == {"delivered"})
        go_on.set()
        sender.send({"n": 1})
        receiver.wait(3)
        wait_for(lambda: [row["attempts"] for row in api.get(path, expect=200).json()] == [1, 1])
        assert api.get(f"/webhooks/{endpoint['id']}", expect=200).json()["consecutive_failures"] == 0


def test_nothing_is_lost_under_load(cluster, api, db, sender):
    with Receiver() as receiver, Receiver() as other:
        for target in (receiver, other):
            for _ in range(3):
                webhook(api, target.url)
        sent = []
        for kill in range(4):
            sent += sender.send(*[{"n": number} for number in range(100)])
            wait_for(lambda: len(receiver.got) >= 150 * (kill + 1) - 100)
            restart(cluster, db)
        for target in (receiver, other):
            wait_for(lambda: all(3 <= target.ids().count(message) for message in sent), "each of three endpoints has each message")
            assert set(target.ids()) == set(sent)
            assert len({(headers["webhook-id"], body) for headers, body in target.got}) == len(sent)
        wait_for(lambda: {row["waiting"] for row in api.get("/webhooks", expect=200).json()} == {0})


def test_an_address_is_asked_although_the_process_dies(cluster, api):
    """Between its 201 and the mail: the mail server holds the first one."""
    server, address = cluster.mail_server, "killed@example.com"
    with server.hold():
        made = api.post("/webhooks", {"kind": "email", "email": address, "events": ["*"]}, expect=201).json()
        wait_for(lambda: server.held)
        cluster.kill9(SERVICE)
    cluster.recover()
    assert made["status"] == "unconfirmed" and server.wait(address)[-1].link("confirm")
