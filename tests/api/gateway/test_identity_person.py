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
