"""Keys that seal, settings that are checked at the start, and what is left of a deleted account."""

import pytest

from lib.http import plain_http
from lib.scenario.connections import TOKEN, begin, whoami
from lib.outside.counterparts import REDIRECT_URI, connect
from lib.http.identity import identity
from lib.tables import common
from lib.tables import integrations as integrations_tables
from lib.wait import wait_for

CALLBACK = "/integrations/tracker_b/callback"


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
        assert integrations_tables.key_names(db) == {b"\x03new"}
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
    process = cluster.separate("svc-integrations", "unconfigured", TRACKER_B_CLIENT_ID="", OAUTH_REDIRECT_URIS="", PUBLIC_URL="",
                               SMTP_URL="")
    process.start()
    try:
        process.wait_ready()
        sender = identity(cluster, "svc-integrations")
        with plain_http.client(base_url=f"{process.url}/api/v1.0/integrations", auth=sender) as client:
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
    connect(user.api, "tracker_b", login)
    user.api.post("/integrations/identity/link", {"source": "tracker_b", "external_id": login}, expect=201)
    begin(user.api, login=login)
    token = user.api.get(TOKEN, expect=200).json()["access_token"]
    after = oauth_provider.last_number()
    oauth_provider.fail("POST", "/token/revocation", status=503, times=2)
    user.api.post("/account/delete", {"confirm": True}, expect=200)
    wait_for(lambda: len(oauth_provider.requests(after, "POST", "/token/revocation")) >= 3, "it is asked again")
    wait_for(lambda: whoami(oauth_provider, token) == 401, "the tokens are revoked")
    tables = ["connection", "identity_link", "authorization_attempt", "revocation", "idempotency"]
    wait_for(lambda: common.tables_with(db, tables, account_id=user.account) == [], "nothing of the account is left")
