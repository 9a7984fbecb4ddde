"""Deleting an account, and the command create-user."""

import json
import secrets
import uuid

import pytest

from lib.tables import common
from lib.wait import wait_for


@pytest.mark.parametrize("body", [{}, {"confirm": False}, {"confirm": "yes"}, {"confirm": None}])
def test_deletion_needs_a_confirmation(api, body):
    document = api.problem("POST", "/account/delete", 400, "invalid_request", body)
    assert document["errors"][0]["field"] == "confirm"
    api.get("/account/api-keys", expect=200)


def test_deletion_ends_every_key_at_once(user, other_user):
    second = user.api.as_key(user.api.post("/account/api-keys", {"name": "second"}, expect=201).json()["key"])
    second.get("/account/api-keys", expect=200)
    assert user.api.post("/account/delete", {"confirm": True}, expect=200).json()["deleted"] is True
    for api in (user.api, second):
        api.problem("GET", "/account/api-keys", 401, "invalid_token")
    other_user.api.get("/account/api-keys", expect=200)


def test_services_delete_their_data(user, cluster):
    user.api.post("/interests", {"name": "Kept?", "context": "Nothing of a deleted account."}, expect=201)
    with cluster.postgres.connect("interests") as db:
        assert common.tables_with(db, ["interest"], account_id=user.account) == ["interest"]
        user.api.post("/account/delete", {"confirm": True}, expect=200)
        wait_for(lambda: common.tables_with(db, ["interest"], account_id=user.account) == [], "the interest is deleted")


def test_deletion_removes_keys_and_stored_answers(user, cluster):
    user.api.post("/account/api-keys", {"name": "once"}, headers={"Idempotency-Key": "k"}, expect=201)
    user.api.post("/account/delete", {"confirm": True}, expect=200)
    with cluster.postgres.connect("account") as db:
        assert common.tables_with(db, ["api_key", "idempotency"], account_id=user.account) == []


def test_create_user_prints_only_the_key(cluster):
    email = f"{secrets.token_hex(6)}@example.org"
    output = cluster.run("gateway", "create-user", "--email", email, "--key-name", "mine")
    assert output.startswith("usr_") and output.count("\n") == 1


def test_create_user_twice_makes_one_account(cluster, anonymous):
    email = f"{secrets.token_hex(6)}@example.org"
    keys = [cluster.create_user(email=email) for _ in range(2)]
    assert keys[0] != keys[1]
    assert len(anonymous.as_key(keys[0]).get("/account/api-keys").json()["keys"]) == 2


@pytest.mark.parametrize("arguments", [
    [], ["--email"], ["--email", ""], ["--email", "nobody"], ["--email", "@"], ["--email", "a@"], ["--email", "a b@c"],
    ["--email", "a@b@c"], ["--email", "a@b\n"], ["--email", "a@" + "b" * 253], ["--email", "a@b", "more"], ["--colour"],
    ["--email", "a@b", "--key-name", ""], ["--email", "a@b", "--key-name", "x" * 201]])
def test_create_user_refuses_invalid_arguments(cluster, arguments):
    with pytest.raises(RuntimeError, match="create-user: (?!a value)"):
        cluster.run("gateway", "create-user", *arguments)


def test_keys_are_revoked_by_their_ids(user, cluster):
    """As after a restored database: the ids are those of the log."""
    made = [user.api.post("/account/api-keys", {"name": name}, expect=201).json() for name in ("one", "two", "kept")]
    user.api.post(f"/account/api-keys/{made[0]['id']}/revoke", expect=200)
    logged = [json.loads(line) for line in cluster["gateway"][0].log().splitlines() if made[0]["id"] in line]
    assert [(one["message"], one["key_id"]) for one in logged] == [("key revoked", made[0]["id"])]
    ids, unknown = [one["id"] for one in made[:2]], str(uuid.uuid4())
    for _ in range(2):
        told = cluster.run("gateway", "revoke-keys", *ids, unknown).splitlines()
        assert told == [*(f"{one} revoked" for one in ids), f"{unknown} unknown"]
    wait_for(lambda: user.api.as_key(made[1]["key"]).get("/account/api-keys").status_code == 401, "the key is refused")
    user.api.as_key(made[2]["key"]).get("/account/api-keys", expect=200)
    with cluster.postgres.connect("account") as db:
        assert [event.type for one in ids for event in common.outbox(db, key_id=one)].count("key.revoked") == 2


def test_changes_of_a_key_are_logged(user, cluster):
    """A restore undoes them, and the log does not say to what."""
    key = user.api.post("/account/api-keys", {"name": "one"}, expect=201).json()["id"]
    user.api.patch(f"/account/api-keys/{key}", {"scopes": ["search:read"], "expires_in_days": 30}, expect=200)
    user.api.patch(f"/account/api-keys/{key}", {"name": "two"}, expect=200)
    logged = [json.loads(line) for line in cluster["gateway"][0].log().splitlines() if key in line]
    assert [(one["message"], one["changes"]) for one in logged] == [("key changed", "scopes expires_in_days"), ("key changed", "name")]


def test_accounts_are_deleted_by_their_ids(user, other_user, cluster):
    user.api.post("/interests", {"name": "Deleted", "context": "Goes with its account."}, expect=201)
    assert cluster.run("gateway", "delete-accounts", user.account) == f"{user.account} deleted\n"
    assert cluster.run("gateway", "delete-accounts", user.account) == f"{user.account} unknown\n"
    with cluster.postgres.connect("interests") as db:
        wait_for(lambda: common.tables_with(db, ["interest"], account_id=user.account) == [], "the interest is deleted")
    wait_for(lambda: user.api.get("/account/api-keys").status_code == 401, "the key is refused")
    other_user.api.get("/account/api-keys", expect=200)


def test_commands_log_what_has_to_be_repeated_after_a_restore(user, other_user, cluster):
    """As the routes do, but on standard error, which the terminal has; whatever LOG_LEVEL says."""
    key, unknown = user.api.post("/account/api-keys", {"name": "one"}, expect=201).json()["id"], str(uuid.uuid4())
    assert cluster.run_logged("gateway", "revoke-keys", key, unknown, LOG_LEVEL="error") == [{"message": "key revoked", "key_id": key}]
    assert cluster.run_logged("gateway", "delete-accounts", other_user.account, unknown, LOG_LEVEL="error") == [
        {"message": "account deleted", "account_id": other_user.account}
    ]


@pytest.mark.parametrize("command", ["revoke-keys", "delete-accounts"])
@pytest.mark.parametrize("ids", [[], ["usr_1"], [str(uuid.uuid4()), "x"]])
def test_what_is_no_id_is_refused(cluster, command, ids):
    with pytest.raises(RuntimeError, match=f"usage: gateway {command} ID" if not ids else f'{command}: "[^"]+" is no id'):
        cluster.run("gateway", command, *ids)
