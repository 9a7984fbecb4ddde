"""deploy/k8s, offline: what kustomize makes of it is valid, confined, and fits the secrets and calls of the processes."""

import copy
import re
import shutil
import textwrap

import pytest
import yaml

from lib.system.deployment import DEPLOY, ROOT, run
from lib.check.kube_schema import manifest_faults
from lib.check.network_policies import reached
from lib.system.servers import read_processes

OVERLAYS = ["trial", "production", "managed", "create-user"]
PROCESSES = [name for name, _, _ in read_processes()]
ENDING_SECONDS = 20  # of a process after DRAIN_TIMEOUT, for what was cancelled and for its leases
NAME = "app.kubernetes.io/name"
COMPONENT = "app.kubernetes.io/component"
INSTALLATIONS = ["trial", "production", "managed"]
OPERATORS = {"ExternalSecret"}  # kinds of others, of which the API has no model
CHANGED_BY_TLS = [("Deployment", "gateway"), ("Service", "expops"), ("NetworkPolicy", "gateway")]
COLLECTOR_PORT = 4318  # OTLP over HTTP
CONNECTIONS = 12       # PG_CONNECTIONS of a process


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A copy of deploy/k8s with the secrets of the trial."""
    made = tmp_path_factory.mktemp("kubernetes") / "k8s"
    shutil.copytree(DEPLOY / "k8s", made, ignore=shutil.ignore_patterns("secrets.d"))
    run(DEPLOY / "secrets", made / "trial" / "secrets.d")
    return made


@pytest.fixture(scope="module")
def manifests(tree):
    """{overlay: its manifests}"""
    return {name: list(yaml.safe_load_all(run("kubectl", "kustomize", tree / name))) for name in OVERLAYS}


@pytest.fixture(scope="module")
def previous(tmp_path_factory):
    """{overlay: its manifests}, of the previous version and the overlays that it has."""
    name = run("bash", "-c", f". {DEPLOY}/dev.d/previous.sh && previous_name", env={"ROOT": str(ROOT)}).strip()
    source = tmp_path_factory.mktemp("previous")
    run("bash", "-c", f"set -o pipefail; git -C {ROOT} archive {name} deploy/k8s | tar -x -C {source}")
    k8s = source / "deploy" / "k8s"
    run(DEPLOY / "secrets", k8s / "trial" / "secrets.d")
    return {name: list(yaml.safe_load_all(run("kubectl", "kustomize", k8s / name))) for name in OVERLAYS if (k8s / name).exists()}


def of_kind(manifests, *kinds):
    return {one["metadata"]["name"]: one for one in manifests if one["kind"] in kinds}


def workloads(manifests):
    return of_kind(manifests, "Deployment", "StatefulSet", "Job")


def pod_of(workload):
    return workload["spec"]["template"]["spec"]


def labels_of(workload):
    return workload["spec"]["template"]["metadata"]["labels"]


def roles_of(workload):
    """The setting ROLES; None: its default."""
    (container,) = pod_of(workload)["containers"]
    return next((one["value"] for one in container["env"] if one["name"] == "ROLES"), None)


def selects(selector, labels):
    return selector.items() <= labels.items()


def has_tasks(process):
    return re.search(r"^\s*\.jobs = ", (ROOT / process / "main.c").read_text(), re.MULTILINE) is not None


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_every_manifest_is_valid(manifests, overlay):
    assert [fault for one in manifests[overlay] if one["kind"] not in OPERATORS for fault in manifest_faults(one)] == []
    assert len(manifests[overlay]) >= 1
    assert {one["metadata"].get("namespace", "expops") for one in manifests[overlay]} == {"expops"}


def test_faults_are_found(manifests):
    deployment = of_kind(manifests["trial"], "Deployment")["gateway"]
    text = yaml.safe_dump(deployment)
    for right, wrong, fault in (
        ("readinessProbe:", "readynessProbe:", "readynessProbe: there is no such field"),
        ("runAsNonRoot: true", "runAsNonRoot: 'yes'", "is no bool"),
        ("containerPort: 8080", "containerPort: http", "is no int"),
        ("kind: Deployment", "kind: Deploymint", "there is no such kind"),
        ("  selector:", "  selectors:", "must not be `None`"),
    ):
        assert right in text
        assert fault in "\n".join(manifest_faults(yaml.safe_load(text.replace(right, wrong, 1))))


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_pods_are_restricted(manifests, overlay):
    for name, workload in workloads(manifests[overlay]).items():
        pod = pod_of(workload)
        assert pod["automountServiceAccountToken"] is False, name
        assert pod["securityContext"]["runAsNonRoot"] and pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        for container in pod["containers"]:
            context = container["securityContext"]
            assert context == {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}}
            assert container["resources"]["limits"]["memory"] and container["resources"]["requests"]["cpu"], name


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_every_process_gets_its_secrets(manifests, tree, overlay):
    """Each mounts the secret of its own, and each file of it is a setting."""
    for name, workload in workloads(manifests[overlay]).items():
        if labels_of(workload)[COMPONENT] != "process":
            continue
        (container,) = pod_of(workload)["containers"]
        process = container["command"][0]
        (secret,) = [volume["secret"]["secretName"] for volume in pod_of(workload)["volumes"] if "secret" in volume]
        assert secret == process
        files = {path.name for path in (tree / "trial" / "secrets.d" / process).iterdir()}
        settings = {one["name"].removesuffix("_FILE"): one["value"] for one in container["env"] if one["name"].endswith("_FILE")}
        assert settings == {file: f"/run/secrets/{file}" for file in files}, name


def test_the_trial_generates_these_secrets(manifests, tree):
    made = {name: set(one["data"]) for name, one in of_kind(manifests["trial"], "Secret").items()}
    folders = [path for path in (tree / "trial" / "secrets.d").iterdir() if path.is_dir()]
    assert made == {folder.name: {path.name for path in folder.iterdir()} for folder in folders}


def test_compose_gives_the_same_settings(tree):
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    for process in PROCESSES:
        environment = compose["services"][process]["environment"]
        files = {path.name for path in (tree / "trial" / "secrets.d" / process).iterdir()}
        assert {name.removesuffix("_FILE") for name in environment if name.endswith("_FILE")} == files, process


@pytest.mark.parametrize("overlay", INSTALLATIONS)
def test_every_process_is_deployed_and_found(manifests, overlay):
    deployments, services = of_kind(manifests[overlay], "Deployment"), of_kind(manifests[overlay], "Service")
    budgets, settings = of_kind(manifests[overlay], "PodDisruptionBudget"), of_kind(manifests[overlay], "ConfigMap")["settings"]["data"]
    assert {name for name, one in deployments.items() if labels_of(one)["role"] == "http"} == set(PROCESSES)
    for name, _, variable in read_processes():
        template = deployments[name]["spec"]["template"]
        assert settings[variable] == f"http://{name}:8080"
        assert services[name]["spec"]["clusterIP"] == "None" and services[name]["spec"]["selector"] == {NAME: name, "role": "http"}
        assert budgets[name]["spec"]["selector"]["matchLabels"] == {NAME: name, COMPONENT: "process", "role": "http"}
        assert template["metadata"]["labels"][NAME] == name
        for spread in template["spec"]["topologySpreadConstraints"]:
            assert spread["labelSelector"]["matchLabels"] == {NAME: name, COMPONENT: "process", "role": "http"}
    delay, delay_max, timeout = (int(settings[f"DRAIN_{name}"].removesuffix("s")) for name in ("DELAY", "DELAY_MAX", "TIMEOUT"))
    for deployment in deployments.values():
        assert delay < delay_max
        assert pod_of(deployment)["terminationGracePeriodSeconds"] > delay_max + timeout + ENDING_SECONDS


@pytest.mark.parametrize("overlay", INSTALLATIONS)
def test_selectors_do_not_overlap(manifests, overlay):
    """A Deployment and a budget select the pods of one Deployment, and a Service those that answer requests."""
    deployments = of_kind(manifests[overlay], "Deployment")
    for deployment in deployments.values():
        selector = deployment["spec"]["selector"]["matchLabels"]
        assert [one for one in deployments.values() if selects(selector, labels_of(one))] == [deployment]
    for budget in of_kind(manifests[overlay], "PodDisruptionBudget").values():
        selector = budget["spec"]["selector"]["matchLabels"]
        assert [name for name, one in deployments.items() if selects(selector, labels_of(one))] == [budget["metadata"]["name"]]
    for name, service in of_kind(manifests[overlay], "Service").items():
        found = [one for one in deployments.values() if selects(service["spec"]["selector"], labels_of(one))]
        assert all(roles_of(one) in (None, "http") for one in found), name


def test_an_upgrade_changes_no_selector(manifests, previous):
    """Kubernetes refuses another one, so a Deployment would have to be deleted first."""
    assert {"trial", "production"} <= previous.keys()
    for overlay, former in previous.items():
        present = workloads(manifests[overlay])
        for name, one in of_kind(former, "Deployment", "StatefulSet").items():
            assert present[name]["spec"]["selector"] == one["spec"]["selector"], name


def test_background_work_has_processes_of_its_own(manifests):
    """Each pair of Deployments is one process in two roles, and differs in nothing else."""
    deployments, budgets = of_kind(manifests["production"], "Deployment"), of_kind(manifests["production"], "PodDisruptionBudget")
    workers = {name: one for name, one in deployments.items() if labels_of(one)["role"] == "jobs"}
    assert {"svc-experiments-jobs", "svc-interests-jobs"} <= set(workers)
    assert {name for name, one in deployments.items() if roles_of(one) == "http"} == {name.removesuffix("-jobs") for name in workers}
    for name, worker in workers.items():
        assert roles_of(worker) == "jobs" and name in budgets
        worker_pod, pod = copy.deepcopy((pod_of(worker), pod_of(deployments[name.removesuffix("-jobs")])))
        for container in (*worker_pod["containers"], *pod["containers"]):
            container["env"] = [one for one in container["env"] if one["name"] != "ROLES"]
            container["ports"] = [one for one in container["ports"] if one["name"] != "http"]
        for one in (worker_pod, pod):
            del one["topologySpreadConstraints"]
        assert worker_pod == pod, name


@pytest.mark.parametrize("overlay", INSTALLATIONS)
def test_each_reaches_just_what_it_calls(manifests, tree, overlay):
    policies = of_kind(manifests[overlay], "NetworkPolicy")
    assert policies["default-deny"]["spec"] == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
    calls = set()
    for process in PROCESSES:
        path = tree / "trial" / "secrets.d" / process / "IDENTITY_SIGN_SECRETS"
        pairs = path.read_text().split() if path.exists() else []
        calls |= {(process, pair.partition("=")[0]) for pair in pairs}
    for process in PROCESSES:
        policy = policies[process]
        assert policy["spec"]["podSelector"] == {"matchLabels": {NAME: process}}
        assert reached(policy, "egress") == sorted(callee for caller, callee in calls if caller == process)
        if process == "gateway":
            assert policy["spec"]["ingress"] == [{"ports": [{"protocol": "TCP", "port": "http"}]}]
        else:
            assert reached(policy, "ingress") == sorted(caller for caller, callee in calls if callee == process)


@pytest.fixture(scope="module")
def with_tls(tree):
    """{name: manifest} by kind, of the overlay that deploy/README.md shows for TLS in the gateway."""
    section = (DEPLOY / "README.md").read_text().partition("\n## TLS\n")[2].partition("\n## ")[0]
    shown = section.partition("    # kustomization.yaml of the overlay\n")[2].partition("\n\n")[0]
    certificate = section.partition("    apiVersion: cert-manager.io/v1\n")[2].partition("\n\n")[0]
    folder = tree / "tls-of-readme"
    folder.mkdir()
    (folder / "kustomization.yaml").write_text(textwrap.dedent(shown))
    (folder / "certificate.yaml").write_text(textwrap.dedent(f"    apiVersion: cert-manager.io/v1\n{certificate}\n"))
    return list(yaml.safe_load_all(run("kubectl", "kustomize", folder)))


def test_tls_in_the_gateway_reaches_its_listener(with_tls, manifests):
    """From the Service and through the policy; no other process gets a setting of it."""
    changed = [one for one in with_tls if (one["kind"], one["metadata"]["name"]) in CHANGED_BY_TLS]
    assert len(changed) == 3 and [fault for one in changed for fault in manifest_faults(one)] == []
    container = pod_of(of_kind(with_tls, "Deployment")["gateway"])["containers"][0]
    environment = {one["name"]: one["value"] for one in container["env"]}
    (port,) = [one for one in container["ports"] if one["name"] == "https"]
    assert environment["LISTEN"].split(",") == ["0.0.0.0:8080", f"https://0.0.0.0:{port['containerPort']}"]
    assert of_kind(with_tls, "ConfigMap")["settings"]["data"].keys() & environment.keys() == set()
    assert {"name": "https", "port": 443, "targetPort": "https"} in of_kind(with_tls, "Service")["expops"]["spec"]["ports"]
    policy = of_kind(with_tls, "NetworkPolicy")["gateway"]["spec"]
    assert [one["port"] for one in policy["ingress"][0]["ports"]] == ["http", "https"]
    secret = of_kind(with_tls, "Certificate")["expops"]["spec"]["secretName"]
    volumes = {one["name"]: one for one in pod_of(of_kind(with_tls, "Deployment")["gateway"])["volumes"]}
    mounts = {one["name"]: one["mountPath"] for one in container["volumeMounts"]}
    assert volumes["tls"]["secret"] == {"secretName": secret, "defaultMode": 0o440}
    assert environment["TLS_KEY_FILE"] == f"{mounts['tls']}/tls.key" and environment["TLS_CERT_FILE"] == f"{mounts['tls']}/tls.crt"
    others = of_kind(manifests["production"], "Deployment")
    assert {name for name, one in of_kind(with_tls, "Deployment").items() if pod_of(one) != pod_of(others[name])} == {"gateway"}


@pytest.mark.parametrize("overlay", INSTALLATIONS)
def test_traces_may_be_sent_to_a_collector(manifests, overlay):
    """From every process, and to nothing else in its namespace."""
    policy = of_kind(manifests[overlay], "NetworkPolicy")["traces"]["spec"]
    assert all(selects(policy["podSelector"]["matchLabels"], labels_of(one)) for one in of_kind(manifests[overlay], "Deployment").values())
    ((peer, *others),) = [rule["to"] for rule in policy["egress"]]
    assert others == [] and peer["podSelector"]["matchLabels"] and peer["namespaceSelector"]["matchLabels"]
    assert policy["egress"][0]["ports"] == [{"protocol": "TCP", "port": COLLECTOR_PORT}]
    assert f":{COLLECTOR_PORT}`" in (ROOT / "deploy" / "README.md").read_text()


@pytest.mark.parametrize("overlay", INSTALLATIONS)
def test_svc_search_has_time_to_build_its_index(manifests, overlay):
    """Of the papers that deploy/OPERATIONS.md says, by the measured time of one, with room for a slower machine. The same with compose."""
    section = (DEPLOY / "OPERATIONS.md").read_text().partition("\n## Rolling with compose\n")[2].partition("\n## ")[0]
    (papers,) = [int(found.replace(",", "")) for found in re.findall(r"([\d,]+) papers", section)]
    (paper_ms,) = re.findall(r"([\d.]+) ms of CPU time in one replica, once", (DEPLOY / "CAPACITY.md").read_text())
    deployment = of_kind(manifests[overlay], "Deployment")["svc-search"]
    probe = pod_of(deployment)["containers"][0]["startupProbe"]
    seconds = probe["periodSeconds"] * probe["failureThreshold"]
    assert seconds > 3 * papers * float(paper_ms) / 1000
    assert deployment["spec"]["progressDeadlineSeconds"] > seconds
    health = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]["svc-search"]["healthcheck"]
    assert health["start_period"] == f"{seconds}s"
    assert re.search(rf"\[svc-search\]={seconds}\b", (DEPLOY / "roll").read_text())


ALLOWANCES = {"HEAD_MEMORY": 1, "BODY_MEMORY": 1, "ANSWER_MEMORY": 2, "FETCH_MEMORY": 1, "TLS_MEMORY": 1, "SHOWN_PAPER_CACHE": 1, "PAPER_CACHE": 1,
              "RECOMMENDED_PAPER_CACHE": CONNECTIONS // 3}  # how often the process may take them  # fmt: skip
BYTES = {"MiB": 2**20, "Mi": 2**20, "m": 2**20, "GiB": 2**30, "Gi": 2**30, "g": 2**30}


def bytes_of(text):
    number, unit = re.fullmatch(r"(\d+)(\w+)", text).groups()
    return int(number) * BYTES[unit]


def allowed_memory(process, but=()):
    """What a process may take by its settings of memory, as deploy/SETTINGS.md has them, without those named."""
    rows = re.findall(r"^\| `(\w+)` \| `(\d+\w+)` \| ([^|]+) \|", (DEPLOY / "SETTINGS.md").read_text(), re.MULTILINE)
    return sum(ALLOWANCES[name] * bytes_of(value) for name, value, processes in rows
               if name in ALLOWANCES and name not in but and {"all", process} & set(processes.split(", ")))  # fmt: skip


@pytest.mark.parametrize("overlay", INSTALLATIONS)
def test_containers_have_the_memory_that_their_processes_may_take(manifests, overlay):
    for name, deployment in of_kind(manifests[overlay], "Deployment").items():
        limit = pod_of(deployment)["containers"][0]["resources"]["limits"]["memory"]
        assert allowed_memory(name.removesuffix("-jobs"), but=["TLS_MEMORY"]) < bytes_of(limit), name


def test_they_have_it_with_tls_and_with_compose(with_tls):
    gateway = pod_of(of_kind(with_tls, "Deployment")["gateway"])["containers"][0]
    assert allowed_memory("gateway") < bytes_of(gateway["resources"]["limits"]["memory"])
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    for process in PROCESSES:
        assert allowed_memory(process) < bytes_of(compose["services"][process]["mem_limit"]), process


def test_scaling_fits_what_is_scaled(manifests):
    """By tasks that wait: a process that runs tasks. By the processor: one that answers requests."""
    deployments = of_kind(manifests["production"], "Deployment")
    scalers = of_kind(manifests["production"], "HorizontalPodAutoscaler")
    assert {"svc-search", "svc-fleet", "svc-interests-jobs", "svc-experiments-jobs"} <= set(scalers)
    for name, scaler in scalers.items():
        assert scaler["spec"]["scaleTargetRef"]["name"] == name
        assert "replicas" not in deployments[name]["spec"]
        (metric,) = scaler["spec"]["metrics"]
        if metric["type"] == "Resource":
            assert roles_of(deployments[name]) in (None, "http"), name
        else:
            process = labels_of(deployments[name])[NAME]
            assert metric["external"]["metric"] == {"name": "expops_jobs_queued", "selector": {"matchLabels": {"service": process}}}
            assert roles_of(deployments[name]) == "jobs" and has_tasks(process), name
    fixed = set(deployments) - set(scalers)
    assert all(deployments[name]["spec"]["replicas"] > 1 for name in fixed)


def test_the_capacity_model_counts_these_replicas(manifests):
    scalers = of_kind(manifests["production"], "HorizontalPodAutoscaler")
    fixed = [one["spec"].get("replicas", 0) for one in of_kind(manifests["production"], "Deployment").values()]
    text = (DEPLOY / "CAPACITY.md").read_text()
    for bound in ("minReplicas", "maxReplicas"):
        replicas = sum(fixed) + sum(one["spec"][bound] for one in scalers.values())
        assert re.search(rf"\b{replicas}\b[^.]* {replicas * CONNECTIONS}\b", text), (bound, replicas)


def test_production_has_no_secrets_and_no_servers(manifests):
    assert of_kind(manifests["production"], "Secret", "StatefulSet") == {}


def test_the_example_of_an_overlay_says_everything(manifests, tree):
    """The secrets are those of the processes, and nothing of the examples of production is left."""
    managed = manifests["managed"]
    stored = {one["spec"]["target"]["name"]: one["spec"]["dataFrom"][0]["extract"]["key"] for one in managed if one["kind"] == "ExternalSecret"}
    assert stored == {name: f"expops/{name}" for name in PROCESSES}
    images = {container["image"] for one in workloads(managed).values() for container in pod_of(one)["containers"]}
    assert len(images) == 1 and not images & {c["image"] for one in workloads(manifests["production"]).values() for c in pod_of(one)["containers"]}
    assert of_kind(managed, "NetworkPolicy")["to-servers"] != of_kind(manifests["production"], "NetworkPolicy")["to-servers"]
    (backend,) = [path["backend"]["service"] for rule in of_kind(managed, "Ingress")["expops"]["spec"]["rules"] for path in rule["http"]["paths"]]
    ports = {port["name"] for port in of_kind(managed, "Service")[backend["name"]]["spec"]["ports"]}
    assert backend["port"]["name"] in ports
    volumes = {one["name"]: one for one in pod_of(of_kind(managed, "Deployment")["svc-search"])["volumes"]}
    assert set(volumes) == {"secrets", "data"} and "ephemeral" in volumes["data"]
