"""Helpers for the tests of svc-integrations, beside lib.outside.counterparts."""

from lib.http import plain_http
from lib.outside.counterparts import REDIRECT_URI, connect, consent
from lib.http.identity import identity

TOKEN = "/integrations/tracker_b/token"


def connect_expired(provider, api, login):
    provider.set_lifetime(30)
    made = connect(api, "tracker_b", login)
    provider.set_lifetime(3600)
    return made


def begin(api, provider="tracker_b", login="ada"):
    """Begin to connect and consent; returns the body of the callback."""
    code, state = consent(api.get(f"/integrations/{provider}/auth-url", expect=200).json()["auth_url"], login)
    return {"code": code, "redirect_uri": REDIRECT_URI, "state": state}


def fault_of(api, path, body, **options):
    """The only invalid field of a 400: (name, message)."""
    document = api.problem("POST", path, 400, "invalid_request", body, **options)
    (fault,) = document["errors"]
    return fault["field"], fault["message"]


def whoami(provider, token):
    """The status with which the OAuth provider takes an access token."""
    return plain_http.get(f"{provider.url}/me", headers={"Authorization": f"Bearer {token}"}).status_code


def refreshes(provider, after):
    """How often a token was refreshed since the request number `after`."""
    return sum("grant_type=refresh_token" in row["body"] for row in provider.requests(after, "POST", "^/token$"))


def ask_replica(cluster, number, method, path, account):
    """A call of one replica of svc-integrations, as the gateway makes it for the account."""
    sender = identity(cluster, "svc-integrations", account=account)
    url = cluster["svc-integrations"][number].url
    return plain_http.request(method, f"{url}/api/v1.0{path}", auth=sender)


