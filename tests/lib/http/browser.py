"""A browser that has logged in: it sends a cookie in place of a key."""

import re

from lib.http import plain_http
from lib.http.contract import contract

SAME_ORIGIN = {"Sec-Fetch-Site": "same-origin"}
COOKIE = re.compile(r"expops=([A-Za-z0-9_-]{43}); Path=/; HttpOnly; SameSite=Strict")


class Browser:
    """Sends its cookie with every request, as a browser does, and what a page of this address would send."""

    def __init__(self, url, key=None):
        self.http = plain_http.client(base_url=url)
        self.token = None
        if key:
            self.log_in(key)

    def log_in(self, key):
        answer = self.call("POST", "/session", {"key": key})
        assert answer.status_code == 200, answer.text
        self.token = COOKIE.fullmatch(answer.headers["Set-Cookie"])[1]
        return answer

    def call(self, method, path, body=None, headers=SAME_ORIGIN, checked=True, expect=None):
        cookie = {"Cookie": f"other=1; expops={self.token}"} if self.token else {}
        options = {} if body is None else {"json": body}
        answer = self.http.request(method, f"/api/v1.0{path}", headers={**cookie, **headers}, **options)
        if checked:
            contract().check(method, answer.request.url.raw_path.decode(), answer)
        assert expect in (None, answer.status_code), answer.text
        return answer
