"""Where a request ends: lengths, transfer codings, chunks, and what follows. When two readers disagree about it, bytes of
one client become another client's request (request smuggling). So ambiguous framing is refused and the connection closed.

A row: the section of the RFC (9112 unless it says 9110), a name, the request's fields and content, what is answered, and
the content that the service received. A refused request is answered once, and nothing after it is read.
"""

import pytest

REPORT = b"POST /api/v1.0/experiments HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer @KEY@\r\n"
HELLO = b"hello"
CHUNKS = b"5\r\nhello\r\n0\r\n\r\n"


def rows(*table):
    return pytest.mark.parametrize(
        ("fields", "content", "status", "seen"),
        [pytest.param(*row[2:], *[None] * (6 - len(row)), id=f"{row[0]} {row[1]}") for row in table],
    )


def check(edge, sent, status, seen):
    answers = edge.exchange(sent)
    assert not edge.service.faults
    if status == 200:
        assert answers.statuses == [200, 404]
        assert edge.service.seen == [("POST", "/api/v1.0/experiments", seen)]
    else:
        assert answers.statuses == [status]
        assert answers.messages[0].value("connection") == "close"
        assert edge.service.seen == []


@rows(
    ("6.2", "a length", b"Content-Length: 5\r\n", HELLO, 200, HELLO),
    ("6.2", "no space after the colon", b"Content-Length:5\r\n", HELLO, 200, HELLO),
    ("5.1", "white space around it", b"content-length:  \t 5  \r\n", HELLO, 200, HELLO),
    ("6.2", "leading zeros", b"Content-Length: 0005\r\n", HELLO, 200, HELLO),
    ("6.3", "none at all", b"", b"", 200, b""),
    ("6.2", "nothing", b"Content-Length: 0\r\n", b"", 200, b""),
    ("6.3", "two that differ", b"Content-Length: 5\r\nContent-Length: 6\r\n", HELLO, 400),
    ("6.3", "the same twice", b"Content-Length: 5\r\nContent-Length: 5\r\n", HELLO, 400),
    ("6.3", "twice in another letter case", b"Content-Length: 5\r\ncOnTeNt-LeNgTh: 0\r\n", HELLO, 400),
    ("6.3", "a list", b"Content-Length: 5, 5\r\n", HELLO, 400),
    ("6.3", "a list that differs", b"Content-Length: 5, 6\r\n", HELLO, 400),
    ("6.3", "a list of one", b"Content-Length: 5,\r\n", HELLO, 400),
    ("6.3", "a list that begins empty", b"Content-Length: ,5\r\n", HELLO, 400),
    ("6.2", "empty", b"Content-Length: \r\n", b"", 400),
    ("6.2", "plus", b"Content-Length: +5\r\n", HELLO, 400),
    ("6.2", "minus", b"Content-Length: -5\r\n", HELLO, 400),
    ("6.2", "minus zero", b"Content-Length: -0\r\n", b"", 400),
    ("6.2", "hexadecimal", b"Content-Length: 0x5\r\n", HELLO, 400),
    ("6.2", "a letter", b"Content-Length: 5a\r\n", HELLO, 400),
    ("6.2", "a fraction", b"Content-Length: 5.0\r\n", HELLO, 400),
    ("6.2", "an exponent", b"Content-Length: 5e0\r\n", HELLO, 400),
    ("6.2", "underscores", b"Content-Length: 0_5\r\n", HELLO, 400),
    ("6.2", "a space within", b"Content-Length: 0 5\r\n", HELLO, 400),
    ("6.2", "quotes", b'Content-Length: "5"\r\n', HELLO, 400),
    ("6.2", "a parameter", b"Content-Length: 5;a=b\r\n", HELLO, 400),
    ("5.5", "a NUL after", b"Content-Length: 5\x00\r\n", HELLO, 400),
    ("5.5", "a vertical tab before", b"Content-Length: \x0b5\r\n", HELLO, 400),
    ("5.5", "a form feed after", b"Content-Length: 5\x0c\r\n", HELLO, 400),
    ("6.2", "digits of another script", "Content-Length: \u0665\r\n".encode(), HELLO, 400),
    ("6.2", "2 to the 31st", b"Content-Length: 2147483648\r\n", b"", 413),
    ("6.2", "2 to the 32nd and 5", b"Content-Length: 4294967301\r\n", HELLO, 413),
    ("6.2", "2 to the 63rd", b"Content-Length: 9223372036854775808\r\n", b"", 400),
    ("6.2", "2 to the 64th and 5", b"Content-Length: 18446744073709551621\r\n", HELLO, 400),
    ("6.2", "a thousand digits", b"Content-Length: " + b"9" * 1000 + b"\r\n", b"", 400),
    ("5.1", "a space before the colon", b"Content-Length : 5\r\n", HELLO, 400),
    ("5.1", "a tab before the colon", b"Content-Length\t: 5\r\n", HELLO, 400),
    ("5.2", "folded", b"Content-Length:\r\n 5\r\n", HELLO, 400),
    ("5.2", "folded after a value", b"Content-Length: 5\r\n 5\r\n", HELLO, 400),
    ("5.1", "a NUL in the name", b"Content-Length\x00: 5\r\n", HELLO, 400),
    ("5.1", "a space before the name", b" Content-Length: 5\r\n", HELLO, 400),
    ("5.1", "a space in the name", b"Content Length: 5\r\n", HELLO, 400),
    ("2.2", "after a bare LF", b"X: a\nContent-Length: 5\r\n", HELLO, 400),
    ("2.2", "after a bare CR", b"X: a\rContent-Length: 5\r\n", HELLO, 400),
    ("2.2", "ended by a bare LF", b"Content-Length: 5\n", HELLO, 400),
    ("2.2", "ended by a bare CR", b"Content-Length: 5\r", HELLO, 400),
    ("9110 5.1", "a similar name", b"Content_Length: 5\r\n", b"", 200, b""),
    ("9110 5.1", "a name with the same end", b"X-Content-Length: 5\r\n", b"", 200, b""),
)
def test_content_length(edge, fields, content, status, seen):
    check(edge, REPORT + fields + b"\r\n" + content, status, seen)


@rows(
    ("7.1", "chunked", b"Transfer-Encoding: chunked\r\n", CHUNKS, 200, HELLO),
    ("7", "in another letter case", b"transfer-encoding: CHUNKED\r\n", CHUNKS, 200, HELLO),
    ("5.1", "white space around it", b"Transfer-Encoding:\t chunked  \r\n", CHUNKS, 200, HELLO),
    ("6.1", "with a length after", b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", CHUNKS, 400),
    ("6.1", "with a length before", b"Content-Length: 15\r\nTransfer-Encoding: chunked\r\n", CHUNKS, 400),
    ("6.1", "with a length of 0", b"Content-Length: 0\r\nTransfer-Encoding: chunked\r\n", CHUNKS, 400),
    ("6.1", "identity with a length", b"Content-Length: 5\r\nTransfer-Encoding: identity\r\n", HELLO, 400),
    ("6.1", "twice", b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", CHUNKS, 400),
    ("6.1", "twice in a list", b"Transfer-Encoding: chunked, chunked\r\n", CHUNKS, 400),
    ("6.1", "then identity", b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", CHUNKS, 400),
    ("6.1", "after identity", b"Transfer-Encoding: identity, chunked\r\n", CHUNKS, 400),
    ("6.1", "after gzip", b"Transfer-Encoding: gzip, chunked\r\n", CHUNKS, 400),
    ("6.3", "not last", b"Transfer-Encoding: chunked, gzip\r\n", CHUNKS, 400),
    ("6.1", "an unknown coding", b"Transfer-Encoding: cow\r\n", HELLO, 400),
    ("6.1", "an unknown coding after", b"Transfer-Encoding: chunked, cow\r\n", CHUNKS, 400),
    ("6.1", "an unknown coding in a second field", b"Transfer-Encoding: cow\r\nTransfer-Encoding: chunked\r\n", CHUNKS, 400),
    ("6.1", "x before", b"Transfer-Encoding: xchunked\r\n", CHUNKS, 400),
    ("6.1", "x after", b"Transfer-Encoding: chunkedx\r\n", CHUNKS, 400),
    ("6.1", "cut", b"Transfer-Encoding: chunke\r\n", CHUNKS, 400),
    ("6.1", "empty", b"Transfer-Encoding: \r\n", CHUNKS, 400),
    ("6.1", "empty and a length", b"Transfer-Encoding:\r\nContent-Length: 5\r\n", HELLO, 400),
    ("9110 5.6.1", "a list that begins empty", b"Transfer-Encoding: , chunked\r\n", CHUNKS, 400),
    ("9110 5.6.1", "a list that ends empty", b"Transfer-Encoding: chunked,\r\n", CHUNKS, 400),
    ("7", "a parameter", b"Transfer-Encoding: chunked;q=1\r\n", CHUNKS, 400),
    ("7", "quotes", b'Transfer-Encoding: "chunked"\r\n', CHUNKS, 400),
    ("7", "single quotes", b"Transfer-Encoding: 'chunked'\r\n", CHUNKS, 400),
    ("5.5", "a NUL after", b"Transfer-Encoding: chunked\x00\r\n", CHUNKS, 400),
    ("5.5", "a vertical tab before", b"Transfer-Encoding: \x0bchunked\r\n", CHUNKS, 400),
    ("5.5", "a form feed after", b"Transfer-Encoding: chunked\x0c\r\n", CHUNKS, 400),
    ("5.5", "a byte beyond ASCII", b"Transfer-Encoding: chunked\xa0\r\n", CHUNKS, 400),
    ("5.1", "a space before the colon", b"Transfer-Encoding : chunked\r\n", CHUNKS, 400),
    ("5.1", "a tab before the colon", b"Transfer-Encoding\t: chunked\r\n", CHUNKS, 400),
    ("5.1", "a space in the name", b"Transfer Encoding: chunked\r\n", CHUNKS, 400),
    ("5.1", "a space before the name", b" Transfer-Encoding: chunked\r\n", CHUNKS, 400),
    ("5.1", "a byte beyond ASCII in the name", b"Transfer-Encoding\xff: chunked\r\n", CHUNKS, 400),
    ("5.2", "folded", b"Transfer-Encoding:\r\n chunked\r\n", CHUNKS, 400),
    ("5.2", "folded after a value", b"Transfer-Encoding: identity\r\n , chunked\r\n", CHUNKS, 400),
    ("5.2", "in a fold of another", b"X: a\r\n Transfer-Encoding: chunked\r\n", CHUNKS, 400),
    ("2.2", "after a bare LF", b"X: a\nTransfer-Encoding: chunked\r\n", CHUNKS, 400),
    ("2.2", "after a bare CR", b"X: a\rTransfer-Encoding: chunked\r\n", CHUNKS, 400),
    ("2.2", "ended by a bare LF", b"Transfer-Encoding: chunked\n", CHUNKS, 400),
    ("2.2", "ended by LF and CR", b"Transfer-Encoding: chunked\n\r", CHUNKS, 400),
    ("9110 5.1", "a similar name", b"Transfer_Encoding: chunked\r\n", b"", 200, b""),
    ("9110 5.1", "a name with the same start", b"Transfer-Encodings: chunked\r\n", b"", 200, b""),
)
def test_transfer_encoding(edge, fields, content, status, seen):
    check(edge, REPORT + fields + b"\r\n" + content, status, seen)


def test_chunks_without_transfer_encoding_are_not_content(edge):
    """After a field that only resembles Transfer-Encoding, the chunks are read as the next request, which is invalid."""
    answers = edge.exchange(REPORT + b"Transfer_Encoding: chunked\r\n\r\n" + CHUNKS)
    assert answers.statuses == [200, 400]
    assert edge.service.seen == [("POST", "/api/v1.0/experiments", b"")]


@pytest.mark.parametrize("fields", [b"Transfer-Encoding: chunked\r\n", b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"])
def test_http_1_0_has_no_chunks(edge, fields):
    """RFC 9112, 6.1: a transfer coding in HTTP/1.0 is invalid framing."""
    sent = REPORT.replace(b"HTTP/1.1", b"HTTP/1.0") + b"Connection: keep-alive\r\n" + fields + b"\r\n" + CHUNKS
    assert edge.exchange(sent).statuses == [400]
    assert edge.service.seen == []


LAST = b"0\r\n\r\n"
CHUNK_LINE_MAX = 8192


@pytest.mark.parametrize(
    ("content", "status", "seen"),
    [
        pytest.param(content, status, seen, id=f"{section} {name}")
        for section, name, content, status, seen in [
            ("7.1", "several", b"2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n", 200, HELLO),
            ("7.1", "none", LAST, 200, b""),
            ("7.1", "a size in upper case", b"A\r\n0123456789\r\n" + LAST, 200, b"0123456789"),
            ("7.1", "a size with zeros", b"00005\r\nhello\r\n000\r\n\r\n", 200, HELLO),
            ("7.1.1", "an extension", b"5;a=b\r\nhello\r\n" + LAST, 200, HELLO),
            ("7.1.1", "an extension without a value", b"5;a\r\nhello\r\n0;b\r\n\r\n", 200, HELLO),
            ("7.1.1", "a quoted extension", b'5;a="b;c"\r\nhello\r\n' + LAST, 200, HELLO),
            ("7.1.1", "an extension with an empty value", b"5;a=\r\nhello\r\n" + LAST, 400, None),
            ("7.1.1", "an empty extension", b"5;\r\nhello\r\n" + LAST, 400, None),
            ("7.1.1", "an extension without a name", b"5;=b\r\nhello\r\n" + LAST, 400, None),
            ("7.1.1", "two semicolons", b"5;;a\r\nhello\r\n" + LAST, 400, None),
            ("7.1.1", "an extension with an open quote", b'5;a="b\r\nhello\r\n' + LAST, 400, None),
            ("7.1.1", "bytes after a quote", b'5;a="b"c\r\nhello\r\n' + LAST, 400, None),
            ("7.1.2", "a trailer", b"5\r\nhello\r\n0\r\nX-Sum: 1\r\n\r\n", 200, HELLO),
            ("7.1", "a size of 2 to the 64th and 5", b"10000000000000005\r\nhello\r\n" + LAST, 400, None),
            ("7.1", "a size of twenty digits", b"f" * 20 + b"\r\nhello\r\n" + LAST, 400, None),
            ("7.1", "0x", b"0x5\r\nhello\r\n" + LAST, 400, None),
            ("7.1", "plus", b"+5\r\nhello\r\n" + LAST, 400, None),
            ("7.1", "minus", b"-5\r\nhello\r\n" + LAST, 400, None),
            ("7.1", "a space before the size", b" 5\r\nhello\r\n" + LAST, 400, None),
            ("7.1", "a space after the size", b"5 \r\nhello\r\n" + LAST, 400, None),
            ("7.1", "a tab after the size", b"5\t\r\nhello\r\n" + LAST, 400, None),
            ("7.1", "a NUL after the size", b"5\x00\r\nhello\r\n" + LAST, 400, None),
            ("7.1", "no size", b"\r\nhello\r\n" + LAST, 400, None),
            ("7.1", "an extension without a size", b";a=b\r\nhello\r\n" + LAST, 400, None),
            ("7.1", "not a number", b"g\r\nhello\r\n" + LAST, 400, None),
            ("7.1", "an underscore", b"0_5\r\nhello\r\n" + LAST, 400, None),
            ("7.1", "a comma", b"5,5\r\nhello\r\n" + LAST, 400, None),
            ("7.1", "data longer than the size", b"4\r\nhello\r\n" + LAST, 400, None),
            ("7.1", "data shorter than the size", b"6\r\nhello\r\n" + LAST, 400, None),
            ("7.1", "no line end after the data", b"5\r\nhello" + LAST, 400, None),
            ("7.1", "two line ends after the data", b"5\r\nhello\r\n\r\n" + LAST, 400, None),
            ("2.2", "LF after the size", b"5\nhello\r\n" + LAST, 400, None),
            ("2.2", "CR after the size", b"5\rhello\r\n" + LAST, 400, None),
            ("2.2", "LF after the data", b"5\r\nhello\n" + LAST, 400, None),
            ("2.2", "CR after the data", b"5\r\nhello\r" + LAST, 400, None),
            ("2.2", "LF after the last size", b"0\n\r\n", 400, None),
            ("2.2", "LF at the very end", b"0\r\n\n", 400, None),
            ("7.1.1", "LF in an extension", b"5;a\nb\r\nhello\r\n" + LAST, 400, None),
            ("7.1.1", "CR in an extension", b"5;a\rb\r\nhello\r\n" + LAST, 400, None),
            ("7.1.1", "NUL in an extension", b"5;a\x00b\r\nhello\r\n" + LAST, 400, None),
            ("7.1.1", "LF in a quoted extension", b'5;a="\n"\r\nhello\r\n' + LAST, 400, None),
            ("7.1.1", "an endless extension", b"5;a=" + b"x" * 2 * CHUNK_LINE_MAX + b"\r\nhello\r\n" + LAST, 400, None),
            ("7.1.2", "a trailer without a colon", b"0\r\nX\r\n\r\n", 400, None),
            ("7.1.2", "a trailer with a space before the colon", b"0\r\nX : y\r\n\r\n", 400, None),
            ("7.1.2", "a folded trailer", b"0\r\nX: y\r\n z\r\n\r\n", 400, None),
            ("7.1.2", "a trailer ended by LF", b"0\r\nX: y\n\r\n", 400, None),
            ("7.1.2", "NUL in a trailer", b"0\r\nX: \x00\r\n\r\n", 400, None),
            ("7.1.2", "endless trailers", b"0\r\n" + b"X: y\r\n" * CHUNK_LINE_MAX + b"\r\n", 400, None),
            ("7.1.2", "no end after the last size", b"0\r\n", 400, None),
        ]
    ],
)
def test_chunks(edge, content, status, seen):
    """The service may have been called before the invalid chunk arrives: then it did not get a complete request."""
    check(edge, REPORT + b"Transfer-Encoding: chunked\r\n\r\n" + content, status, seen)


@pytest.mark.parametrize("trailer", [
    b"Content-Length: 3", b"Transfer-Encoding: chunked", b"Transfer-Encoding: gzip", b"Host: b", b"X-Expops-Identity: forged",
    b"Authorization: Bearer other", b"X-Request-Id: other", b"Connection: close", b"Upgrade: h2c\r\nConnection: Upgrade",
    b"Expect: tea", b"Trailer: X"])
def test_trailers_change_nothing(edge, trailer):
    """RFC 9110, 6.5.1: trailers are dropped, whatever their names, and the next request is read."""
    answers = edge.exchange(REPORT + b"X-Request-Id: mine\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n" + trailer + b"\r\n\r\n")
    if answers.statuses != [400]:  # also allowed: a framing field is not valid in a trailer
        assert answers.statuses == [200, 404]
        (request,) = edge.service.requests
        assert request.content == HELLO
        assert request.value("x-request-id") == "mine"
        name = trailer.partition(b":")[0].decode().lower()
        assert name not in ("trailer", "connection", "expect") or request.values(name) == []
    assert not edge.service.faults
