"""libcommon/README.md: the service of its example compiles in this tree, and its steps name every file that lists the services."""

import re
import subprocess
import textwrap

import pytest

from lib.system.servers import ROOT, read_processes

LIBCOMMON = ROOT / "libcommon"
PAGE = (LIBCOMMON / "README.md").read_text().partition("\n## Add a service\n")[2]
NAME = "svc-labels"
BLOCK = re.compile(r"(?:^(?: {4}.*)?\n)+", re.MULTILINE)
FILES = ["api.def", "meson.build", "migrations/0001_schema.sql", "label.fn.sql", "label.sql", "label.c", "main.c"]  # whose text it has
FLAGS = ["-std=gnu11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Wmissing-prototypes", "-Wno-missing-field-initializers", "-Werror"]
OWN = {"node_modules", "dist", "schema.d.ts", "secrets.d", "own.yaml", "settings.env", ".env"}  # as .gitignore has them
HANDLERS = '#pragma once\n#include "loop/request.h"\nvoid label_list(struct request *rq);\nvoid label_create(struct request *rq);\n'


def blocks():
    """{file: text}"""
    texts = [textwrap.dedent(block).strip("\n") + "\n" for block in BLOCK.findall(PAGE) if block.strip()]
    return dict(zip(FILES, texts, strict=True))


@pytest.fixture
def tree(tmp_path):
    """The files of the example, and libcommon's with its lines."""
    texts = {f"{NAME}/{name}": text for name, text in {**blocks(), "label.h": HANDLERS}.items()}
    row = re.search(r"`(X\(LABELS, .*?\))`", PAGE)[1]
    services = (LIBCOMMON / "http/api.h").read_text().replace("#define API_SERVICES(X)", f"#define API_SERVICES(X) {row}", 1)
    assert row in services
    operations = texts.pop(f"{NAME}/api.def") + (LIBCOMMON / "api.def").read_text()
    for name, text in {**texts, "libcommon/http/api.h": services, "libcommon/api.def": operations, "deploy/schema/functions": ""}.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def tool(name, *arguments):
    subprocess.run([LIBCOMMON / "tools" / name, *arguments], check=True, capture_output=True)


def test_the_service_of_the_example_compiles(tree):
    folder, versions = tree / NAME, tree / "deploy/schema/functions"
    listed = re.findall(r"'([\w/]+\.\w+(?:\.sql)?)'", (folder / "meson.build").read_text())
    assert listed and all((folder / name).exists() for name in listed)
    tool("functions_version.py", "--raise", tree)
    tool("sql_header.py", folder / "label.sql", folder / "label.sql.h")
    tool("embed_schema.py", "SCHEMA", NAME, versions, folder / f"{NAME}-schema.h", folder / "migrations/0001_schema.sql", folder / "label.fn.sql")
    ours = [f"-iquote{path}" for path in (folder, tree / "libcommon", LIBCOMMON)]
    done = subprocess.run(["cc", *FLAGS, *ours, "-fsyntax-only", folder / "label.c", folder / "main.c"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_its_steps_name_what_lists_the_services():
    """Pages and tests aside, of which the first are read by people and the second fail, and what is not kept in the repository."""
    names = [name for name, _, _ in read_processes() if name != "gateway"]
    files = [path for folder in ("deploy", "gateway", "libcommon") for path in (ROOT / folder).rglob("*")
             if path.is_file() and path.suffix != ".md" and not OWN & set(path.parts)]  # fmt: skip
    listing = {path.relative_to(ROOT).as_posix() for path in files if all(name.encode() in path.read_bytes() for name in names)}
    assert "deploy/processes" in listing and {path for path in listing if f"`{path}`" not in PAGE} == set()
