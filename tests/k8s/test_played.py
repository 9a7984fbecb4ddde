"""deploy/k8s, run by podman: each overlay becomes ready with the limits of its manifests and does the walk of the documentation, and pods of
it are replaced under load. What podman does not know is valid by the API's models, and is not tried."""

import os
import secrets
import subprocess
from types import SimpleNamespace

import pytest

from lib.check.kube_schema import manifest_faults
from lib.check.walk import check_walk, walk_commands
from lib.http.client import Api
from lib.http.load import Load
from lib.system.deployment import DEPLOY, ROOT
from lib.system.kube_play import NOT_PLAYED, PLAYED, KubePlay, build_images
from lib.wait import PATIENCE_SECONDS

REQUESTS, CLIENTS = 2_000, 4
STEP = 200
FAILURES_SHOWN = 10
ROLLED = {"trial": "svc-interests", "production": "svc-experiments"}


@pytest.fixture(scope="session")
def images():
    build_images()


@pytest.fixture(scope="module", params=["trial", "production"])
def cluster(request, images, tmp_path_factory):
    made = KubePlay(request.param, tmp_path_factory.mktemp("k8s"))
    try:
        made.up()
        made.import_papers(DEPLOY / "sample" / "papers.jsonl")
        made.overlay = request.param
        yield made
    finally:
        made.down()


def test_what_is_not_played_is_valid(cluster):
    assert {one["kind"] for one in cluster.manifests} <= PLAYED | NOT_PLAYED
    unplayed = cluster.of_kind(*NOT_PLAYED)
    assert unplayed and [fault for one in unplayed for fault in manifest_faults(one)] == []


def test_pods_are_confined(cluster):
    for name, numbers in cluster.pods.items():
        (expected,) = cluster.workloads[name]["spec"]["template"]["spec"]["containers"]
        for number in numbers:
            container = cluster.inspect(name, number)
            assert container["Config"]["User"].partition(":")[0] == "10001"
            assert container["HostConfig"]["ReadonlyRootfs"] and not container["EffectiveCaps"], name
            assert container["HostConfig"]["Memory"] == bytes_of(expected["resources"]["limits"]["memory"]), name


def bytes_of(quantity):
    number, unit = int(quantity[:-2]), quantity[-2:]
    return number * {"Mi": 1 << 20, "Gi": 1 << 30}[unit]


def test_the_walk(cluster):
    (gateway, *_) = cluster.replicas("gateway")
    page = (ROOT / "gateway/cli/README.md").read_text()
    env = {**os.environ, "EXPOPS_URL": gateway.url, "EXPOPS_KEY": cluster.create_user()}
    done = subprocess.run(["timeout", str(10 * PATIENCE_SECONDS), "bash", "-c", "\n".join(["set -eu", *walk_commands(page)])],
                          cwd=cluster.folder, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    check_walk(done.stdout)


def test_pods_are_replaced_under_load(cluster):
    """The trial has one pod of each, which is replaced by one that is ready before; production has several."""
    key, gateways, rolled = cluster.create_user(), cluster.replicas("gateway"), ROLLED[cluster.overlay]
    before = set(cluster.pods[rolled])
    user = SimpleNamespace(key=key, api=Api(gateways[0].url, key, checked=False))
    with Load(user, gateways, CLIENTS) as load:
        cluster.roll(rolled)
        while load.total < REQUESTS:
            load.go_on(STEP)
    assert not load.failures, "\n".join([f"{len(load.failures)} of {load.total} requests", *map(str, load.failures[:FAILURES_SHOWN])])
    assert list(load.broken()) == []
    assert len(cluster.pods[rolled]) == len(before) and not before & set(cluster.pods[rolled])
