"""The console as a browser shows it: built from gateway/console, served by the gateway, driven by Debian's Chromium."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from lib.fixtures import *  # noqa: F401,F403
from lib.system.servers import free_port

ROOT = Path(__file__).resolve().parents[3]
DRIVER = ROOT / "tests/lib/outside/browser.mjs"
JOURNEY_SECONDS = 900  # all pages in both themes, on a slow machine; each step has its own limit


@pytest.fixture(scope="session")
def console_files(tmp_path_factory):
    """The folder of the built console."""
    folder = tmp_path_factory.mktemp("console")
    subprocess.run([ROOT / "gateway/console/build", folder], check=True, capture_output=True, text=True)
    return folder


@pytest.fixture(scope="session")
def console_url(cluster, console_files):
    """A gateway with the console."""
    url = f"http://127.0.0.1:{free_port()}"
    gateway = cluster.add("gateway", LISTEN=url.removeprefix("http://"), CONSOLE_DIR=str(console_files), PUBLIC_URL=url)
    gateway.wait_ready()
    yield url
    gateway.stop()
    cluster["gateway"].remove(gateway)
    cluster.retired.append(gateway)


@pytest.fixture
def browse(console_url):
    """`browse("journey", key=...)` runs a journey of browser.mjs and returns what it says, as JSON."""
    chromium = shutil.which("chromium")
    assert chromium, "Debian's chromium is needed"

    def run(journey, **values):
        arguments = json.dumps({"url": console_url, "chromium": chromium, **values})
        done = subprocess.run(["node", DRIVER, journey, arguments], capture_output=True, text=True, timeout=JOURNEY_SECONDS)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run
