"""Fixtures of the tests of svc-integrations."""

import secrets

import pytest

from lib.connections import connect_expired


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
