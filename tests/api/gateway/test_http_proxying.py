"""What the gateway changes in a message: fields that it drops and adds, content, and pipelined requests."""

import json

import pytest

PATH = b"/api/v1.0/experiments"
BASE = b"Host: edge.example:8080\r\nAuthorization: Bearer @KEY@\r\n"


def get(fields=b"", version=b"1.1"):
    return b"GET " + PATH + b" HTTP/" + version + b"\r\n" + BASE + fields + b"\r\n"


def post(fields, content=b""):
    return b"POST " + PATH + b" HTTP/1.1\r\n" + BASE + fields + b"\r\n" + content


def seen(edge, sent):
    """The request that the service received."""
    answers = edge.exchange(sent)
    assert answers.statuses[0] == 200
    assert not edge.service.faults
    (request,) = edge.service.requests
    return request


# ---- dropped fields ----


@pytest.mark.parametrize("line", [
    b"Connection: X-Own\r\nX-Own: 1", b"Connection: keep-alive, X-Own\r\nX-Own: 1", b"X-Own: 1\r\nconnection:x-own",
    b"Connection: keep-alive\r\nConnection: ,X-Own,\r\nX-Own: 1", b"Connection:\tX-Other,\tX-Own\t\r\nx-own: 1\r\nX-OWN: 2"])
def test_fields_listed_in_connection_are_dropped(edge, line):
    """RFC 9110, 7.6.1."""
    request = seen(edge, get(line + b"\r\n"))
    assert request.values("x-own") == request.values("connection") == []


@pytest.mark.parametrize("line", [
    b"Connection: keep-alive", b"Keep-Alive: timeout=5", b"Proxy-Connection: close", b"Proxy-Authorization: Basic eDp5",
    b"TE: trailers", b"Trailer: X-Sum", b"Upgrade: websocket", b"HTTP2-Settings: AAMAAABkAAQAAP__"])
def test_fields_of_one_connection_are_dropped(edge, line):
    """RFC 9110, 7.6.1."""
    assert seen(edge, get(line + b"\r\n")).values(line.partition(b":")[0].decode().lower()) == []


@pytest.mark.parametrize("line", [
    b"Connection: Authorization", b"Connection: Host", b"Connection: Content-Length", b"Connection: Transfer-Encoding",
    b"Connection: X-Expops-Identity", b"Connection: X-Request-Id, X-Forwarded-For, Via", b"Connection: close-not"])
def test_connection_cannot_remove_the_gateways_fields(edge, line):
    request = seen(edge, post(line + b"\r\nX-Request-Id: mine\r\nContent-Length: 5\r\n", b"hello"))
    assert request.content == b"hello"
    assert request.value("host") == "edge.example:8080"
    assert request.value("x-request-id") == "mine"
    assert request.value("x-forwarded-for") == "127.0.0.1"
    assert request.value("x-expops-identity").count(".") == 1
    assert request.value("via")


FORGED = {
    "x-expops-identity": "forged", "x-expops-anything": "forged", "x-forwarded-for": "192.0.2.1",
    "x-forwarded-proto": "ws", "x-forwarded-host": "evil.example", "x-forwarded-port": "1", "forwarded": "for=192.0.2.1",
    "x-real-ip": "192.0.2.1",
}


@pytest.mark.parametrize("name", FORGED)
def test_clients_cannot_forge_the_gateways_fields(edge, name):
    values = seen(edge, get(f"{name}: {FORGED[name]}\r\n{name.upper()}: {FORGED[name]}\r\n".encode())).values(name)
    assert FORGED[name] not in ", ".join(values)
    assert len(values) <= 1


def test_the_key_is_not_passed_on(edge):
    request = seen(edge, get())
    assert request.values("authorization") == []
    assert edge.key.decode() not in str(request.fields)


# ---- passed fields ----


def test_other_fields_are_passed_on_unchanged(edge):
    """RFC 9110, 5.3: fields of the same name keep their order."""
    sent = [("X-A", "1"), ("x-b", ""), ("X-A", "2, 3"), ("X_C", "\xe9"), ("traceparent", "00-a-b-01"),
            ("Accept", "*/*"), ("If-Match", '"5"'), ("Max-Forwards", "0"), ("Cache-Control", "no-cache")]
    lines = "".join(f"{name}: {value}\r\n" for name, value in sent).encode("latin-1")
    request = seen(edge, get(lines))
    passed = [(name, value) for name, value in request.fields if name in {one.lower() for one, _ in sent}]
    assert passed == [(name.lower(), value) for name, value in sent]


@pytest.mark.parametrize(("version", "line", "via"), [
    (b"1.1", b"", ["1.1 expops"]), (b"1.0", b"", ["1.0 expops"]), (b"1.1", b"Via: 1.1 balancer\r\n", ["1.1 balancer", "1.1 expops"])])
def test_via_is_appended(edge, version, line, via):
    """RFC 9110, 7.6.3."""
    assert seen(edge, get(line, version)).values("via") == via


def test_http_1_0_becomes_1_1(edge):
    """RFC 9112, 2.3: each connection has its own version. To HTTP/1.0, an answer without a length ends with the connection."""
    edge.service.answer = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
    answers = edge.exchange(get(b"Connection: keep-alive\r\n", b"1.0"))
    assert not edge.service.faults
    assert answers.statuses == [200]
    assert answers.messages[0].value("transfer-encoding") is None


@pytest.mark.parametrize(("fields", "statuses"), [(b"", [200]), (b"Connection: keep-alive\r\n", [200, 404])])
def test_http_1_0_keeps_the_connection_on_request(edge, fields, statuses):
    """RFC 9112, 9.3."""
    answers = edge.exchange(get(fields, b"1.0"))
    assert answers.statuses == statuses
    assert answers.messages[0].value("connection") == ("close" if len(statuses) == 1 else "keep-alive")


@pytest.mark.parametrize("fields", [
    b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: AAAA\r\n", b"Connection: Upgrade\r\nUpgrade: h2c\r\n",
    b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n", b"Upgrade: TLS/1.0\r\n"])
@pytest.mark.parametrize("method", [get, post])
def test_upgrades_are_ignored(edge, method, fields):
    """RFC 9110, 7.8: the connection stays HTTP/1.1."""
    answers = edge.exchange(method(fields))
    assert answers.statuses == [200, 404]
    assert edge.service.requests[0].values("upgrade") == []


# ---- content ----


def test_content_that_the_operation_does_not_read_is_dropped(edge):
    """RFC 9110, 9.3.1: content of a GET has no meaning. It is not read as a request either."""
    inner = b"GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"
    for sent in (get(b"Content-Length: %d\r\n" % len(inner)) + inner,
                 get(b"Transfer-Encoding: chunked\r\n") + b"%x\r\n%s\r\n0\r\n\r\n" % (len(inner), inner)):
        edge.service.forget()
        assert edge.exchange(sent).statuses == [200, 404]
        assert edge.service.seen == [("GET", PATH.decode(), b"")]


@pytest.mark.parametrize(("fields", "status"), [
    (b"Expect: 100-continue\r\n", 200), (b"expect: 100-CONTINUE\r\n", 200), (b"Expect: tea\r\n", 417),
    (b"Expect: 100-continue, tea\r\n", 417), (b"Expect: 100-continue\r\nExpect: tea\r\n", 400), (b"Expect:\r\n", 417)])
def test_expectations(edge, fields, status):
    """RFC 9110, 10.1.1: the gateway answers an expectation itself and does not pass it on."""
    answers = edge.exchange(post(fields + b"Content-Length: 5\r\n", b"hello"))
    finals = [found for found in answers.statuses if found != 100]
    assert finals == ([200, 404] if status == 200 else [status])
    assert [request.values("expect") for request in edge.service.requests] == ([[]] if status == 200 else [])


def test_no_100_without_content(edge):
    """RFC 9110, 10.1.1: no 100 for a request without content, nor in HTTP/1.0."""
    assert edge.exchange(post(b"Expect: 100-continue\r\nContent-Length: 0\r\n")).statuses == [200, 404]
    assert 100 not in edge.exchange(get(b"Expect: 100-continue\r\n", b"1.0")).statuses


# ---- pipelined requests ----


def test_pipelined_requests_are_answered_in_order(edge):
    """RFC 9112, 9.3.2."""
    sent = get() + post(b"Content-Length: 3\r\n", b"one") + b"\r\n" + post(b"Transfer-Encoding: chunked\r\n", b"3\r\ntwo\r\n0\r\n\r\n") + get()
    assert edge.exchange(sent).statuses == [200] * 4 + [404]
    assert [content for _, _, content in edge.service.seen] == [b"", b"one", b"two", b""]


@pytest.mark.parametrize(("second", "status"), [
    (b"GET / HTTP/1.1\r\n\r\n", 400), (b"nonsense\r\n\r\n", 501), (b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", 400),
    (b"\x00\x00", 400), (b"GET / HTTP/3.0\r\n\r\n", 505)])
def test_nothing_is_read_after_an_invalid_request(edge, second, status):
    """RFC 9112, 9.3.2 and 2.2: its end is unknown, so no other request is read."""
    assert edge.exchange(get() + second + get()).statuses == [200, status]
    assert len(edge.service.requests) == 1


def test_nothing_is_read_after_a_close(edge):
    """RFC 9112, 9.6."""
    assert edge.exchange(get(b"Connection: close\r\n") + get()).statuses == [200]
    assert edge.exchange(get(b"Connection: foo, CLOSE\r\n") + get()).statuses == [200]
    assert len(edge.service.requests) == 2


@pytest.mark.parametrize(("sent", "status"), [
    (b"POST " + PATH + b" HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello", 401),
    (b"POST " + PATH + b" HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", 401),
    (b"POST /nowhere HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello", 404),
    (b"PATCH " + PATH + b" HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello", 405)])
def test_content_of_a_refused_request_is_not_read_as_a_request(edge, sent, status):
    """RFC 9112, 9.3: its content is read and dropped."""
    assert edge.exchange(sent).statuses == [status, 404]
    assert edge.service.requests == []


def test_every_answer_has_a_request_id(edge):
    for sent, status in ((get(), 200), (b"GET /x HTTP/1.1\r\nHost: a\r\n\r\n", 404), (b"GET /x\r\n\r\n", 505), (b"\x00", 400)):
        answer = edge.exchange(sent).messages[0]
        assert answer.status == status
        if status != 200:
            assert json.loads(answer.content)["instance"] == answer.value("x-request-id")
