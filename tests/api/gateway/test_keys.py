"""API keys: create, list, change, revoke, delete; which scopes a key can grant; keys of other accounts."""

import re
import signal
import socket
import struct
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

import pytest

from lib.http.keys import checksum
from lib.tables import common
from lib.tables import gateway as gateway_tables
from lib.wait import wait_for

OPERATORS = {"service:any_user", "assets:write"}
ABSENT = "0197a0b1-c2d3-7e4f-8a5b-6c7d8e9f0a1b"


def make(api, **body):
    return api.post("/account/api-keys", {"name": "a key", **body}, expect=201).json()


def listed(api, key_id):
    return [key for key in api.get("/account/api-keys", expect=200).json()["keys"] if key["id"] == key_id]


@pytest.mark.parametrize(("kind", "prefix"), [("personal", "usr_"), ("automation", "auto_")])
def test_text_of_a_key(api, kind, prefix):
    made = make(api, kind=kind)
    assert re.fullmatch(prefix + "[0-9A-Za-z]{38}", made["key"])
    assert made["key"][-6:] == checksum(made["key"][:-6])
    assert made["prefix"] == made["key"][:12]


def test_plaintext_is_shown_once(api):
    made = make(api)
    (shown,) = listed(api, made["id"])
    assert "key" not in shown
    assert shown == {name: value for name, value in made.items() if name != "key"}


def test_list_is_newest_first_with_presets_and_scopes(api):
    ids = [make(api, name=f"key {number}")["id"] for number in range(3)]
    answer = api.get("/account/api-keys", expect=200).json()
    assert [key["id"] for key in answer["keys"]][:3] == ids[::-1]
    scopes = {scope["name"] for scope in answer["scopes"]}
    presets = {preset["name"]: set(preset["scopes"]) for preset in answer["presets"]}
    assert presets["full_access"] == scopes - OPERATORS
    assert presets["read_only"] == {scope for scope in scopes if scope.endswith(":read")}
    assert presets["automation"] == {
        "fleet:report", "recommendations:read", "recommendations:write", "interests:read", "search:read",
        "code_host:write", "experiments:read", "implement:read", "implement:write", "eval:report",
    }
    assert presets["agent"] >= presets["read_only"] | {"experiments:write", "fleet:report"}
    assert not presets["agent"] & OPERATORS


def test_the_list_is_paged(api):
    ids = [make(api, name=f"key {number}")["id"] for number in range(24)]
    first = api.get("/account/api-keys", expect=200)
    assert first.headers["X-Total-Count"] == "25"
    assert [key["id"] for key in first.json()["keys"]] == ids[:-21:-1]
    rest = api.get(first.links["next"]["url"], expect=200)
    assert [key["id"] for key in rest.json()["keys"]][:4] == ids[3::-1]
    assert len(rest.json()["keys"]) == 5 and "next" not in rest.links
    assert len(api.get("/account/api-keys?limit=1000", expect=200).json()["keys"]) == 25
    assert rest.json()["scopes"] == first.json()["scopes"]
    api.problem("GET", "/account/api-keys?limit=0", 400, "invalid_request")


def test_the_answer_with_the_text_is_not_stored(api):
    headers = {"Idempotency-Key": "once"}
    for _ in range(2):
        answer = api.post("/account/api-keys", {"name": "one"}, headers=headers, expect=201)
        assert answer.headers["Cache-Control"] == "no-store"


def test_a_key_does_not_outlive_its_maker(api):
    maker = make(api, expires_in_days=2)
    short = api.as_key(maker["key"])
    for body in ({}, {"expires_in_days": 30}, {"kind": "automation"}):
        assert make(short, **body)["expires_at"] == maker["expires_at"]
    assert make(short, expires_in_days=1)["expires_at"] < maker["expires_at"]


def test_an_automation_key_makes_no_keys(api):
    automation = api.as_key(make(api, kind="automation", scopes=["account:write"])["key"])
    automation.problem("POST", "/account/api-keys", 403, "forbidden", {"name": "more", "scopes": ["account:write"]})


def test_a_limited_key_changes_nothing_of_the_account(api):
    made = make(api)
    scopes = ["account:read", "account:write"]
    for limit in ({"repo": "acme/ranker"}, {"interest_id": ABSENT}):
        own = make(api, kind="automation", scopes=scopes, **limit)
        limited = api.as_key(own["key"])
        shown = limited.get("/account/api-keys", expect=200)
        assert [key["id"] for key in shown.json()["keys"]] == [own["id"]] and shown.headers["X-Total-Count"] == "1"
        path = f"/account/api-keys/{made['id']}"
        limited.problem("PATCH", path, 403, "forbidden", {"name": "mine"})
        limited.problem("POST", path + "/revoke", 403, "forbidden")
        limited.problem("DELETE", path, 403, "forbidden")
        limited.problem("POST", "/account/delete", 403, "forbidden", {"confirm": True})
    assert listed(api, made["id"])[0]["status"] == "active"


def test_an_account_has_at_most_200_keys(api, cluster):
    """Also when they are created at the same time. A revoked key does not count."""
    with cluster.postgres.connect("account") as db:
        gateway_tables.add_keys(db, api.key, 195)
    with ThreadPoolExecutor(10) as pool:
        answers = list(pool.map(lambda _: api.as_key(api.key).post("/account/api-keys", {"name": "one"}), range(10)))
    assert sorted(answer.status_code for answer in answers) == [201] * 4 + [409] * 6
    made = next(answer.json() for answer in answers if answer.status_code == 201)
    api.post(f"/account/api-keys/{made['id']}/revoke", expect=200)
    make(api)
    api.problem("POST", "/account/api-keys", 409, "conflict", {"name": "one too many"})


@pytest.mark.parametrize("framing", ["length", "chunked"])
def test_a_key_revoked_during_the_request_does_nothing(api, framing):
    """The head and most of the content come before the key is revoked, the end after it."""
    made = make(api)
    body = b'{"name": "made by a revoked key"}'
    head = f"POST /api/v1.0/account/api-keys HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {made['key']}\r\n".encode()
    head += b"Content-Type: application/json\r\nConnection: close\r\n"
    if framing == "length":
        first, last = head + b"Content-Length: %d\r\n\r\n" % len(body) + body[:-1], body[-1:]
    else:
        first = head + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n" % (len(body), body)
        last = b"0\r\n\r\n"
    answer = send_in_two(api, first, lambda: api.delete(f"/account/api-keys/{made['id']}", expect=200), last)
    assert b" 401 " in answer.partition(b"\r\n")[0]
    assert [key["name"] for key in api.get("/account/api-keys").json()["keys"]] == ["first key"]


def test_a_key_revoked_during_a_request_to_a_service_does_nothing(api):
    made = make(api)
    body = b'{"name": "written with a revoked key"}'
    head = (f"POST /api/v1.0/projects HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {made['key']}\r\nConnection: close\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n").encode()
    answer = send_in_two(api, head + body[:-1],
                         lambda: api.post(f"/account/api-keys/{made['id']}/revoke", expect=200), body[-1:])
    assert b" 401 " in answer.partition(b"\r\n")[0]
    assert api.get("/projects", expect=200).json() == []


def send_in_two(api, first, between, last):
    """Send a request in two pieces and call `between` between them. Returns what was received. An answer before the
    second piece would be an error: reading it then has to fail."""
    host, _, port = api.url.removeprefix("http://").rpartition(":")
    with socket.create_connection((host, int(port)), timeout=60) as connection:
        connection.sendall(first)
        # An answer on another connection that came later: the gateway has read the first piece by then.
        api.get("/account/api-keys", expect=200)
        between()
        connection.sendall(last)
        received = b""
        while piece := connection.recv(65536):
            received += piece
        return received


def test_defaults(api):
    personal, automation = make(api), make(api, kind="automation")
    presets = {preset["name"]: preset["scopes"] for preset in api.get("/account/api-keys").json()["presets"]}
    assert personal["kind"] == "personal" and personal["expires_at"] is None
    assert sorted(personal["scopes"]) == sorted(presets["full_access"])
    assert sorted(automation["scopes"]) == sorted(presets["automation"])
    times = [datetime.fromisoformat(automation[name].replace("Z", "+00:00")) for name in ("created_at", "expires_at")]
    assert times[1] - times[0] == timedelta(days=365)
    assert not personal["repo_verified"] and not automation["repo_verified"]


def test_automation_key_has_repo_and_interest(api):
    made = make(api, kind="automation", repo="acme/ranker", interest_id=ABSENT)
    assert (made["repo"], made["interest_id"]) == ("acme/ranker", ABSENT)


def test_expiry_of_a_personal_key(api):
    made = make(api, expires_in_days=30)
    assert made["expires_at"] > made["created_at"]
    assert made["status"] == "active"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "name"),
        ({"name": ""}, "name"),
        ({"name": "  "}, "name"),
        ({"name": "x" * 201}, "name"),
        ({"name": 7}, "name"),
        ({"name": "a", "kind": "robot"}, "kind"),
        ({"name": "a", "scopes": ["search:fly"]}, "scopes"),
        ({"name": "a", "scopes": []}, "scopes"),
        ({"name": "a", "scopes": "search:read"}, "scopes"),
        ({"name": "a", "preset": "everything"}, "preset"),
        ({"name": "a", "preset": "agent", "scopes": ["search:read"]}, "preset"),
        ({"name": "a", "expires_in_days": 0}, "expires_in_days"),
        ({"name": "a", "kind": "automation", "expires_in_days": 5}, "expires_in_days"),
        ({"name": "a", "repo": "acme/ranker"}, "repo"),
        ({"name": "a", "kind": "automation", "repo": "no slash"}, "repo"),
        ({"name": "a", "interest_id": ABSENT}, "interest_id"),
        ({"name": "a", "kind": "automation", "interest_id": "7"}, "interest_id"),
    ],
)
def test_invalid_input_names_the_field(api, body, field):
    document = api.problem("POST", "/account/api-keys", 400, "invalid_request", body)
    assert field in {fault["field"] for fault in document["errors"]}


def test_all_invalid_fields_are_reported_together(api):
    body = {"name": "", "kind": "robot", "expires_in_days": "soon"}
    document = api.problem("POST", "/account/api-keys", 400, "invalid_request", body)
    assert {fault["field"] for fault in document["errors"]} == {"name", "kind", "expires_in_days"}


def test_a_key_cannot_grant_scopes_that_it_lacks(api):
    narrow = api.as_key(make(api, scopes=["account:write", "search:read"])["key"])
    document = narrow.problem("POST", "/account/api-keys", 403, "insufficient_scope",
                              {"name": "more", "scopes": ["search:read", "fleet:trigger"]})
    assert document["scope"] == "fleet:trigger"
    narrow.problem("POST", "/account/api-keys", 403, "insufficient_scope", {"name": "more"})
    granted = narrow.post("/account/api-keys", {"name": "less", "scopes": ["search:read"]}, expect=201).json()
    narrow.problem("PATCH", f"/account/api-keys/{granted['id']}", 403, "insufficient_scope", {"scopes": ["eval:read"]})


def test_only_operators_grant_operator_scopes(api, operator):
    body = {"name": "assets", "scopes": ["assets:write"]}
    api.problem("POST", "/account/api-keys", 403, "insufficient_scope", body)
    assert make(operator.api, scopes=["assets:write"])["scopes"] == ["assets:write"]


def test_each_operation_needs_its_scope(api):
    reader = api.as_key(make(api, scopes=["search:read"])["key"])
    reader.get("/search/stats", expect=200)
    answer = reader.get("/account/api-keys", expect=403)
    assert answer.json()["scope"] == "account:read"
    assert answer.headers["WWW-Authenticate"] == (
        'Bearer realm="expops", error="insufficient_scope", scope="account:read"')


def test_a_change_takes_effect_at_once(api):
    made = make(api, scopes=["search:read"])
    changed = api.as_key(made["key"])
    changed.get("/search/stats", expect=200)
    answer = api.patch(f"/account/api-keys/{made['id']}", {"name": "new", "scopes": ["interests:read"]}, expect=200).json()
    assert (answer["name"], answer["scopes"]) == ("new", ["interests:read"])
    changed.get("/search/stats", expect=403)
    changed.get("/interests", expect=200)


# ---- another end ----


def ends_in(api, key_id, days):
    """The key, after it was let end in so many days."""
    return api.patch(f"/account/api-keys/{key_id}", {"expires_in_days": days}, expect=200).json()


def days_between(earlier, later):
    times = [datetime.fromisoformat(each.replace("Z", "+00:00")) for each in (earlier, later)]
    return round((times[1] - times[0]) / timedelta(days=1))


def test_a_key_ends_at_another_time(api):
    made = make(api, expires_in_days=10)
    for days in (3, 3650):
        assert days_between(made["created_at"], ends_in(api, made["id"], days)["expires_at"]) == days
    assert ends_in(api, made["id"], None) == {**{name: value for name, value in made.items() if name != "key"}, "expires_at": None}
    short = ends_in(api, made["id"], 1)
    assert listed(api, made["id"]) == [short] and api.as_key(made["key"]).get("/interests", expect=200)
    renamed = api.patch(f"/account/api-keys/{made['id']}", {"name": "new", "scopes": ["search:read"]}, expect=200).json()
    assert renamed["expires_at"] == short["expires_at"]


def test_no_key_prolongs_itself_or_another_beyond_its_own_end(api):
    short, shorter, endless = make(api, expires_in_days=5), make(api, expires_in_days=2), make(api)
    caller = api.as_key(short["key"])
    for days in (30, None):
        assert ends_in(caller, short["id"], days)["expires_at"] == short["expires_at"]
        assert ends_in(caller, shorter["id"], days)["expires_at"] == short["expires_at"]
    assert days_between(endless["created_at"], ends_in(caller, endless["id"], 30)["expires_at"]) == 30  # it ended later before, too
    assert days_between(short["created_at"], ends_in(caller, short["id"], 1)["expires_at"]) == 1


def test_who_lets_a_key_end_at_another_time_has_its_scopes(api):
    strong, weak = make(api, expires_in_days=2), make(api, scopes=["account:write", "search:read"])
    caller, path = api.as_key(weak["key"]), f"/account/api-keys/{strong['id']}"
    for body in ({"expires_in_days": 30}, {"expires_in_days": 1, "name": "mine"}, {"expires_in_days": 9, "scopes": ["fleet:read"]}):
        caller.problem("PATCH", path, 403, "insufficient_scope", body)
    assert listed(api, strong["id"]) == [{name: value for name, value in strong.items() if name != "key"}]
    both = caller.patch(path, {"expires_in_days": 30, "scopes": ["search:read"]}, expect=200).json()
    assert both["scopes"] == ["search:read"] and both["expires_at"] > strong["expires_at"]


def test_a_key_that_has_ended_stays_so(api, cluster):
    revoked, expired = make(api, expires_in_days=2), make(api, expires_in_days=2)
    api.post(f"/account/api-keys/{revoked['id']}/revoke", expect=200)
    with cluster.postgres.connect("account") as db:
        gateway_tables.expire_key(db, expired["id"])
    for made, status in ((revoked, "revoked"), (expired, "expired")):
        api.problem("PATCH", f"/account/api-keys/{made['id']}", 409, "conflict", {"expires_in_days": 30})
        assert listed(api, made["id"])[0]["status"] == status
        api.as_key(made["key"]).problem("GET", "/account/api-keys", 401, "invalid_token")


@pytest.mark.parametrize("days", [0, 3651, "soon", 1.5, True])
def test_the_days_to_another_end_are_checked(api, days):
    made = make(api)
    document = api.problem("PATCH", f"/account/api-keys/{made['id']}", 400, "invalid_request", {"expires_in_days": days})
    assert [fault["field"] for fault in document["errors"]] == ["expires_in_days"]


def test_scopes_are_a_set(api):
    """Duplicates are removed, and the order is that of the list of scopes."""
    twice = ["search:read", "account:read", "search:read"]
    once = [scope["name"] for scope in api.get("/account/api-keys").json()["scopes"] if scope["name"] in twice]
    made = make(api, scopes=twice)
    assert made["scopes"] == once
    assert api.patch(f"/account/api-keys/{made['id']}", {"scopes": twice}, expect=200).json()["scopes"] == once


def test_automation_key_can_only_be_renamed(api):
    made = make(api, kind="automation")
    path = f"/account/api-keys/{made['id']}"
    assert api.patch(path, {"name": "new"}, expect=200).json()["name"] == "new"
    document = api.problem("PATCH", path, 400, "invalid_request", {"scopes": ["search:read"], "expires_in_days": None})
    assert [fault["field"] for fault in document["errors"]] == ["scopes", "expires_in_days"]


@pytest.mark.parametrize("body", [{}, {"id": ABSENT}, {"status": "active"}])
def test_patch_needs_a_field(api, body):
    api.problem("PATCH", f"/account/api-keys/{make(api)['id']}", 400, "invalid_request", body)


def test_patch_accepts_the_key_as_listed(api):
    made = make(api, scopes=["search:read"])
    (shown,) = listed(api, made["id"])
    assert api.patch(f"/account/api-keys/{made['id']}", shown, expect=200).json() == shown


def test_ended_keys_and_invitations_are_deleted_after_their_time(cluster, api):
    old, newer, valid = (make(api) for _ in range(3))
    for key in (old, newer):
        api.post(f"/account/api-keys/{key['id']}/revoke", expect=200)
    with cluster.postgres.connect("account") as db:
        gateway_tables.age_revocation(db, old["id"], 801)
        gateway_tables.age_revocation(db, newer["id"], 799)
        cluster["gateway"][0].popen.send_signal(signal.SIGHUP)
        wait_for(lambda: old["id"] not in [key["id"] for key in api.get("/account/api-keys?limit=100").json()["keys"]], "the old key is deleted")
    left = [key["id"] for key in api.get("/account/api-keys?limit=100").json()["keys"]]
    assert newer["id"] in left and valid["id"] in left


def test_revoked_key_is_refused_and_stays_listed(api):
    made = make(api)
    revoked = api.as_key(made["key"])
    revoked.get("/account/api-keys", expect=200)
    first = api.post(f"/account/api-keys/{made['id']}/revoke", expect=200).json()
    assert first["status"] == "revoked" and first["revoked_at"]
    revoked.problem("GET", "/account/api-keys", 401, "invalid_token")
    again = api.post(f"/account/api-keys/{made['id']}/revoke", expect=200).json()
    assert again["revoked_at"] == first["revoked_at"]
    assert listed(api, made["id"])[0]["status"] == "revoked"


def test_deleted_key_is_refused_and_not_listed(api):
    made = make(api)
    deleted = api.as_key(made["key"])
    deleted.get("/account/api-keys", expect=200)
    for _ in range(2):
        assert api.delete(f"/account/api-keys/{made['id']}", expect=200).json() == {"id": made["id"], "deleted": True}
    deleted.problem("GET", "/account/api-keys", 401, "invalid_token")
    assert not listed(api, made["id"])
    api.problem("POST", f"/account/api-keys/{made['id']}/revoke", 404, "not_found")


@pytest.mark.parametrize(("method", "suffix", "body"), [
    ("PATCH", "", {"name": "mine now"}), ("PATCH", "", {"expires_in_days": 1}), ("DELETE", "", None), ("POST", "/revoke", None)])
def test_keys_of_other_accounts_are_not_found(api, other_user, method, suffix, body):
    made = make(other_user.api)
    for key_id in (made["id"], ABSENT):
        api.problem(method, f"/account/api-keys/{key_id}{suffix}", 404, "not_found", body)
    api.problem(method, f"/account/api-keys/seven{suffix}", 400, "invalid_request", body)
    other_user.api.as_key(made["key"]).get("/account/api-keys", expect=200)


def test_last_use_is_recorded(api):
    made = make(api)
    assert made["last_used_at"] is None
    api.as_key(made["key"]).get("/account/api-keys", expect=200)
    assert listed(api, made["id"])[0]["last_used_at"]


def test_expired_key_is_refused(api, cluster):
    made = make(api, expires_in_days=1)
    with cluster.postgres.connect("account") as db:
        gateway_tables.expire_key(db, made["id"])
    api.as_key(made["key"]).problem("GET", "/account/api-keys", 401, "invalid_token")
    assert listed(api, made["id"])[0]["status"] == "expired"


def test_only_the_hash_is_stored(api, cluster):
    made = make(api)
    with cluster.postgres.connect("account") as db:
        row = common.rows_as_text(db, "api_key", id=made["id"])
    assert made["key"] not in row and made["key"][12:] not in row


def test_repeated_creation_gives_the_first_answer(api, cluster):
    headers = {"Idempotency-Key": "once"}
    first = api.post("/account/api-keys", {"name": "one"}, headers=headers, expect=201)
    again = api.post("/account/api-keys", {"name": "one"}, headers=headers, expect=201)
    assert again.json() == first.json()
    assert again.headers["Idempotent-Replayed"] == "true"
    api.problem("POST", "/account/api-keys", 422, "idempotency_key_reused", {"name": "two"}, headers=headers)
    assert len(api.get("/account/api-keys").json()["keys"]) == 2
    with cluster.postgres.connect("account") as db:
        assert first.json()["key"] not in common.rows_as_text(db, "idempotency")


def test_a_repeated_creation_with_another_key_is_a_new_request(api):
    headers = {"Idempotency-Key": "once"}
    first = make(api, name="a", scopes=["account:write"])
    strong = api.post("/account/api-keys", {"name": "strong"}, headers=headers, expect=201).json()
    weak = api.as_key(first["key"])
    weak.problem("POST", "/account/api-keys", 403, "insufficient_scope", {"name": "strong"}, headers=headers)
    assert api.post("/account/api-keys", {"name": "strong"}, headers=headers, expect=201).json() == strong


def abandoned_statements(cluster):
    """Number of the gateway's statements that ended because the client disconnected."""
    lines = cluster["gateway"][0].metrics().splitlines()
    counts = [line for line in lines if line.startswith("expops_pg_statements_total") and "client_gone" in line]
    return sum(float(line.rpartition(" ")[2]) for line in counts)


def reset(connection):
    """Close the connection with a TCP reset."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


@pytest.mark.parametrize(("method", "suffix"), [("POST", "/revoke"), ("DELETE", "")])
def test_a_revocation_whose_client_disconnects_is_done_or_not(api, cluster, method, suffix):
    made = make(api)
    warm = api.as_key(made["key"])
    for _ in range(4):
        warm.get("/account/api-keys", expect=200)
    path = f"/api/v1.0/account/api-keys/{made['id']}{suffix}"
    head = f"{method} {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {api.key}\r\nContent-Length: 0\r\n\r\n"
    with cluster.postgres.connect("account") as held, cluster.postgres.connect("account") as seen:
        held.autocommit = False
        gateway_tables.lock_key(held, made["id"])
        waiting = lambda: common.blocked_by(seen, held)  # noqa: E731
        connection = socket.create_connection(("127.0.0.1", cluster.ports["gateway"]))
        connection.sendall(head.encode())
        wait_for(waiting, "the revocation waits for the row")
        before = abandoned_statements(cluster)
        reset(connection)
        wait_for(lambda: abandoned_statements(cluster) > before, "the gateway notices the disconnect")
        held.rollback()
        wait_for(lambda: not waiting(), "no statement waits for the row")
        is_revoked = gateway_tables.is_revoked(seen, made["id"])
    status = warm.get("/account/api-keys").status_code
    assert status == (401 if is_revoked else 200)
