"""Deleting an account, and the command create-user."""

import secrets

import pytest

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
    with cluster.postgres.connect() as connection:
        count = "SELECT count(*) FROM interests.interest WHERE account_id = %s"
        assert connection.execute(count, [user.account]).fetchone() == (1,)
        user.api.post("/account/delete", {"confirm": True}, expect=200)
        wait_for(lambda: connection.execute(count, [user.account]).fetchone() == (0,), "the interest is deleted")


def test_deletion_removes_keys_and_stored_answers(user, cluster):
    user.api.post("/account/api-keys", {"name": "once"}, headers={"Idempotency-Key": "k"}, expect=201)
    with cluster.postgres.connect() as connection:
        user.api.post("/account/delete", {"confirm": True}, expect=200)
        for table in ("api_key", "idempotency"):
            count = f"SELECT count(*) FROM account.{table} WHERE account_id = %s"
            assert connection.execute(count, [user.account]).fetchone() == (0,)


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
