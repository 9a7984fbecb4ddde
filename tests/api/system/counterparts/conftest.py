"""Fixtures of the tests of the counterparts: each test gets its own programs, without the product, since the tests make
the violations that would end a session."""

import pytest

from lib.outside.counterparts import CodeHost, OAuthProvider
from lib.outside.stub_server import StubServer


@pytest.fixture(scope="module")
def receiver():
    """Where the code host sends its events; `receiver.requests` has them."""
    server = StubServer(lambda request: request.reply(202, "{}"))
    yield server
    server.close()


@pytest.fixture(scope="module")
def host(tmp_path_factory, receiver):
    made = CodeHost(tmp_path_factory.mktemp("code-host"), lambda: receiver.url + "/hook")
    made.start()
    yield made
    made.stop()


@pytest.fixture(scope="module")
def provider(tmp_path_factory):
    made = OAuthProvider(tmp_path_factory.mktemp("oauth"))
    made.start()
    yield made
    made.stop()


@pytest.fixture
def faults(host):
    """faults(): the violations and faults that the test has made so far."""
    before = len(host.check())
    return lambda: host.check()[before:]
