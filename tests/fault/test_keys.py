"""Revoking keys across replicas of the gateway, and refusing keys while Redis or Postgres is down."""

import pytest

from lib.http.client import Api
from lib.system.servers import free_port
from lib.wait import wait_for


@pytest.fixture
def second_gateway(cluster):
    """Another gateway on another port."""
    listen = f"127.0.0.1:{free_port()}"
    process = cluster.add("gateway", LISTEN=listen)
    process.wait_ready()
    yield process
    cluster.recover()
    process.stop()
    cluster["gateway"].remove(process)
    cluster.retired.append(process)


def is_refused(api):
    return lambda: api.get("/account/api-keys").status_code == 401


def revocations_received(gateway):
    return gateway.metric("expops_key_revocations_heard_total")


def warm_key(user, gateway, **members):
    """A new key that `gateway` has in its cache: (id, client)."""
    made = user.api.post("/account/api-keys", {"name": "warm", **members}, expect=201).json()
    client = Api(gateway.url, made["key"])
    for _ in range(4):
        client.get("/account/api-keys", expect=200)
    return made["id"], client


@pytest.mark.parametrize(("method", "suffix"), [("POST", "/revoke"), ("DELETE", "")])
def test_other_replicas_are_notified(user, second_gateway, method, suffix):
    """The message through Redis ends the use of a cached key before the cache's time limit."""
    key_id, client = warm_key(user, second_gateway)
    before = revocations_received(second_gateway)
    user.api.request(method, f"/account/api-keys/{key_id}{suffix}", expect=200)
    wait_for(lambda: revocations_received(second_gateway) > before, "the other replica receives the message")
    client.get("/account/api-keys", expect=401)


def test_without_redis_a_revoked_key_works_until_its_cache_entry_is_stale(cluster, user, second_gateway):
    key_id, client = warm_key(user, second_gateway)
    cluster.redis.stop()
    user.api.post(f"/account/api-keys/{key_id}/revoke", expect=200)
    user.api.as_key(client.key).get("/account/api-keys", expect=401)
    wait_for(is_refused(client), "the cached key is refused")


def test_without_postgres_uncached_keys_are_refused(cluster, user, second_gateway):
    uncached = Api(second_gateway.url, user.key)
    cluster.postgres.stop()
    answer = uncached.get("/search/stats")
    assert answer.status_code == 503
    assert int(answer.headers["Retry-After"]) >= 1
    assert uncached.as_key("usr_" + "0" * 38).get("/search/stats").status_code == 401
    cluster.postgres.start()
    wait_for(lambda: uncached.get("/search/stats").status_code == 200, "the key is accepted again")


def test_without_postgres_cached_keys_are_refused_soon(cluster, user, second_gateway):
    """Asks for what the key's scopes do not allow: the gateway decides that by the key alone."""
    _, client = warm_key(user, second_gateway, scopes=["account:read"])
    client.get("/search/stats", expect=403)
    cluster.postgres.stop()

    def is_unavailable():
        return client.get("/search/stats").status_code == 503

    wait_for(is_unavailable, "the cached key is refused")
    assert is_unavailable()
