"""Keys that services make and revoke at the gateway (libcommon/internal.def), for an account and never for themselves."""

import re
import secrets
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone

import pytest

from lib.http import plain_http
from lib.http.client import Api
from lib.http.identity import Identity, identity
from lib.http.keys import checksum, key_changes_heard
from lib.tables import common
from lib.tables import gateway as gateway_tables
from lib.wait import wait_for

INTEREST = "0197a0b1-c2d3-7e4f-8a5b-6c7d8e9f0a1b"
ABSENT = "0197a0b1-c2d3-7e4f-8a5b-6c7d8e9f0a1c"
KEYS = "/account/api-keys"
CREATE = "/internal/keys/create"


@pytest.fixture
def account(user):
    return user.account


@pytest.fixture
def service(cluster, account):
    """Calls as svc-interests on behalf of the account: service("/internal/keys/get", key_id=...)."""

    def call(path, expect=200, account=account, **body):
        auth = identity(cluster, "gateway", "service", account=account)
        answer = plain_http.request("POST", cluster.gateway_url + path, json=body, auth=auth)
        assert answer.status_code == expect, answer.text
        return answer.json()

    return call


def create(service, expect=200, **changes):
    body = {"name": "agent on acme/ranker", "purpose": "agent", "repo": "acme/ranker", "interest_id": INTEREST, **changes}
    return service(CREATE, expect, **body)


def listed(api):
    return {key["id"]: key for key in api.get(KEYS, expect=200).json()["keys"]}


def events(cluster, account):
    with cluster.postgres.connect("account") as db:
        return gateway_tables.key_events(db, account)


def test_a_provisioned_key_is_a_limited_automation_key(service, api):
    made = create(service, repo_verified=True)
    text = made.pop("key")
    assert re.fullmatch("auto_[0-9A-Za-z]{38}", text) and text[-6:] == checksum(text[:-6])
    assert made.pop("replaced") is None
    assert (made["kind"], made["repo"], made["repo_verified"], made["interest_id"], made["status"]) == (
        "automation", "acme/ranker", True, INTEREST, "active")
    presets = {preset["name"]: preset["scopes"] for preset in api.get(KEYS).json()["presets"]}
    assert made["scopes"] == presets["automation"]
    year = datetime.now(timezone.utc) + timedelta(days=365)
    assert abs(datetime.fromisoformat(made["expires_at"]) - year) < timedelta(minutes=5)
    assert listed(api)[made["id"]] == made == service("/internal/keys/get", key_id=made["id"])
    agent = Api(api.url, text)
    agent.get(f"/interests/{INTEREST}", expect=404)
    agent.problem("GET", f"/interests/{ABSENT}", 403, "forbidden")


def test_the_repository_is_proved_only_where_the_service_says_so(service):
    assert create(service)["repo_verified"] is False


def test_a_second_key_of_a_purpose_replaces_the_first(cluster, account, service, api):
    first = create(service)
    Api(api.url, first["key"]).get("/search/stats", expect=200)
    second = create(service)
    assert second["replaced"] == first["id"] and second["key"] != first["key"]
    Api(api.url, first["key"]).problem("GET", "/search/stats", 401, "invalid_token")
    Api(api.url, second["key"]).get("/search/stats", expect=200)
    other = create(service, purpose="agent on another repository", repo="acme/other")
    assert other["replaced"] is None
    assert [key["id"] for key in listed(api).values() if key["status"] == "active" and key["kind"] == "automation"] == [
        other["id"], second["id"]]
    assert events(cluster, account) == [("key.replaced", first["id"], second["id"])]


def test_concurrent_attempts_leave_one_valid_key(service, api):
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: create(service), range(8)))
    valid = [key["id"] for key in listed(api).values() if key["status"] == "active" and key["kind"] == "automation"]
    assert len(valid) == 1 and valid[0] in [key["id"] for key in made]


def test_a_refused_attempt_keeps_the_former_key(cluster, account, service, api):
    """Also when the bound of keys is reached: a replacement is not one more."""
    made = create(service)
    with cluster.postgres.connect("account") as db:
        gateway_tables.add_keys(db, api.key, 198)
    replacement = create(service)
    assert replacement["replaced"] == made["id"]
    create(service, 409, purpose="another")
    create(service, 401, maker_id=ABSENT)
    assert service("/internal/keys/get", key_id=replacement["id"])["status"] == "active"
    assert events(cluster, account) == [("key.replaced", made["id"], replacement["id"])]


def test_temporary_keys_expire_and_go(cluster, service, api):
    """Several are valid at once; those that have expired do not count in the bound of keys."""
    first, second = (create(service, purpose=None, expires_in_seconds=3600) for _ in range(2))
    hour = datetime.now(timezone.utc) + timedelta(hours=1)
    assert abs(datetime.fromisoformat(first["expires_at"]) - hour) < timedelta(minutes=5)
    with cluster.postgres.connect("account") as db:
        gateway_tables.expire_key(db, first["id"])
    third = create(service, purpose=None, expires_in_seconds=3600)
    assert {second["id"], third["id"]} <= set(listed(api)) and first["id"] not in listed(api)
    assert service("/internal/keys/get", key_id=first["id"])["status"] == "revoked"


def test_a_temporary_key_does_not_outlive_its_maker(service, api):
    maker = api.post(KEYS, {"name": "short", "expires_in_days": 1}, expect=201).json()
    made = create(service, purpose=None, expires_in_seconds=24 * 3600, maker_id=maker["id"])
    assert made["expires_at"] == maker["expires_at"]
    api.post(f"{KEYS}/{maker['id']}/revoke", expect=200)
    create(service, 401, purpose=None, expires_in_seconds=3600, maker_id=maker["id"])


def test_a_key_has_no_scope_that_its_maker_lacks(service, api):
    maker = api.post(KEYS, {"name": "narrow", "scopes": ["account:read", "search:read", "fleet:report"]}, expect=201).json()["id"]
    before = listed(api)
    for refused in (create(service, 403, maker_id=maker), create(service, 403, maker_id=maker, purpose=None, expires_in_seconds=60),
                    service("/internal/keys/check", 403, maker_id=maker)):
        assert refused["error"] == "insufficient_scope"
        assert {"code_host:write", "eval:report"} < set(refused["scope"].split()) and "search:read" not in refused["scope"]
    assert listed(api) == before
    assert create(service, maker_id=maker, scopes=["search:read", "fleet:report"])["scopes"] == ["search:read", "fleet:report"]


def test_a_check_answers_as_the_creation_would(service, api):
    maker = api.post(KEYS, {"name": "wide"}, expect=201).json()["id"]
    assert service("/internal/keys/check", maker_id=maker)["scopes"] == create(service, maker_id=maker)["scopes"]
    service("/internal/keys/check", 401, maker_id=ABSENT)
    api.post(f"{KEYS}/{maker}/revoke", expect=200)
    service("/internal/keys/check", 401, maker_id=maker)
    service("/internal/keys/check", 400)


def temporary(service, **changes):
    return create(service, purpose=None, expires_in_seconds=3600, **changes)


def valid(api, *keys):
    return [Api(api.url, key["key"]).get("/search/stats").status_code == 200 for key in keys]


def test_a_sixth_temporary_key_of_an_interest_ends_the_oldest(cluster, account, service, api):
    of_another, agent = temporary(service, interest_id=ABSENT), create(service)
    first, *others = [temporary(service) for _ in range(5)]
    assert valid(api, first, *others) == [True] * 5
    sixth = temporary(service)
    assert sixth["replaced"] == first["id"]
    assert valid(api, first, *others, sixth, of_another, agent) == [False] + [True] * 7
    assert first["id"] not in listed(api)
    assert events(cluster, account) == [("key.replaced", first["id"], sixth["id"])]


def test_concurrent_temporary_keys_are_bounded(service, api):
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: temporary(service), range(12)))
    assert sum(valid(api, *made)) == 5


def test_temporary_keys_are_counted_apart(cluster, service, api):
    """They take no room of the account's 200 keys, and need none of it."""
    for number in range(3):
        temporary(service, interest_id=f"{ABSENT[:-1]}{number}")
    with cluster.postgres.connect("account") as db:
        gateway_tables.add_keys(db, api.key, 198)
    api.post(KEYS, {"name": "the 200th"}, expect=201)
    api.problem("POST", KEYS, 409, "conflict", {"name": "one more"})
    assert valid(api, temporary(service)) == [True]


def test_scopes_can_only_be_fewer(service):
    assert create(service, scopes=["fleet:report", "search:read"])["scopes"] == ["search:read", "fleet:report"]
    problem = create(service, 400, scopes=["account:write"], expires_in_seconds=0, repo="acme", interest_id=None)
    assert {fault["field"] for fault in problem["errors"]} == {"expires_in_seconds", "repo", "interest_id"}
    for scopes in (["account:write"], ["everything"]):
        assert create(service, 400, scopes=scopes)["errors"][0]["field"] == "scopes"
    assert create(service, 400, purpose=None)["errors"][0]["field"] == "expires_in_seconds"


def test_a_service_revokes(cluster, account, service, api):
    made = create(service)
    agent = Api(api.url, made["key"])
    agent.get("/search/stats", expect=200)
    revoked = service("/internal/keys/revoke", key_id=made["id"])
    assert revoked["status"] == "revoked"
    agent.problem("GET", "/search/stats", 401, "invalid_token")
    assert service("/internal/keys/revoke", key_id=made["id"]) == revoked
    api.delete(f"{KEYS}/{made['id']}", expect=200)
    assert service("/internal/keys/revoke", key_id=made["id"])["status"] == "revoked"
    assert events(cluster, account) == [("key.revoked", made["id"], None)] * 2  # by the service, and the deletion


def test_a_service_revokes_the_key_of_a_purpose(cluster, account, service, api):
    """Which it may have made without hearing of it."""
    service("/internal/keys/revoke", 404, purpose="agent")
    made, other = create(service, purpose="agent"), create(service, purpose="another")
    assert service("/internal/keys/revoke", purpose="agent") == {**listed(api)[made["id"]], "status": "revoked"}
    assert {listed(api)[key["id"]]["status"] for key in (made, other)} == {"revoked", "active"}
    assert events(cluster, account) == [("key.revoked", made["id"], None)]
    service("/internal/keys/revoke", 404, purpose="agent")
    service("/internal/keys/revoke", 404, account=ABSENT, purpose="another")
    for named in ({}, {"key_id": made["id"], "purpose": "agent"}):
        assert service("/internal/keys/revoke", 400, **named)["errors"][0]["field"] == "key_id"


def test_a_revocation_by_a_service_reaches_other_replicas(pair, pair_user_key):
    account, api = pair_user_key
    auth = identity(pair, "gateway", "service", account=account)
    body = {"name": "a", "purpose": "b", "repo": "a/b", "interest_id": INTEREST}
    made = plain_http.post(pair["gateway"][0].url + CREATE, json=body, auth=auth).json()
    agents = [Api(gateway.url, made["key"]) for gateway in pair["gateway"]]
    for agent in agents:
        for _ in range(4):
            agent.get("/search/stats", expect=200)
    plain_http.post(pair["gateway"][0].url + "/internal/keys/revoke", json={"key_id": made["id"]}, auth=auth)
    agents[0].get("/search/stats", expect=401)
    wait_for(lambda: agents[1].get("/search/stats").status_code == 401, "the other replica refuses the key")


def test_a_key_that_replaces_none_leaves_the_caches_alone(pair, pair_user_key):
    account, api = pair_user_key
    auth = identity(pair, "gateway", "service", account=account)
    made_by, other = pair["gateway"]
    body = {"name": "agent", "purpose": "agent", "repo": "acme/ranker", "interest_id": INTEREST}
    before = key_changes_heard(other)
    first = plain_http.post(made_by.url + CREATE, json=body, auth=auth).json()
    agent = Api(other.url, first["key"])
    agent.get("/search/stats", expect=200)
    plain_http.post(made_by.url + CREATE, json=body, auth=auth)
    wait_for(lambda: agent.get("/search/stats").status_code == 401, "the other replica refuses the key that was replaced")
    assert key_changes_heard(other) == before + 1


def test_a_revocation_leaves_the_keys_of_other_accounts_cached(pair):
    made_by, other = pair["gateway"]
    user = pair.user()
    body = {"name": "agent", "purpose": "agent", "repo": "acme/ranker", "interest_id": INTEREST}

    def is_cached_still():
        """Not if the machine took longer than a key is cached, or was to be read again."""
        auth = identity(pair, "gateway", "service", account=pair.user().account)
        made = plain_http.post(made_by.url + CREATE, json=body, auth=auth).json()
        revoked, cached = Api(other.url, made["key"]), Api(other.url, user.key)
        for key in (revoked, cached):
            key.get("/search/stats", expect=200)
        plain_http.post(made_by.url + "/internal/keys/revoke", json={"key_id": made["id"]}, auth=auth)
        wait_for(lambda: revoked.get("/search/stats").status_code == 401, "the other replica refuses the key")
        before = lookups(other, "asked")
        cached.get("/search/stats", expect=200)
        return lookups(other, "asked") == before

    wait_for(is_cached_still, "the key of another account is not looked up again")


def lookups(gateway, outcome):
    (line,) = re.findall(rf'^expops_key_lookups_total{{outcome="{outcome}"}} (\d+)', gateway.metrics(), re.MULTILINE)
    return int(line)


@pytest.fixture
def pair_user_key(pair):
    made = pair.user()
    return made.account, made.api


def test_services_have_no_keys_of_users(service, api):
    """Nor those of other accounts."""
    for kind in ("personal", "automation"):
        own = api.post(KEYS, {"name": "mine", "kind": kind}, expect=201).json()
        service("/internal/keys/get", 404, key_id=own["id"])
        service("/internal/keys/revoke", 404, key_id=own["id"])
        assert listed(api)[own["id"]]["status"] == "active"
    made = create(service)
    service("/internal/keys/get", 404, account=ABSENT, key_id=made["id"])
    service("/internal/keys/revoke", 404, account=ABSENT, key_id=made["id"])
    create(lambda path, expect, **body: service(path, expect, account=ABSENT, **body), 404)
    Api(api.url, made["key"]).get("/search/stats", expect=200)


def test_without_a_signature_the_path_does_not_exist(cluster, api, anonymous):
    for client in (api, anonymous):
        unknown = client.http.post("/internal/nothing", json={})
        answer = client.http.post(CREATE, json={})
        assert answer.status_code == unknown.status_code == 404
        assert {**answer.json(), "instance": ""} == {**unknown.json(), "instance": ""}


def test_only_the_listed_services_have_keys(cluster, account):
    """A process signs as itself only, and for what it is listed for."""
    body = {"name": "a", "purpose": "b", "repo": "a/b", "interest_id": INTEREST}

    def status(secret, sender, kind="service", receiver="gateway", path=CREATE):
        auth = Identity(secret, sender, receiver, kind, account=account)
        return plain_http.post(cluster.gateway_url + path, json=body, auth=auth).status_code

    own = cluster.pair_secret("svc-interests", "gateway")
    assert status(own, "svc-interests") == 200
    assert status(own, "svc-interests", kind="personal") == 404
    assert status(own, "svc-interests", path="/internal/assets/lookup") == 404
    for thief in ("svc-search", "svc-experiments", "svc-integrations"):
        stolen = [cluster.pair_secret(thief, other) for other in cluster.calls[thief]]
        stolen += [cluster.pair_secret(other, thief) for other in cluster.calls if thief in cluster.calls[other]]
        for secret in [*stolen, secrets.token_hex(32)]:
            for sender in (thief, "svc-interests", "gateway"):
                is_its_own = sender == thief and secret == cluster.pair_secret(thief, "gateway")
                assert status(secret, sender) == (404 if is_its_own and "gateway" in cluster.calls[thief] else 421), (thief, sender)
    assert status(own, "gateway") == status(own, "svc-fleet") == 421
    assert status(own, "svc-interests", receiver="svc-search") == 421


def test_the_text_is_stored_nowhere(cluster, service):
    text = create(service)["key"]
    with cluster.postgres.connect("account") as db:
        for table in ("api_key", "outbox", "idempotency"):
            assert text[12:] not in common.rows_as_text(db, table)
    assert not [name for name, log in cluster.logs().items() if text[12:] in log]
