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


def groups_that_write():
    """The log groups of the folders that write lines, by meson.build."""
    named = dict(re.findall(r"^  '([\w/-]+)': '(\w+)',$", (ROOT / "meson.build").read_text().split("log_group_of = {")[1].split("}")[0], re.M))
    found = set()
    for folder in ("libcommon", "gateway", *(path.name for path in ROOT.glob("svc-*"))):
        for path in (ROOT / folder).rglob("*.c"):
            if re.search(r"\blog_(debug|info|warn|error|always|event)\(", path.read_text()):
                parts = path.relative_to(ROOT).parts
                found.add(named.get("/".join(parts[:2]), parts[1]) if len(parts) > 2 else "main")
    return found


def common_type(types):
    """`number` where one line has an integer and another a fraction."""
    return "number" if types == {"integer", "number"} else "/".join(sorted(types))


def test_the_page_names_what_the_source_can_write():
    _, every_line, others, _ = re.split(r"^## ", (ROOT / "deploy" / "LOGS.md").read_text(), flags=re.M)
    documented = dict(re.findall(r"^\| `(\w+)` \| (\w+) \|", others, re.M))
    assert documented == {name: common_type(types) for name, types in written_by_source().items()}
    assert set(re.findall(r"`(\w+)`(?=[^|\n]* \| [^|\n]+ \|$)", every_line.split("| group |")[1], re.M)) == groups_that_write()


def test_the_page_names_every_outcome_of_an_attempt():
    """With those that task/job_run.c writes."""
    (row,) = re.findall(r"^\| `outcome` \|.*$", (ROOT / "deploy" / "LOGS.md").read_text(), re.M)
    source = (ROOT / "libcommon" / "task" / "job_run.c").read_text()
    function = re.search(r"^static const char \*outcome_of\(.*?^\}", source, re.M | re.S)[0].partition("{")[2]
    written = set(re.findall(r'outcome = "(\w+)"', source)) | set(re.findall(r'(?:return|\?|:) "(\w+)"', function))
    assert {"completed", "refused"} <= written == set(re.findall(r"`(\w+)`", row)) - {"outcome"}
