"""TLS to Postgres, with the server's certificate and name verified."""

from contextlib import contextmanager

import pytest

from lib.http import plain_http
from lib.outside.certificate import make_certificate
from lib.wait import wait_for


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    """That of the server, another one for its names, and one for another name; each is its own authority."""
    names = {"own": ["localhost", "127.0.0.1"], "foreign": ["localhost", "127.0.0.1"], "misnamed": ["other.example"]}
    return {name: make_certificate(tmp_path_factory.mktemp(name), *hosts) for name, hosts in names.items()}


@contextmanager
def connecting(cluster, host, authority):
    """A gateway that connects to Postgres by this name and trusts this authority."""
    url = cluster.postgres.url("expops_gateway").replace("127.0.0.1", host)
    verified = f"{url}?sslmode=verify-full&sslrootcert={authority}"
    process = cluster.separate("gateway", f"tls-{host}", DATABASE_URL=verified, DATABASE_DIRECT_URL=verified)
    process.start()
    try:
        yield process
    finally:
        process.stop()


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_a_verified_server_is_used(cluster, user, certificates, host):
    with cluster.postgres.with_tls(*certificates["own"]):
        with connecting(cluster, host, certificates["own"][0]) as process:
            process.wait_ready()
            headers = {"Authorization": f"Bearer {user.key}"}
            assert plain_http.get(process.url + "/api/v1.0/account/api-keys", headers=headers).status_code == 200


@pytest.mark.parametrize(("served", "trusted", "reason"), [
    ("own", "foreign", "certificate verify failed"), ("misnamed", "misnamed", "does not match host name"),
    (None, "own", "server does not support SSL")])
def test_a_server_that_is_not_verified_is_refused(cluster, certificates, served, trusted, reason):
    with cluster.postgres.with_tls(*certificates[served or "own"]) if served else no_tls():
        with connecting(cluster, "localhost", certificates[trusted][0]) as process:
            wait_for(lambda: reason in process.log(), "the refusal is logged")
            assert plain_http.get(process.admin_url + "/readyz").status_code == 503


@contextmanager
def no_tls():
    yield
