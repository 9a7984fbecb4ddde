"""The rules of deploy/prometheus, the dashboards of deploy/grafana, and promtool, which checks them."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import yaml

DEPLOY = Path(__file__).resolve().parents[3] / "deploy"
PROMETHEUS = DEPLOY / "prometheus"
DASHBOARDS = sorted(path.stem for path in (DEPLOY / "grafana").glob("*.json"))

METRIC = re.compile(r"\b(?:expops|process)_\w+")  # no part of a recorded name: those have a colon before it


def promtool_path():
    """The package that has it has the server `prometheus` beside it."""
    program = os.environ.get("PROMTOOL") or shutil.which("promtool")
    assert program, "there is no promtool: run deploy/dev test deploy"
    return Path(program)


def promtool(*args):
    """Run promtool; returns what it printed. Raises AssertionError when it finds a fault."""
    done = subprocess.run([promtool_path(), *map(str, args)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def rules_of(name):
    return [rule for group in yaml.safe_load((PROMETHEUS / name).read_text())["groups"] for rule in group["rules"]]


def dashboard(name):
    return json.loads((DEPLOY / "grafana" / f"{name}.json").read_text())


def fill(query):
    """A query with Grafana's variables replaced by what it would put there."""
    return query.replace("$__rate_interval", "5m").replace("$service", ".*")


def panels():
    """Those of all dashboards."""
    return [panel for name in DASHBOARDS for panel in dashboard(name)["panels"]]


def dashboard_targets():
    """[(panel, query, the text that names a series in the legend)] of all dashboards"""
    return [(panel, fill(target["expr"]), target["legendFormat"]) for panel in panels() for target in panel.get("targets", [])]


def dashboard_queries():
    """[(panel, query)], those of annotations too."""
    found = [(panel["title"], query) for panel, query, _ in dashboard_targets()]
    return found + [(one["name"], fill(one["expr"])) for name in DASHBOARDS for one in dashboard(name)["annotations"]["list"]]


def listed_metrics():
    """{metric of deploy/METRICS.md: (type, labels, unit)}"""
    listed = {}
    for line in (DEPLOY / "METRICS.md").read_text().splitlines():
        if line.startswith("| `"):
            name, kind, labels, unit, *_ = (cell.strip().replace("`", "") for cell in line.split("|")[1:-1])
            listed[name] = (kind, {label.strip() for label in labels.split(",") if label.strip()}, unit)
    return listed


# Grafana's names of units, for what a query of a metric in this unit gives.
UNITS = {"seconds": {"s"}, "bytes": {"bytes"}, "usd": {"currencyUSD"}, "": {"short"}}
RATE_UNITS = {"reqps", "ops"}


def units_of(query):
    """The units of Grafana that fit the values of a query, by what deploy/METRICS.md says of its metric."""
    if ":ratio_" in query:
        return {"percentunit"}
    listed = listed_metrics()
    (name,) = {re.sub(r"_(bucket|sum|count)$", "", one) for one in METRIC.findall(query.replace(":", " "))}
    name = name if name in listed else f"{name}_total"
    kind, _, unit = listed[name]
    if kind == "counter":
        return {"short"} if unit == "seconds" else RATE_UNITS  # seconds of processors in a second: a number of them
    return UNITS[unit]


def unknown_metrics(query):
    """The names in the query that no process offers and no rule records."""
    recorded = {rule["record"] for rule in rules_of("recording.yaml")}
    listed = listed_metrics()
    offered = {f"{name}{suffix}" for name, (kind, _, _) in listed.items() for suffix in (("_bucket", "_sum", "_count") if kind == "histogram" else ("",))}
    names = set(re.findall(r"[a-z_]+:\w+:\w+", query))
    plain = set(METRIC.findall(re.sub(r"[a-z_]+:\w+:\w+", "", query)))
    return sorted((names - recorded) | (plain - offered))
