"""Fixtures of the tests of log-in: gateways at which people log in at a provider, and an account that new persons join."""

import secrets

import pytest

from lib.outside.lying_issuer import LyingIssuer


@pytest.fixture(scope="module")
def team(cluster):
    """The account that new persons of the provider join, as viewers."""
    return cluster.user()


@pytest.fixture(scope="module")
def gateway(cluster, oauth_provider, start_gateway, team):
    """People log in at the strict provider, and join the team if their address is of example.org."""
    join = {"OIDC_JOIN": f"{team.account}:viewer", "OIDC_DOMAINS": "corp.example, example.org", "OIDC_NAME": "Example SSO"}
    with start_gateway(**oauth_provider.login_settings(), **join) as process:
        yield process


@pytest.fixture(scope="module")
def closed_gateway(cluster, oauth_provider, start_gateway):
    """The same, but only who is known or invited may log in."""
    with start_gateway(**oauth_provider.login_settings()) as process:
        yield process


@pytest.fixture(scope="module")
def one_issuer():
    made = LyingIssuer()
    yield made
    made.close()


@pytest.fixture
def issuer(one_issuer):
    one_issuer.reset()
    return one_issuer


@pytest.fixture
def name():
    """Of a user whom no other test has."""
    return f"u{secrets.token_hex(6)}"
