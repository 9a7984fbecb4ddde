"""Revocation between replicas of the gateway, and no open door when something is away."""

import pytest

from lib.client import Api
from lib.servers import free_port
from lib.wait import wait_for


@pytest.fixture
def second_gateway(cluster):
    """Another gateway, with a port of its own."""
    listen = f"127.0.0.1:{free_port()}"
    process = cluster.add("gateway", LISTEN=listen)
    process.wait_ready()
    yield process
    cluster.recover()
    process.stop()
    cluster["gateway"].remove(process)
    cluster.retired.append(process)


def refused(api):
    return lambda: api.get("/account/api-keys").status_code == 401


def revocations_heard(gateway):
    return gateway.metric("expops_key_revocations_heard_total")


def warm_key(user, gateway):
    """A new key that `gateway` has in its cache: (id, client)."""
    made = user.api.post("/account/api-keys", {"name": "warm"}, expect=201).json()
    client = Api(gateway.url, made["key"])
    for _ in range(4):
        client.get("/account/api-keys", expect=200)
    return made["id"], client


@pytest.mark.parametrize(("method", "suffix"), [("POST", "/revoke"), ("DELETE", "")])
def test_other_replicas_hear_of_it(user, second_gateway, method, suffix):
    """Over Redis: from then on, however long the key might still have been cached."""
    key_id, client = warm_key(user, second_gateway)
    heard = revocations_heard(second_gateway)
    user.api.request(method, f"/account/api-keys/{key_id}{suffix}", expect=200)
    wait_for(lambda: revocations_heard(second_gateway) > heard, "the other replica hears of it")
    client.get("/account/api-keys", expect=401)


def test_without_redis_the_cache_is_the_bound(cluster, user, second_gateway):
    key_id, client = warm_key(user, second_gateway)
    cluster.redis.stop()
    user.api.post(f"/account/api-keys/{key_id}/revoke", expect=200)
    user.api.as_key(client.key).get("/account/api-keys", expect=401)
    wait_for(refused(client), "the cached key is given up")


def test_without_the_database_nobody_new_is_let_in(cluster, user, second_gateway):
    stranger = Api(second_gateway.url, user.key)
    cluster.postgres.stop()
    answer = stranger.get("/search/stats")
    assert answer.status_code == 503
    assert int(answer.headers["Retry-After"]) >= 1
    assert stranger.as_key("usr_" + "0" * 38).get("/search/stats").status_code == 401
    cluster.postgres.start()
    wait_for(lambda: stranger.get("/search/stats").status_code == 200, "the key is good again")


def test_cached_key_does_not_outlive_the_database(cluster, user, second_gateway):
    """By an operation that is not built yet: it asks for a key, and for nothing else."""
    _, client = warm_key(user, second_gateway)
    assert client.get("/fleet/runs", checked=False).status_code == 501
    cluster.postgres.stop()

    def given_up():
        return client.get("/fleet/runs", checked=False).status_code == 503

    wait_for(given_up, "the key is given up")
    assert given_up()
