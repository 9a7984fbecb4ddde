"""Revoking keys across replicas of the gateway, and refusing keys while Redis or Postgres is down."""

import pytest

from lib.http.client import Api
from lib.system.servers import free_port
from lib.tables import gateway as gateway_tables
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


def wait_until_refused(api):
    """For less than a key is cached where nobody hears of a change (KEY_CACHE_MS)."""
    wait_for(lambda: api.get("/account/api-keys").status_code == 401, "the cached key is refused", 60)


def warm_key(user, gateway, **members):
    """A new key that `gateway` has in its cache: (id, client)."""
    made = user.api.post("/account/api-keys", {"name": "warm", **members}, expect=201).json()
    client = Api(gateway.url, made["key"])
    for _ in range(4):
        client.get("/account/api-keys", expect=200)
    return made["id"], client


@pytest.mark.parametrize(("method", "suffix"), [("POST", "/revoke"), ("DELETE", "")])
def test_other_replicas_are_notified(user, second_gateway, method, suffix):
    key_id, client = warm_key(user, second_gateway)
    user.api.request(method, f"/account/api-keys/{key_id}{suffix}", expect=200)
    wait_until_refused(client)


def test_without_redis_other_replicas_find_a_revocation_in_the_database(cluster, user, second_gateway):
    key_id, client = warm_key(user, second_gateway)
    cluster.redis.stop()
    user.api.post(f"/account/api-keys/{key_id}/revoke", expect=200)
    user.api.as_key(client.key).get("/account/api-keys", expect=401)
    wait_until_refused(client)


def test_a_revocation_is_found_after_postgres_was_restarted(cluster, user, second_gateway):
    key_id, client = warm_key(user, second_gateway)
    cluster.postgres.stop()
    cluster.postgres.start()
    with cluster.postgres.connect("account") as db:
        gateway_tables.revoke_key(db, key_id)
    wait_until_refused(client)


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
