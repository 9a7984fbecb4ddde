"""Messages: from the event to the receiver, in order, signed, tried again, sent again."""

import json
import re
import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

import pytest

from lib.check import messages
from lib.http.contract import contract
from lib.outside.receiver import Receiver, Sender, status, verify, webhook
from lib.tables import common
from lib.tables import integrations as integrations_tables
from lib.wait import wait_for

WEBHOOKS = "/webhooks"


@pytest.fixture
def receiver():
    with Receiver() as made:
        yield made


@pytest.fixture
def sender(cluster, user):
    return Sender(cluster, user.account)


@pytest.fixture
def endpoint(api, receiver):
    return webhook(api, receiver.url)


def shown(api, endpoint):
    return api.get(f"{WEBHOOKS}/{endpoint['id']}", expect=200).json()


def deliveries(api, endpoint, **params):
    return api.get(f"{WEBHOOKS}/{endpoint['id']}/deliveries", params=params, expect=200).json()


def delivery(api, endpoint, one):
    return api.get(f"{WEBHOOKS}/{endpoint['id']}/deliveries/{one['id']}", expect=200).json()


def wait_status(api, endpoint, wanted, count=1):
    """Wait until so many deliveries have this status; returns them, the newest first."""
    return wait_for(lambda: (found := deliveries(api, endpoint, status=wanted, limit=100)) and len(found) >= count and found,
                    f"{count} deliveries are {wanted}")


def seconds_until(time_text):
    return (datetime.fromisoformat(time_text) - datetime.now().astimezone()).total_seconds()


def test_a_message_arrives_as_the_description_says(api, user, receiver, endpoint, sender):
    (message,) = sender.send({"hello": "expops", "url": "/console/?x=1"})
    (body,) = receiver.wait(1)
    headers, raw = receiver.got[0]
    assert body["id"] == headers["webhook-id"] == message and body["account_id"] == user.account and body["type"] == "test.ping"
    assert list(body) == ["id", "type", "timestamp", "account_id", "data"] and b": " not in raw and b", " not in raw
    assert body["data"] == {"hello": "expops", "url": f"{api.url}/console/?x=1"}
    assert headers["content-type"] == "application/json" and re.fullmatch(r"expops-webhooks/\d+\.\d+\.\d+", headers["user-agent"])
    (made,) = wait_status(api, endpoint, "delivered")
    assert made["message_id"] == message and made["attempts"] == 1 and made["last_status"] == 204 and made["next_attempt_at"] is None
    whole = delivery(api, endpoint, made)
    assert whole["payload"] == body and [attempt["status"] for attempt in whole["attempt_log"]] == [204]
    assert shown(api, endpoint)["last_success_at"] and shown(api, endpoint)["waiting"] == 0


def test_signatures_are_those_of_the_reference_library(api, receiver, endpoint, sender):
    sender.send({"hello": "wörld"})
    receiver.wait(1)
    (headers, body) = receiver.got[0]
    changed = (headers, body.replace(b"w", b"v"))
    old = ({**headers, "webhook-timestamp": str(int(headers["webhook-timestamp"]) - 400)}, body)
    other = ({**headers, "webhook-id": "msg_" + "0" * 32}, body)
    said = verify(endpoint["secret"], [receiver.got[0], changed, old, other])
    assert said[0] == "ok" and "ok" not in said[1:]
    assert verify(webhook(api, receiver.url)["secret"], [receiver.got[0]]) != ["ok"]


def test_both_secrets_sign_while_one_is_replaced(api, db, receiver, endpoint, sender):
    path = f"{WEBHOOKS}/{endpoint['id']}/rotate-secret"
    new = api.post(path, {"old_valid_seconds": 3600}, expect=200).json()
    sender.send({"hello": "expops"})
    receiver.wait(1)
    assert receiver.got[0][0]["webhook-signature"].count("v1,") == 2
    assert verify(new["secret"], receiver.got) == verify(endpoint["secret"], receiver.got) == ["ok"]
    integrations_tables.expire_old_secret(db, endpoint["id"])
    sender.send({"hello": "expops"})
    receiver.wait(2)
    assert verify(new["secret"], receiver.got[1:]) == ["ok"] != verify(endpoint["secret"], receiver.got[1:])


def test_messages_arrive_in_their_order(receiver, endpoint, sender):
    sent = sender.send(*[{"hello": number} for number in range(50)])
    receiver.wait(50)
    assert receiver.ids() == sent


def test_what_an_endpoint_wants(api, sender):
    interest = str(uuid.uuid4())
    with Receiver() as everything, Receiver() as tests, Receiver() as repo, Receiver() as of_interest, Receiver() as digests:
        webhook(api, everything.url)
        webhook(api, tests.url, events=["test.*"])
        webhook(api, repo.url, repos=["Acme/Ranker"])
        webhook(api, of_interest.url, interest_ids=[interest])
        webhook(api, digests.url, events=["endpoint.disabled"])
        sender.send({"n": 1, "repo": "acme/ranker"}, {"n": 2, "interest_id": interest}, {"n": 3, "repo": "acme/other"})
        sender.send({"n": 4}, type="testing")
        sender.send({"n": 5}, type="digest.ready")
        sender.send({"n": 6}, type="test.ping")
        sender.send({"n": 7, "repo": "acme/ranker", "interest_id": interest}, type="endpoint.disabled")

        def numbers(receiver):
            return [body["data"]["n"] for body in receiver.bodies()]

        for receiver, wanted in ((everything, [1, 2, 3, 4, 6, 7]), (tests, [1, 2, 3, 6]), (repo, [1, 7]), (of_interest, [2, 7]), (digests, [7])):
            receiver.wait(len(wanted))
            assert numbers(receiver) == wanted


def test_an_event_that_comes_twice_makes_one_message(cluster, api, receiver, endpoint, sender, db):
    entry = sender.entry(uuid.uuid4(), "test.ping", {"hello": "expops"})
    redis = cluster.redis.client()
    redis.xadd("events.runs", entry)
    receiver.wait(1)
    wait_for(lambda: common.forget_settled(db, "events.runs"), "the event is settled")
    redis.xadd("events.runs", entry)
    (last,) = sender.send({"hello": "last"})
    receiver.wait(2)
    assert receiver.ids()[-1] == last and len(deliveries(api, endpoint)) == 2


def test_what_a_service_does_reaches_a_receiver(api, receiver, endpoint):
    made = api.post("/experiments", {"name": "an experiment"}, expect=201).json()
    (body,) = receiver.wait(1)
    assert body["type"] == "experiment.created" and body["data"]["experiment_id"] == made["id"]
    assert body["data"]["url"].startswith(f"{api.url}/console/") and verify(endpoint["secret"], receiver.got) == ["ok"]
    contract().validate(messages.described()["experiment.created"], body, "the body")


@pytest.mark.parametrize("stream", ["events.account", "events.experiments", "events.eval", "events.assets", "events.interests", "events.code_host"])
def test_every_stream_is_read(receiver, endpoint, sender, stream):
    sent = sender.send({"hello": stream}, stream=stream)
    receiver.wait(1)
    assert receiver.ids() == sent


def test_a_body_has_at_most_20_kilobytes(receiver, endpoint, sender):
    top = [{"title": "x" * 300, "n": number} for number in range(500)]
    sender.send({"top": top, "count": 500}, {"text": "é" * 30000}, {"short": "y"})
    first, second, third = receiver.wait(3)
    assert all(len(body) <= 20480 for _, body in receiver.got)
    assert first["data"]["truncated"] is True and first["data"]["top"] == top[:len(first["data"]["top"])] != [] and first["data"]["count"] == 500
    assert second["data"]["truncated"] is True and set(second["data"]["text"]) == {"é"} and third["data"] == {"short": "y"}


def test_what_is_long_inside_of_a_member_is_cut(receiver, endpoint, sender):
    """Such as the error of an evaluation beside its metrics."""
    metrics = {f"recall_{number}": number for number in range(5000)}
    sender.send({"error": {"kind": "task", "message": "é" * 30000}, "n": 1}, {"metrics": metrics, "error": {"kind": "task"}, "n": 2})
    first, second = (body["data"] for body in receiver.wait(2))
    assert all(len(body) <= 20480 for _, body in receiver.got)
    assert first["truncated"] is second["truncated"] is True and (first["n"], second["n"]) == (1, 2)
    assert first["error"]["kind"] == "task" and set(first["error"]["message"]) == {"é"}
    assert second["error"] == {"kind": "task"} and second["metrics"] == dict(list(metrics.items())[:len(second["metrics"])]) != {}


def test_a_failure_is_tried_again_by_the_schedule(api, db, sender):
    pauses = [5, 300, 1800, 7200, 18000, 36000, 36000]
    with Receiver(status(500)) as receiver:
        endpoint = webhook(api, receiver.url)
        (message,) = sender.send({"hello": "expops"})
        for number, pause in enumerate(pauses, 1):
            made = wait_for(lambda: (found := deliveries(api, endpoint)) and found[0]["attempts"] == number and found[0])
            retry = integrations_tables.retry_pause(db, made["id"])
            assert pause <= retry <= pause * 1.1 + 5, (number, retry)
            assert made["status"] == "pending" and made["last_status"] == 500 and made["next_attempt_at"]
            integrations_tables.end_waits(db, endpoint["id"])
        (failed,) = wait_status(api, endpoint, "failed")
        assert failed["attempts"] == 8 == len(receiver.got) and failed["next_attempt_at"] is None
        assert set(receiver.ids()) == {message} and len({body for _, body in receiver.got}) == 1
        assert [attempt["error"] for attempt in delivery(api, endpoint, failed)["attempt_log"]] == ["the answer was 500"] * 8
        assert verify(endpoint["secret"], receiver.got) == ["ok"] * 8


def test_retry_after_is_obeyed_if_it_is_later(api, sender):
    for value, least, most in (("120", 115, 125), ("1", 0, 7), ("999999", 86300, 86500)):
        with Receiver(status(429, Retry_After=value)) as receiver:
            endpoint = webhook(api, receiver.url, events=["test.ping"])
            sender.send({"hello": "expops"})
            receiver.wait(1)
            made = wait_for(lambda: (found := deliveries(api, endpoint)) and found[0]["attempts"] and found[0])
            assert least <= seconds_until(made["next_attempt_at"]) <= most, value
            api.delete(f"{WEBHOOKS}/{endpoint['id']}", expect=200)


def test_a_receiver_ends_the_attempts_of_a_message(api, sender):
    with Receiver(status(500, webhook_delivery="abort-message")) as receiver:
        endpoint = webhook(api, receiver.url)
        sender.send({"hello": "expops"})
        (failed,) = wait_status(api, endpoint, "failed")
        assert failed["attempts"] == 1 and shown(api, endpoint)["status"] == "active"


def test_one_message_that_fails_blocks_no_other(api, sender):
    def answer(request):
        request.reply(500 if json.loads(request.body)["data"]["n"] == 0 else 200, "")

    with Receiver(answer) as receiver:
        endpoint = webhook(api, receiver.url)
        sent = sender.send(*[{"n": number} for number in range(10)])
        wait_status(api, endpoint, "delivered", 9)
        assert receiver.ids()[:10] == sent


class Held:
    """An answer for Receiver that is given once it is let go."""

    def __init__(self, code):
        self.answer, self.is_free = status(code), threading.Event()

    def __call__(self, request):
        assert self.is_free.wait(30)
        self.answer(request)


@pytest.mark.parametrize("code", [410, 500])
def test_what_a_former_address_answers_says_nothing_of_the_endpoint(api, receiver, sender, code):
    held = Held(code)
    with Receiver(held) as former:
        endpoint = webhook(api, former.url)
        (message,) = sender.send({"hello": "expops"})
        former.wait(1)
        api.patch(f"{WEBHOOKS}/{endpoint['id']}", {"url": receiver.url}, expect=200)
        held.is_free.set()
        receiver.wait(1)
        (made,) = wait_status(api, endpoint, "delivered")
        assert receiver.ids() == [message] and len(former.got) == 1
        assert [attempt["status"] for attempt in delivery(api, endpoint, made)["attempt_log"]] == [code, 204]
        now = shown(api, endpoint)
        assert (now["status"], now["failing_since"], now["consecutive_failures"]) == ("active", None, 0)


def test_a_success_at_a_former_address_says_nothing_of_the_endpoint(api, receiver, sender):
    held = Held(204)
    with Receiver(held) as former:
        endpoint = webhook(api, former.url)
        sender.send({"hello": "expops"})
        former.wait(1)
        api.patch(f"{WEBHOOKS}/{endpoint['id']}", {"url": receiver.url}, expect=200)
        held.is_free.set()
        wait_status(api, endpoint, "delivered")
        assert shown(api, endpoint)["last_success_at"] is None and receiver.got == []


def test_another_address_has_none_of_the_failures(api, receiver, sender):
    """Nor does what waits for the next attempt at the former one."""
    with Receiver(status(500)) as former:
        endpoint = webhook(api, former.url)
        sender.send(*[{"n": number} for number in range(5)])
        wait_for(lambda: shown(api, endpoint)["consecutive_failures"] >= 5, "five attempts fail")
        assert api.patch(f"{WEBHOOKS}/{endpoint['id']}", {"name": "other"}, expect=200).json()["consecutive_failures"] >= 5
        now = api.patch(f"{WEBHOOKS}/{endpoint['id']}", {"url": receiver.url}, expect=200).json()
        assert (now["failing_since"], now["consecutive_failures"]) == (None, 0)


def test_410_disables_at_once_and_the_others_are_told(api, receiver, sender):
    other = webhook(api, receiver.url, events=["endpoint.disabled"])
    with Receiver(status(410)) as gone:
        endpoint = webhook(api, gone.url, name="old")
        api.patch(f"{WEBHOOKS}/{endpoint['id']}", {"status": "paused"}, expect=200)
        sender.send({"n": 1}, {"n": 2})
        wait_for(lambda: shown(api, endpoint)["waiting"] == 2)
        api.patch(f"{WEBHOOKS}/{endpoint['id']}", {"status": "active"}, expect=200)
        (body,) = receiver.wait(1)
        assert body["data"] == {"endpoint_id": endpoint["id"], "name": "old", "reason": "gone", "url": f"{api.url}/console/settings/endpoints/{endpoint['id']}"}
        made = shown(api, endpoint)
        assert (made["status"], made["disabled_reason"]) == ("disabled", "gone") and len(gone.got) == 1
        assert verify(other["secret"], receiver.got) == ["ok"]
        assert [row["status"] for row in deliveries(api, endpoint)] == ["pending", "failed"]
        item = wait_for(lambda: api.get("/fleet/agents/inbox", expect=200).json())[0]
        assert (item["kind"], item["title"], item["severity"]) == ("endpoint_disabled", "Nothing more is sent to old: gone", "critical")
        assert item["href"] == f"/console/settings/endpoints/{endpoint['id']}"
        gone.answer = status(200)
        api.patch(f"{WEBHOOKS}/{endpoint['id']}", {"status": "active"}, expect=200)
        wait_status(api, endpoint, "delivered")
        assert shown(api, endpoint)["disabled_reason"] is None
        wait_for(lambda: api.get("/fleet/agents/inbox", expect=200).json() == [])


def test_an_endpoint_that_fails_is_left_alone_and_catches_up(api, db, sender):
    with Receiver(status(503)) as receiver:
        endpoint = webhook(api, receiver.url)
        sent = sender.send(*[{"n": number} for number in range(30)])
        wait_for(lambda: shown(api, endpoint)["consecutive_failures"] == 5)
        for minutes, failures in ((1, 5), (2, 6), (4, 7), (8, 8)):
            assert minutes * 60 - 30 < integrations_tables.pause_of(db, endpoint["id"]) <= minutes * 60 and len(receiver.got) == failures
            integrations_tables.end_waits(db, endpoint["id"])
            wait_for(lambda: shown(api, endpoint)["consecutive_failures"] == failures + 1)
        assert [row["attempts"] for row in deliveries(api, endpoint, limit=100)][:20] == [0] * 20  # no attempt of them was used up
        receiver.answer = status(200)
        integrations_tables.end_waits(db, endpoint["id"])
        wait_for(lambda: shown(api, endpoint)["consecutive_failures"] == 0)
        integrations_tables.end_waits(db, endpoint["id"])
        wait_status(api, endpoint, "delivered", 30)
        first = [message for message in dict.fromkeys(receiver.ids()[9:]) if receiver.ids().count(message) == 1]
        assert first == [message for message in sent if message in first] and len(first) >= 20


@pytest.mark.parametrize("failing, success, failures, is_disabled", [
    ("13 hours", "6 days", 8, True), ("11 hours", "6 days", 8, False), ("13 hours", "4 days", 8, False), ("13 hours", "6 days", 7, False)])
def test_an_endpoint_is_disabled_after_five_days(api, db, sender, failing, success, failures, is_disabled):
    with Receiver(status(500)) as receiver:
        endpoint = webhook(api, receiver.url)
        integrations_tables.set_failures(db, endpoint["id"], failures - 1, since=failing, last_success=success)
        sender.send({"n": 1})
        made = wait_for(lambda: (row := shown(api, endpoint))["consecutive_failures"] == failures and row)
        assert (made["status"] == "disabled") == is_disabled
        if is_disabled:
            assert made["disabled_reason"] == "no delivery has succeeded for five days" and made["waiting"] == 1


def test_a_flood_drops_the_oldest(api, db, receiver, endpoint, sender):
    """What is dropped is what has waited for longest. One message of 64 looks, so a few more than 10,000 may wait."""
    api.patch(f"{WEBHOOKS}/{endpoint['id']}", {"status": "paused"}, expect=200)
    (first,) = sender.send({"n": 0})
    wait_for(lambda: shown(api, endpoint)["waiting"] == 1)
    integrations_tables.fill_queue(db, endpoint["id"], 9999)
    sent = sender.send(*[{"n": number} for number in range(1, 1001)])
    wait_for(lambda: deliveries(api, endpoint, limit=1)[0]["message_id"] == sent[-1])
    found = shown(api, endpoint)
    assert found["dropped"] == 1 and 10000 <= found["waiting"] < 11000
    assert [row["message_id"] for row in deliveries(api, endpoint, status="dropped")] == [first] and receiver.got == []
    integrations_tables.empty_queue(db, endpoint["id"])


def test_paused_messages_wait(api, receiver, endpoint, sender):
    api.patch(f"{WEBHOOKS}/{endpoint['id']}", {"status": "paused"}, expect=200)
    sender.send({"n": 1})
    wait_for(lambda: shown(api, endpoint)["waiting"] == 1)
    assert receiver.got == [] and deliveries(api, endpoint)[0]["status"] == "pending"
    api.patch(f"{WEBHOOKS}/{endpoint['id']}", {"status": "active"}, expect=200)
    receiver.wait(1)


def test_a_delivery_is_sent_again(api, receiver, endpoint, sender):
    sent = sender.send({"n": 1}, {"n": 2})
    wait_status(api, endpoint, "delivered", 2)
    second, first = deliveries(api, endpoint)
    again = api.post(f"{WEBHOOKS}/{endpoint['id']}/deliveries/{first['id']}/replay", expect=200).json()
    assert again["status"] == "pending" and again["delivered_at"] is None
    receiver.wait(3)
    assert receiver.ids() == [*sent, sent[0]] and receiver.got[0][1] == receiver.got[2][1]
    assert wait_for(lambda: (row := delivery(api, endpoint, first))["status"] == "delivered" and row)["attempts"] == 2
    assert delivery(api, endpoint, second)["attempts"] == 1
    api.problem("POST", f"{WEBHOOKS}/{endpoint['id']}/deliveries/{endpoint['id']}/replay", 404, "not_found")


def test_a_repeated_request_sends_nothing_again(api, receiver, endpoint, sender):
    sent = sender.send({"n": 1})
    wait_status(api, endpoint, "delivered", 1)
    path, since = f"{WEBHOOKS}/{endpoint['id']}", (datetime.now().astimezone() - timedelta(hours=1)).isoformat()
    (made,) = deliveries(api, endpoint)
    for action, body in [(f"deliveries/{made['id']}/replay", None), ("recover", {"since": since}), ("test", {})]:
        fields = {"Idempotency-Key": str(uuid.uuid4())}
        first, second = (api.post(f"{path}/{action}", body, headers=fields, expect=200) for _ in range(2))
        assert second.json() == first.json() and second.headers["Idempotent-Replayed"] == "true"
    sender.send({"n": 2})
    wait_status(api, endpoint, "delivered", 2)
    assert receiver.ids().count(sent[0]) == 2 and len(receiver.got) == 4  # the replay; the test, which is in no list


@pytest.mark.parametrize("overtakes", [False, True])
def test_an_attempt_that_was_under_way_does_not_end_what_is_sent_again(api, db, sender, overtakes):
    """It fails for good after the request to send again, before the next attempt or after it."""
    is_asked = threading.Event()

    def answer(request):
        number = len(receiver.got)
        if number == 2:
            is_asked.wait()
        request.reply(200 if number == 3 else 500, "", **({"webhook-delivery": "abort-message"} if number == 2 else {}))

    with Receiver(answer) as receiver:
        endpoint = webhook(api, receiver.url)
        sender.send({"n": 1})
        made = wait_for(lambda: (found := deliveries(api, endpoint)) and found[0]["attempts"] == 1 and found[0])
        integrations_tables.end_waits(db, endpoint["id"])
        receiver.wait(2)
        api.patch(f"{WEBHOOKS}/{endpoint['id']}", {"status": "active" if overtakes else "paused"}, expect=200)
        assert api.post(f"{WEBHOOKS}/{endpoint['id']}/deliveries/{made['id']}/replay", expect=200).json()["status"] == "pending"
        if overtakes:
            wait_status(api, endpoint, "delivered")
        is_asked.set()
        row = wait_for(lambda: (row := delivery(api, endpoint, made))["attempts"] == 2 + overtakes and row)
        assert row["status"] == ("delivered" if overtakes else "pending") and (row["delivered_at"] is not None) == overtakes
        api.patch(f"{WEBHOOKS}/{endpoint['id']}", {"status": "active"}, expect=200)
        wait_status(api, endpoint, "delivered")
        assert delivery(api, endpoint, made)["attempts"] == 3 == len(receiver.got)


def test_what_failed_is_recovered_in_order(api, sender):
    with Receiver(status(500, webhook_delivery="abort-message")) as receiver:
        endpoint = webhook(api, receiver.url)
        sent = sender.send(*[{"n": number} for number in range(4)])
        wait_status(api, endpoint, "failed", 4)
        receiver.answer = status(200)
        since = (datetime.now().astimezone() - timedelta(hours=1)).isoformat()
        path = f"{WEBHOOKS}/{endpoint['id']}/recover"
        assert api.post(path, {"since": since, "until": since}, expect=200).json() == {"queued": 0}
        assert api.post(path, {"since": since}, expect=200).json() == {"queued": 4}
        wait_status(api, endpoint, "delivered", 4)
        assert receiver.ids() == sent * 2
        api.problem("POST", path, 400, "invalid_request", {"until": since})
        api.problem("POST", f"{WEBHOOKS}/{uuid.uuid4()}/recover", 404, "not_found", {"since": since})


def test_the_list_is_narrowed(api, receiver, endpoint, sender):
    sender.send({"n": 1})
    sender.send({"n": 2}, type="other.type")
    wait_status(api, endpoint, "delivered", 2)
    assert [row["type"] for row in deliveries(api, endpoint)] == ["other.type", "test.ping"]
    assert [row["type"] for row in deliveries(api, endpoint, type="other.type")] == ["other.type"]
    assert deliveries(api, endpoint, status="failed") == []
    assert deliveries(api, endpoint, offset=1000000) == []
    made = deliveries(api, endpoint)[0]["created_at"]
    assert len(deliveries(api, endpoint, until=made)) == 2 and len(deliveries(api, endpoint, since=made, limit=1)) == 1


def test_a_test_message_is_sent_at_once_and_leaves_nothing(api, receiver, endpoint):
    path = f"{WEBHOOKS}/{endpoint['id']}/test"
    receiver.answer = lambda request: request.reply(200, "thanks")
    said = api.post(path, expect=200).json()
    assert (said["delivered"], said["status"], said["response"], said["error"]) == (True, 200, "thanks", None)
    (body,) = receiver.bodies()
    assert (body["type"], body["data"]) == ("test.ping", {"hello": "expops"})
    assert verify(endpoint["secret"], receiver.got) == ["ok"]
    receiver.answer = lambda request: request.reply(400, "bad \x00 " + "z" * 5000)
    said = api.post(path, {"type": "endpoint.disabled"}, expect=200).json()
    assert (said["delivered"], said["status"], said["error"]) == (False, 400, "the answer was 400") and len(said["response"]) <= 1024
    assert receiver.bodies()[1]["type"] == "endpoint.disabled" and deliveries(api, endpoint) == []
    assert shown(api, endpoint)["consecutive_failures"] == 0
    api.problem("POST", path, 400, "invalid_request", {"type": "no.such"})


def test_days_are_dropped_whole(cluster, api, db, receiver, endpoint, sender):
    api.patch(f"{WEBHOOKS}/{endpoint['id']}", {"status": "paused"}, expect=200)
    old = time.strftime("%Y%m%d", time.gmtime(time.time() - 40 * 86400))
    integrations_tables.take_message(db, sender.account, str(uuid.uuid4()), days=40, days_kept=50)
    assert shown(api, endpoint)["waiting"] == 1
    sender.send({"n": 1})
    wait_for(lambda: shown(api, endpoint)["waiting"] == 2)
    assert integrations_tables.keep_message_days(db, 30) == 1
    assert not integrations_tables.has_message_day(db, old)
    assert shown(api, endpoint)["waiting"] == 1 == len(deliveries(api, endpoint))
    integrations_tables.take_message(db, sender.account, str(uuid.uuid4()), days=40, days_kept=30)
    assert shown(api, endpoint)["waiting"] == 1  # it is too old to be kept


def test_what_is_sent_again_while_its_day_is_dropped_holds_up_nothing(cluster, api, receiver, endpoint, sender):
    api.patch(f"{WEBHOOKS}/{endpoint['id']}", {"status": "paused"}, expect=200)
    with cluster.postgres.connect("integrations") as asking, cluster.postgres.connect("integrations") as db, ThreadPoolExecutor() as pool:
        integrations_tables.take_message(db, sender.account, str(uuid.uuid4()), days=40, days_kept=50)
        integrations_tables.empty_queue(db, endpoint["id"])
        integrations_tables.send_again(asking, sender.account, endpoint["id"])
        with cluster.postgres.connect("integrations") as keeper:
            dropped = pool.submit(integrations_tables.drop_message_day, keeper, 40)
            wait_for(lambda: common.blocked_by(db, asking), "the day waits for the request")
            asking.commit()
            dropped.result()
    assert shown(api, endpoint)["waiting"] == 1
    api.patch(f"{WEBHOOKS}/{endpoint['id']}", {"status": "active"}, expect=200)
    sent = sender.send({"n": 1})
    receiver.wait(1)
    assert receiver.ids() == sent
    wait_for(lambda: shown(api, endpoint)["waiting"] == 0)
