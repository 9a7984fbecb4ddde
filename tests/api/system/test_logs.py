"""Processes write no members but those that deploy/LOGS.md names (tests/unit/tools/test_logs.py), and of its types."""

import json
import re

from lib.system.servers import ROOT

FITS = {"text": str, "integer": int, "number": (int, float), "boolean": bool}


def tables():
    """{member or group: the other cells of its row}"""
    rows = re.findall(r"^\| (`[^|]+`) \| (.*) \|$", (ROOT / "deploy" / "LOGS.md").read_text(), re.M)
    return {name: cells.split(" | ") for names, cells in rows for name in re.findall(r"`(\w+)`", names)}


def test_processes_write_what_the_page_names(cluster, api):
    api.get("/search/stats", expect=200)
    api.post("/papers/recommended/refresh", {"num_results": 1})
    documented, always = tables(), ["time", "level", "process", "group", "message"]
    for name in cluster.processes:
        for text in (one.log() for one in cluster[name]):
            for line in text.splitlines():
                members = json.loads(line)
                assert list(members)[:5] == always, line
                assert members["process"] == name and members["group"] in documented, line
                for member, value in members.items():
                    assert value is None or isinstance(value, FITS[documented[member][0]]), line
