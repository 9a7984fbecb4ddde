/* Requests as bytes: which are accepted, and that requests which two parsers could read differently
 * are refused. */
#include "base/base.h"
#include "http_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define HOST "Host: a\r\n"
#define BYE  "Connection: close\r\n"
#define GET  "GET / HTTP/1.1\r\n" HOST
#define POST "POST / HTTP/1.1\r\n" HOST
#define NEXT "GET /next HTTP/1.1\r\n" HOST BYE "\r\n"

/* The bytes sent, the statuses of the replies until the server closes, and what the handler saw. */
struct wire_case {
	const char *what;
	const char *bytes;
	int statuses[4];
	const char *seen; /* of the newest request; NULL: the handler saw none */
	size_t length;    /* of the bytes; 0: strlen(bytes) */
};

#define WITH_NUL(text) .bytes = (text), .length = sizeof(text) - 1

static const struct wire_case WIRE_CASES[] = {
	/* accepted */
	{"a plain request", "GET /a?b=c HTTP/1.1\r\n" HOST BYE "\r\n", {200}, "GET /a?b=c "},
	{"one empty line before", "\r\n" NEXT, {200}, "GET /next "},
	{"two in a row", "GET /1 HTTP/1.1\r\n" HOST "\r\n" NEXT, {200, 200}, "GET /next "},
	{"content, then another",
         "POST /p HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\nhello" NEXT,
         {200, 200},
         "GET /next "},
	{"content",
         "POST /p HTTP/1.1\r\n" HOST BYE "Content-Length: 5\r\n\r\nhello",
         {200},
         "POST /p hello"},
	{"chunks",
         "POST /p HTTP/1.1\r\n" HOST BYE "Transfer-Encoding: chunked\r\n\r\n"
         "3\r\nhel\r\n2;x=y;z;quoted=\"a b\";none=\"\"\r\nlo\r\n0\r\n\r\n",
         {200},
         "POST /p hello"},
	{"chunks with trailers",
         "POST /p HTTP/1.1\r\n" HOST "Transfer-Encoding: Chunked \r\n\r\n"
         "3\r\nhel\r\n0\r\nX-Sum: 1\r\nContent-Type: x\r\n\r\n" NEXT,
         {200, 200},
         "GET /next "},
	{"absolute-form with the same host",
         "GET http://a/x HTTP/1.1\r\n" HOST BYE "\r\n",
         {200},
         "GET /x "},
	{"absolute-form without a path",
         "GET HTTP://A?b HTTP/1.1\r\n" HOST BYE "\r\n",
         {200},
         "GET /?b "},
	{"a Connection field in the trailer",
         "POST /p HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n"
         "0\r\nConnection: close\r\n\r\n" NEXT,
         {200, 200},
         "GET /next "},
	{"asterisk-form", "OPTIONS * HTTP/1.1\r\n" HOST BYE "\r\n", {200}, "OPTIONS * "},
	{"HTTP/1.0 without Host", "GET /x HTTP/1.0\r\n\r\n", {200}, "GET /x "},
	{"HTTP/1.0 with keep-alive",
         "GET /x HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET /y HTTP/1.0\r\n\r\n",
         {200, 200},
         "GET /y "},
	{"an Upgrade is ignored",
         "GET /x HTTP/1.1\r\n" HOST "Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n" NEXT,
         {200, 200},
         "GET /next "},
	{"an upgrade to h2c is ignored",
         "GET /x HTTP/1.1\r\n" HOST "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: "
         "h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n" NEXT,
         {200, 200},
         "GET /next "},
	{"trailing bytes after the last request",
         NEXT "GET /smuggled HTTP/1.1\r\n" HOST "\r\n",
         {200},
         "GET /next "},
	{"Expect: 100-continue",
         "POST /p HTTP/1.1\r\n" HOST BYE "Expect: 100-continue\r\nContent-Length: 2\r\n\r\nhi",
         {200},
         "POST /p hi"},
	{"obsolete text in a value",
         "GET /x HTTP/1.1\r\n" HOST BYE "X: caf\xe9\r\n\r\n",
         {200},
         "GET /x "},

	/* Content-Length */
	{"length and chunks",
         POST "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
         {400}},
	{"chunks and length",
         POST "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n",
         {400}},
	{"two lengths", POST "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab", {400}},
	{"the same length twice", POST "Content-Length: 2\r\nContent-Length: 2\r\n\r\nab", {400}},
	{"a list of lengths", POST "Content-Length: 5, 5\r\n\r\nhello", {400}},
	{"a signed length", POST "Content-Length: +5\r\n\r\nhello", {400}},
	{"a negative length", POST "Content-Length: -1\r\n\r\n", {400}},
	{"an empty length", POST "Content-Length: \r\n\r\n", {400}},
	{"a hexadecimal length", POST "Content-Length: 0x5\r\n\r\nhello", {400}},
	{"a length with a space in it", POST "Content-Length: 1 1\r\n\r\nhello", {400}},
	{"a fractional length", POST "Content-Length: 5.0\r\n\r\nhello", {400}},
	{"a length over 64 bits", POST "Content-Length: 18446744073709551621\r\n\r\nhello", {400}},
	{"a length over 63 bits", POST "Content-Length: 9223372036854775808\r\n\r\n", {400}},

	/* transfer codings */
	{"a space before the colon", POST "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n", {400}},
	{"a tab before the colon", POST "Transfer-Encoding\t: chunked\r\n\r\n0\r\n\r\n", {400}},
	{"xchunked", POST "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", {400}},
	{"chunked twice in a field",
         POST "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
         {400}},
	{"chunked in two fields",
         POST "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
         {400}},
	{"chunked, then identity",
         POST "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
         {400}},
	{"identity", POST "Transfer-Encoding: identity\r\n\r\n", {400}},
	{"gzip, chunked", POST "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", {400}},
	{"an empty coding", POST "Transfer-Encoding: \r\n\r\n", {400}},
	{"a quoted coding", POST "Transfer-Encoding: \"chunked\"\r\n\r\n0\r\n\r\n", {400}},
	{"a coding with a parameter",
         POST "Transfer-Encoding: chunked;q=1\r\n\r\n0\r\n\r\n",
         {400}},
	{"a vertical tab before chunked",
         POST "Transfer-Encoding: \x0b"
              "chunked\r\n\r\n0\r\n\r\n",
         {400}},
	{"chunked on a folded line", POST "Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n", {400}},
	{"chunks in HTTP/1.0",
         "POST / HTTP/1.0\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
         {400}},

#define CHUNKED POST "Transfer-Encoding: chunked\r\n\r\n"
	/* chunks; the handler sees the head, the client a 400 */
	{"a chunk size over 64 bits",
         CHUNKED "10000000000000005\r\nhello\r\n0\r\n\r\n",
         {400},
         "POST / "},
	{"a chunk size with 0x", CHUNKED "0x5\r\nhello\r\n0\r\n\r\n", {400}, "POST / "},
	{"a signed chunk size", CHUNKED "+5\r\nhello\r\n0\r\n\r\n", {400}, "POST / "},
	{"a negative chunk size", CHUNKED "-5\r\nhello\r\n0\r\n\r\n", {400}, "POST / "},
	{"a space before a chunk size", CHUNKED " 5\r\nhello\r\n0\r\n\r\n", {400}, "POST / "},
	{"a space after a chunk size", CHUNKED "5 \r\nhello\r\n0\r\n\r\n", {400}, "POST / "},
	{"a tab after a chunk size", CHUNKED "5\t\r\nhello\r\n0\r\n\r\n", {400}, "POST / "},
	{"no chunk size", CHUNKED "\r\nhello\r\n0\r\n\r\n", {400}, "POST / "},
	{"an underscored chunk size",
         CHUNKED "1_0\r\n0123456789abcdef\r\n0\r\n\r\n",
         {400},
         "POST / "},
	{"a chunk longer than its size", CHUNKED "5\r\nhello!\r\n0\r\n\r\n", {400}, "POST / hello"},
	{"a chunk size ended by LF", CHUNKED "5\nhello\r\n0\r\n\r\n", {400}, "POST / "},
	{"a chunk size ended by CR", CHUNKED "5\rhello\r\n0\r\n\r\n", {400}, "POST / "},
	{"a chunk ended by LF", CHUNKED "5\r\nhello\n0\r\n\r\n", {400}, "POST / hello"},
	{"LF in a chunk extension", CHUNKED "5;a\nb\r\nhello\r\n0\r\n\r\n", {400}, "POST / "},
	{"CR in a chunk extension", CHUNKED "5;a\rb\r\nhello\r\n0\r\n\r\n", {400}, "POST / "},
	{"LF in the value of an extension",
         CHUNKED "5;a=\n\r\nhello\r\n0\r\n\r\n",
         {400},
         "POST / "},
	{"an extension without a name", CHUNKED "5;=b\r\nhello\r\n0\r\n\r\n", {400}, "POST / "},
	{"an extension with an empty value",
         CHUNKED "5;a=\r\nhello\r\n0\r\n\r\n",
         {400},
         "POST / "},
	{"an extension between two semicolons",
         CHUNKED "5;;a\r\nhello\r\n0\r\n\r\n",
         {400},
         "POST / "},
	{"LF in a quoted extension", CHUNKED "5;a=\"\n\"\r\nhello\r\n0\r\n\r\n", {400}, "POST / "},
	{"a last chunk ended by LF", CHUNKED "0\n\n", {400}, "POST / "},
	{"a trailer ended by LF", CHUNKED "0\r\nX: y\n\r\n", {400}, "POST / "},
	{"a space before a trailer's colon", CHUNKED "0\r\nX : y\r\n\r\n", {400}, "POST / "},

	/* line ends and fields */
	{"LF ends the request line", "GET / HTTP/1.1\n" HOST "\r\n", {400}},
	{"LF ends a field", "GET / HTTP/1.1\r\nHost: a\n\r\n", {400}},
	{"LF ends the head", GET "\n", {400}},
	{"CR alone in a value", GET "X: a\rb\r\n\r\n", {400}},
	{"CR alone ends a field", GET "X: a\rY: b\r\n\r\n", {400}},
	{"CR alone before the head's end", GET "\r\r\n", {400}},
	{"a folded value", GET "X: a\r\n b\r\n\r\n", {400}},
	{"a value folded by a tab", GET "X: a\r\n\tb\r\n\r\n", {400}},
	{"a first field that is indented", "GET / HTTP/1.1\r\n Host: a\r\n\r\n", {400}},
	{"NUL in a value", WITH_NUL(GET "X: a\0b\r\n\r\n"), .statuses = {400}},
	{"NUL in a name", WITH_NUL(GET "X\0: a\r\n\r\n"), .statuses = {400}},
	{"NUL in the target", WITH_NUL("GET /\0 HTTP/1.1\r\n" HOST "\r\n"), .statuses = {400}},
	{"ESC in a value", GET "X: a\x1b[0m\r\n\r\n", {400}},
	{"DEL in a value", GET "X: a\x7f\r\n\r\n", {400}},
	{"a space in a name", GET "X Y: a\r\n\r\n", {400}},
	{"parentheses in a name", GET "X(Y): a\r\n\r\n", {400}},
	{"a name beyond ASCII", GET "X\xe9: a\r\n\r\n", {400}},
	{"no name", GET ": a\r\n\r\n", {400}},
	{"no colon", GET "X\r\n\r\n", {400}},

	/* Host and target */
	{"no Host", "GET / HTTP/1.1\r\n\r\n", {400}},
	{"two Hosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", {400}},
	{"the same Host twice", "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", {400}},
	{"two Hosts in HTTP/1.0", "GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n", {400}},
	{"a Host with a path", "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", {400}},
	{"a Host with a user", "GET / HTTP/1.1\r\nHost: u@a\r\n\r\n", {400}},
	{"a list of Hosts", "GET / HTTP/1.1\r\nHost: a, b\r\n\r\n", {400}},
	{"a Host with two ports", "GET / HTTP/1.1\r\nHost: a:1:2\r\n\r\n", {400}},
	{"a Host that opens a bracket", "GET / HTTP/1.1\r\nHost: [::1\r\n\r\n", {400}},
	{"a Host with a broken encoding", "GET / HTTP/1.1\r\nHost: a%z\r\n\r\n", {400}},
	{"absolute-form without a host", "GET http:///x HTTP/1.1\r\nHost:\r\n\r\n", {400}},
	{"absolute-form with another host", "GET http://b/x HTTP/1.1\r\n" HOST "\r\n", {400}},
	{"absolute-form with a user", "GET http://u@a/x HTTP/1.1\r\n" HOST "\r\n", {400}},
	{"absolute-form of another scheme", "GET ftp://a/x HTTP/1.1\r\n" HOST "\r\n", {400}},
	{"authority-form", "GET a:80 HTTP/1.1\r\n" HOST "\r\n", {400}},
	{"asterisk-form of another method", "GET * HTTP/1.1\r\n" HOST "\r\n", {400}},
	{"more than an asterisk", "OPTIONS *?a HTTP/1.1\r\n" HOST "\r\n", {400}},
	{"an empty Host", "GET / HTTP/1.1\r\nHost:\r\n\r\n", {400}},
	{"a fragment", "GET /a#b HTTP/1.1\r\n" HOST "\r\n", {400}},
	{"a target beyond ASCII", "GET /\xe9 HTTP/1.1\r\n" HOST "\r\n", {400}},
	{"a space in the target", "GET /a b HTTP/1.1\r\n" HOST "\r\n", {400}},
	{"a tab after the method", "GET\t/ HTTP/1.1\r\n" HOST "\r\n", {400}},

	/* versions, methods, other protocols */
	{"HTTP/0.9", "GET /x\r\n\r\n", {505}},
	{"HTTP/1.2", "GET / HTTP/1.2\r\n" HOST "\r\n", {505}},
	{"HTTP/2.0", "GET / HTTP/2.0\r\n" HOST "\r\n", {505}},
	{"HTTP/3.7", "GET / HTTP/3.7\r\n" HOST "\r\n", {505}},
	{"HTTP/01.1", "GET / HTTP/01.1\r\n" HOST "\r\n", {505}},
	{"HTTP/1.10", "GET / HTTP/1.10\r\n" HOST "\r\n", {400}},
	{"HTTP/1", "GET / HTTP/1\r\n" HOST "\r\n", {505}},
	{"two spaces after the method", "GET  / HTTP/1.1\r\n" HOST "\r\n", {400}},
	{"two spaces before the version", "GET /  HTTP/1.1\r\n" HOST "\r\n", {400}},
	{"a space after the version", "GET / HTTP/1.1 \r\n" HOST "\r\n", {400}},
	{"a tab before the version", "GET /\tHTTP/1.1\r\n" HOST "\r\n", {400}},
	{"http/1.1 in small letters", "GET / http/1.1\r\n" HOST "\r\n", {400}},
	{"RTSP", "GET / RTSP/1.0\r\n" HOST "\r\n", {400}},
	{"ICE", "SOURCE / ICE/1.0\r\n" HOST "\r\n", {400}},
	{"the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", {505}},
	{"TLS", WITH_NUL("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"), .statuses = {400}},
	{"an unknown method", "FETCH / HTTP/1.1\r\n" HOST "\r\n", {501}},
	{"a method in small letters", "get / HTTP/1.1\r\n" HOST "\r\n", {501}},
	{"CONNECT", "CONNECT a:80 HTTP/1.1\r\n" HOST "\r\n", {405}},
	{"a method that is no token", "GE(T / HTTP/1.1\r\n" HOST "\r\n", {400}},
	{"another expectation", POST "Expect: tea\r\nContent-Length: 1\r\n\r\n", {417}},
	{"an expectation and one more",
         POST "Expect: 100-continue\r\nExpect: tea\r\nContent-Length: 1\r\n\r\n",
         {400}},
	{"LF before the request", "\n" NEXT, {400}},
	{"CR before the request", "\r" NEXT, {400}},
	{"two empty lines before", "\r\n\r\n" NEXT, {400}},
	{"a space before the method", " " NEXT, {400}},
};

/* Prints the difference if there is one. */
static bool is_as_expected(const struct wire_case *c, const struct fixture *f)
{
	bool is_good = strcmp(f->seen, c->seen ? c->seen : "") == 0;
	for (size_t i = 0; i < ARRAY_LEN(c->statuses); i++)
		is_good = is_good && http_client_status(f->client, i) == c->statuses[i];
	if (!is_good)
		print_error("%s: the handler saw '%s', the client %s\n", c->what, f->seen,
		            f->client->received);
	return is_good;
}

/* Send the bytes in pieces of `piece` and run the loop between them. */
static bool run_wire_case(const struct wire_case *c, size_t piece)
{
	void *state;
	fixture_setup(&state);
	struct fixture *f = state;
	size_t length = c->length == 0 ? strlen(c->bytes) : c->length;
	for (size_t at = 0; at < length; at += piece) {
		http_client_send(f->client, c->bytes + at, MIN_OF(piece, length - at));
		if (piece < length)
			uv_run(&f->loop, UV_RUN_NOWAIT);
	}
	http_client_wait_end(f->client);
	bool is_good = is_as_expected(c, f);
	fixture_teardown(&state);
	return is_good;
}

static void requests_in_one_piece(void **state)
{
	(void)state;
	size_t faults = 0;
	for (size_t i = 0; i < ARRAY_LEN(WIRE_CASES); i++)
		faults += !run_wire_case(&WIRE_CASES[i], 1 << 20);
	assert_int_equal(faults, 0);
}

static void requests_byte_by_byte(void **state)
{
	(void)state;
	size_t faults = 0;
	for (size_t i = 0; i < ARRAY_LEN(WIRE_CASES); i++)
		faults += !run_wire_case(&WIRE_CASES[i], 1);
	assert_int_equal(faults, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_in_one_piece),
		cmocka_unit_test(requests_byte_by_byte),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
