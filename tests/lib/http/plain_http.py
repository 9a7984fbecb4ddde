"""Requests by httpx that are not checked against the API's description (lib.http.client does that), with the time-out of tests."""

import ssl

import httpx

from lib.wait import PATIENCE_SECONDS

# No request uses TLS. Without this, httpx reads the certificates of the system for each client, which takes longer than most tests.
DEFAULTS = {"timeout": PATIENCE_SECONDS, "verify": ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)}


def is_unhandled(status, length):
    """Whether an answer, whose Content-Length is `length`, is the one by which a draining server ends an idle connection
    (libcommon/http/server.h). It may cross a request, which was then not handled, and which a client sends again on another
    connection whatever its method (RFC 9110 sections 9.2.2 and 15.5.9)."""
    return status == 408 and length == "0"


class Repeating(httpx.HTTPTransport):
    """Sends a request again that was not handled. No other failure is hidden.

    Its connections end with the last reference to it: those of httpcore refer to each other in a circle, so that they would stay open
    until Python looks for such circles, which it does the less often the more tests have run."""

    def handle_request(self, request):
        answer = super().handle_request(request)
        if not is_unhandled(answer.status_code, answer.headers.get("Content-Length")):
            return answer
        answer.close()
        return super().handle_request(request)

    def __del__(self):
        self.close()


def client(**options):
    return httpx.Client(**{**DEFAULTS, "transport": Repeating(verify=DEFAULTS["verify"]), **options})


def request(method, url, **options):
    return httpx.request(method, url, **{**DEFAULTS, **options})


def get(url, **options):
    return request("GET", url, **options)


def post(url, **options):
    return request("POST", url, **options)
