"""The metrics that the processes offer are those of their tables, and of deploy/METRICS.md."""

import os
import re
import subprocess

from lib.system.servers import ROOT


def tables_of(cluster):
    """{process: {metric: type}}"""
    made = {}
    for name in cluster.processes:
        printed = subprocess.run([cluster.binary(name), "--metrics"], capture_output=True, text=True, check=True).stdout
        rows = [line.split("\t") for line in printed.splitlines()]
        made[name] = {row[0]: row[1] for row in rows}
        assert len(made[name]) == len(rows), f"{name} has two metrics of one name"
    return made


def test_the_list_is_up_to_date(cluster):
    made = subprocess.run([ROOT / "deploy" / "metrics", os.environ["EXPOPS_BUILD_DIR"]], capture_output=True, text=True, check=True).stdout
    assert made == (ROOT / "deploy" / "METRICS.md").read_text(), "run deploy/metrics BUILD_DIR >deploy/METRICS.md"


def test_processes_offer_what_their_table_names(cluster):
    for name, table in tables_of(cluster).items():
        offered = [line.split()[2:4] for line in cluster[name][0].metrics().splitlines() if line.startswith("# TYPE ")]
        assert dict(offered) == table, name
        assert len(offered) == len(table), name


def test_every_metric_is_explained(cluster):
    for line in (ROOT / "deploy" / "METRICS.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if line.startswith("| `"):
            name, kind, _, _, _, meaning = cells
            assert meaning.endswith("."), name
            assert (kind == "counter") == name.endswith("_total`"), name


def test_what_alerts_count_is_0_from_the_start(cluster):
    """The increase of a series that begins with the first faults does not have them."""
    for name in cluster.processes:
        main = (ROOT / name / "main.c").read_text()
        table = re.search(r"static const struct job JOBS\[\] = \{\n(.*?)\n\};", main, re.DOTALL)
        kinds = re.findall(r'^\t\{(?:\.kind = )?"(\w+)"', table[1], re.MULTILINE) if table else []
        assert bool(kinds) == (".jobs = " in main), name
        metrics = cluster[name][0].metrics()
        assert [kind for kind in kinds if f'expops_jobs_total{{kind="{kind}",outcome="failed"}} ' not in metrics] == [], name
    assert 'expops_webhook_deliveries_total{outcome="refused"} ' in cluster["svc-integrations"][0].metrics()
