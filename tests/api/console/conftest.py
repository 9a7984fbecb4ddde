"""The console as a browser shows it: built from gateway/console, served by the gateway, driven by Debian's Chromium."""

import shutil
import subprocess
from contextlib import contextmanager
from pathlib import Path

import pytest

from lib.fixtures import cluster, code_host, oauth_provider  # noqa: F401 of its own: there are no papers but those of the sample
from lib.outside.node_program import NodeProgram
from lib.system.servers import free_port
from lib.tables import integrations as integrations_tables

ROOT = Path(__file__).resolve().parents[3]
JOURNEY_SECONDS = 900  # all pages, on a slow machine; each step has its own limit


@pytest.fixture(scope="session")
def console_files(tmp_path_factory):
    """The folder of the built console."""
    folder = tmp_path_factory.mktemp("console")
    subprocess.run([ROOT / "gateway/console/build", folder], check=True, capture_output=True, text=True)
    return folder


@contextmanager
def gateway_with_console(cluster, files, url, **settings):
    gateway = cluster.add("gateway", LISTEN=url.removeprefix("http://"), CONSOLE_DIR=str(files), **{**settings, "PUBLIC_URL": url})
    gateway.wait_ready()
    yield url
    gateway.stop()
    cluster["gateway"].remove(gateway)
    cluster.retired.append(gateway)


@pytest.fixture(scope="session")
def console_url(cluster, console_files):
    """A gateway with the console."""
    with gateway_with_console(cluster, console_files, f"http://127.0.0.1:{free_port()}") as url:
        yield url


@pytest.fixture(scope="session")
def browser():
    """Chromium, in which each journey has cookies of its own."""
    chromium = shutil.which("chromium")
    assert chromium, "Debian's chromium is needed"
    with NodeProgram("browser.mjs", chromium, patience=JOURNEY_SECONDS) as made:
        yield made


def browser_at(url, browser):
    return lambda journey, **values: browser.ask(journey=journey, values={"url": url, **values})


@pytest.fixture
def browse(console_url, browser):
    """`browse("journey", key=...)` runs a journey of browser.mjs and returns what it says."""
    return browser_at(console_url, browser)


@pytest.fixture
def browse_at_provider(cluster, console_files, oauth_provider, browser):
    """The same, at a gateway at which people also log in at a provider: new ones are members of the account `team`."""

    @contextmanager
    def start(team, **settings):
        joins = {"OIDC_NAME": "Example SSO", "OIDC_JOIN": f"{team}:member", **oauth_provider.login_settings(), **settings}
        with gateway_with_console(cluster, console_files, oauth_provider.console_url, **joins) as url:
            yield browser_at(url, browser)

    return start


@pytest.fixture
def browse_connecting(cluster, console_files, code_host, browser):
    """The same, at a gateway whose svc-integrations has no settings of an app."""
    url = f"http://127.0.0.1:{free_port()}"
    group = ("APP_ID", "APP_KEY", "CLIENT_ID", "CLIENT_SECRET", "WEBHOOK_SECRETS")
    service = cluster.separate(
        "svc-integrations", "connecting", PUBLIC_URL=url, OAUTH_REDIRECT_URIS="", **{f"CODE_HOST_{name}": "" for name in group}
    )
    gateway = cluster.separate(
        "gateway", "connecting", LISTEN=url.removeprefix("http://"), CONSOLE_DIR=str(console_files), PUBLIC_URL=url,
        CODE_HOST_WEB_URL=code_host.url, INTEGRATIONS_URL=service.url,
    )  # fmt: skip
    before = code_host.control("GET", "/app")
    for process in (service, gateway):
        process.start()
        process.wait_ready()
    yield browser_at(url, browser)
    for process in (gateway, service):
        process.stop()
    code_host.control("PATCH", "/app", before)
    with cluster.postgres.connect("integrations") as db:
        integrations_tables.forget_app(db)
