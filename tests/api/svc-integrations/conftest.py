"""Fixtures of the tests of svc-integrations, and of its callers."""

import secrets
from dataclasses import dataclass

import pytest

from lib.http import plain_http
from lib.system.cluster import Cluster, User
from lib.scenario.connections import connect_expired
from lib.outside.counterparts import CodeHostUser, connect
from lib.http.identity import identity
from lib.outside.webhooks import Hook


@pytest.fixture
def db(cluster):
    """A connection to the schema as the owner of the database."""
    with cluster.postgres.connect("integrations") as connection:
        yield connection


@pytest.fixture
def login():
    """A user of the OAuth provider that no other test uses."""
    return f"user-{secrets.token_hex(4)}"


@pytest.fixture
def expired(oauth_provider):
    """expired(api, login): connect tracker_b with a token that is about to expire; returns the connection."""

    def make(api, login):
        return connect_expired(oauth_provider, api, login)

    return make


@dataclass
class Developer:
    """An account whose connection is that of a user of the code host."""

    cluster: Cluster
    user: User
    at_host: CodeHostUser

    @property
    def api(self):
        return self.user.api

    @property
    def login(self):
        return self.at_host.login

    def call(self, operation, body, expect=200, sender="svc-interests", url=None, claims=None):
        """An operation of /internal/code-host/, asked by another service on behalf of the account."""
        auth = identity(self.cluster, "svc-integrations", "service", sender=sender, account=self.account, **(claims or {}))
        url = url or self.cluster.url("svc-integrations")
        answer = plain_http.post(f"{url}/internal/code-host/{operation}", json=body, auth=auth)
        assert answer.status_code == expect, f"{operation}: {answer.status_code} {answer.text}"
        return answer.json()

    @property
    def account(self):
        return self.user.account


@pytest.fixture(scope="module")
def new_developer(cluster, code_host):
    """new_developer(): a new account, connected as a new user of the code host, or as the one given."""

    def make(at_host=None):
        user, at_host = cluster.user(), at_host or code_host.user()
        connect(user.api, "code_host", at_host.login)
        return Developer(cluster, user, at_host)

    return make


@pytest.fixture(scope="module")
def ada(new_developer):
    """A developer; her repositories are in repo and others that tests make."""
    return new_developer()


@pytest.fixture(scope="module")
def stranger(new_developer):
    """Another developer, who can push to nothing of ada's."""
    return new_developer()


@pytest.fixture(scope="module")
def installation(code_host, ada):
    """The installation of the app on all of ada's repositories."""
    return code_host.install(ada.login)


@pytest.fixture
def repo(code_host, ada, installation):
    """A new repository of ada's."""
    return code_host.repository(ada.login)


@pytest.fixture(scope="session")
def hook(cluster):
    """Sends deliveries of the code host, as its app's webhook."""
    return Hook(cluster)
