"""Somebody has stolen one process: its database role, its Redis user and its secrets. They give access to what the process
itself may use, and to nothing of the others."""

import secrets

import psycopg
import pytest
import redis

from lib.http import api_def, plain_http
from lib.http.identity import Identity, identity
from lib.system.servers import ROOT, read_processes

PROCESSES = {name: schema for name, schema, _ in read_processes()}
MISDIRECTED = 421  # the answer to a request that is not signed for its receiver
SERVICES = [name for name in PROCESSES if name != "gateway"]

INTERNAL = api_def.internal_operations()
PUBLIC_CALLERS = api_def.public_callers()
OPERATIONS = [op for op in api_def.operations() if op.process in SERVICES and "GONE" not in op.flags]


# {stream: (writer, readers)}
STREAMS = {
    "events.account": ("gateway", {"svc-interests", "svc-experiments", "svc-fleet", "svc-integrations", "svc-evalenv"}),
    "events.experiments": ("svc-experiments", {"svc-fleet", "svc-integrations", "svc-interests"}),
    "events.code_host": ("svc-integrations", {"gateway", "svc-evalenv", "svc-experiments", "svc-fleet", "svc-integrations", "svc-interests"}),
    "events.runs": ("svc-fleet", {"svc-experiments", "svc-integrations", "svc-interests"}),
    "events.eval": ("svc-evalenv", {"svc-experiments", "svc-integrations"}),
    "events.assets": ("svc-search", {"svc-integrations", "svc-interests"}),
    "events.interests": ("svc-interests", {"svc-integrations"}),
    "events.audit.account": ("gateway", {"gateway"}),
} | {f"events.audit.{name}": (f"svc-{name}", {"gateway"}) for name in ("evalenv", "experiments", "fleet", "integrations", "interests", "search")}


@pytest.fixture(params=PROCESSES)
def thief(request):
    return request.param


def others(thief):
    return [name for name in PROCESSES if name != thief]


# Postgres


@pytest.fixture
def database(cluster, thief):
    """A connection as the role of the stolen process."""
    role = "expops_" + thief.removeprefix("svc-")
    with psycopg.connect(cluster.postgres.url(role), autocommit=True) as connection:
        yield connection


def refused(connection, statement):
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        connection.execute(statement)


def test_its_role_sees_no_other_schema(cluster, database, thief):
    for name in others(thief):
        schema = PROCESSES[name]
        with cluster.postgres.connect() as owner:
            tables = [row[0] for row in owner.execute("SELECT tablename FROM pg_tables WHERE schemaname = %s", [schema])]
        assert "outbox" in tables
        for table in tables:
            refused(database, f"SELECT FROM {schema}.{table}")
            refused(database, f"DELETE FROM {schema}.{table}")
        refused(database, f"SELECT {schema}.uuid_v7()")
        refused(database, f"CREATE TABLE {schema}.mine ()")
        refused(database, f"SET ROLE expops_{name.removeprefix('svc-')}")


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE SCHEMA mine",
        "CREATE TABLE public.mine ()",
        "CREATE TEMPORARY TABLE mine ()",
        "CREATE ROLE mine",
        "CREATE DATABASE mine",
        "ALTER ROLE expops PASSWORD 'mine'",
        "ALTER SYSTEM SET work_mem = '1GB'",
        "COPY (SELECT) TO PROGRAM 'true'",
        "SELECT pg_read_file('PG_VERSION')",
        "SELECT pg_reload_conf()",
        "SELECT passwd FROM pg_shadow",
        "CREATE EXTENSION dblink",
    ],
)
def test_its_role_changes_nothing_of_the_server(database, statement):
    refused(database, statement)


def test_its_role_ends_no_session_of_others(cluster, database, thief):
    with cluster.postgres.connect() as owner:
        rows = owner.execute(
            "SELECT DISTINCT ON (usename) usename, pid FROM pg_stat_activity WHERE usename LIKE 'expops_%'"
        ).fetchall()
    foreign = [pid for role, pid in rows if role != "expops_" + thief.removeprefix("svc-")]
    assert foreign
    for pid in foreign:
        refused(database, f"SELECT pg_terminate_backend({pid})")
        refused(database, f"SELECT pg_cancel_backend({pid})")


def test_its_role_connects_to_no_other_database(cluster, thief):
    role = "expops_" + thief.removeprefix("svc-")
    for name in ("postgres", "template1"):
        with pytest.raises(psycopg.OperationalError, match="permission denied for database"):
            psycopg.connect(cluster.postgres.url(role, name))


def test_nothing_waits_for_locks_that_every_role_can_take(cluster):
    """Advisory locks are of the whole database."""
    with cluster.postgres.connect() as owner:
        users = owner.execute(
            "SELECT proname FROM pg_proc JOIN pg_namespace n ON n.oid = pronamespace "
            "WHERE nspname = ANY (%s) AND prosrc LIKE '%%advisory%%'",
            [list(PROCESSES.values())],
        ).fetchall()
    assert not users
    for folder in ("libcommon", "gateway", "svc-*"):
        for path in ROOT.glob(f"{folder}/**/*.sql"):
            assert "migrations" in path.parts or "advisory" not in path.read_text(), path


# Redis


@pytest.fixture
def store(cluster, thief):
    """A client as the Redis user of the stolen process."""
    with cluster.redis.client(thief) as client:
        yield client


def denied(store, *command):
    with pytest.raises(redis.exceptions.NoPermissionError):
        store.execute_command(*command)


def test_its_user_writes_only_its_own_streams(store, thief):
    for stream, (writer, readers) in STREAMS.items():
        if writer == thief:
            continue
        denied(store, "XADD", stream, "*", "type", "account.deleted")
        denied(store, "XTRIM", stream, "MAXLEN", "0")
        denied(store, "XDEL", stream, "1-1")
        denied(store, "DEL", stream)
        denied(store, "XGROUP", "DESTROY", stream, "svc-interests")
        denied(store, "XREADGROUP", "GROUP", "svc-interests", "mine", "STREAMS", stream, ">")
        with pytest.raises(redis.exceptions.ResponseError, match="ACL|permission|NOPERM"):
            store.eval("return redis.call('XADD', KEYS[1], '*', 'type', 'account.deleted')", 1, stream)
        denied(store, "XGROUP", "CREATE", stream, "mine", "0")
        denied(store, "XGROUP", "SETID", stream, "svc-interests", "$")
        if thief not in readers:
            denied(store, "XRANGE", stream, "-", "+")


def test_its_user_changes_no_position_of_other_readers(store, thief):
    """Nor does it answer what they ask of the writer."""
    for stream, (writer, readers) in STREAMS.items():
        for reader in readers - {thief}:
            position, replay = f"{stream}.position.{reader}", f"{stream}.replay.{reader}"
            denied(store, "SET", position, "9-9")
            denied(store, "DEL", position)
            denied(store, "SET", replay, "0 0")
            if writer == thief:
                store.get(position)
                store.get(replay)
            else:
                denied(store, "GET", position)
                denied(store, "DEL", replay)


def test_its_user_has_no_key_or_channel_of_others(store, thief):
    for name in others(thief):
        for key in ("jobs", "entries", "batch", "fence", "events.dead"):
            denied(store, "XADD", f"{key}.{name}", "*", "a", "b")
            denied(store, "XRANGE", f"{key}.{name}", "-", "+")
            denied(store, "GET", f"{key}.{name}")
            denied(store, "DEL", f"{key}.{name}")
            with pytest.raises(redis.exceptions.ResponseError, match="ACL|permission|NOPERM"):
                store.eval("return redis.call('GET', KEYS[1])", 1, f"{key}.{name}")
        denied(store, "PUBLISH", f"keys.{name}", "x")
        denied(store, "SUBSCRIBE", f"keys.{name}")
    denied(store, "SET", "mine", "x")
    denied(store, "PUBLISH", "mine", "x")


@pytest.mark.parametrize(
    "command",
    ["FLUSHALL", "FLUSHDB", "CONFIG GET *", "CONFIG SET maxmemory 1", "KEYS *", "SCAN 0", "RANDOMKEY", "DBSIZE",
     "ACL LIST", "ACL SETUSER mine on", "CLIENT LIST", "CLIENT KILL TYPE normal", "MONITOR", "SHUTDOWN",
     "SCRIPT FLUSH", "SCRIPT KILL", "FUNCTION FLUSH", "MODULE LIST", "REPLICAOF NO ONE", "SAVE", "SWAPDB 0 1",
     "PUBSUB CHANNELS", "SLOWLOG GET", "MIGRATE 127.0.0.1 1 jobs.gateway 0 1"],
)  # fmt: skip
def test_its_user_has_no_command_of_an_operator(store, command):
    denied(store, *command.split())


def test_its_user_can_do_its_work(store, thief):
    """So that the refusals above are not those of a user who may do nothing."""
    key = f"test.{thief}"
    assert store.xadd(key, {"a": "b"})
    assert store.eval("return redis.call('XLEN', KEYS[1])", 1, key) == 1
    store.delete(key)
    for stream, (writer, readers) in STREAMS.items():
        if thief == writer or thief in readers:
            store.xlen(stream)


# Secrets


def parse_secrets(text):
    """{process: [secret]} of IDENTITY_SIGN_SECRETS and IDENTITY_VERIFY_SECRETS."""
    return {name: known.split(",") for name, _, known in (pair.partition("=") for pair in text.split())}


def secrets_of(cluster, name):
    settings = cluster.secrets_of(name)
    return parse_secrets(settings["IDENTITY_SIGN_SECRETS"]), parse_secrets(settings["IDENTITY_VERIFY_SECRETS"])


def may_use(operation, caller):
    return caller in PUBLIC_CALLERS.get(operation.id, ())


def test_each_process_holds_only_the_secrets_that_it_needs(cluster, thief):
    signs, verifies = secrets_of(cluster, thief)
    called = {service for _, _, service, callers in INTERNAL if thief in callers}
    called |= {op.process for op in OPERATIONS if thief == "gateway" or may_use(op, thief)}
    assert set(signs) == called
    assert thief not in verifies and ("gateway" in verifies) == (thief != "gateway")
    for name in others(thief):
        other_signs, other_verifies = secrets_of(cluster, name)
        shared = {secret for known in (*signs.values(), *verifies.values()) for secret in known}
        foreign = [known for peer, known in [*other_signs.items(), *other_verifies.items()] if peer != thief]
        assert not shared & {secret for known in foreign for secret in known}
        assert cluster.secrets_of(name)["SEAL_SECRETS"] != cluster.secrets_of(thief)["SEAL_SECRETS"]


def call(cluster, receiver, method, path, auth):
    url = cluster.url(receiver) + path
    body = None if method in ("GET", "DELETE") else {}
    return plain_http.request(method, url, json=body, auth=auth).status_code


def target_of(operation):
    return operation.target(**{name: "00000000-0000-7000-8000-000000000000" for name in operation.parameters})


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_uses_no_operation_that_is_not_listed(cluster, user, name):
    signs, _ = secrets_of(cluster, name)
    for receiver, (secret,) in signs.items():
        for op in OPERATIONS:
            if op.process != receiver:
                continue
            for kind in ("service", "personal", "automation"):
                status = call(cluster, receiver, op.method, target_of(op), Identity(secret, name, receiver, kind))
                assert (status != 403) == (kind == "service" and may_use(op, name)), op.id
        for method, path, service, callers in INTERNAL:
            if service != receiver:
                continue
            for kind in ("service", "personal"):
                status = call(cluster, receiver, method, path, Identity(secret, name, receiver, kind))
                assert (status != 404) == (kind == "service" and name in callers), path


def test_a_process_cannot_sign_as_another(cluster, thief):
    """With any secret that it has, as any sender, for any receiver."""
    signs, verifies = secrets_of(cluster, thief)
    known = {secret for values in (*signs.values(), *verifies.values()) for secret in values}
    for receiver in SERVICES:
        if receiver == thief:
            continue
        path = target_of(next(op for op in OPERATIONS if op.process == receiver and op.method == "GET"))
        for sender in PROCESSES:
            for secret in known - {cluster.pair_secret(thief, receiver)} | {secrets.token_hex(32)}:
                for kind in ("personal", "service"):
                    auth = Identity(secret, sender, receiver, kind)
                    assert call(cluster, receiver, "GET", path, auth) == MISDIRECTED
            if sender != thief and receiver in signs:
                auth = Identity(signs[receiver][0], sender, receiver, "personal")
                assert call(cluster, receiver, "GET", path, auth) == MISDIRECTED


def test_a_captured_signature_is_good_for_its_request_only(cluster):
    path = "/api/v1.0/experiments?limit=5"
    value = identity(cluster, "svc-experiments").header("GET", path, "captured")
    headers = {"X-Expops-Identity": value, "X-Request-Id": "captured"}

    def send(method, target, changed=()):
        url = cluster.url("svc-experiments") + target
        return plain_http.request(method, url, headers={**headers, **dict(changed)}).status_code

    assert send("GET", path) == 200
    assert send("GET", path + "0") == MISDIRECTED
    assert send("GET", "/api/v1.0/experiments") == MISDIRECTED
    assert send("GET", "/api/v1.0/projects?limit=5") == MISDIRECTED
    assert send("POST", path) == MISDIRECTED
    assert send("HEAD", path) == MISDIRECTED
    assert send("GET", path, {"X-Request-Id": "other"}) == MISDIRECTED
    assert send("GET", path, {"X-Expops-Identity": value[:-1]}) == MISDIRECTED
    url = cluster.url("svc-search") + path
    assert plain_http.get(url, headers=headers).status_code == MISDIRECTED
    del headers["X-Expops-Identity"]
    assert send("GET", path) == 401


# Clocks


@pytest.mark.parametrize("age_ms", [61000, -61000, 3600000])
def test_clocks_that_differ_are_logged_and_our_fault(cluster, age_ms):
    """The log has both times. A captured signature that is used too late looks the same."""
    path = "/api/v1.0/experiments"
    (process,) = cluster["svc-experiments"]
    auth = identity(cluster, "svc-experiments", age_ms=age_ms)
    answer = plain_http.get(cluster.url("svc-experiments") + path, auth=auth)
    assert answer.status_code == 503
    assert answer.json()["error"] == "unavailable" and "clocks" in answer.json()["detail"]
    line = [line for line in process.log().splitlines() if "the clocks of two processes differ too much" in line][0]
    assert '"sender":"gateway"' in line and '"signed_at":"2' in line and '"own_time":"2' in line
