"""A Prometheus beside compose, with the configuration of deploy/prometheus: it finds every replica, its rules can be evaluated, and each
query of the dashboards is one that it answers, with the labels that the legend names."""

import re
import shutil

import httpx
import pytest

from lib.system.deployment import base_image
from lib.check.prometheus import PROMETHEUS, dashboard, dashboard_targets, fill, panels, promtool_path, rules_of
from lib.system.servers import read_processes
from lib.wait import PATIENCE_SECONDS, wait_for

PROCESSES = [name for name, _, _ in read_processes()]
SEARCH_REPLICAS = 2
REQUESTS = 20

# Panels of what does not happen in a healthy cluster without work.
MAY_BE_EMPTY = {
    "Attempts by outcome", "Calls of models", "Errors by operation", "Events by outcome", "Statements that fail", "Time of tasks",
    "Waiting for a processor", "New papers", "New papers by set", "Missed announcements", "Messages to users", "Work given up",
}  # fmt: skip


class Prometheus:
    """A server in the network of a deployment, in a container."""

    def __init__(self, deployment, folder):
        """It looks for replicas, scrapes and evaluates each second."""
        for path in PROMETHEUS.glob("*.yaml"):
            (folder / path.name).write_text(re.sub(r"(_interval: )1[05]s", r"\g<1>1s", path.read_text()))
        shutil.copy(promtool_path().with_name("prometheus"), folder / "prometheus")
        folder.chmod(0o755)
        command = ["/run/prometheus/prometheus", "--config.file=/run/prometheus/compose.yaml", "--storage.tsdb.path=/tmp/data"]
        options = ["--read-only", "--tmpfs", "/tmp", "-v", f"{folder}:/run/prometheus:ro"]
        self.url = deployment.run_beside(base_image(), *command, options=options).admin_url

    def get(self, path, **parameters):
        """`data` of an answer."""
        answer = httpx.get(f"{self.url}/api/v1/{path}", params=parameters, timeout=PATIENCE_SECONDS)
        assert answer.status_code == 200, answer.text
        return answer.json()["data"]

    def query(self, text):
        """[{label: value}] of the series of an answer."""
        return [series["metric"] for series in self.get("query", query=text)["result"]]

    def targets(self):
        """[(service, state)] of the replicas that it has found."""
        return sorted((one["labels"]["service"], one["health"]) for one in self.get("targets")["activeTargets"])


@pytest.fixture(scope="module")
def deployment(deploy):
    return deploy(svc_search=SEARCH_REPLICAS)


@pytest.fixture(scope="module")
def prometheus(deployment, tmp_path_factory):
    return Prometheus(deployment, tmp_path_factory.mktemp("prometheus"))


def answers(call):
    """Whether a server that may be starting answers."""
    try:
        return call()
    except httpx.TransportError as error:
        raise AssertionError(str(error)) from error


@pytest.fixture(scope="module")
def scraped(deployment, prometheus):
    """Prometheus, once it has seen every replica and some requests."""
    expected = sorted((name, "up") for name in [*PROCESSES, *["svc-search"] * (SEARCH_REPLICAS - 1)])
    wait_for(lambda: answers(prometheus.targets) == expected, "every replica is found and answers")
    headers = {"Authorization": f"Bearer {deployment.create_user()}"}

    def requests_are_counted():
        for _ in range(REQUESTS):
            httpx.get(f"{deployment.url}/api/v1.0/search/stats", headers=headers, timeout=PATIENCE_SECONDS)
        return prometheus.query("sum(status:expops_proxy_requests:rate5m) > 0")

    wait_for(requests_are_counted, "requests are counted")
    return prometheus


def test_every_rule_is_evaluated(scraped):
    rules = lambda: [rule for group in scraped.get("rules")["groups"] for rule in group["rules"]]  # noqa: E731
    wait_for(lambda: all(rule["health"] == "ok" for rule in rules()), "all rules are evaluated")
    assert len(rules()) == len(rules_of("recording.yaml")) + len(rules_of("alerts.yaml"))


def test_nothing_fires(scraped):
    firing = [alert["labels"]["alertname"] for alert in scraped.get("alerts")["alerts"] if alert["state"] == "firing"]
    assert firing == []


def test_every_panel_has_its_series(scraped):
    filled = {panel["title"] for panel, query, _ in dashboard_targets() if scraped.query(query)}
    assert {panel["title"] for panel, _, _ in dashboard_targets()} - filled <= MAY_BE_EMPTY


def test_legends_name_labels_of_the_series(scraped):
    faults = []
    for panel, query, legend in dashboard_targets():
        named = set(re.findall(r"\{\{\s*(\w+)\s*\}\}", legend))
        faults += [(panel["title"], legend, sorted(series)) for series in scraped.query(query) if not named <= set(series)]
    assert faults == []


def test_series_of_a_panel_can_be_told_apart(scraped):
    """Each has a legend of its own."""
    for panel in panels():
        made = []
        for target in panel.get("targets", []):
            for series in scraped.query(fill(target["expr"])):
                made.append(re.sub(r"\{\{\s*(\w+)\s*\}\}", lambda label, series=series: series[label[1]], target["legendFormat"]))
        assert len(made) == len(set(made)), panel["title"]


def test_the_variable_of_the_dashboard_has_every_service(scraped):
    (variable,) = [one for one in dashboard("expops")["templating"]["list"] if one["name"] == "service"]
    metric, label = re.fullmatch(r"label_values\((\w+), (\w+)\)", variable["query"]["query"]).groups()
    assert sorted(scraped.get(f"label/{label}/values", **{"match[]": metric})) == sorted(PROCESSES)
