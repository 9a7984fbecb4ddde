"""TLS to Redis, with the server's certificate and name verified."""

import subprocess
from contextlib import contextmanager

import pytest

from lib.http import plain_http
from lib.outside.certificate import make_certificate
from lib.wait import wait_for


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    """That of the server, another one for its names, one for another name, one that has expired, and an RSA key's; each is
    its own authority."""
    hosts = ["localhost", "127.0.0.1"]
    made = {
        "own": (hosts, {}),
        "foreign": (hosts, {}),
        "misnamed": (["other.example", "127.0.0.2"], {}),
        "expired": (hosts, {"days": 0}),
        "rsa": (hosts, {"is_rsa": True}),
    }
    return {name: make_certificate(tmp_path_factory.mktemp(name), *names, **how) for name, (names, how) in made.items()}


@contextmanager
def connecting(cluster, name, address, authority, scheme="rediss", **settings):
    """A process that connects to Redis at this address and trusts this authority."""
    url = cluster.redis.url(name).replace("redis:", f"{scheme}:").replace(f"127.0.0.1:{cluster.redis.port}", address)
    process = cluster.separate(name, f"redis-{address}", REDIS_URL=url, REDIS_CA_FILE=str(authority), **settings)
    process.start()
    try:
        yield process
    finally:
        process.stop()


def redis_state(process):
    """Whether the process has a connection to Redis, and what it says of recent faults."""
    state = plain_http.get(process.admin_url + "/readyz").json()
    return state["redis"], state["faults"]


def wait_connected(process):
    process.wait_ready()
    wait_for(lambda: redis_state(process)[0], "Redis is connected")


@pytest.mark.parametrize(("name", "host", "kind"), [
    ("gateway", "localhost", "own"), ("gateway", "127.0.0.1", "own"), ("svc-fleet", "localhost", "rsa")])
def test_a_verified_server_is_used(cluster, certificates, name, host, kind):
    with cluster.redis.with_tls(*certificates[kind]) as port:
        with connecting(cluster, name, f"{host}:{port}", certificates[kind][0]) as process:
            wait_connected(process)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
@pytest.mark.parametrize(("served", "trusted", "reason"), [
    ("own", "foreign", "no trusted authority has signed the certificate"),
    ("misnamed", "misnamed", "the certificate is for another host"),
    ("expired", "expired", "the certificate has expired")])
def test_a_server_that_is_not_verified_is_refused(cluster, certificates, host, served, trusted, reason):
    with cluster.redis.with_tls(*certificates[served]) as port:
        with connecting(cluster, "gateway", f"{host}:{port}", certificates[trusted][0]) as process:
            wait_for(lambda: reason in process.log(), "the refusal is logged")
            assert redis_state(process) == (False, ["the certificate of Redis is refused"])


@pytest.mark.parametrize(("scheme", "is_tls_port"), [("rediss", False), ("redis", True)])
def test_the_other_port_is_refused(cluster, certificates, scheme, is_tls_port):
    with cluster.redis.with_tls(*certificates["own"]) as port:
        port = port if is_tls_port else cluster.redis.port
        with connecting(cluster, "gateway", f"localhost:{port}", certificates["own"][0], scheme) as process:
            wait_for(lambda: "Redis cannot be reached" in process.log(), "the refusal is logged")
            assert redis_state(process) == (False, ["Redis cannot be reached"])


def test_the_process_goes_on_after_the_server_was_killed(cluster, certificates):
    with cluster.redis.with_tls(*certificates["own"]) as port:
        with connecting(cluster, "gateway", f"localhost:{port}", certificates["own"][0]) as process:
            wait_connected(process)
            cluster.redis.kill9()
            wait_for(lambda: not redis_state(process)[0], "the loss is noticed")
            cluster.redis.start()
            wait_connected(process)
    cluster.recover()


def own_files(paths):
    return dict(zip(("REDIS_CERT_FILE", "REDIS_KEY_FILE"), map(str, paths)))


@pytest.mark.parametrize(("name", "kind"), [("gateway", "foreign"), ("svc-fleet", "rsa")])
def test_a_server_gets_the_certificate_that_it_asks_for(cluster, certificates, name, kind):
    with cluster.redis.with_tls(*certificates["own"], clients=certificates[kind][0]) as port:
        with connecting(cluster, name, f"localhost:{port}", certificates["own"][0], **own_files(certificates[kind])) as process:
            wait_connected(process)


@pytest.mark.parametrize("shown", [None, "misnamed"])
def test_a_server_that_gets_no_fitting_certificate_refuses(cluster, certificates, shown):
    settings = own_files(certificates[shown]) if shown else {}
    with cluster.redis.with_tls(*certificates["own"], clients=certificates["foreign"][0]) as port:
        with connecting(cluster, "gateway", f"localhost:{port}", certificates["own"][0], **settings) as process:
            wait_for(lambda: "it may want a certificate of the client" in process.log(), "the refusal is logged")
            assert redis_state(process) == (False, ["Redis cannot be reached"])


def test_a_renewed_certificate_of_the_client_is_shown_without_a_restart(cluster, certificates, tmp_path):
    paths = tmp_path / "client.pem", tmp_path / "client.key"
    for path, source in zip(paths, certificates["misnamed"]):
        path.touch(mode=0o600)
        path.write_bytes(source.read_bytes())
    with cluster.redis.with_tls(*certificates["own"], clients=certificates["foreign"][0]) as port:
        with connecting(cluster, "gateway", f"localhost:{port}", certificates["own"][0], **own_files(paths)) as process:
            wait_for(lambda: "it may want a certificate of the client" in process.log(), "the server refuses it")
            for path, source in zip(paths, certificates["foreign"]):
                path.write_bytes(source.read_bytes())
            wait_connected(process)


@pytest.mark.parametrize(("settings", "reason"), [
    ({"REDIS_CERT_FILE": "own"}, "REDIS_CERT_FILE, REDIS_KEY_FILE: must be set together"),
    ({"REDIS_CERT_FILE": "own", "REDIS_KEY_FILE": "foreign"}, "is not the key of the certificate")])
def test_a_process_does_not_start_with_half_a_certificate(cluster, certificates, settings, reason):
    which = {"REDIS_CERT_FILE": 0, "REDIS_KEY_FILE": 1}
    files = {name: str(certificates[kind][which[name]]) for name, kind in settings.items()}
    made = cluster.settings("svc-fleet", "command", REDIS_URL="rediss://redis.example", REDIS_CA_FILE=str(certificates["own"][0]), **files)
    done = subprocess.run([cluster.binary("svc-fleet")], env=made, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and reason in done.stderr


def test_renewed_authorities_are_read_without_a_restart(cluster, certificates, tmp_path):
    authorities = tmp_path / "ca.pem"
    authorities.write_bytes(certificates["foreign"][0].read_bytes())
    with cluster.redis.with_tls(*certificates["own"]) as port:
        with connecting(cluster, "gateway", f"localhost:{port}", authorities) as process:
            wait_for(lambda: "no trusted authority has signed the certificate" in process.log(), "the refusal is logged")
            authorities.write_bytes(certificates["own"][0].read_bytes())
            wait_connected(process)
