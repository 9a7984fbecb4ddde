"""The code host, the trackers and their OAuth, which the tests start in place of the public services.

`cluster.code_host` and `cluster.oauth_provider` have their addresses from the beginning, so that svc-integrations is
configured with them; the fixtures `code_host` and `oauth_provider` start the programs. Provider `code_host` is the first,
`tracker_a` is the tracker of the same program, `tracker_b` is the strict OAuth provider.

    host = code_host                         # a fixture
    ada = host.user()                        # ada.login, ada.token
    repo = host.repository(ada.login, files={".github/workflows/run.yml": "..."})
    host.install(ada.login)
    connect(user.api, "code_host", ada.login)
    host.fail(method="POST", path="/access_tokens$", status=502)
"""

import base64
import html
import json
import re
import secrets
import signal
import subprocess
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from lib.http import plain_http
from lib.system.servers import free_port
from lib.wait import PATIENCE_SECONDS, wait_for

LIB = Path(__file__).parent
REDIRECT_URI = "http://127.0.0.1:1/connected"
LOGIN_PUBLIC_URL = "http://127.0.0.1:1"  # of gateways at which people log in; the tests know where these are
LINES_SHOWN = 40


def new_rsa_key():
    """An RSA key, PEM with real line ends."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    form = serialization.PrivateFormat.TraditionalOpenSSL
    return key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()).decode()


class Counterpart:
    """A Node program with a control interface; `port` is claimed before it starts."""

    def __init__(self, program, base):
        self.program, self.base = LIB / program / "main.mjs", base
        self.log_path = base / f"{program}.log"
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.client = {
            "client_id": f"client-{secrets.token_hex(4)}",
            "client_secret": secrets.token_hex(24),
            "redirect_uris": [REDIRECT_URI],
        }
        self.http = plain_http.client()
        self.popen = None

    @property
    def is_running(self):
        return self.popen is not None and self.popen.poll() is None

    def start(self):
        """Start it and wait until it answers."""
        path = self.base / f"{self.program.parent.name}.json"
        path.write_text(json.dumps(self.config()))
        with open(self.log_path, "ab") as log:
            command = ["node", self.program, "--config", path]
            self.popen = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        wait_for(self.is_ready, f"{self.program} ready")

    def is_ready(self):
        if not self.is_running:
            raise RuntimeError(f"{self.program} ended with {self.popen.returncode}:\n{self.log_path.read_text()[-4000:]}")
        try:
            return self.control("GET", "/health") == {}
        except httpx.TransportError:
            return False

    def stop(self):
        if self.is_running:
            self.popen.send_signal(signal.SIGTERM)
            self.popen.wait(PATIENCE_SECONDS)

    @contextmanager
    def paused(self):
        """It takes no request meanwhile; those that wait are answered afterwards."""
        self.popen.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self.popen.send_signal(signal.SIGCONT)

    def control(self, method, path, body=None, url=None):
        """A call of the control interface; raises when it fails."""
        answer = self.http.request(method, f"{url or self.url}/_control{path}", json=body)
        assert answer.status_code == 200, f"{method} {path}: {answer.text}"
        return answer.json()

    def fail(self, method=None, path="", **row):
        """Let the next request of the method, whose target matches the regular expression `path`, fail. `status` with
        `body` and `headers`: it is answered so. `drop=True`: the connection is closed in place of an answer, `hang=True`:
        it stays open without one; both after the request had its effect, or with `before=True` without it. `headers`
        alone are added to the answer. `times`: how many requests; `actor`: only of this one, as in requests()."""
        self.control("POST", "/failures", {"method": method, "path": path, **row})

    def stop_failing(self):
        self.control("DELETE", "/failures")

    def limit(self, seconds, status=403, times=1, **row):
        """Let requests fail with the primary rate limit, which ends after `seconds`."""
        headers = {"x-ratelimit-limit": "5000", "x-ratelimit-remaining": "0"}
        reset = str(int(time.time()) + seconds)
        self.fail(status=status, headers={**headers, "x-ratelimit-reset": reset},
                  body={"message": "API rate limit exceeded"}, times=times, **row)

    def limit_secondary(self, seconds, status=403, times=1, **row):
        """Let requests fail with a secondary rate limit, which tells retry-after."""
        self.fail(status=status, headers={"retry-after": str(seconds)},
                  body={"message": "You have exceeded a secondary rate limit."}, times=times, **row)

    def requests(self, after=0, method=None, path="", url=None):
        """The requests so far, of the service at `url` where the program has several: dicts with number, method, target,
        headers, body, actor (`app`, `user LOGIN`, `installation ID`, `unknown`, None), status and violations."""
        rows = self.control("GET", f"/requests/{after}", url=url)
        return [row for row in rows if method in (None, row["method"]) and re.search(path, row["target"])]

    def last_number(self):
        """For requests(after=...)."""
        return max((row["number"] for row in self.control("GET", "/requests")), default=0)

    def check(self):
        """What was wrong: requests of ours, by the description, and its own answers."""
        if self.popen is None:
            return []
        if not self.is_running:
            return [f"{self.program} ended with {self.popen.returncode}: {self.log_path.read_text()[-2000:]}"]
        found = self.control("GET", "/violations")
        rows = [f"{row['method']} {row['target']}: {row['violation']}" for row in found["violations"]]
        return (rows + [f"of the counterpart: {fault}" for fault in found["faults"]])[:LINES_SHOWN]


@dataclass
class CodeHostUser:
    login: str
    id: int
    email: str
    token: str  # for calls that a test makes itself


class CodeHost(Counterpart):
    """The code host, and the tracker `tracker_a` beside it."""

    APP_ID = 4711
    SLUG = "expops-test"

    def __init__(self, base, webhook_url):
        """`webhook_url` is called when the program starts: only then the gateway's address is known."""
        super().__init__("code_host", base)
        self.webhook_url, self.webhook_secret = webhook_url, secrets.token_hex(24)
        self.app_key = new_rsa_key()
        self.tracker_port = free_port()
        self.tracker_url = f"http://127.0.0.1:{self.tracker_port}"

    def use_ports(self, port, tracker_port):
        self.port, self.url = port, f"http://127.0.0.1:{port}"
        self.tracker_port, self.tracker_url = tracker_port, f"http://127.0.0.1:{tracker_port}"

    def restore(self, config):
        """Have the keys and secrets of an earlier config()."""
        self.app_key, self.client = config["app"]["key"], config["oauth"]
        self.webhook_secret = config["webhook"]["secret"]

    def config(self):
        return {
            "port": self.port,
            "tracker_port": self.tracker_port,
            "app": {"id": self.APP_ID, "slug": self.SLUG, "key": self.app_key},
            "oauth": self.client,
            "webhook": {"url": self.webhook_url(), "secret": self.webhook_secret},
            "tracker": self.client,
        }

    def addresses(self):
        """The settings of svc-integrations that say where this code host is."""
        return {"CODE_HOST_WEB_URL": self.url, "CODE_HOST_API_URL": self.url}

    def settings(self):
        """The settings of svc-integrations for this code host, with its app, and the tracker."""
        client = {"CLIENT_ID": self.client["client_id"], "CLIENT_SECRET": self.client["client_secret"]}
        return {
            "OAUTH_REDIRECT_URIS": REDIRECT_URI,
            **self.addresses(),
            "CODE_HOST_APP_ID": str(self.APP_ID),
            "CODE_HOST_APP_KEY": self.app_key,
            "CODE_HOST_WEBHOOK_SECRETS": self.webhook_secret,
            **{f"CODE_HOST_{name}": value for name, value in client.items()},
            **{f"TRACKER_A_{name}": value for name, value in client.items()},
            "TRACKER_A_AUTHORIZE_URL": f"{self.tracker_url}/oauth/authorize",
            "TRACKER_A_TOKEN_URL": f"{self.tracker_url}/oauth/token",
            "TRACKER_A_USER_URL": f"{self.tracker_url}/graphql",
            "TRACKER_A_REVOKE_URL": f"{self.tracker_url}/oauth/revoke",
            "TRACKER_A_API_URL": f"{self.tracker_url}/graphql",
        }

    def user(self, login=None, email=None):
        """Create a user."""
        login = login or f"user-{secrets.token_hex(4)}"
        row = self.control("POST", "/users", {"login": login, "email": email or f"{login}@example.org"})
        return CodeHostUser(login, row["id"], row["email"], row["token"])

    def organisation(self, *members):
        """Create an organisation with members (logins), who may push to its repositories; returns its login."""
        login = f"org-{secrets.token_hex(4)}"
        rows = [{"login": member, "role": "member"} for member in members]
        return self.control("POST", "/orgs", {"login": login, "members": rows})["login"]

    def repository(self, owner, name=None, files=None, **members):
        """Create a repository with a README and `files` ({path: text}); `members`: private, description, default_branch,
        auto_init. Returns its full name."""
        name = name or f"repo-{secrets.token_hex(4)}"
        return self.control("POST", "/repos", {"owner": owner, "name": name, "files": files or {}, **members})["full_name"]

    def collaborate(self, repo, login, permission="push"):
        """Let a user into a repository; `permission` is pull, push or admin. Returns the id for leave()."""
        return self.control("POST", "/collaborators", {"repo": repo, "login": login, "permission": permission})["id"]

    def leave(self, collaborator):
        self.control("DELETE", f"/collaborators/{collaborator}")

    def install(self, account, repositories=None, permissions=None):
        """Install the app for an account, on all of its repositories or on those of the given names; returns the id."""
        body = {"account": account}
        body |= {"repositories": [name.split("/")[-1] for name in repositories]} if repositories is not None else {}
        body |= {"permissions": permissions} if permissions is not None else {}
        return self.control("POST", "/installations", body)["installation_id"]

    def uninstall(self, installation):
        self.control("DELETE", f"/installations/{installation}")

    def suspend(self, installation, suspended=True):
        self.control("PATCH", f"/installations/{installation}", {"suspended": suspended})

    def rename(self, repo, name):
        """Rename a repository; the old name answers 301. The code host sends the event of it."""
        return self.control("POST", f"/repos/{repo}/rename", {"name": name})["full_name"]

    def transfer(self, repo, owner):
        """Give a repository to another user or organisation; the same goes for the old name."""
        return self.control("POST", f"/repos/{repo}/transfer", {"owner": owner})["full_name"]

    def change_repository(self, repo, **members):
        """Set `archived` or `disabled`, as its owner or the code host does; the code host sends no event of it."""
        self.control("PATCH", f"/repos/{repo}", members)

    def put_files(self, repo, files):
        self.control("POST", f"/repos/{repo}/files", files)

    def files(self, repo, branch=None):
        """{path: text} of a branch."""
        return self.control("GET", f"/repos/{repo}/files" + (f"/{branch}" if branch else ""))

    def default_branch(self, repo):
        return self.control("GET", f"/repos/{repo}/default-branch")

    def move_default_branch(self, repo, branch, keeps_old=False):
        """Make a new branch with the files of the default one the default; `keeps_old` false: as by renaming that."""
        self.control("POST", f"/repos/{repo}/default-branch", {"branch": branch, "keeps_old": keeps_old})

    def branches(self, repo):
        """{branch: commit}"""
        return self.control("GET", f"/repos/{repo}/branches")

    def put_branch(self, repo, branch, files):
        """Make a branch have the files {path: text} and no others; a new one starts from the default branch."""
        self.control("POST", f"/repos/{repo}/branches", {"branch": branch, "files": files})

    def run_token(self, repo, permissions):
        """A token as a workflow run has it: for one repository, with `permissions` ({name: "read" or "write"})."""
        return self.control("POST", f"/repos/{repo}/tokens", {"permissions": permissions})

    def secret(self, repo, name):
        """The text of a stored secret; None if there is none."""
        return self.control("GET", f"/repos/{repo}/secrets/{name}")["value"]

    def put_secret(self, repo, name, value):
        self.control("PUT", f"/repos/{repo}/secrets/{name}", {"value": value})

    def remove_secret(self, repo, name):
        self.control("DELETE", f"/repos/{repo}/secrets/{name}")

    def runs(self, repo):
        """The runs of a repository, oldest first, each with `inputs` and `path`."""
        return self.control("GET", f"/repos/{repo}/runs")

    def change_run(self, run, status, conclusion=None):
        """Give a run another state, as a runner does; the code host sends the event of it."""
        return self.control("POST", f"/runs/{run}", {"status": status, "conclusion": conclusion})

    def merge(self, repo, number):
        """Merge a pull request as somebody at the code host does; it sends the event of it."""
        answer = self.control("POST", f"/repos/{repo}/pulls/{number}/merge")
        assert answer["status"] == 200, answer
        return answer

    def drop_tokens(self, login):
        """All tokens of a user end, as when the user revokes the app."""
        self.control("POST", "/tokens/drop", {"login": login})

    def tokens(self):
        """All tokens and refresh tokens that are valid."""
        return self.control("GET", "/tokens")

    def set_token_lifetime(self, seconds):
        """Tokens of users end after this time and can be refreshed; None: they do not end. For tokens made from now on."""
        self.control("POST", "/oauth", {"lifetime": seconds})

    @contextmanager
    def held_deliveries(self):
        """Let the deliveries of events fail without being sent; the code host can be asked to send them again."""
        self.control("POST", "/webhook", {"held": True})
        try:
            yield
        finally:
            self.control("POST", "/webhook", {"held": False})

    def set_webhook(self, **members):
        """Change `url` or `secret` of the app's webhook."""
        self.control("POST", "/webhook", members)

    def deliveries(self):
        """The deliveries of events so far: dicts with guid, event, payload, body, signature, status_code, redelivery."""
        return self.control("GET", "/deliveries")

    def tracker_user(self, email=None):
        """Create a user of the tracker; returns the email, by which connect() knows the user."""
        email = email or f"{secrets.token_hex(4)}@example.org"
        self.control("POST", "/users", {"email": email, "name": email.split("@")[0]}, url=self.tracker_url)
        return email

    def api(self, method, path, token=None, headers=None, **options):
        """A call of the code host's API that the test makes itself."""
        fields = {"User-Agent": "test", "Accept": "application/vnd.github+json", **(headers or {})}
        fields |= {"Authorization": f"Bearer {token}"} if token else {}
        return self.http.request(method, self.url + path, headers=fields, **options)


class OAuthProvider(Counterpart):
    """The strict OAuth provider, `tracker_b`, and the OpenID provider at which people log in. Any login works."""

    def __init__(self, base):
        super().__init__("oauth_provider", base)
        self.console_url = f"http://127.0.0.1:{free_port()}"  # of a gateway to which browsers come back
        # The secret has characters that a form encodes.
        self.login = {"client_id": "console:1", "client_secret": f"a+b/c: %{secrets.token_hex(24)}",
                      "redirect_uris": [f"{url}/api/v1.0/session/oidc/callback" for url in (LOGIN_PUBLIC_URL, self.console_url)]}

    def config(self):
        return {"port": self.port, "client": self.client, "login": self.login}

    def login_settings(self):
        """The settings of a gateway at which people log in by this provider."""
        return {
            "PUBLIC_URL": LOGIN_PUBLIC_URL,
            "OIDC_ISSUER": self.url,
            "OIDC_CLIENT_ID": self.login["client_id"],
            "OIDC_CLIENT_SECRET": self.login["client_secret"],
        }

    def settings(self):
        return {
            "TRACKER_B_CLIENT_ID": self.client["client_id"],
            "TRACKER_B_CLIENT_SECRET": self.client["client_secret"],
            "TRACKER_B_AUTHORIZE_URL": f"{self.url}/auth",
            "TRACKER_B_TOKEN_URL": f"{self.url}/token",
            "TRACKER_B_USER_URL": f"{self.url}/me",
            "TRACKER_B_REVOKE_URL": f"{self.url}/token/revocation",
            "TRACKER_B_SCOPES": "openid offline_access",
        }

    def set_lifetime(self, seconds):
        """How long access tokens live that are made from now on."""
        self.control("POST", "/lifetime", {"access": seconds})


FORM = re.compile(r"<form.*?</form>", re.DOTALL)
HIDDEN = re.compile(r'<input type="hidden" name="([^"]*)" value="([^"]*)"')


def landing_of(auth_url):
    """Where the browser is led back to."""
    return parse_qs(urlsplit(auth_url).query)["redirect_uri"][0]


def lead_back(auth_url, login):
    """Do what a user does at the authorization address: log in and consent. Returns the address that the browser is led to."""
    landing = landing_of(auth_url)
    with plain_http.client() as browser:
        answer = browser.get(f"{auth_url}&{urlencode({'login_hint': login})}")
        if answer.status_code == 200:
            forms = [form for form in FORM.findall(answer.text) if html.escape(login) in form]
            assert forms, f"{login} is not offered:\n{answer.text}"
            fields = {name: html.unescape(value) for name, value in HIDDEN.findall(forms[0])}
            action = re.search(r'action="([^"]*)"', forms[0]).group(1)
            answer = browser.post(str(answer.url.join(action)), data=fields)
        while answer.is_redirect and not answer.headers["location"].startswith(landing):
            answer = browser.get(answer.url.join(answer.headers["location"]))
        assert answer.is_redirect, answer.text
        return answer.headers["location"]


def consent(auth_url, login):
    """lead_back(), with success. Returns (code, state)."""
    query = parse_qs(urlsplit(lead_back(auth_url, login)).query)
    assert "code" in query, query
    return query["code"][0], query["state"][0]


def connect(api, provider, login):
    """Connect the account of `api` to the provider as the user `login`; returns the connection."""
    begun = api.get(f"/integrations/{provider}/auth-url", expect=200).json()
    code, state = consent(begun["auth_url"], login)
    body = {"code": code, "redirect_uri": landing_of(begun["auth_url"]), "state": state}
    return api.post(f"/integrations/{provider}/callback", body, expect=200).json()["connection"]


def app_jwt(key, app_id, **changes):
    """A JWT of an app, with changed claims."""
    def encode(value):
        return base64.urlsafe_b64encode(value).rstrip(b"=").decode()

    now = int(time.time())
    claims = {"iat": now - 60, "exp": now + 540, "iss": str(app_id), **changes}
    text = f"{encode(json.dumps({'alg': 'RS256', 'typ': 'JWT'}).encode())}.{encode(json.dumps(claims).encode())}"
    private = serialization.load_pem_private_key(key.encode(), None)
    return f"{text}.{encode(private.sign(text.encode(), padding.PKCS1v15(), hashes.SHA256()))}"
