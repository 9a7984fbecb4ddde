"""Log-in at an OpenID provider, as a browser does it: from a gateway to the provider and back."""

import re
from urllib.parse import parse_qs, urlsplit

from lib.http import plain_http
from lib.http.browser import COOKIE, SAME_ORIGIN, Browser
from lib.http.contract import contract
from lib.outside.counterparts import lead_back

LOGIN_COOKIE = re.compile(r"expops-login=([A-Za-z0-9_-]{43}); Path=/; HttpOnly; SameSite=Lax; Max-Age=600")
PAGE = {"Accept": "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8"}


class LogIn:
    """One log-in at the gateway at `url`. `begin()` has the address of the provider in `auth_url`, and its cookie in `cookie`."""

    def __init__(self, url):
        self.url = url
        self.http = plain_http.client(base_url=url)
        self.auth_url = self.cookie = None

    def get(self, path, params=None, headers=None, checked=True):
        answer = self.http.get(f"/api/v1.0{path}", params=params, headers=headers or {})
        self.http.cookies.clear()  # come_back() says which the browser has
        if checked:
            contract().check("GET", answer.request.url.raw_path.decode(), answer)
        return answer

    def start(self, headers=None, **params):
        return self.get("/session/oidc/start", params, headers)

    def begin(self, headers=None, **params):
        answer = self.start(headers, **params)
        assert answer.status_code == 302, answer.text
        assert answer.headers["Cache-Control"] == "no-store"
        self.auth_url, self.cookie = answer.headers["Location"], LOGIN_COOKIE.fullmatch(answer.headers["Set-Cookie"])[1]
        return self

    @property
    def asked(self):
        """The parameters of the authorization request."""
        return {name: values[0] for name, values in parse_qs(urlsplit(self.auth_url).query).items()}

    def lead_back(self, login):
        """The user logs in at the provider; the parameters that the browser comes back with."""
        return {name: values[0] for name, values in parse_qs(urlsplit(lead_back(self.auth_url, login)).query).items()}

    def come_back(self, params, cookie=None, headers=None, checked=True):
        cookie = cookie or self.cookie
        sent = {"Cookie": f"other=1; expops-login={cookie}"} if cookie else {}
        return self.get("/session/oidc/callback", params, sent | (headers or {}), checked)


def session_of(url, answer):
    """The browser that an answer of the callback has logged in."""
    assert answer.status_code == 303, answer.text
    browser = Browser(url)
    cookies = answer.headers.get_list("Set-Cookie")
    (browser.token,) = [found[1] for found in map(COOKIE.fullmatch, cookies) if found]
    return browser


def join_way(url, invitation):
    """The way from the page of an invitation, as its answer has it, to the provider."""
    return LogIn(url).begin(SAME_ORIGIN, invitation=invitation["url"].partition("#")[2], return_to="/console/")


def log_in(url, login, invitation=None):
    """Log in at the strict provider, on the page of an invitation perhaps; the browser."""
    way = join_way(url, invitation) if invitation else LogIn(url).begin()
    return session_of(url, way.come_back(way.lead_back(login)))
