"""The head of a request: first line, target, Host and other fields. A row: the section of the RFC (9112 unless it says
9110), a name, the bytes, the status. A refused request is answered once, and nothing after it is read.
"""

import pytest

KEY = b"Authorization: Bearer @KEY@\r\n"
REST = b"Host: a\r\n" + KEY + b"\r\n"
PATH = b"/api/v1.0/experiments"
LINE = b"GET " + PATH + b" HTTP/1.1\r\n"


def rows(*table):
    return pytest.mark.parametrize(("sent", "status"), [pytest.param(*row[2:], id=f"{row[0]} {row[1]}") for row in table])


def check(edge, sent, status):
    answers = edge.exchange(sent)
    assert not edge.service.faults
    assert answers.messages[0].value("x-request-id")
    if status == 200:
        assert answers.statuses == [200, 404]
        assert [seen[0] for seen in edge.service.seen] == ["GET"]
        return answers
    assert answers.statuses == [status]
    assert answers.messages[0].value("content-type") == "application/problem+json"
    assert answers.messages[0].value("connection") == "close"
    assert edge.service.seen == []
    return answers


@rows(
    ("2.2", "an empty line before", b"\r\n" + LINE, 200),
    ("2.2", "two empty lines before", b"\r\n\r\n" + LINE, 400),
    ("2.2", "LF before", b"\n" + LINE, 400),
    ("2.2", "CR before", b"\r" + LINE, 400),
    ("2.2", "a NUL before", b"\x00" + LINE, 400),
    ("2.2", "a byte order mark before", b"\xef\xbb\xbf" + LINE, 400),
    ("3", "a space before the method", b" " + LINE, 400),
    ("3", "two spaces after the method", b"GET  " + PATH + b" HTTP/1.1\r\n", 400),
    ("3", "a tab after the method", b"GET\t" + PATH + b" HTTP/1.1\r\n", 400),
    ("3", "two spaces before the version", b"GET " + PATH + b"  HTTP/1.1\r\n", 400),
    ("3", "a tab before the version", b"GET " + PATH + b"\tHTTP/1.1\r\n", 400),
    ("3", "a space after the version", b"GET " + PATH + b" HTTP/1.1 \r\n", 400),
    ("3", "a word after the version", b"GET " + PATH + b" HTTP/1.1 x\r\n", 400),
    ("3", "a vertical tab for a space", b"GET\x0b" + PATH + b" HTTP/1.1\r\n", 400),
    ("3", "two targets", b"GET " + PATH + b" /x HTTP/1.1\r\n", 400),
    ("3", "no target", b"GET HTTP/1.1\r\n", 400),
    ("3", "no version", b"GET " + PATH + b"\r\n", 505),
    ("3", "only a word", b"GET\r\n", 400),
    ("2.2", "LF ends the line", b"GET " + PATH + b" HTTP/1.1\n", 400),
    ("2.2", "CR ends the line", b"GET " + PATH + b" HTTP/1.1\r", 400),
    ("2.2", "CR twice ends the line", b"GET " + PATH + b" HTTP/1.1\r\r\n", 400),
    ("9110 9.1", "a method in lower case", b"get " + PATH + b" HTTP/1.1\r\n", 501),
    ("9110 9.1", "an unknown method", b"FETCH " + PATH + b" HTTP/1.1\r\n", 501),
    ("9110 9.1", "a method with a suffix", b"GETS " + PATH + b" HTTP/1.1\r\n", 501),
    ("9110 9.1", "a method of punctuation", b"!#$%&'*+-.^_`|~ " + PATH + b" HTTP/1.1\r\n", 400),
    ("9110 5.6.2", "a method that is not a token", b"GE(T " + PATH + b" HTTP/1.1\r\n", 400),
    ("9110 5.6.2", "a NUL in the method", b"GE\x00T " + PATH + b" HTTP/1.1\r\n", 400),
    ("9110 9.3.6", "CONNECT", b"CONNECT a:443 HTTP/1.1\r\n", 405),
    ("2.3", "HTTP/0.9", b"GET " + PATH + b" HTTP/0.9\r\n", 505),
    ("2.3", "HTTP/1.2", b"GET " + PATH + b" HTTP/1.2\r\n", 505),
    ("2.3", "HTTP/1.10", b"GET " + PATH + b" HTTP/1.10\r\n", 400),
    ("2.3", "HTTP/1", b"GET " + PATH + b" HTTP/1\r\n", 505),
    ("2.3", "HTTP/01.1", b"GET " + PATH + b" HTTP/01.1\r\n", 505),
    ("2.3", "HTTP/1.+1", b"GET " + PATH + b" HTTP/1.+1\r\n", 505),
    ("2.3", "HTTP/2.0", b"GET " + PATH + b" HTTP/2.0\r\n", 505),
    ("2.3", "HTTP/3.0", b"GET " + PATH + b" HTTP/3.0\r\n", 505),
    ("2.3", "in lower case", b"GET " + PATH + b" http/1.1\r\n", 400),
    ("2.3", "another protocol", b"GET " + PATH + b" RTSP/1.0\r\n", 400),
    ("2.3", "a similar protocol", b"GET " + PATH + b" HTTPS/1.1\r\n", 400),
    ("9113 3.4", "the preface of HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
    ("-", "TLS", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400),
    ("-", "PROXY protocol", b"PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n" + LINE, 501),
)
def test_first_line(edge, sent, status):
    check(edge, sent + REST, status)


@rows(
    ("3.2.1", "a query", PATH + b"?a=b&c", 200),
    ("3.2.1", "an empty query", PATH + b"?", 200),
    ("3.2.2", "absolute-form", b"http://a" + PATH, 200),
    ("3.2.2", "absolute-form in upper case", b"HTTP://A" + PATH, 200),
    ("3.2.2", "absolute-form of another host", b"http://b" + PATH, 400),
    ("3.2.2", "absolute-form with a port that Host lacks", b"http://a:81" + PATH, 400),
    ("3.2.2", "absolute-form with a user", b"http://u@a" + PATH, 400),
    ("3.2.2", "absolute-form without a host", b"http://" + PATH, 400),
    ("3.2.2", "absolute-form of another scheme", b"ftp://a" + PATH, 400),
    ("3.2.2", "absolute-form of a similar scheme", b"httpx://a" + PATH, 400),
    ("3.2.2", "absolute-form with a backslash", b"http:\\\\a" + PATH, 400),
    ("3.2.3", "authority-form", b"a:80", 400),
    ("3.2.4", "asterisk-form", b"*", 400),
    ("3.2", "no slash before", b"api/v1.0/experiments", 400),
    ("3.2", "an encoded slash before", b"%2Fapi/v1.0/experiments", 400),
    ("9110 4.2.5", "a fragment", PATH + b"#x", 400),
    ("9110 4.2.5", "a fragment after the query", PATH + b"?a#x", 400),
    ("3.2", "a NUL", PATH + b"\x00", 400),
    ("3.2", "DEL", PATH + b"\x7f", 400),
    ("3.2", "a control character", PATH + b"\x01", 400),
    ("3.2", "a control character in the query", PATH + b"?\x1b", 400),
    ("3.2", "a byte beyond ASCII", PATH + b"\xff", 400),
    ("3.2", "UTF-8", PATH + "é".encode(), 400),
    ("3.2", "UTF-8 in the query", PATH + b"?" + "é".encode(), 400),
    ("3.2", "CR", PATH + b"\r", 400),
)
def test_target(edge, sent, status):
    answers = check(edge, b"GET " + sent + b" HTTP/1.1\r\n" + REST, status)
    if status == 200:
        assert edge.service.seen[0][1].startswith(PATH.decode())
    else:
        assert answers.messages[0].status == 400


@pytest.mark.parametrize(("target", "status"), [
    (b"/api/v1.0/./experiments", 404), (b"/api/v1.0/x/../experiments", 404), (b"/api/v1.0/%2e/experiments", 404),
    (b"/api/v1.0/x/%2E%2e/experiments", 404), (b"/api/v1.0/.%2e/experiments", 404), (b"//api/v1.0/experiments", 404),
    (b"/api/v1.0//experiments", 404), (b"/api%2Fv1.0/experiments", 404), (b"/api%2fv1.0/experiments", 404),
    (b"/api/v1.0/experiments/", 404), (b"/api/v1.0/experiments;x", 404), (b"/api/v1.0/experiments%00", 404),
    (b"/api/v1.0/experiments%", 404), (b"/api/v1.0/experiments/%2", 404), (b"/api/v1.0/experiments/%zz", 404),
    (b"/api/v1.0/experiments/%c0%af", 404), (b"/api/v1.0/experiments/a%2Fb", 404), (b"/api/v1.0/experiments/a%5cb", 404),
    (b"/api/v1.0/experiments/a\\b", 404), (b"/api/v1.0/experiments/%0d%0aX:%20y", 404), (b"/api/v1.0/experiments%3f", 404),
    (b"/API/v1.0/experiments", 404), (b"/", 200), (b"http://a", 200), (b"http://a?x", 200), (b"http://a/", 200),
])
def test_targets_are_not_normalised(edge, target, status):
    """RFC 9110, 4.2.3: these do not become a path of the service; the root has links. The connection stays open, since the request was well formed."""
    answers = edge.exchange(b"GET " + target + b" HTTP/1.1\r\n" + REST)
    assert answers.statuses == [status, 404]
    assert edge.service.seen == []


@pytest.mark.parametrize("target", [b"/api/v1.0/%65xperiments", b"/%61pi/v1.0/experiments", b"/api/v1.0/experiments?a=/../b&c=%00"])
def test_targets_are_passed_on_unchanged(edge, target):
    """RFC 9110, 4.2.3: percent-encoding is decoded to find the operation, but the target is sent on as received."""
    assert edge.exchange(b"GET " + target + b" HTTP/1.1\r\n" + REST).statuses == [200, 404]
    assert edge.service.seen == [("GET", target.decode(), b"")]


@pytest.mark.parametrize("method", [b"OPTIONS", b"TRACE", b"PUT", b"PATCH", b"DELETE", b"PURGE", b"PROPFIND"])
def test_other_methods_are_405(edge, method):
    """RFC 9110, 15.5.6: the reply lists the allowed methods."""
    answers = edge.exchange(method + b" " + PATH + b" HTTP/1.1\r\n" + REST)
    assert answers.statuses == [405, 404]
    assert answers.messages[0].value("allow") == "GET, HEAD, POST"
    assert edge.service.seen == []


def test_options_of_the_whole_server(edge):
    """RFC 9112, 3.2.4: answered with 405 and all methods."""
    answers = edge.exchange(b"OPTIONS * HTTP/1.1\r\n" + REST)
    assert answers.statuses == [405, 404]
    assert answers.messages[0].value("allow") == "GET, HEAD, POST, PUT, PATCH, DELETE"


@rows(
    ("9110 7.2", "a name", b"Host: research.example.org\r\n", 200),
    ("9110 7.2", "a port", b"Host: a:8080\r\n", 200),
    ("9110 7.2", "an empty port", b"Host: a:\r\n", 200),
    ("9110 7.2", "an IPv4 address", b"Host: 127.0.0.1:80\r\n", 200),
    ("9110 7.2", "an IPv6 address", b"Host: [::1]\r\n", 200),
    ("9110 7.2", "an IPv6 address and a port", b"Host: [2001:db8::1]:8080\r\n", 200),
    ("9110 7.2", "an IPv4 address in an IPv6 address", b"Host: [::ffff:192.0.2.1]\r\n", 200),
    ("9110 7.2", "the last port", b"Host: a:65535\r\n", 200),
    ("9110 7.2", "a port with zeros", b"Host: a:0000000080\r\n", 200),
    ("9110 4.2.1", "nothing", b"Host:\r\n", 400),
    ("9110 4.2.1", "only a port", b"Host: :80\r\n", 400),
    ("9110 7.2", "in lower case", b"host: a\r\n", 200),
    ("3.2", "none", b"", 400),
    ("3.2", "two", b"Host: a\r\nHost: b\r\n", 400),
    ("3.2", "the same twice", b"Host: a\r\nHost: a\r\n", 400),
    ("3.2", "twice in another letter case", b"Host: a\r\nhOST: b\r\n", 400),
    ("3.2", "a list", b"Host: a, b\r\n", 400),
    ("3.2", "a space within", b"Host: a b\r\n", 400),
    ("3.2", "a tab within", b"Host: a\tb\r\n", 400),
    ("3.2", "a path", b"Host: a/b\r\n", 400),
    ("3.2", "a backslash", b"Host: a\\b\r\n", 400),
    ("3.2", "a query", b"Host: a?b\r\n", 400),
    ("3.2", "a fragment", b"Host: a#b\r\n", 400),
    ("3.2", "a user", b"Host: u@a\r\n", 400),
    ("3.2", "a scheme", b"Host: http://a\r\n", 400),
    ("3.2", "two ports", b"Host: a:80:80\r\n", 400),
    ("3.2", "a port that is not a number", b"Host: a:http\r\n", 400),
    ("3.2", "a port with a sign", b"Host: a:+80\r\n", 400),
    ("3.2", "an open bracket", b"Host: [::1\r\n", 400),
    ("3.2", "a closed bracket", b"Host: ::1]\r\n", 400),
    ("3.2", "an IPv6 address without brackets", b"Host: ::1\r\n", 400),
    ("3.2", "text after brackets", b"Host: [::1]a\r\n", 400),
    ("3.2", "brackets within", b"Host: a[::1]\r\n", 400),
    ("3.2", "empty brackets", b"Host: []\r\n", 400),
    ("3.2", "dots in brackets", b"Host: [a..b]\r\n", 400),
    ("3.2", "a colon in brackets", b"Host: [:]\r\n", 400),
    ("3.2", "an IPv4 address in brackets", b"Host: [192.0.2.1]\r\n", 400),
    ("3.2", "an IPv6 address that is too long", b"Host: [1:2:3:4:5:6:7:8:9]\r\n", 400),
    ("3.2", "a long text in brackets", b"Host: [" + b"0:" * 200 + b"]\r\n", 400),
    ("3.2", "a port over 65535", b"Host: a:65536\r\n", 400),
    ("3.2", "a port over 2^32", b"Host: a:4294967376\r\n", 400),
    ("3.2", "a port over 65535 after an IPv6 address", b"Host: [::1]:99999\r\n", 400),
    ("3.2", "a broken encoding", b"Host: a%zz\r\n", 400),
    ("3.2", "beyond ASCII", "Host: é\r\n".encode(), 400),
    ("3.2", "angle brackets", b"Host: <a>\r\n", 400),
    ("5.2", "folded", b"Host:\r\n a\r\n", 400),
    ("5.2", "folded after a value", b"Host: a\r\n b\r\n", 400),
    ("5.1", "a space before the colon", b"Host : a\r\n", 400),
    ("5.5", "a NUL", b"Host: a\x00\r\n", 400),
)
def test_host(edge, sent, status):
    check(edge, LINE + sent + KEY + b"\r\n", status)


@pytest.mark.parametrize(("fields", "status"), [(b"", 200), (b"Host: a\r\n", 200), (b"Host: a\r\nHost: a\r\n", 400), (b"Host: a/b\r\n", 400)])
def test_host_in_http_1_0(edge, fields, status):
    answers = edge.exchange(b"GET " + PATH + b" HTTP/1.0\r\n" + fields + KEY + b"\r\n")
    assert answers.statuses == [status]
    assert len(edge.service.seen) == (status == 200)


@rows(
    ("5", "any name that is a token", b"!#$%&'*+-.^_`|~09aZ: x\r\n", 200),
    ("9110 5.5", "an empty value", b"X:\r\n", 200),
    ("9110 5.5", "a value of spaces", b"X:  \t \r\n", 200),
    ("9110 5.5", "a value with tabs", b"X: a\tb\r\n", 200),
    ("9110 5.5", "bytes beyond ASCII", b"X: \xe9\xff\x80\r\n", 200),
    ("9110 5.3", "a repeated name", b"X: a\r\nX: b\r\n", 200),
    ("5", "no colon", b"X\r\n", 400),
    ("5", "no name", b": x\r\n", 400),
    ("5.1", "a space before the colon", b"X : x\r\n", 400),
    ("5.1", "a tab before the colon", b"X\t: x\r\n", 400),
    ("5", "a space in the name", b"X Y: x\r\n", 400),
    ("5", "parentheses in the name", b"X(Y): x\r\n", 400),
    ("5", "quotes in the name", b'"X": x\r\n', 400),
    ("5", "a slash in the name", b"X/Y: x\r\n", 400),
    ("5", "brackets in the name", b"X[Y]: x\r\n", 400),
    ("5", "a NUL in the name", b"X\x00Y: x\r\n", 400),
    ("5", "a control character in the name", b"X\x01: x\r\n", 400),
    ("5", "a byte beyond ASCII in the name", b"X\xe9: x\r\n", 400),
    ("5", "a CR in the name", b"X\rY: x\r\n", 400),
    ("9110 5.5", "a NUL in the value", b"X: a\x00b\r\n", 400),
    ("9110 5.5", "a control character in the value", b"X: a\x01b\r\n", 400),
    ("9110 5.5", "ESC in the value", b"X: \x1b[2J\r\n", 400),
    ("9110 5.5", "DEL in the value", b"X: a\x7f\r\n", 400),
    ("9110 5.5", "a vertical tab in the value", b"X: a\x0bb\r\n", 400),
    ("2.2", "a bare CR in the value", b"X: a\rb\r\n", 400),
    ("2.2", "a bare LF in the value", b"X: a\nb\r\n", 400),
    ("2.2", "LF ends it", b"X: a\n", 400),
    ("2.2", "CR ends it", b"X: a\r", 400),
    ("2.2", "LF and CR end it", b"X: a\n\r", 400),
    ("2.2", "CR twice ends it", b"X: a\r\r\n", 400),
    ("5.2", "folded by a space", b"X: a\r\n b\r\n", 400),
    ("5.2", "folded by a tab", b"X: a\r\n\tb\r\n", 400),
    ("5.2", "folded to nothing", b"X: a\r\n \r\n", 400),
    ("5.2", "folded from nothing", b"X:\r\n a\r\n", 400),
    ("2.2", "LF ends the head", b"X: a\r\n\n", 400),
    ("2.2", "CR ends the head", b"X: a\r\n\r", 400),
)
def test_fields(edge, sent, status):
    check(edge, LINE + b"Host: a\r\n" + KEY + sent + b"\r\n", status)


def test_an_indented_first_field_is_refused(edge):
    check(edge, LINE + b" Host: a\r\n" + KEY + b"\r\n", 400)


HEAD_MAX = 64 << 10
FIELDS_MAX = 128


@pytest.mark.parametrize(("sent", "status"), [
    pytest.param(LINE + b"X: " + b"x" * (HEAD_MAX - 500) + b"\r\n" + REST, 200, id="a long value"),
    pytest.param(LINE + b"X: " + b"x" * HEAD_MAX + b"\r\n" + REST, 431, id="a value over the limit"),
    pytest.param(LINE + b"x" * HEAD_MAX + b": x\r\n" + REST, 431, id="a name over the limit"),
    pytest.param(LINE + b"X:" + b" " * HEAD_MAX + b"x\r\n" + REST, 431, id="white space over the limit"),
    pytest.param(b"GET " + PATH + b"?" + b"x" * HEAD_MAX + b" HTTP/1.1\r\n" + REST, 414, id="a target over the limit"),
    pytest.param(b"GET " + PATH + b"?" + b"x" * 8000 + b" HTTP/1.1\r\n" + REST, 200, id="a target of 8000 bytes"),
    pytest.param(b"x" * HEAD_MAX + b" / HTTP/1.1\r\n" + REST, 501, id="a method over the limit"),
    pytest.param(LINE + b"X: y\r\n" * (FIELDS_MAX - 2) + REST, 200, id="many fields"),
    pytest.param(LINE + b"X: y\r\n" * (FIELDS_MAX - 1) + REST, 431, id="too many fields"),
])
def test_limits_of_a_head(edge, sent, status):
    """RFC 9110, 5.4, and RFC 9112, 3: a head is read up to the limit."""
    check(edge, sent, status)
