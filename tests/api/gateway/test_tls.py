"""TLS at the gateway: what is negotiated, what is refused, and that HTTP above it is the same. That heads and framing are read the
same is tested by test_http_*.py, each of which runs over TLS, too."""

import json
import re
import select
import socket
import ssl
import subprocess
import threading
from contextlib import suppress

import pytest

from lib.http import plain_http
from lib.http.raw_http import PATIENCE_SECONDS, START_ANSWER, Reader, connect, exchange, trusting_any
from lib.outside.certificate import make_certificate
from lib.system.servers import free_port
from lib.wait import wait_for

CLOSING = b"GET /api/v1.0/version HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
KEPT = CLOSING.replace(b"Connection: close\r\n", b"")
HELLO_START = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"


@pytest.fixture(scope="module")
def pairs(tmp_path_factory):
    """The default, and two that a server name chooses: the last by `*.wild.example`, with an RSA key."""

    def pair(*names, **options):
        return make_certificate(tmp_path_factory.mktemp("pair"), *names, **options)

    return [pair("127.0.0.1", "localhost"), pair("second.example"), pair("*.wild.example", is_rsa=True)]


@pytest.fixture(scope="module")
def gateway(start_tls_gateway, pairs, service):
    with start_tls_gateway(*pairs, EXPERIMENTS_URL=service.url) as process:
        yield process


@pytest.fixture(scope="module")
def key(cluster):
    return cluster.create_user()


def tls_address(process):
    host, _, port = process.tls_url.removeprefix("https://").rpartition(":")
    return host, int(port)


def s_client(process, *options, sent=b""):
    """What openssl says of a connection."""
    host, port = tls_address(process)
    return subprocess.run(
        ["openssl", "s_client", "-connect", f"{host}:{port}", *options],
        input=sent, capture_output=True, timeout=PATIENCE_SECONDS, check=False,
    )  # fmt: skip


def negotiated(process, *options):
    """Protocol and cipher; None: the handshake failed."""
    done = s_client(process, *options)
    found = re.search(rb"^New, (\S+), Cipher is (\S+)", done.stdout, re.M)
    return None if done.returncode or not found else tuple(word.decode() for word in found.groups())


def handshakes(process, result):
    found = re.search(rf'^expops_tls_handshakes_total{{result="{result}"}} (\d+)$', process.metrics(), re.M)
    return int(found[1]) if found else 0


def serves(process):
    return exchange(process.tls_url, CLOSING).statuses == [200]


class Records:
    """A client that sees the records: what it sends, it returns as bytes first."""

    def __init__(self, process):
        self.socket = socket.create_connection(tls_address(process), PATIENCE_SECONDS)
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = trusting_any().wrap_bio(self.incoming, self.outgoing)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.socket.close()

    def run(self, step, send):
        """Run a step of the protocol, with `send` for what it writes, until it wants no more input."""
        while True:
            try:
                result = step()
                send(self.outgoing.read())
                return result
            except ssl.SSLWantReadError:
                send(self.outgoing.read())
                got = self.socket.recv(65536)
                if not got:
                    self.incoming.write_eof()
                self.incoming.write(got)

    def shake_hands(self, send=None):
        self.run(self.tls.do_handshake, send or self.socket.sendall)

    def sealed(self, data):
        """Records with `data`, not yet sent."""
        self.tls.write(data)
        return self.outgoing.read()

    def read_all(self):
        """Everything until close_notify; raises when the connection ends without."""
        received = b""
        while piece := self.run(lambda: self.tls.read(65536), self.socket.sendall):
            received += piece
        return received


# ---- what is negotiated ----


def test_the_newest_version_is_used(gateway):
    assert negotiated(gateway)[0] in ("TLSv1.2", "TLSv1.3")
    assert negotiated(gateway, "-tls1_2")[0] == "TLSv1.2"


@pytest.mark.parametrize("options", [
    ["-tls1_1", "-cipher", "DEFAULT@SECLEVEL=0"], ["-tls1", "-cipher", "DEFAULT@SECLEVEL=0"],
    ["-tls1_2", "-cipher", "AES128-GCM-SHA256"], ["-tls1_2", "-cipher", "ECDHE-ECDSA-AES128-SHA256"],
    ["-tls1_2", "-cipher", "ECDHE-ECDSA-AES128-SHA"], ["-tls1_2", "-cipher", "DHE-RSA-AES128-GCM-SHA256"],
    ["-tls1_2", "-cipher", "ECDHE-RSA-AES128-GCM-SHA256"], ["-curves", "P-521"], ["-alpn", "h2"], ["-alpn", "http/1.0"]])
def test_weak_and_unknown_offers_are_refused(gateway, options):
    """The default certificate is of an ECDSA key, so that ECDHE-RSA has none. Beside each offer, one of its kind is taken."""
    assert negotiated(gateway, *options) is None
    assert serves(gateway)


@pytest.mark.parametrize("cipher", ["AES128-GCM-SHA256", "AES256-GCM-SHA384", "CHACHA20-POLY1305"])
def test_ciphers_with_forward_secrecy_are_taken(gateway, cipher):
    assert negotiated(gateway, "-tls1_2", "-cipher", f"ECDHE-ECDSA-{cipher}") == ("TLSv1.2", f"ECDHE-ECDSA-{cipher}")
    rsa = ["-servername", "a.wild.example", "-tls1_2", "-cipher", f"ECDHE-RSA-{cipher}"]
    assert negotiated(gateway, *rsa) == ("TLSv1.2", f"ECDHE-RSA-{cipher}")


@pytest.mark.parametrize("curve", ["X25519", "P-256", "P-384"])
def test_curves(gateway, curve):
    """With the RSA key, since the curve of an ECDSA key would have to be offered, too."""
    assert negotiated(gateway, "-servername", "a.wild.example", "-curves", curve)


def test_alpn_chooses_http_1_1(gateway):
    assert b"ALPN protocol: http/1.1" in s_client(gateway, "-alpn", "h2,http/1.1").stdout


@pytest.mark.parametrize(("options", "name"), [
    (["-noservername"], "127.0.0.1"), (["-servername", "second.example"], "second.example"),
    (["-servername", "SECOND.Example"], "second.example"), (["-servername", "a.wild.example"], "*.wild.example"),
    (["-servername", "a.b.wild.example"], "127.0.0.1"), (["-servername", "wild.example"], "127.0.0.1"),
    (["-servername", "third.example"], "127.0.0.1")])
def test_the_server_name_chooses_the_certificate(gateway, options, name):
    assert re.search(rb"subject=CN ?= ?(\S+)", s_client(gateway, *options).stdout)[1].decode() == name


def test_a_session_is_continued_by_a_ticket_on_each_worker(gateway):
    """Connections go to either of two workers. Each gives a new ticket."""
    context, session = trusting_any(), None
    for _ in range(12):
        with socket.create_connection(tls_address(gateway), PATIENCE_SECONDS) as plain:
            with context.wrap_socket(plain, session=session) as connection:
                assert connection.session_reused == (session is not None)
                connection.sendall(CLOSING)
                while connection.recv(65536):
                    pass
                session = connection.session
    assert session.ticket_lifetime_hint == 12 * 3600
    assert gateway.metric("expops_tls_handshakes_total") >= 12


def test_another_process_does_not_know_the_ticket(gateway, start_tls_gateway, pairs):
    context = trusting_any()
    with start_tls_gateway(*pairs) as other:
        session = None
        for process, reused in ((gateway, False), (other, False), (other, True)):
            with socket.create_connection(tls_address(process), PATIENCE_SECONDS) as plain:
                with context.wrap_socket(plain, session=session) as connection:
                    assert connection.session_reused == reused
                    connection.sendall(CLOSING)
                    while connection.recv(65536):
                        pass
                    session = connection.session


def test_renegotiation_is_refused(gateway):
    done = s_client(gateway, "-tls1_2", sent=b"R\n")
    assert b"RENEGOTIATING" in done.stdout + done.stderr
    assert done.returncode != 0
    assert b"no renegotiation" in done.stderr
    assert serves(gateway)


def test_curl_trusts_the_certificate_of_the_name(gateway, pairs):
    port = tls_address(gateway)[1]
    options = ["--silent", "--fail", "--resolve", f"second.example:{port}:127.0.0.1"]
    url = f"https://second.example:{port}/api/v1.0/version"
    done = subprocess.run(["curl", *options, "--cacert", pairs[1][0], url], capture_output=True, timeout=PATIENCE_SECONDS, check=True)
    assert json.loads(done.stdout)["name"] == "expops"
    other = subprocess.run(["curl", *options, "--cacert", pairs[0][0], url], capture_output=True, timeout=PATIENCE_SECONDS, check=False)
    assert other.returncode == 60


# ---- bytes that are not what they should be ----


def test_plain_http_is_told_so(gateway):
    (answer,) = exchange(gateway.tls_url.replace("https", "http"), KEPT).messages
    assert answer.status == 400
    assert json.loads(answer.content)["detail"] == "this address takes HTTPS only"


@pytest.mark.parametrize("sent", [
    pytest.param(b"\x16\x03\x01\x00\x05hello", id="no handshake message"), pytest.param(b"\x16" * 300, id="no record"),
    pytest.param(b"\x16\x03\x01\xff\xff" + b"\x01" * 70000, id="a long record"), pytest.param(b"\x16\x03\x03\x00\x00", id="an empty record"),
    pytest.param(b"\x16\x03\x01\x00\x04\x01\x00\xff\xff", id="a cut hello"), pytest.param(b"\x16\x02\x00\x00\x01\x01", id="SSL 2")])
def test_garbage_ends_the_connection(gateway, sent):
    failed = gateway.metric("expops_tls_handshakes_total")
    with socket.create_connection(tls_address(gateway), PATIENCE_SECONDS) as connection:
        try:
            connection.sendall(sent)
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(65536):
                pass
        except OSError as error:  # it is over already
            assert not isinstance(error, TimeoutError)
    assert serves(gateway)
    assert gateway.metric("expops_tls_handshakes_total") > failed


def test_a_changed_record_ends_the_connection(gateway):
    with Records(gateway) as client:
        client.shake_hands()
        sealed = bytearray(client.sealed(KEPT))
        sealed[-1] ^= 1
        client.socket.sendall(sealed)
        with pytest.raises(ssl.SSLError):
            client.read_all()
    assert serves(gateway)


def test_records_may_come_byte_by_byte(gateway):
    with Records(gateway) as client:

        def in_bytes(data):
            for byte in data:
                client.socket.sendall(bytes([byte]))

        client.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        client.shake_hands(in_bytes)
        in_bytes(client.sealed(CLOSING))
        assert client.read_all().startswith(b"HTTP/1.1 200 ")


def test_many_records_may_come_at_once(gateway):
    with Records(gateway) as client:
        client.shake_hands()
        client.socket.sendall(b"".join(client.sealed(bytes([byte])) for byte in KEPT) + client.sealed(CLOSING))
        assert client.read_all().count(b"HTTP/1.1 200 ") == 2


def test_a_handshake_has_as_long_as_a_head(start_tls_gateway, pairs):
    with start_tls_gateway(*pairs, HEAD_TIMEOUT="300ms") as process:
        for sent in (b"", HELLO_START):
            with socket.create_connection(tls_address(process), PATIENCE_SECONDS) as connection:
                connection.sendall(sent)
                assert connection.recv(1) == b""
        assert handshakes(process, "failed") == 1  # the other was not begun
        assert serves(process)


@pytest.mark.parametrize("sent", [HELLO_START, b"\x16\x03\x01\xff\xff" + bytes(100)])
def test_a_handshake_that_fails_is_counted_once(start_tls_gateway, pairs, sent):
    """The client breaks it off, or sends what is none."""
    with start_tls_gateway(*pairs) as process:
        for count in (1, 2):
            with socket.create_connection(tls_address(process), PATIENCE_SECONDS) as connection:
                connection.sendall(sent)
                connection.shutdown(socket.SHUT_WR)
                with suppress(ConnectionError):
                    while connection.recv(65536):
                        pass
            assert handshakes(process, "failed") == count


def test_records_without_text_are_no_progress(start_tls_gateway, pairs, key):
    """A part of a record each 50 ms, and no byte of the content for longer than it may pause."""
    head = f"POST /api/v1.0/experiments HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {key}\r\nContent-Length: 300\r\n\r\n"
    with start_tls_gateway(*pairs, BODY_PAUSE="300ms", BODY_RATE_MIN="0") as process, Records(process) as client:
        client.shake_hands()
        client.socket.sendall(client.sealed(head.encode()))
        record = client.sealed(bytes(300))
        for byte in record[:-1]:
            client.socket.sendall(bytes([byte]))
            if select.select([client.socket], [], [], 0.05)[0]:
                break
        else:
            pytest.fail("the client was waited for")
        assert client.read_all().startswith(b"HTTP/1.1 408 ")


def test_what_comes_while_a_connection_lingers_is_dropped_unread(start_tls_gateway, pairs):
    """One worker, which reads it before the request that comes after it."""
    with start_tls_gateway(*pairs, WORKERS="1") as process:
        with Records(process) as client:
            client.shake_hands()
            client.socket.sendall(client.sealed(CLOSING))
            client.read_all()
            client.socket.sendall(b"no record")
            after = CLOSING.replace(b"Host", b"X-Request-Id: afterwards\r\nHost")
            assert exchange(process.tls_url, after).statuses == [200]
            wait_for(lambda: "afterwards" in process.log(), "the line in the log")
        assert "TLS failed" not in process.log()


def test_handshakes_are_limited_for_each_address(start_tls_gateway, pairs):
    def refused(process):
        count = 0
        for _ in range(30):
            try:
                with connect(process.tls_url):
                    pass
            except (ConnectionError, ssl.SSLError):
                count += 1
        return count

    with start_tls_gateway(*pairs, TLS_HANDSHAKE_RATE="1") as process:
        assert refused(process) > 0
        assert 'expops_tls_handshakes_total{result="refused"}' in process.metrics()
    with start_tls_gateway(*pairs, TLS_HANDSHAKE_RATE="1", TRUSTED_PROXIES="127.0.0.0/8") as process:
        assert refused(process) == 0


# ---- HTTP above it ----


def test_a_connection_is_kept(gateway):
    with connect(gateway.tls_url) as connection:
        reader = Reader(connection, START_ANSWER)
        for _ in range(50):
            connection.sendall(KEPT)
            assert reader.message().status == 200


def test_large_contents_pass_both_ways(gateway, service, key):
    service.forget()
    content = bytes(range(256)) * 4000
    answer = bytes(reversed(content)) * 5
    service.answer = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(answer) + answer
    head = f"POST /api/v1.0/experiments HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAuthorization: Bearer {key}\r\n"
    sent = head.encode() + b"Content-Length: %d\r\n\r\n" % len(content) + content
    (message,) = exchange(gateway.tls_url, sent).messages
    assert message.content == answer
    assert service.requests[-1].content == content
    assert service.requests[-1].value("x-forwarded-proto") == "https"


def test_a_client_that_does_not_read_costs_little_memory(gateway, service, key):
    service.forget()
    size = 64 << 20
    service.answer = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size + bytes(size)
    head = f"GET /api/v1.0/experiments HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAuthorization: Bearer {key}\r\n\r\n"
    with connect(gateway.tls_url) as connection:
        connection.sendall(head.encode())
        unsent = wait_for(lambda: gateway.metric("expops_http_unsent_bytes"), "bytes wait")
        assert unsent < 2 << 20
        message = Reader(connection, START_ANSWER).message(lambda message: False)
        received = 0
        while piece := connection.recv(1 << 20):
            received += len(piece)
    assert message.status == 200
    assert received > size - 65536  # the reader has some of it


def test_a_client_that_ends_its_side_gets_its_answer(gateway):
    with Records(gateway) as client:
        client.shake_hands()
        sealed = client.sealed(KEPT)
        with pytest.raises(ssl.SSLWantReadError):
            client.tls.unwrap()
        client.socket.sendall(sealed + client.outgoing.read())
        client.socket.shutdown(socket.SHUT_WR)
        received = b""
        while piece := client.socket.recv(65536):
            received += piece
    # Two records: the answer, and close_notify.
    assert len(received) > 200
    assert received[0] == 0x17


def test_an_idle_connection_ends_with_close_notify(start_tls_gateway, pairs):
    with start_tls_gateway(*pairs, IDLE_TIMEOUT="200ms") as process:
        with connect(process.tls_url) as connection:
            assert connection.recv(1) == b""


def test_a_drain_ends_requests_and_connections_in_order(start_tls_gateway, pairs, service, key):
    service.forget()
    with start_tls_gateway(*pairs, EXPERIMENTS_URL=service.url) as process:
        with connect(process.tls_url) as idle, connect(process.tls_url) as busy:
            reader = Reader(busy, START_ANSWER)
            busy.sendall(f"POST /api/v1.0/experiments HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {key}\r\nContent-Length: 5\r\n\r\nhel".encode())
            process.terminate()
            farewell = Reader(idle, START_ANSWER).message()
            assert (farewell.status, farewell.value("content-length")) == (408, "0")
            assert idle.recv(1) == b""
            busy.sendall(b"lo")
            assert reader.message().status == 200
            assert busy.recv(1) == b""


# ---- settings ----


def test_certificates_are_read_again_without_a_failed_request(start_tls_gateway, tmp_path):
    def write(*names, **options):
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        folder.mkdir()
        return make_certificate(folder, *names, **options)

    def served(process):
        return re.search(r"CN=(\S+)", subprocess.run(
            ["openssl", "x509", "-noout", "-subject", "-nameopt", "RFC2253"],
            input=ssl.get_server_certificate(tls_address(process)), text=True, capture_output=True, check=True).stdout)[1]  # fmt: skip

    first, second, third = write("127.0.0.1", days=10), write("new.example", days=90), write("newest.example")
    used = tmp_path / "certificate.pem", tmp_path / "key.pem"

    def use(certificate, key):
        used[0].write_bytes(certificate.read_bytes())
        used[1].touch(mode=0o600)
        used[1].write_bytes(key.read_bytes())

    use(*first)
    faults, over = [], threading.Event()

    def load(process):
        while not over.is_set():
            try:
                assert exchange(process.tls_url, KEPT + CLOSING).statuses == [200, 200]
            except (AssertionError, OSError) as error:
                faults.append(error)

    with start_tls_gateway(used) as process:
        expires = process.metric("expops_tls_certificate_expires_timestamp_seconds")
        client = threading.Thread(target=load, args=[process])
        client.start()
        try:
            use(*second)
            wait_for(lambda: served(process) == "new.example", "the new certificate")
            assert process.metric("expops_tls_certificate_expires_timestamp_seconds") > expires + 70 * 86400
            use(second[0], third[1])
            wait_for(lambda: process.metric("expops_tls_certificates_stale") == 1, "the wrong key is noticed")
            assert served(process) == "new.example"
            assert f"TLS_KEY_FILE: {used[1]} is not the key of the certificate {used[0]}" in process.log()
            use(*third)
            wait_for(lambda: served(process) == "newest.example", "the third certificate")
            assert process.metric("expops_tls_certificates_stale") == 0
        finally:
            over.set()
            client.join()
    assert not faults


@pytest.mark.parametrize(("changes", "reason"), [
    ({"TLS_KEY_FILE": "@OTHER@"}, "TLS_KEY_FILE: @OTHER@ is not the key of the certificate @CERTIFICATE@"),
    ({"TLS_KEY_FILE": "@OPEN@"}, "TLS_KEY_FILE: @OPEN@ is open to all users (mode 644); chmod 640 it"),
    ({"TLS_KEY_FILE": "/nowhere"}, "TLS_KEY_FILE: /nowhere: no such file or directory"),
    ({"TLS_KEY_FILE": "@CERTIFICATE@"}, "TLS_KEY_FILE: @CERTIFICATE@ is "),
    ({"TLS_CERT_FILE": "@KEY@"}, "TLS_CERT_FILE: @KEY@ is not a chain of certificates in PEM"),
    ({"TLS_KEY_FILE": "@KEY@,@KEY@"}, "TLS_KEY_FILE: must name a file for each of TLS_CERT_FILE"),
    ({"TLS_CERT_FILE": "", "TLS_KEY_FILE": ""}, "TLS_CERT_FILE: must be set: LISTEN has an https:// address"),
    ({"LISTEN": "127.0.0.1:0"}, "TLS_CERT_FILE: is set, but LISTEN has no https:// address"),
    ({"LISTEN": "https:127.0.0.1:0"}, "LISTEN: must be host:port, https://host:port or unix:/path"),
    ({"TLS_MIN_VERSION": "1.1"}, "TLS_MIN_VERSION: must be 1.2 or 1.3"),
    ({"HTTPS_REDIRECT": "on", "PUBLIC_URL": "http://a.example"}, "HTTPS_REDIRECT: needs a PUBLIC_URL that begins with https://")])
def test_wrong_settings_are_refused_at_start(cluster, pairs, tmp_path, changes, reason):
    opened = tmp_path / "open.pem"
    opened.write_bytes(pairs[0][1].read_bytes())
    opened.chmod(0o644)
    words = {"@CERTIFICATE@": pairs[0][0], "@KEY@": pairs[0][1], "@OTHER@": pairs[1][1], "@OPEN@": opened}

    def filled(text):
        for word, value in words.items():
            text = text.replace(word, str(value))
        return text

    own = {"LISTEN": "https://127.0.0.1:0", "TLS_CERT_FILE": "@CERTIFICATE@", "TLS_KEY_FILE": "@KEY@"}
    with pytest.raises(RuntimeError) as refused:
        cluster.run("gateway", **{name: filled(value) for name, value in (own | changes).items()})
    assert filled(reason) in str(refused.value)


def test_services_do_not_serve_tls(cluster):
    with pytest.raises(RuntimeError, match="LISTEN: only the gateway serves https:// addresses"):
        cluster.run("svc-fleet", LISTEN="https://127.0.0.1:0")


def test_plain_requests_are_redirected(start_tls_gateway, pairs):
    with start_tls_gateway(*pairs, HTTPS_REDIRECT="on", PUBLIC_URL="https://expops.example/") as process:
        for method, target in (("GET", "/api/v1.0/interests?limit=1"), ("POST", "/api/v1.0/interests"), ("GET", "/")):
            answer = plain_http.request(method, process.url + target, content=b"x" if method == "POST" else None)
            assert (answer.status_code, answer.headers["Location"]) == (308, f"https://expops.example{target}")
        for target in ("/healthz", "/readyz"):
            assert plain_http.get(process.url + target).status_code == 200
        assert plain_http.get(process.url + "/readyzz").status_code == 308
        assert serves(process)


def test_a_balancer_with_tls_is_not_redirected(start_gateway):
    with start_gateway(HTTPS_REDIRECT="on", PUBLIC_URL="https://expops.example", TRUSTED_PROXIES="127.0.0.1") as process:
        url = process.url + "/api/v1.0/version"
        assert plain_http.get(url, headers={"X-Forwarded-Proto": "https"}).status_code == 200
        assert plain_http.get(url, headers={"X-Forwarded-Proto": "http"}).status_code == 308


def test_cookies_are_secure_where_there_is_only_tls(start_tls_gateway, pairs, key):
    address = f"https://127.0.0.1:{free_port()}"
    with start_tls_gateway(*pairs, LISTEN=address) as process:
        answer = plain_http.request(
            "POST", process.tls_url + "/api/v1.0/session", json={"key": key}, headers={"Sec-Fetch-Site": "same-origin"}, verify=trusting_any())
        assert "__Host-expops=" in answer.headers["Set-Cookie"]
        assert "Secure" in answer.headers["Set-Cookie"]
