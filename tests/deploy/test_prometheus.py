"""deploy/prometheus and deploy/grafana, offline: promtool accepts them, the rules do what their tests say, every metric exists."""

import json
import re

import pytest
import yaml

from lib.check.prometheus import (
    DASHBOARDS, PROMETHEUS, dashboard, dashboard_queries, dashboard_targets, promtool, METRIC, listed_metrics, rules_of, units_of, unknown_metrics,
)  # fmt: skip
from lib.system.servers import read_processes

RULES = ["recording.yaml", "alerts.yaml"]
PROCESSES = [name for name, _, _ in read_processes()]


def config(name):
    return yaml.safe_load((PROMETHEUS / name).read_text())


def test_rules_are_valid():
    promtool("check", "rules", *(PROMETHEUS / name for name in RULES))


def test_rules_do_what_their_tests_say():
    promtool("test", "rules", PROMETHEUS / "tests.yaml")


def test_a_wrong_expectation_is_found(tmp_path):
    text = (PROMETHEUS / "tests.yaml").read_text().replace("701 tasks", "702 tasks").replace("rule_files: [", f"rule_files: [{PROMETHEUS}/")
    (tmp_path / "tests.yaml").write_text(text.replace(" alerts.yaml]", f" {PROMETHEUS}/alerts.yaml]"))
    with pytest.raises(AssertionError, match="701 tasks of svc-fleet"):
        promtool("test", "rules", tmp_path / "tests.yaml")


def test_every_alert_is_tested_and_says_what_to_do():
    healthy, *cases = config("tests.yaml")["tests"]
    quiet = {test["alertname"] for test in healthy["alert_rule_test"]}
    fired = {test["alertname"] for case in cases for test in case["alert_rule_test"] if test["exp_alerts"]}
    alerts = rules_of("alerts.yaml")
    assert quiet == fired == {alert["alert"] for alert in alerts}
    for alert in alerts:
        assert alert["labels"]["severity"] in ("critical", "warning"), alert["alert"]
        assert set(alert["annotations"]) == {"summary", "runbook"}
        assert alert["annotations"]["runbook"].endswith("."), alert["alert"]


@pytest.mark.parametrize("name", RULES)
def test_rules_name_metrics_that_exist(name):
    assert {rule["expr"]: unknown for rule in rules_of(name) if (unknown := unknown_metrics(rule["expr"]))} == {}


def test_operations_that_wait_for_work_are_left_out():
    """Where times of all operations are shown together: those whose input has wait_seconds."""
    _, *described = (PROMETHEUS.parents[1] / "svc-evalenv" / "openapi.yaml").read_text().split("operationId: ")
    waiting = {one.split()[0] for one in described if re.search(r"requestBody: [&*]claim_body", one)}
    queries = [rule["expr"] for name in RULES for rule in rules_of(name)] + [query for _, query in dashboard_queries()]
    left_out = {names for query in queries for names in re.findall(r'_request_seconds_bucket\{operation!~"([^"]+)"', query)}
    assert [set(names.split("|")) for names in left_out] == [waiting]
    assert [query for query in queries if re.search(r"_request_seconds_bucket(?!\{operation|:)", query)] == []


def test_unknown_metrics_are_found():
    assert unknown_metrics("rate(expops_job_seconds_bucket[5m]) + expops_ready") == []
    assert unknown_metrics("expops_job_seconds") == ["expops_job_seconds"]
    assert unknown_metrics("service:expops_readiness:sum") == ["service:expops_readiness:sum"]


@pytest.mark.parametrize("name", ["compose.yaml", "kubernetes.yaml"])
def test_configurations_are_valid(name, tmp_path):
    """Debian's promtool knows no discovery by Kubernetes: that part is replaced."""
    text = (PROMETHEUS / name).read_text()
    text = re.sub(r"kubernetes_sd_configs:\n(      .*\n)+", "dns_sd_configs: [{ names: [pods] }]\n", text)
    for rules in RULES:
        (tmp_path / rules).write_text((PROMETHEUS / rules).read_text())
    (tmp_path / name).write_text(text)
    promtool("check", "config", tmp_path / name)


def test_compose_finds_every_process():
    (job,) = config("compose.yaml")["scrape_configs"]
    (names,) = job["dns_sd_configs"]
    assert sorted(names["names"]) == sorted(PROCESSES) and names["port"] == 9090


def test_kubernetes_finds_what_the_manifests_name():
    (job,) = config("kubernetes.yaml")["scrape_configs"]
    (pods,) = job["kubernetes_sd_configs"]
    base = PROMETHEUS.parent / "k8s"
    deployment = yaml.safe_load((base / "process" / "deployment.yaml").read_text())["spec"]["template"]
    ((label, value),) = deployment["metadata"]["labels"].items()
    assert pods == {
        "role": "pod",
        "namespaces": {"names": [yaml.safe_load((base / "base" / "namespace.yaml").read_text())["metadata"]["name"]]},
        "selectors": [{"role": "pod", "label": f"{label}={value}"}],
    }
    assert {"source_labels": ["__meta_kubernetes_pod_container_port_name"], "action": "keep", "regex": "admin"} in job["relabel_configs"]
    assert "admin" in [port["name"] for port in deployment["spec"]["containers"][0]["ports"]]


def test_the_queries_of_the_dashboards_are_valid(tmp_path):
    rules = [{"record": f"panel:{number}:query", "expr": query} for number, (_, query) in enumerate(dashboard_queries())]
    (tmp_path / "queries.yaml").write_text(yaml.safe_dump({"groups": [{"name": "dashboard", "rules": rules}]}))
    promtool("check", "rules", tmp_path / "queries.yaml")
    assert {title: unknown for title, query in dashboard_queries() if (unknown := unknown_metrics(query))} == {}


def test_units_of_panels_fit_their_metrics():
    units = [(panel["title"], panel["fieldConfig"]["defaults"]["unit"], units_of(query)) for panel, query, _ in dashboard_targets()]
    assert [(title, unit) for title, unit, fitting in units if unit not in fitting] == []


def test_units_follow_the_metric():
    assert units_of("service:expops_jobs_queued:max") == {"short"}
    assert units_of("rate(expops_proxy_requests_total[5m])") == {"reqps", "ops"}
    assert units_of("histogram_quantile(0.9, sum by (le) (rate(expops_job_seconds_bucket[5m])))") == {"s"}
    assert units_of("expops_index_bytes") == {"bytes"}
    assert units_of("service:expops_pg_unavailable:ratio_rate5m") == {"percentunit"}


def sources(value):
    """The `datasource` of everything in the dashboard."""
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        if key == "datasource":
            yield inner
        else:
            yield from sources(inner)


@pytest.mark.parametrize("name", DASHBOARDS)
def test_every_source_of_a_dashboard_is_its_variable(name):
    """So that it can be imported into any Grafana."""
    assert {str(source) for source in sources(dashboard(name))} == {str({"type": "prometheus", "uid": "${datasource}"})}


@pytest.mark.parametrize("name", DASHBOARDS)
def test_every_variable_of_a_dashboard_is_declared(name):
    declared = {one["name"] for one in dashboard(name)["templating"]["list"]}
    used = set(re.findall(r"\$\{?(\w+)", json.dumps(dashboard(name))))
    assert used - {"__rate_interval", "__all"} == declared


def test_every_dashboard_is_another_one_for_grafana():
    made = [dashboard(name) for name in DASHBOARDS]
    assert len({one["uid"] for one in made}) == len({one["title"] for one in made}) == len(made) >= 2
    assert {one["templating"]["list"][0]["name"] for one in made} == {"datasource"}


def test_the_product_is_shown_in_words_of_users():
    """Each of the day's metrics has a figure, and is charted."""
    of_today = {name for name in listed_metrics() if name.startswith("expops_today_")}
    kinds = {"stat": set(), "timeseries": set()}
    for panel in dashboard("product")["panels"]:
        for target in panel.get("targets", []):
            kinds[panel["type"]] |= set(METRIC.findall(target["expr"])) & of_today
    assert kinds == {"stat": of_today, "timeseries": of_today} and len(of_today) == 5


@pytest.mark.parametrize("name", DASHBOARDS)
def test_a_dashboard_can_be_read(name):
    made = dashboard(name)
    ids, used = set(), set()
    for panel in made["panels"]:
        place = panel["gridPos"]
        cells = {(x, y) for x in range(place["x"], place["x"] + place["w"]) for y in range(place["y"], place["y"] + place["h"])}
        assert not cells & used and place["x"] + place["w"] <= 24, panel["title"]
        used |= cells
        assert panel["id"] not in ids
        ids.add(panel["id"])
        if panel["type"] != "row":
            assert panel["description"].endswith("."), panel["title"]
            assert {target["datasource"]["uid"] for target in panel["targets"]} == {"${datasource}"}
