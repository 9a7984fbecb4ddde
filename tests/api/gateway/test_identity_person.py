"""Which person is behind a key: the gateway tells services once it may (IDENTITY_PERSON), and they take both forms."""

import secrets

from lib.http.client import Api
from lib.outside.counterparts import connect
from lib.tables import integrations as integrations_tables


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
