"""Where tokens and keys are: sealed in the database, and nowhere else."""

import subprocess

import httpx
import pytest

from lib.connections import TOKEN, account_of, begin, whoami
from lib.counterparts import REDIRECT_URI, connect
from lib.identity import identity
from lib.wait import wait_for

CALLBACK = "/integrations/tracker_b/callback"


def dump(cluster):
    """Everything that is in the database, bytea as text too."""
    url = cluster.postgres.url("expops")
    done = subprocess.run(["pg_dump", url], capture_output=True, check=True)
    text = done.stdout.decode(errors="replace")
    hexes = [word.removeprefix("\\\\x") for word in text.split() if word.startswith("\\\\x")]
    return text + "\n".join(bytes.fromhex(word).decode(errors="replace") for word in hexes)


def streams(cluster):
    with cluster.redis.client() as redis:
        rows = [(key, redis.type(key)) for key in redis.keys("*")]
        return repr([redis.xrange(key) if kind == "stream" else key for key, kind in rows])


def test_secrets_are_in_no_log_metric_stream_or_dump(cluster, api, code_host, oauth_provider, expired, login):
    ada = code_host.user()
    key = "good-0f1e2d3c4b5a69788796a5b4c3d2e1f0"
    secrets = {"api key": key, "client secret": cluster.oauth_provider.client["client_secret"]}
    secrets |= {"seal key": cluster.seal_key("test").partition(":")[2], "webhook secret": code_host.webhook_secret}
    secrets["app key"] = code_host.app_key.splitlines()[1]
    expired(api, login)
    body = begin(api, login=login)
    secrets |= {"code": body["code"], "state": body["state"]}
    api.post(CALLBACK, body, expect=200, headers={"Idempotency-Key": "secrets"})
    connect(api, "code_host", ada.login)
    connect(api, "tracker_a", code_host.tracker_user())
    api.post("/integrations/anthropic/connect", {"api_key": key}, expect=200, headers={"Idempotency-Key": "secrets"})
    for provider in ("code_host", "tracker_a", "tracker_b"):
        secrets[provider] = api.get(f"/integrations/{provider}/token", expect=200).json()["access_token"]
    for row in oauth_provider.requests(method="POST", path="^/token$"):
        fields = dict(pair.split("=", 1) for pair in row["body"].split("&"))
        secrets |= {f"{name} {row['number']}": fields[name] for name in ("refresh_token", "code_verifier") if name in fields}
    metrics = "".join(process.metrics() for process in cluster.all())
    places = {"dump": dump(cluster), "streams": streams(cluster), "metrics": metrics, **cluster.logs()}
    assert len(secrets) > 9 and all(len(secret) > 8 for secret in secrets.values())
    assert login in places["dump"] and "\x04test" in places["dump"]  # a sealed text begins with its key's id
    found = [(what, where) for what, secret in secrets.items() for where, text in places.items() if secret in text]
    assert not found


def test_all_rows_move_to_the_first_key(cluster, api, oauth_provider, db, login):
    """SEAL_KEYS="test" becomes "new,test"; reseal moves what there is, and can be repeated; then "new" alone opens all."""
    connect(api, "tracker_b", login)
    api.post("/integrations/zai/connect", {"api_key": "good-key"}, expect=200)
    token = api.get(TOKEN, expect=200).json()["access_token"]
    waiting = begin(api, login=login)
    both = f"{cluster.seal_key('new')},{cluster.seal_key('test')}"
    try:
        told = cluster.run("svc-integrations", "reseal", SEAL_KEYS=both)
        assert int(told.split()[1]) >= 3
        assert cluster.run("svc-integrations", "reseal", SEAL_KEYS=both).split()[1] == "0"
        prefixes = {bytes(row[0][:4]) for row in db.execute("SELECT sealed FROM connection").fetchall()}
        assert prefixes == {b"\x03new"}
        # The running service has the old key only: it refuses, and says so.
        assert "cannot be read" in api.problem("GET", TOKEN, 409, "conflict")["detail"]
        replace(cluster, SEAL_KEYS=cluster.seal_key("new"))
        assert api.get(TOKEN, expect=200).json()["access_token"] == token
        api.post(CALLBACK, waiting, expect=200)
    finally:
        cluster.run("svc-integrations", "reseal", SEAL_KEYS=f"{cluster.seal_key('test')},{cluster.seal_key('new')}")
        replace(cluster, SEAL_KEYS=cluster.seal_key("test"))
    api.get(TOKEN, expect=200)


def replace(cluster, **changes):
    """Restart svc-integrations with changed settings."""
    (process,) = cluster["svc-integrations"]
    process.env.update(changes)
    process.restart()
    process.wait_ready()


def test_a_row_without_its_key_is_told(cluster, api, oauth_provider, login):
    connect(api, "tracker_b", login)
    with pytest.raises(RuntimeError, match="tracker_b does not open"):
        cluster.run("svc-integrations", "reseal", SEAL_KEYS=cluster.seal_key("other"))
    api.get(TOKEN, expect=200)


@pytest.mark.parametrize("keys, why", [
    ("", "SEAL_KEYS"),
    ("a", "id:base64"),
    ("a:AAAA", "32 bytes"),
    (":AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", "id"),
    ("a:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=,a:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", "same id"),
])  # fmt: skip
def test_wrong_keys_are_refused_at_the_start(cluster, keys, why):
    with pytest.raises(RuntimeError, match=why) as raised:
        cluster.run("svc-integrations", "reseal", SEAL_KEYS=keys)
    assert "AAAA" not in str(raised.value)


@pytest.mark.parametrize("name, value", [
    ("OAUTH_REDIRECT_URIS", "https://example.org/a ftp://example.org"),
    ("OAUTH_REDIRECT_URIS", "https://example.org/#a"),
    ("TRACKER_A_TOKEN_URL", "example.org/token"),
])  # fmt: skip
def test_wrong_addresses_are_refused_at_the_start(cluster, name, value):
    with pytest.raises(RuntimeError, match=name):
        cluster.run("svc-integrations", "reseal", **{name: value})


def test_a_provider_without_a_client_is_not_configured(cluster, user, db):
    process = cluster.separate("svc-integrations", "unconfigured", TRACKER_B_CLIENT_ID="", OAUTH_REDIRECT_URIS="")
    process.start()
    try:
        process.wait_ready()
        sender = identity(cluster, "svc-integrations")
        with httpx.Client(base_url=f"{process.url}/api/v1.0/integrations", auth=sender) as client:
            rows = {row["name"]: row["configured"] for row in client.get("/providers").json()}
            assert rows["tracker_b"] is False and rows["tracker_a"] is False and rows["zai"] is True
            for path in ("auth-url", "token"):
                assert client.get(f"/tracker_b/{path}").json()["error"] == "provider_not_configured"
            body = {"code": "x", "redirect_uri": REDIRECT_URI}
            assert client.post("/tracker_b/callback", json=body).json()["error"] == "provider_not_configured"
    finally:
        process.stop()


def test_deleting_the_account_revokes_and_forgets(cluster, user, oauth_provider, db, login):
    """The provider is away at first."""
    made = connect(user.api, "tracker_b", login)
    user.api.post("/integrations/identity/link", {"source": "tracker_b", "external_id": login}, expect=201)
    begin(user.api, login=login)
    token = user.api.get(TOKEN, expect=200).json()["access_token"]
    account = account_of(db, made)
    after = oauth_provider.last_number()
    oauth_provider.fail("POST", "/token/revocation", status=503, times=2)
    user.api.post("/account/delete", {"confirm": True}, expect=200)
    wait_for(lambda: len(oauth_provider.requests(after, "POST", "/token/revocation")) >= 3, "it is asked again")
    wait_for(lambda: whoami(oauth_provider, token) == 401, "the tokens are revoked")
    for table, column in [("connection", "account_id"), ("identity_link", "account_id"), ("authorization_attempt", "account_id"),
                          ("revocation", "account_id"), ("idempotency", "account_id")]:  # fmt: skip
        gone = f"SELECT FROM {table} WHERE {column} = %s"
        wait_for(lambda: not db.execute(gone, [account]).rowcount, f"{table} has nothing of the account")
