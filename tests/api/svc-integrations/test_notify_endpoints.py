"""Endpoints of messages: making, changing and removing them, and the addresses that they may have."""

import base64
import json
import secrets
import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest

from lib.tables import common
from lib.tables import integrations as integrations_tables

WEBHOOKS = "/webhooks"
URL = "https://hooks.example.org/expops"


def body(**changes):
    return {"kind": "webhook", "url": URL, "events": ["test.*"], **changes}


def make(api, **changes):
    return api.post(WEBHOOKS, body(**changes), expect=201).json()


def without_secret(made):
    return {name: value for name, value in made.items() if name != "secret"}


def faults(api, method, path, given):
    return {fault["field"]: fault["message"] for fault in api.problem(method, path, 400, "invalid_request", given)["errors"]}


def test_an_endpoint_is_made_read_changed_and_deleted(api):
    made = make(api, name="team", repos=["acme/ranker"], interest_ids=[str(uuid.uuid4())])
    shown = without_secret(made)
    assert made["status"] == "active" and made["secret_hint"] == made["secret"][-4:]
    assert api.get(f"{WEBHOOKS}/{made['id']}", expect=200).json() == shown
    assert api.get(WEBHOOKS, expect=200).json() == [shown]
    changed = api.patch(f"{WEBHOOKS}/{made['id']}", {"url": URL + "/2", "repos": None, "status": "paused"}, expect=200).json()
    assert changed == {**shown, "url": URL + "/2", "repos": None, "status": "paused", "updated_at": changed["updated_at"]}
    assert api.delete(f"{WEBHOOKS}/{made['id']}", expect=200).json() == {"id": made["id"], "deleted": True}
    for method in ("GET", "DELETE"):
        api.problem(method, f"{WEBHOOKS}/{made['id']}", 404, "not_found")


def test_endpoints_that_are_deleted_are_logged(cluster, api):
    """A restore brings them back."""
    made = make(api)["id"]
    api.delete(f"{WEBHOOKS}/{made}", expect=200)
    api.problem("DELETE", f"{WEBHOOKS}/{made}", 404, "not_found")
    logged = [json.loads(line) for line in cluster["svc-integrations"][0].log().splitlines() if f'"endpoint_id":"{made}"' in line]
    assert [one["message"] for one in logged] == ["endpoint deleted"]


def test_members_of_a_digest_that_nobody_knows_are_ignored(api):
    digest = {"hour": 8, "time_zone": "UTC", "last_date": "9999-12-31", "told_until": "2030-01-01T00:00:00Z"}
    answer = api.post(WEBHOOKS, body(events=["digest.ready"], digest=digest), expect=201)
    assert answer.headers["X-Ignored-Fields"] == "digest.last_date, digest.told_until"
    assert answer.json()["digest"]["next_at"]
    changed = api.patch(f"{WEBHOOKS}/{answer.json()['id']}", {"digest": {**digest, "last_date": "x", "hour": 9}}, expect=200).json()
    assert changed["digest"]["hour"] == 9 and changed["digest"]["next_at"]


def test_the_name_is_the_host_unless_it_is_given(api):
    assert make(api)["name"] == "hooks.example.org"


def test_what_was_read_can_be_sent_back(api):
    shown = without_secret(make(api))
    assert api.patch(f"{WEBHOOKS}/{shown['id']}", shown, expect=200).json() == {**shown, "updated_at": api.get(
        f"{WEBHOOKS}/{shown['id']}", expect=200).json()["updated_at"]}


def test_the_secret_is_32_bytes_and_is_stored_sealed(api, db):
    made = make(api)
    key = base64.b64decode(made["secret"].removeprefix("whsec_"), validate=True)
    assert len(key) == 32 and made["secret"] != make(api)["secret"]
    row = common.rows_as_text(db, "endpoint", id=made["id"])
    assert made["secret"] not in row and key.hex() not in row


def test_a_repeated_request_makes_one_endpoint(api):
    headers = {"Idempotency-Key": secrets.token_hex(8)}
    made = api.post(WEBHOOKS, body(), headers=headers, expect=201).json()
    assert api.post(WEBHOOKS, body(), headers=headers, expect=201).json() == made
    assert len(api.get(WEBHOOKS, expect=200).json()) == 1


def test_an_account_has_twenty_endpoints(user):
    with ThreadPoolExecutor(8) as pool:
        statuses = list(pool.map(lambda _: user.api.post(WEBHOOKS, body()).status_code, range(24)))
    assert sorted(statuses) == [201] * 20 + [409] * 4
    user.api.problem("POST", WEBHOOKS, 409, "too_many_endpoints", body())
    last = user.api.get(WEBHOOKS, expect=200).json()[0]["id"]
    user.api.delete(f"{WEBHOOKS}/{last}", expect=200)
    make(user.api)


PRIVATE = [
    "127.0.0.1", "127.1", "2130706433", "0x7f.1", "0x7f000001", "017700000001", "10.0.0.1", "192.168.1.1", "172.16.0.1", "169.254.169.254",
    "100.64.0.1", "0.0.0.0", "224.0.0.1", "255.255.255.255", "[::1]", "[::]", "[fe80::1]", "[fc00::1]", "[::ffff:127.0.0.1]",
    "[64:ff9b::7f00:1]", "127.0.0.1.",
]  # fmt: skip


@pytest.mark.parametrize("host", PRIVATE)
def test_a_private_address_is_refused_in_every_spelling(api, host):
    for port in ("", ":8443"):
        assert "private" in faults(api, "POST", WEBHOOKS, body(url=f"https://{host}{port}/x"))["url"]


@pytest.mark.parametrize("url", [
    "ftp://hooks.example.org/", "https://", "https://user:pw@hooks.example.org/", "https://a@b/",
    "https://hooks.example.org:22/", "https://hooks.example.org:99999/", "https://hooks.example.org:x/", "https://hooks.example.org:/",
    "https://[::1", "https://１２７.0.0.1/", "https://ho%6fks.example.org/", "/relative", "https://8.8.8.8:80/", "https://[fe80::1%25lo]/",
    "http://10.0.0.1/", "http://8.8.8.8/",
])  # fmt: skip
def test_an_address_that_is_refused(api, url):
    assert set(faults(api, "POST", WEBHOOKS, body(url=url))) == {"url"}
    made = make(api)
    assert set(faults(api, "PATCH", f"{WEBHOOKS}/{made['id']}", {"url": url})) == {"url"}
    api.delete(f"{WEBHOOKS}/{made['id']}", expect=200)


@pytest.mark.parametrize("url", ["https://8.8.8.8/", "https://hooks.example.org:8443/", "https://[2606:4700::1111]/a?b=c", "http://127.0.0.2:8080/",
                                 "https://localhost/", "https://hooks.example.org:443/"])  # fmt: skip
def test_an_address_that_is_accepted(api, url):
    made = make(api, url=url)
    assert made["url"] == url
    api.delete(f"{WEBHOOKS}/{made['id']}", expect=200)


def test_every_fault_is_named(api):
    given = {"kind": "fax", "url": "x", "events": ["test.*", "nothing.*", "*.finished", "**", "test.ping", ""], "repos": ["acme"], "interest_ids": ["7"]}
    named = faults(api, "POST", WEBHOOKS, given)
    assert {"kind", "url", "events[1]", "events[2]", "events[3]", "repos[0]", "interest_ids[0]"} <= set(named)
    assert {"kind", "url", "events"} <= set(faults(api, "POST", WEBHOOKS, {}))
    assert "events" in faults(api, "POST", WEBHOOKS, body(events=[]))


def test_a_status_of_the_service_is_not_set(api):
    made = make(api)
    for status in ("disabled", "unconfirmed", None):
        assert "status" in faults(api, "PATCH", f"{WEBHOOKS}/{made['id']}", {"status": status})
    api.problem("PATCH", f"{WEBHOOKS}/{made['id']}", 400, "invalid_request", {})


def test_an_endpoint_that_was_read_is_sent_back(api, db):
    made = make(api)
    for status in ("active", "paused", "disabled"):
        integrations_tables.set_endpoint_status(db, made["id"], status)
        shown = api.get(f"{WEBHOOKS}/{made['id']}", expect=200).json()
        changed = api.patch(f"{WEBHOOKS}/{made['id']}", {**shown, "name": status}, expect=200).json()
        assert (changed["status"], changed["name"]) == (status, status)


def test_the_secret_is_replaced(api):
    made = make(api)
    path = f"{WEBHOOKS}/{made['id']}"
    new = api.post(f"{path}/rotate-secret", {"old_valid_seconds": 3600}, expect=200).json()
    shown = api.get(path, expect=200).json()
    assert new["secret"] != made["secret"] and shown["secret_hint"] == new["secret"][-4:]
    assert shown["old_secret_expires_at"] == new["old_secret_expires_at"] is not None
    api.problem("POST", f"{path}/rotate-secret", 409, "conflict", {})
    assert api.get(path, expect=200).json() == shown
    forced = api.post(f"{path}/rotate-secret", {"force": True, "old_valid_seconds": 0}, expect=200).json()
    assert forced["old_secret_expires_at"] is None and forced["secret"] != new["secret"]
    api.post(f"{path}/rotate-secret", expect=200)  # without a body: for a day
    for seconds in (-1, 604801):
        assert "old_valid_seconds" in faults(api, "POST", f"{path}/rotate-secret", {"old_valid_seconds": seconds})
    api.problem("POST", f"{WEBHOOKS}/{uuid.uuid4()}/rotate-secret", 404, "not_found", {})


def test_the_types_are_those_of_the_description(api):
    document = api.get("/openapi.json", expect=200).json()
    listed = api.get(f"{WEBHOOKS}/event-types", expect=200)
    types = listed.json()
    assert [row["type"] for row in types] == sorted(document["webhooks"]) and listed.headers["X-Total-Count"] == str(len(types))
    assert api.get(f"{WEBHOOKS}/event-types?limit=2&offset=1", expect=200).json() == types[1:3]
    for row in types:
        assert row["example"]["type"] == row["type"] and "$ref" not in json.dumps(row)
        api.delete(f"{WEBHOOKS}/{make(api, events=[row['type']])['id']}", expect=200)


def test_secrets_are_sealed_anew(cluster, api, db):
    """By the command reseal, with a key that was put before the one in use."""
    made = make(api)
    api.post(f"{WEBHOOKS}/{made['id']}/rotate-secret", expect=200)
    before = integrations_tables.endpoint_secrets(db, made["id"])
    keys = f"{cluster.seal_key('endpoints')},{cluster.seal_key('test')}"
    cluster.run("svc-integrations", "reseal", SEAL_KEYS=keys)
    after = integrations_tables.endpoint_secrets(db, made["id"])
    assert all(b"endpoints" in new and b"endpoints" not in old for old, new in zip(before, after))
    cluster.run("svc-integrations", "reseal", SEAL_KEYS=f"{cluster.seal_key('test')},{cluster.seal_key('endpoints')}")
