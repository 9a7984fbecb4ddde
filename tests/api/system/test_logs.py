"""deploy/LOGS.md names every member that the processes can write, with its type, and they write no other."""

import json
import re

from lib.system.servers import ROOT

FIELD = re.compile(r'\bf_(text|int|ms|float|bool)\(\s*"(\w+)"')
TYPES = {"text": "text", "int": "integer", "ms": "number", "float": "number", "bool": "boolean"}
FITS = {"text": str, "integer": int, "number": (int, float), "boolean": bool}


def tables():
    """{member or group: the other cells of its row}"""
    rows = re.findall(r"^\| `(\w+)` \| (.*) \|$", (ROOT / "deploy" / "LOGS.md").read_text(), re.M)
    return {name: cells.split(" | ") for name, cells in rows}


def written_by_source():
    """{member: its types}"""
    found = {}
    for folder in ("libcommon", "gateway", *(path.name for path in ROOT.glob("svc-*"))):
        for path in (ROOT / folder).rglob("*.c"):
            for kind, name in FIELD.findall(path.read_text()):
                found.setdefault(name, set()).add(TYPES[kind])
    return found


def common_type(types):
    """`number` where one line has an integer and another a fraction."""
    return "number" if types == {"integer", "number"} else "/".join(sorted(types))


def test_the_page_names_what_the_source_can_write():
    _, every_line, others, _ = re.split(r"^## ", (ROOT / "deploy" / "LOGS.md").read_text(), flags=re.M)
    documented = dict(re.findall(r"^\| `(\w+)` \| (\w+) \|", others, re.M))
    assert documented == {name: common_type(types) for name, types in written_by_source().items()}
    groups = re.findall(r'\[LOG_GROUP_\w+\] = "(\w+)"', (ROOT / "libcommon" / "observe" / "log.c").read_text())
    assert sorted(re.findall(r"^\| `(\w+)` \| [^|]+ \|$", every_line, re.M)) == sorted(groups)


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
