"""Which person is behind a key: the gateway tells services once it may (IDENTITY_PERSON), and they take both forms."""

import secrets
import uuid

from lib.http.client import Api
from lib.outside.counterparts import connect
from lib.scenario.team import add_member
from lib.tables import integrations as integrations_tables
from lib.tables import interests as interests_tables


def test_services_take_both_forms_of_the_identity(cluster, start_gateway, user, oauth_provider):
    person = user.api.get("/team", expect=200).json()["you"]["person_id"]
    (key,) = user.api.get("/account/api-keys", expect=200).json()["keys"]
    agent = user.api.post("/account/api-keys", {"name": "agent", "kind": "automation", "scopes": ["integrations:read", "integrations:write"]}, expect=201).json()
    with start_gateway(IDENTITY_PERSON="true") as naming, cluster.postgres.connect("integrations") as db:
        for url, text, maker in (
            (naming.url, user.key, (key["id"], person)),
            (cluster.gateway_url, user.key, (key["id"], None)),
            (naming.url, agent["key"], (agent["id"], None)),
            (naming.url, user.key, (key["id"], person)),
        ):
            made = connect(Api(url, text), "tracker_b", f"user-{secrets.token_hex(4)}")
            assert integrations_tables.maker_of(db, made["id"]) == maker


def test_rows_keep_who_made_them(cluster, start_gateway, user):
    person = user.api.get("/team", expect=200).json()["you"]["person_id"]
    member = add_member(cluster, user.account, "member")
    interest = user.api.post("/interests", {"name": "i", "context": "Attention over long sequences."}, expect=201).json()["id"]
    with start_gateway(IDENTITY_PERSON="true") as naming, cluster.postgres.connect("interests") as db:
        recommendation = interests_tables.add_recommendation(db, interest, "2401.00001")
        for url, key, who in (
            (cluster.gateway_url, user.key, None),
            (naming.url, user.key, person),
            (naming.url, member.api.key, member.person),
        ):
            Api(url, key).post(f"/papers/recommended/{recommendation}/feedback", {"signal": "like"}, expect=200)
            assert interests_tables.givers_of(db, recommendation) == {"like": who}
        for url, who in ((cluster.gateway_url, None), (naming.url, person)):
            link = {"source": "tracker_a", "external_id": secrets.token_hex(4), "person_id": str(uuid.uuid4())}
            made = Api(url, user.key).post("/integrations/identity/link", link, expect=201).json()
            assert (made["user_id"], made["person_id"]) == (user.account, who)


def test_feeds_and_endpoints_show_who_made_them(cluster, start_gateway, user):
    """An endpoint, who gave it its address last."""
    owner, admin = user.api.get("/team", expect=200).json()["you"]["person_id"], add_member(cluster, user.account, "admin")
    with start_gateway(IDENTITY_PERSON="true") as naming:
        naming_owner, naming_admin = (Api(naming.url, api.key) for api in (user.api, admin.api))
        assert naming_admin.post("/papers/recommended/feeds", {}, expect=201).json()["person_id"] == admin.person
        body = {"kind": "webhook", "url": "https://hooks.example.org/", "events": ["*"]}
        made = naming_admin.post("/webhooks", body, expect=201).json()
        path = f"/webhooks/{made['id']}"
        assert naming_owner.patch(path, {"name": "renamed"}, expect=200).json()["person_id"] == made["person_id"] == admin.person
        assert naming_owner.patch(path, {"url": "https://hooks.example.org/other"}, expect=200).json()["person_id"] == owner
    (shown,) = user.api.get("/papers/recommended/feeds", expect=200).json()
    assert shown["person_id"] == admin.person
