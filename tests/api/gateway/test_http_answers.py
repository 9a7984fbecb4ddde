"""Answers of a service, and what the client gets: an answer whose length is ambiguous is refused, and the client can see
that an answer is incomplete. A row: the section of the RFC (9112 unless it says 9110), a name, the answer's bytes.
"""

import json

import pytest

PATH = b"/api/v1.0/experiments"
BASE = b" " + PATH + b" HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer @KEY@\r\n"
GET = b"GET" + BASE + b"\r\n"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
LAST = b"0\r\n\r\n"


def rows(names, *table):
    return pytest.mark.parametrize(names, [pytest.param(*row[2:], id=f"{row[0]} {row[1]}") for row in table])


def answered(edge, answer, ends=None, sent=GET, heads=()):
    edge.service.answer, edge.service.ends = answer, ends
    return edge.exchange(sent, heads)


@rows(
    ("answer", "ends", "status", "content"),
    ("6.2", "a length", b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", None, 200, b"hello"),
    ("7.1", "chunks", CHUNKED + b"5\r\nhello\r\n" + LAST, None, 200, b"hello"),
    ("7.1.1", "chunk extensions", CHUNKED + b'5;a="b"\r\nhello\r\n0;c\r\n\r\n', None, 200, b"hello"),
    ("7.1.2", "trailers", CHUNKED + b"5\r\nhello\r\n0\r\nX-Sum: 1\r\nSet-Cookie: a=b\r\n\r\n", None, 200, b"hello"),
    ("6.3", "ended by a close", b"HTTP/1.1 200 OK\r\n\r\nhello", "close", 200, b"hello"),
    ("6.3", "ended by a close in HTTP/1.0", b"HTTP/1.0 200 OK\r\n\r\nhello", "close", 200, b"hello"),
    ("4", "no reason", b"HTTP/1.1 200 \r\nContent-Length: 5\r\n\r\nhello", None, 200, b"hello"),
    ("4", "a long reason", b"HTTP/1.1 200 " + b"fine " * 50 + b"\r\nContent-Length: 5\r\n\r\nhello", None, 200, b"hello"),
    ("4", "an unknown status", b"HTTP/1.1 299 Odd\r\nContent-Length: 5\r\n\r\nhello", None, 299, b"hello"),
    ("9110 15", "an unknown status of a known class", b"HTTP/1.1 555 Odd\r\nContent-Length: 5\r\n\r\nhello", None, 555, b"hello"),
    ("9110 15.3.5", "204", b"HTTP/1.1 204 No Content\r\n\r\n", None, 204, b""),
    ("9110 15.4.5", "304", b"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", None, 304, b""),
    ("9110 15.2", "100 before", b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", None, 200, b"hello"),
    ("9110 15.2", "103 before", b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", None, 200, b"hello"),
    ("9110 15.2", "several before", b"HTTP/1.1 102 Processing\r\n\r\n" * 9 + b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", None, 200, b"hello"),
    ("9.3", "a close", b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello", "close", 200, b"hello"),
)
def test_valid_answers_are_passed_on(edge, answer, ends, status, content):
    """The gateway writes its own framing, and the client's connection stays open."""
    answers = answered(edge, answer, ends)
    assert answers.statuses == [status, 404]
    assert not answers.is_cut
    assert answers.messages[0].content == content
    assert answers.messages[0].values("x-sum") == answers.messages[0].values("set-cookie") == []


@rows(
    ("answer",),
    ("4", "not HTTP", b"SSH-2.0-OpenSSH_9.2\r\n"),
    ("2.3", "HTTP/0.9", b"HTTP/0.9 200 OK\r\nContent-Length: 0\r\n\r\n"),
    ("2.3", "HTTP/1.2", b"HTTP/1.2 200 OK\r\nContent-Length: 0\r\n\r\n"),
    ("2.3", "HTTP/2.0", b"HTTP/2.0 200 OK\r\nContent-Length: 0\r\n\r\n"),
    ("2.3", "in lower case", b"http/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
    ("4", "another protocol", b"RTSP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n"),
    ("4", "a status of two digits", b"HTTP/1.1 20 OK\r\nContent-Length: 0\r\n\r\n"),
    ("4", "a status of four digits", b"HTTP/1.1 2000 OK\r\nContent-Length: 0\r\n\r\n"),
    ("4", "no status", b"HTTP/1.1 OK\r\nContent-Length: 0\r\n\r\n"),
    ("4", "a negative status", b"HTTP/1.1 -200 OK\r\nContent-Length: 0\r\n\r\n"),
    ("9110 15", "a status below 100", b"HTTP/1.1 099 OK\r\nContent-Length: 0\r\n\r\n"),
    ("9110 15", "a status above 599", b"HTTP/1.1 600 OK\r\nContent-Length: 0\r\n\r\n"),
    ("9110 15.2.2", "101", b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n"),
    ("9110 15.2.2", "101 without an upgrade", b"HTTP/1.1 101 Switching Protocols\r\n\r\n"),
    ("6.3", "a length and chunks", b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n" + LAST),
    ("6.3", "chunks and a length", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n" + LAST),
    ("6.3", "two lengths", b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello"),
    ("6.3", "the same length twice", b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello"),
    ("6.3", "a list of lengths", b"HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\n\r\nhello"),
    ("6.3", "a signed length", b"HTTP/1.1 200 OK\r\nContent-Length: +5\r\n\r\nhello"),
    ("6.3", "a negative length", b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nhello"),
    ("6.3", "an empty length", b"HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\nhello"),
    ("6.3", "a length over 64 bits", b"HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551621\r\n\r\nhello"),
    ("6.1", "a coding in HTTP/1.0", b"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + LAST),
    ("6.1", "gzip", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nx"),
    ("6.1", "gzip, chunked", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n" + LAST),
    ("6.1", "chunked twice", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n" + LAST),
    ("6.1", "identity", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\nhello"),
    ("6.1", "an empty coding", b"HTTP/1.1 200 OK\r\nTransfer-Encoding:\r\n\r\nhello"),
    ("6.1", "chunked with a parameter", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked;x\r\n\r\n" + LAST),
    ("2.2", "LF ends the first line", b"HTTP/1.1 200 OK\nContent-Length: 0\r\n\r\n"),
    ("2.2", "LF ends a field", b"HTTP/1.1 200 OK\r\nContent-Length: 0\n\r\n"),
    ("2.2", "LF ends the head", b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\n"),
    ("2.2", "CR in a value", b"HTTP/1.1 200 OK\r\nX: a\rb\r\nContent-Length: 0\r\n\r\n"),
    ("2.2", "CR in the reason", b"HTTP/1.1 200 O\rK\r\nContent-Length: 0\r\n\r\n"),
    ("5.2", "a folded value", b"HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 0\r\n\r\n"),
    ("5.1", "a space before the colon", b"HTTP/1.1 200 OK\r\nContent-Length : 0\r\n\r\n"),
    ("5.1", "a space in a name", b"HTTP/1.1 200 OK\r\nX Y: a\r\nContent-Length: 0\r\n\r\n"),
    ("5", "no colon", b"HTTP/1.1 200 OK\r\nX\r\nContent-Length: 0\r\n\r\n"),
    ("9110 5.5", "a NUL in a value", b"HTTP/1.1 200 OK\r\nX: a\x00b\r\nContent-Length: 0\r\n\r\n"),
    ("5.4", "a head over the limit", b"HTTP/1.1 200 OK\r\nX: " + b"x" * 300_000 + b"\r\n\r\n"),
    ("5.4", "too many fields", b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 200 + b"Content-Length: 0\r\n\r\n"),
    ("9110 15.2", "endless interim answers", b"HTTP/1.1 100 Continue\r\n\r\n" * 20_000),
)
def test_invalid_answers_are_502(edge, answer):
    answers = answered(edge, answer, "close")
    assert answers.statuses == [502, 404]
    assert json.loads(answers.messages[0].content)["error"] == "bad_gateway"


@rows(
    ("answer", "ends"),
    ("8", "within its length", b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello", "close"),
    ("8", "within a chunk", CHUNKED + b"a\r\nhello", "close"),
    ("8", "between chunks", CHUNKED + b"5\r\nhello\r\n", "close"),
    ("8", "before the very end", CHUNKED + b"5\r\nhello\r\n0\r\n", "close"),
    ("8", "within a trailer", CHUNKED + b"5\r\nhello\r\n0\r\nX: ", "close"),
    ("7.1", "no chunk size", CHUNKED + b"5\r\nhello\r\nx\r\n", None),
    ("7.1", "a chunk with another length", CHUNKED + b"4\r\nhello\r\n" + LAST, None),
    ("7.1", "a chunk ended by LF", CHUNKED + b"5\r\nhello\n" + LAST, None),
    ("7.1", "a chunk size over 64 bits", CHUNKED + b"5\r\nhello\r\n10000000000000000\r\n", None),
    ("8", "reset within its length", b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello", "reset"),
)
def test_the_client_sees_that_an_answer_is_incomplete(edge, answer, ends):
    """The client cannot mistake it for a complete answer."""
    answers = answered(edge, answer, ends)
    assert answers.is_cut
    assert answers.statuses == []


@pytest.mark.parametrize("ends", ["close", "reset"])
@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 ", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n",
                                    b"HTTP/1.1 100 Continue\r\n\r\n"])
def test_no_answer_is_503(edge, answer, ends):
    assert answered(edge, answer, ends).statuses == [503, 404]


@rows(
    ("answer",),
    ("9110 15.3.5", "204", b"HTTP/1.1 204 No Content\r\nContent-Length: 8\r\n\r\nsmuggled"),
    ("9110 15.4.5", "304", b"HTTP/1.1 304 Not Modified\r\nContent-Length: 8\r\n\r\nsmuggled"),
    ("9110 15.4.5", "304 in chunks", b"HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n8\r\nsmuggled\r\n" + LAST),
    ("6.3", "a second answer", b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nsmuggled"),
    ("6.3", "bytes after", b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nsmuggled"),
    ("6.3", "bytes after chunks", CHUNKED + LAST + b"smuggled"),
)
def test_bytes_after_an_answer_are_dropped(edge, answer):
    """They are not sent to this client, and not read as the next answer: the connection is not used again."""
    before = edge.service.connections
    answers = answered(edge, answer, sent=GET + GET)
    assert len(answers.statuses) == 3 and answers.statuses[2] == 404
    assert not answers.is_cut
    assert b"smuggled" not in b"".join(message.content for message in answers.messages)
    assert edge.service.connections >= before + 1


def test_head_has_no_content(edge):
    """RFC 9110, 9.3.2: it has the fields of a GET, also its Content-Length."""
    head = b"HEAD" + BASE + b"\r\n"
    answers = answered(edge, b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n", sent=head, heads={0})
    assert answers.statuses == [200, 404]
    assert answers.messages[0].value("content-length") == "500"
    assert edge.service.seen == [("HEAD", PATH.decode(), b"")]
    answers = answered(edge, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", sent=head, heads={0})
    assert answers.statuses == [200, 404]


def test_content_of_an_answer_to_head_is_dropped(edge):
    head = b"HEAD" + BASE + b"\r\n"
    answers = answered(edge, b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nsmuggled", sent=head, heads={0})
    assert answers.statuses == [200, 404]


DROPPED_FIELDS = [
    b"Connection: X-Own, keep-alive\r\nX-Own: 1", b"Keep-Alive: timeout=5", b"Proxy-Connection: close", b"Trailer: X-Sum",
    b"Proxy-Authenticate: Basic", b"Upgrade: h2c", b"TE: trailers", b"Server: svc", b"X-Expops-Debug: 1", b"Via: 1.1 svc",
    b"RateLimit: 1", b"RateLimit-Policy: 1"]


@pytest.mark.parametrize("line", DROPPED_FIELDS)
def test_fields_of_the_service_connection_are_dropped(edge, line):
    """RFC 9110, 7.6.1."""
    answers = answered(edge, b"HTTP/1.1 200 OK\r\n" + line + b"\r\nContent-Length: 0\r\n\r\n")
    assert answers.statuses == [200, 404]
    for one in line.split(b"\r\n"):
        assert answers.messages[0].values(one.partition(b":")[0].decode().lower()) == []


def test_other_fields_are_passed_on_unchanged(edge):
    sent = [("x-total-count", "7"), ("link", '</x>; rel="next"'), ("x-same", "a=b"), ("x-same", "c=d"), ("etag", '"5"'),
            ("x-empty", ""), ("content-type", "text/plain"), ("cache-control", "no-store"), ("x-latin", "\xe9")]
    lines = "".join(f"{name}: {value}\r\n" for name, value in sent).encode("latin-1")
    answers = answered(edge, b"HTTP/1.1 200 OK\r\n" + lines + b"Content-Length: 0\r\n\r\n")
    names = {name for name, _ in sent}
    assert [row for row in answers.messages[0].fields if row[0] in names] == sent


def test_the_gateway_sets_date_and_request_id(edge):
    answers = answered(edge, b"HTTP/1.1 200 OK\r\nDate: then\r\nX-Request-Id: other\r\nContent-Length: 0\r\n\r\n",
                       sent=b"GET" + BASE + b"X-Request-Id: mine\r\n\r\n")
    assert answers.messages[0].value("date").endswith(" GMT")
    assert answers.messages[0].value("x-request-id") == "mine"


def test_an_early_answer_is_passed_on(edge):
    """RFC 9112, 9.3: the service answers before the content is sent; the content is then dropped."""
    refusal = b"HTTP/1.1 415 Unsupported Media Type\r\nContent-Length: 2\r\n\r\nno"
    answers = answered(edge, refusal, sent=b"POST" + BASE + b"Content-Length: 5\r\n\r\nhello")
    assert answers.statuses == [415, 404]
