"""The product in containers: the images, and deploy/compose.yaml as a project of its own."""

import json
import os
import secrets
import socket
import subprocess
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from lib.http import plain_http
from lib.wait import wait_for

ROOT = Path(__file__).resolve().parents[3]
DEPLOY = ROOT / "deploy"
IMAGE, SERVERS_IMAGE = "expops-test", "expops-test-servers"


@lru_cache
def environment():
    """The classic builder works without the plugin buildx, which Debian 12 does not have."""
    has_buildx = subprocess.run(["docker", "buildx", "version"], capture_output=True, check=False).returncode == 0
    return {**os.environ, "DOCKER_BUILDKIT": "1" if has_buildx else "0"}


def run(*command, check=True, env=None, **options):
    """Run a command; returns what it wrote to standard output."""
    done = subprocess.run(
        list(map(str, command)), env={**os.environ, **(env or {})}, capture_output=True, text=True, check=False, **options
    )
    if check and done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))}: {done.returncode}\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
    return done.stdout


def docker(*args, env=None, **options):
    return run("docker", *args, env={**environment(), **(env or {})}, **options)


def base_image():
    return os.environ.get("EXPOPS_BASE", "debian:trixie-slim")


def build_images():
    for image, file in ((IMAGE, "Dockerfile"), (SERVERS_IMAGE, "servers.Dockerfile")):
        docker("build", "-q", "--build-arg", f"BASE={base_image()}", "-f", DEPLOY / file, "-t", image, ROOT)


def free_address():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{listener.getsockname()[1]}"


@dataclass
class Replica:
    """A container by its address in the network of its deployment, as lib.http.load takes gateways."""

    address: str
    is_running = True

    @property
    def url(self):
        return f"http://{self.address}:8080"

    @property
    def admin_url(self):
        return f"http://{self.address}:9090"

    @property
    def env(self):
        return {"LISTEN": f"{self.address}:8080"}


class Deployment:
    """A compose project with its own secrets, volumes and port. `up()` starts it, `down()` removes it. `listen` is EXPOPS_LISTEN."""

    def __init__(self, folder, listen):
        self.project = f"expops-test-{secrets.token_hex(4)}"
        self.secrets = folder / "secrets"
        self.beside = []  # names of other containers in its network
        self.url = f"http://{listen}"
        self.env = {
            "COMPOSE_PROJECT_NAME": self.project,
            "EXPOPS_LISTEN": listen,
            "EXPOPS_SECRETS": str(self.secrets),
            "EXPOPS_IMAGE": IMAGE,
            "EXPOPS_SERVERS_IMAGE": SERVERS_IMAGE,
            "HARVEST_SETS": "",
        }
        run(DEPLOY / "secrets", self.secrets)

    def compose(self, *args, **options):
        return docker("compose", "-f", DEPLOY / "compose.yaml", *args, env=self.env, **options)

    def up(self, **scale):
        """Start everything and wait until it is healthy; svc_search=3 starts three replicas."""
        scales = [word for name, count in scale.items() for word in ("--scale", f"{name.replace('_', '-')}={count}")]
        self.compose("up", "-d", "--no-build", "--wait", *scales)

    def down(self):
        for name in self.beside:
            docker("rm", "-fv", name, check=False)
        self.compose("down", "-v", "--timeout", "60")

    def roll(self, *services, **changes):
        """Replace the containers one at a time; `changes` are variables of deploy/compose.yaml."""
        return run(DEPLOY / "roll", *services, env={**self.env, **changes})

    def containers(self, service=None):
        """What `docker inspect` says of the running containers, without those that end meanwhile."""
        labels = [f"project={self.project}", *([f"service={service}"] if service else [])]
        filters = [word for label in labels for word in ("--filter", f"label=com.docker.compose.{label}")]
        return json.loads(docker("inspect", *docker("ps", "-q", *filters).split(), check=False) or "[]")

    def run_beside(self, image, *command, options=()):
        """Run a container in the network of the deployment; it ends with it."""
        name = f"{self.project}-{len(self.beside)}"
        self.beside.append(name)
        docker("run", "-d", "--name", name, "--network", f"{self.project}_default", *options, image, *command)
        return Replica(self.address(json.loads(docker("inspect", name))[0]))

    def address(self, container):
        return container["NetworkSettings"]["Networks"][f"{self.project}_default"]["IPAddress"]

    def create_user(self):
        return self.compose("exec", "-T", "gateway", "gateway", "create-user", "--email", f"{secrets.token_hex(4)}@example.org").strip()

    def import_papers(self, path):
        self.compose("run", "--rm", "-T", "-v", f"{path}:/papers:ro", "svc-search", "svc-search", "import", "/papers")

    def requests_of(self, service):
        """{container: requests that it has answered}"""
        counts = {}
        for container in self.containers(service):
            text = plain_http.get(f"{Replica(self.address(container)).admin_url}/metrics").text
            lines = [line for line in text.splitlines() if line.startswith("expops_http_requests_total{")]
            counts[container["Name"]] = sum(float(line.rsplit(" ", 1)[1]) for line in lines)
        return counts

    def wait_requests(self, service, replicas, send):
        """Call `send` until each of so many replicas has answered a request since this began."""
        before = self.requests_of(service)

        def everyone_answered():
            send()
            now = self.requests_of(service)
            return len(now) == replicas and all(count > before.get(name, 0) for name, count in now.items())

        wait_for(everyone_answered, f"requests at {replicas} replicas of {service}")
