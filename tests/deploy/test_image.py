"""The image of the processes: what is in it, and what it may do."""

import json
import re
import subprocess

import pytest

from lib.system.deployment import IMAGE, ROOT, SERVERS_IMAGE, docker
from lib.system.servers import read_processes

MEGABYTE = 1000 * 1000
PROCESSES = [name for name, _, _ in read_processes()]

pytestmark = pytest.mark.usefixtures("images")


@pytest.fixture(scope="module")
def files():
    """The paths of all files of the image."""
    container = docker("create", IMAGE, "gateway").strip()
    try:
        listing = subprocess.run(f"docker export {container} | tar -t", shell=True, capture_output=True, text=True, check=True)
        return set(listing.stdout.split("\n"))
    finally:
        docker("rm", container)


def test_it_is_small():
    assert json.loads(docker("inspect", IMAGE))[0]["Size"] < 120 * MEGABYTE


def test_it_has_no_programs_but_the_processes_and_the_command_line(files):
    programs = {path for path in files if re.match(r"(usr/)?(local/)?s?bin/.", path)}
    assert programs == {f"usr/bin/{name}" for name in [*PROCESSES, "expops"]}
    assert not [path for path in files if path.endswith((".h", ".a", ".o", ".c", ".py"))]


def test_it_names_the_packages_of_its_libraries(files):
    described = {path.removeprefix("var/lib/dpkg/status.d/") for path in files if path.startswith("var/lib/dpkg/status.d/")}
    assert {"libc6", "libpq5", "zlib1g", "ca-certificates"} <= described
    assert {"etc/ssl/certs/ca-certificates.crt", "usr/lib/ssl/cert.pem"} <= files


@pytest.mark.parametrize("image", [IMAGE, SERVERS_IMAGE])
def test_its_user_is_not_root(image):
    assert json.loads(docker("inspect", image))[0]["Config"]["User"] == "10001:10001"


def test_its_label_has_the_version():
    labels = json.loads(docker("inspect", IMAGE))[0]["Config"]["Labels"]
    assert docker("run", "--rm", IMAGE, "gateway", "--version").split()[1] == labels["org.opencontainers.image.version"]


@pytest.mark.parametrize("name", PROCESSES)
def test_every_process_starts_and_tells_its_commit(name):
    commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "HEAD"], capture_output=True, text=True, check=False).stdout[:12]
    confined = ["--read-only", "--cap-drop", "ALL", "--network", "none"]
    version = docker("run", "--rm", *confined, IMAGE, name, "--version")
    assert re.fullmatch(rf"{name} \S+ \({commit or 'unknown'}\)\n", version)
