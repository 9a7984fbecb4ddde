"""deploy/LOGS.md names every member that the source can write, with its type, and no other."""

import re

from lib.system.servers import ROOT

FIELD = re.compile(r'\bf_(text|int|ms|float|bool)\(\s*"(\w+)"')
TYPES = {"text": "text", "int": "integer", "ms": "number", "float": "number", "bool": "boolean"}


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
