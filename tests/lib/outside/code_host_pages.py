"""What a person does on the pages of the counterpart of the code host: make the app from a manifest, and install it."""

import html
import json
import re
from urllib.parse import parse_qs, urlsplit

from lib.http import plain_http

HIDDEN = re.compile(r'<input type="hidden" name="([^"]*)" value="([^"]*)"')


def came_back(answer):
    """The query with which a browser is led back."""
    assert answer.is_redirect, answer.text
    return {name: values[0] for name, values in parse_qs(urlsplit(answer.headers["location"]).query).items()}


def make_app(form):
    """Post the manifest and confirm; returns {code, state}."""
    with plain_http.client() as browser:
        shown = browser.post(form["action"], data={"manifest": json.dumps(form["manifest"])})
        assert shown.status_code == 200, shown.text
        fields = {name: html.unescape(value) for name, value in HIDDEN.findall(shown.text)}
        return came_back(browser.post(str(shown.url.join("/settings/apps/create")), data=fields))


def install_app(address, account, repositories=()):
    """Install the app on an account, or on some of its repositories; returns {installation_id, setup_action, state}."""
    with plain_http.client() as browser:
        shown = browser.get(address)
        assert f"Install on {account}<" in shown.text, shown.text
        query = parse_qs(urlsplit(address).query)
        names = ",".join(name.split("/")[-1] for name in repositories)
        fields = {"account": account, "state": query.get("state", [""])[0], "repositories": names}
        return came_back(browser.post(address.split("?")[0], data=fields))
