"""The manifests of deploy/k8s as `podman kube play` runs them: their pods, secrets, settings and volumes are real, a cluster is not.

    cluster = KubePlay("trial", folder)
    cluster.up()                     # plays every Deployment and StatefulSet, and waits until all are ready
    cluster.roll("svc-interests")    # replaces its pods as a Deployment does
    cluster.down()

A pod has its network, its limits, its user and its read-only file system. What podman does not know is translated, which is all that is
changed in the manifests:

    StatefulSet             a Deployment, and a claim of each template of volumes
    replicas                one played Deployment for each, at most MOST_REPLICAS
    a headless Service      a name in the network, which all its pods have
    httpGet of a probe      podman calls curl in the container, and the image has none: `PROCESS --ready`, which asks the same address
    fsGroup                 not known: the files of secrets can be read by all users in the container
    names                   begin with that of the cluster, as podman has no namespaces

NOT_PLAYED are the kinds for which there is nothing in podman."""

import copy
import json
import os
import secrets
import shutil
import subprocess
from pathlib import Path

import yaml

from lib.system.deployment import DEPLOY, ROOT, Replica, base_image, run
from lib.wait import wait_for

IMAGES = {"expops": "localhost/expops-test:k8s", "expops-servers": "localhost/expops-test-servers:k8s"}
NOT_PLAYED = {"HorizontalPodAutoscaler", "Namespace", "NetworkPolicy", "PodDisruptionBudget", "Service"}
PLAYED = {"ConfigMap", "Deployment", "Secret", "StatefulSet"}
MOST_REPLICAS = 2
PROBES = ("startupProbe", "readinessProbe", "livenessProbe")
ENVIRONMENT = {"CONTAINERS_CONF_OVERRIDE": str(Path(__file__).with_suffix(".conf"))}
if not Path("/run/systemd/system").exists():
    ENVIRONMENT["DISABLE_HC_SYSTEMD"] = "true"  # systemd would run the probes


def podman(*args, **options):
    return run("podman", *args, env=ENVIRONMENT, **options)


def build_images():
    for name, file in (("expops", "Dockerfile"), ("expops-servers", "servers.Dockerfile")):
        podman("build", "-q", "--build-arg", f"BASE={base_image()}", "-f", DEPLOY / file, "-t", IMAGES[name], ROOT)


def rendered(overlay):
    return list(yaml.safe_load_all(run("kubectl", "kustomize", overlay)))


def image_name(reference):
    """registry.example.org:5000/expops:0.2.0 -> expops"""
    return reference.rpartition("/")[2].partition(":")[0]


class KubePlay:
    """Postgres and Redis are those of the trial, also of production, which expects somebody's own at these names."""

    def __init__(self, overlay, folder):
        tree = folder / "k8s"
        shutil.copytree(DEPLOY / "k8s", tree, ignore=shutil.ignore_patterns("secrets.d"))
        run(DEPLOY / "secrets", tree / "trial" / "secrets.d")
        trial = rendered(tree / "trial")
        self.manifests = trial if overlay == "trial" else rendered(tree / overlay) + [one for one in trial if one["kind"] in ("Secret", "StatefulSet")]
        self.name, self.folder = f"expops-test-{secrets.token_hex(4)}", folder
        self.workloads = {one["metadata"]["name"]: one for one in self.manifests if one["kind"] in ("Deployment", "StatefulSet")}
        self.pods = {name: [] for name in self.workloads}  # their numbers
        self.started = 0

    def of_kind(self, *kinds):
        return [one for one in self.manifests if one["kind"] in kinds]

    # Playing

    def write(self, name, manifests):
        path = self.folder / f"{name}.yaml"
        path.write_text(yaml.safe_dump_all(manifests))
        return path

    def up(self):
        podman("network", "create", self.name)
        podman("kube", "play", self.write("secrets", [self.renamed(one) for one in self.of_kind("Secret")]))
        self.write("settings", [{**one, "data": {**one["data"], "HARVEST_SETS": ""}} for one in self.of_kind("ConfigMap")])
        for name, workload in sorted(self.workloads.items(), key=lambda item: item[1]["kind"] != "StatefulSet"):
            for _ in range(min(workload["spec"].get("replicas", self.least(name)), MOST_REPLICAS)):
                self.start(name)
        for name, numbers in self.pods.items():
            for number in numbers:
                self.wait_ready(name, number)

    def down(self):
        for name, numbers in self.pods.items():
            for number in list(numbers):
                self.stop(name, number, "--force")
        podman("kube", "down", self.folder / "secrets.yaml", check=False)
        podman("volume", "rm", "-f", *(f"{self.name}-{one['metadata']['name']}" for one in self.of_kind("Secret")), check=False)
        podman("network", "rm", "-f", self.name, check=False)

    def start(self, name):
        self.started += 1
        path = self.write(f"{name}-{self.started}", self.playable(name, self.started))
        aliases = ",".join(f"alias={alias}" for alias in self.services_of(name))
        podman("kube", "play", "--network", ":".join(filter(None, (self.name, aliases))), "--configmap", self.folder / "settings.yaml", path)
        self.pods[name].append(self.started)
        return self.started

    def stop(self, name, number, *options):
        podman("kube", "down", *options, self.folder / f"{name}-{number}.yaml")
        self.pods[name].remove(number)

    def roll(self, name):
        """As a Deployment with maxSurge 1 and maxUnavailable 0 does: a new pod is ready before an old one goes. In Kubernetes the
        network of a pod outlives its container; `kube down` takes it away while the container still ends its requests."""
        for number in list(self.pods[name]):
            self.wait_ready(name, self.start(name))
            podman("stop", self.container(name, number))
            self.stop(name, number)

    # What podman knows of the manifests

    def least(self, name):
        """How many replicas the scaling of a workload keeps, which then has no number of its own."""
        return next((one["spec"]["minReplicas"] for one in self.of_kind("HorizontalPodAutoscaler")
                     if one["spec"]["scaleTargetRef"]["name"] == name), 1)

    def services_of(self, name):
        labels = self.workloads[name]["spec"]["template"]["metadata"]["labels"]
        return [one["metadata"]["name"] for one in self.of_kind("Service") if one["spec"]["selector"].items() <= labels.items()]

    def renamed(self, manifest):
        made = copy.deepcopy(manifest)
        made["metadata"] = {"name": f"{self.name}-{manifest['metadata']['name']}"}
        return made

    def playable(self, name, number):
        workload = copy.deepcopy(self.workloads[name])
        template, claims = workload["spec"]["template"], workload["spec"].pop("volumeClaimTemplates", [])
        pod = template["spec"]
        pod["securityContext"].pop("fsGroup")
        for container in pod["containers"]:
            container["image"] = IMAGES[image_name(container["image"])]
            for probe in (container[kind] for kind in PROBES if kind in container):
                if probe.pop("httpGet", None):
                    probe["exec"] = {"command": [container["command"][0], "--ready"]}
        for secret in (volume["secret"] for volume in pod["volumes"] if "secret" in volume):
            secret.update(secretName=f"{self.name}-{secret['secretName']}", defaultMode=0o444)
        for claim in claims:
            volume = claim["metadata"]["name"]
            claim["metadata"]["name"] = f"{self.name}-{name}-{volume}"
            pod["volumes"].append({"name": volume, "persistentVolumeClaim": {"claimName": claim["metadata"]["name"]}})
        deployment = {
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": f"{self.name}-{name}-{number}"},
            "spec": {"replicas": 1, "selector": workload["spec"]["selector"], "template": template},
        }
        return [*({"apiVersion": "v1", "kind": "PersistentVolumeClaim", **claim} for claim in claims), deployment]

    # What runs

    def container(self, name, number):
        container = self.workloads[name]["spec"]["template"]["spec"]["containers"][0]["name"]
        return f"{self.name}-{name}-{number}-pod-{container}"

    def inspect(self, name, number):
        return json.loads(podman("inspect", self.container(name, number)))[0]

    def is_ready(self, name, number):
        """By the command of its probe of readiness."""
        container = next(one for one in self.playable(name, number) if one["kind"] == "Deployment")["spec"]["template"]["spec"]["containers"][0]
        command = ["podman", "exec", self.container(name, number), *container["readinessProbe"]["exec"]["command"]]
        return subprocess.run(command, env={**os.environ, **ENVIRONMENT}, capture_output=True, check=False).returncode == 0

    def wait_ready(self, name, number):
        wait_for(lambda: self.is_ready(name, number), f"{name}-{number} is ready")

    def replicas(self, name):
        """Each of its pods, by its address in the network."""
        infra = [json.loads(podman("pod", "inspect", f"{self.name}-{name}-{number}-pod")) for number in self.pods[name]]
        return [Replica(self.address(one)) for one in infra]

    def address(self, pod):
        pod = pod[0] if isinstance(pod, list) else pod
        return json.loads(podman("inspect", pod["InfraContainerID"]))[0]["NetworkSettings"]["Networks"][self.name]["IPAddress"]

    def execute(self, name, *command, **options):
        return podman("exec", "-i", self.container(name, self.pods[name][0]), *command, **options)

    def create_user(self):
        return self.execute("gateway", "gateway", "create-user", "--email", f"{secrets.token_hex(4)}@example.org").strip()

    def import_papers(self, path):
        with path.open() as papers:
            self.execute("svc-search", "svc-search", "import", "/dev/stdin", stdin=papers)
