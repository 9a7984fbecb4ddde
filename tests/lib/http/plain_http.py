"""Requests by httpx that are not checked against the API's description (lib.http.client does that), with the time-out of tests."""

import ssl

import httpx

from lib.wait import PATIENCE_SECONDS

# No request uses TLS. Without this, httpx reads the certificates of the system for each client, which takes longer than most tests.
DEFAULTS = {"timeout": PATIENCE_SECONDS, "verify": ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)}


def client(**options):
    return httpx.Client(**{**DEFAULTS, **options})


def request(method, url, **options):
    return httpx.request(method, url, **{**DEFAULTS, **options})


def get(url, **options):
    return request("GET", url, **options)


def post(url, **options):
    return request("POST", url, **options)
