"""The rules of deploy/prometheus, the dashboard of deploy/grafana, and promtool, which checks them."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import yaml

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
PROMETHEUS = DEPLOY / "prometheus"
DASHBOARD = DEPLOY / "grafana" / "expops.json"

METRIC = re.compile(r"\b(?:expops|process)_\w+")  # no part of a recorded name: those have a colon before it


def promtool(*args):
    """Run promtool; returns what it printed. Raises AssertionError when it finds a fault."""
    program = os.environ.get("PROMTOOL") or shutil.which("promtool")
    assert program, "there is no promtool: run deploy/dev test deploy"
    done = subprocess.run([program, *map(str, args)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def rules_of(name):
    return [rule for group in yaml.safe_load((PROMETHEUS / name).read_text())["groups"] for rule in group["rules"]]


def dashboard():
    return json.loads(DASHBOARD.read_text())


def dashboard_queries():
    """[(panel, query)], with Grafana's variables replaced by what it would put there."""
    made = dashboard()
    found = [(panel["title"], target["expr"]) for panel in made["panels"] for target in panel.get("targets", [])]
    found += [(one["name"], one["expr"]) for one in made["annotations"]["list"]]
    return [(title, query.replace("$__rate_interval", "5m").replace("$service", ".*")) for title, query in found]


def listed_metrics():
    """{metric of deploy/METRICS.md: (type, labels)}"""
    listed = {}
    for line in (DEPLOY / "METRICS.md").read_text().splitlines():
        if line.startswith("| `"):
            name, kind, labels, *_ = (cell.strip().replace("`", "") for cell in line.split("|")[1:-1])
            listed[name] = (kind, {label.strip() for label in labels.split(",") if label.strip()})
    return listed


def unknown_metrics(query):
    """The names in the query that no process offers and no rule records."""
    recorded = {rule["record"] for rule in rules_of("recording.yaml")}
    listed = listed_metrics()
    offered = {f"{name}{suffix}" for name, (kind, _) in listed.items() for suffix in (("_bucket", "_sum", "_count") if kind == "histogram" else ("",))}
    names = set(re.findall(r"[a-z_]+:\w+:\w+", query))
    plain = set(METRIC.findall(re.sub(r"[a-z_]+:\w+:\w+", "", query)))
    return sorted((names - recorded) | (plain - offered))
