"""tests/lint.py reports faults, and does not report similar valid code."""

import subprocess
from pathlib import Path

import pytest

LINT = Path(__file__).resolve().parents[2] / "lint.py"


def lint(root, *, path="libcommon/a.c", text="", listed="''"):
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    unit = root / "tests" / "unit"
    (unit / "libcommon" / "base").mkdir(parents=True, exist_ok=True)
    (unit / "meson.build").write_text(f"unit_tests = {{\n  'libcommon/base': [{listed}],\n}}\n")
    return subprocess.run([LINT, "words", root], capture_output=True, text=True, check=False)


FINE = [
    '/* strcpy(a, b) is refused */ const char *text = "sprintf(";\n',
    "// atoi(x)\nint x = my_atoi(y) + table->system(1) + a.random(2);\n",
    "char c = '\"'; int rand_seed(void);\n",
]

FAULTS = [
    ("\tstrcpy(a, b);\n", "libcommon/a.c:1: strcpy() is refused"),
    ("/* x\n */\n\tx = atoi (y);\n", "libcommon/a.c:3: atoi() is refused"),
    ("/* TO" "DO: more */\n", "libcommon/a.c:1: unfinished work"),
    ('#include "../gateway/key.h"\n', "libcommon/a.c:1: includes a header of another folder"),
    ("int f(void)\n{\n" + "\tg();\n" * 71 + "}\n", "libcommon/a.c:2: a function of 71 lines"),
    ("int f(void)\n{\n\tmem_auto_free int *a = g();\n\tpg_query(rq, a);\n}\n", "libcommon/a.c:2: a cleanup attribute"),
    ("int a;\n" * 701, "701 lines, the limit is 700"),
]


@pytest.mark.parametrize("text", FINE)
def test_valid_code_is_accepted(tmp_path, text):
    done = lint(tmp_path, text=text)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("text, fault", FAULTS)
def test_faults_are_reported(tmp_path, text, fault):
    done = lint(tmp_path, text=text)
    assert done.returncode == 1
    assert fault in done.stdout


@pytest.mark.parametrize(
    "line, is_fine",
    [("db.execute(query)", False), ('query = "SELECT 1"', False), ('"UPDATE task SET a = 1"', False), ("tables.task_of(db, id)", True)],
)
def test_black_box_tests_say_no_sql(tmp_path, line, is_fine):
    test = tmp_path / "tests/api/svc-fleet/test_runs.py"
    test.parent.mkdir(parents=True)
    test.write_text(f"{line}\n")
    faults = [each for each in lint(tmp_path).stdout.splitlines() if each.startswith("tests/api/svc-fleet/")]
    assert faults == ([] if is_fine else ["tests/api/svc-fleet/test_runs.py:1: SQL in a test: make it a function of tests/lib/tables"])


@pytest.mark.parametrize("other, is_fine", [("CREATE TRIGGER a_changed AFTER UPDATE ON b", True), ("CREATE OR REPLACE TRIGGER a_changed AFTER DELETE ON a", False)])
def test_a_trigger_replaces_no_other(tmp_path, other, is_fine):
    folder = tmp_path / "svc-fleet"
    (folder / "migrations").mkdir(parents=True)
    (folder / "migrations/0001_schema.sql").write_text("CREATE TABLE a (id int);\n")
    for name, trigger in (("one", "CREATE OR REPLACE TRIGGER a_changed AFTER UPDATE ON a"), ("two", other)):
        (folder / f"{name}.fn.sql").write_text(f"{trigger} FOR EACH ROW EXECUTE FUNCTION f();\n")
    faults = [each for each in lint(tmp_path).stdout.splitlines() if "trigger" in each]
    assert faults == ([] if is_fine else ["svc-fleet/two.fn.sql: the trigger a_changed of a replaces that of svc-fleet/one.fn.sql"])


def test_scheduled_files_exist(tmp_path):
    table = tmp_path / "tests/lib/schedule.py"
    table.parent.mkdir(parents=True)
    table.write_text('SECONDS = {"api/": 5, "api/test_gone.py": 9}\n')
    (tmp_path / "tests/api").mkdir()
    faults = [each for each in lint(tmp_path).stdout.splitlines() if each.startswith("tests/lib/schedule.py")]
    assert faults == ["tests/lib/schedule.py: there is no api/test_gone.py"]


def test_a_name_is_defined_once_in_a_file(tmp_path):
    (tmp_path / "tests/api").mkdir(parents=True)
    (tmp_path / "tests/api/test_one.py").write_text("def test_a():\n    pass\n\n\ndef test_b():\n    pass\n\n\ndef test_a():\n    pass\n")
    faults = [each for each in lint(tmp_path).stdout.splitlines() if "defined" in each]
    assert faults == ["tests/api/test_one.py:9: test_a is defined above"]


def test_tests_use_the_clients_of_the_harness(tmp_path):
    for name in ("tests/api/test_one.py", "tests/lib/http/plain_http.py"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text("httpx.Client()\nhttpx.post(url)\nhttpx.Response(200)\n")
    faults = [each.partition(": ")[0] for each in lint(tmp_path).stdout.splitlines() if "plain_http" in each]
    assert faults == ["tests/api/test_one.py:1", "tests/api/test_one.py:2"]


def test_tests_may_call_system(tmp_path):
    text = "\tsystem(command);\n\tusleep(1);\n"
    assert "system() is refused" in lint(tmp_path, text=text).stdout
    done = lint(tmp_path, path="tests/lib/fixture.c", text=text)
    assert "tests/lib/fixture.c:2: usleep() is refused" in done.stdout
    assert "fixture.c:1" not in done.stdout


def test_header_needs_pragma_once(tmp_path):
    assert "without #pragma once" in lint(tmp_path, path="libcommon/a.h", text="int a;\n").stdout


def test_unregistered_test_is_reported(tmp_path):
    path = "tests/unit/libcommon/base/arena_test.c"
    assert "arena_test.c: not registered" in lint(tmp_path, path=path, text="int a;\n").stdout
    assert lint(tmp_path, path=path, text="int a;\n", listed="'arena'").returncode == 0


FUNCTION = "CREATE FUNCTION task_json(t task) RETURNS json LANGUAGE sql STABLE\n"
BODIES = ["RETURN json_build_object('id', t.id);", "BEGIN ATOMIC SELECT to_json(t); END;"]
REWRITES = ["ALTER TABLE task ADD COLUMN n int NOT NULL DEFAULT 0;", "ALTER TABLE task\n    ADD COLUMN m text,\n    ALTER n TYPE bigint;"]


def lint_migrations(root, first, second):
    (root / "svc-a/migrations").mkdir(parents=True)
    (root / "svc-a/migrations/0001_task.sql").write_text(second)
    return lint(root, path="libcommon/pg/migrations/0001_task.sql", text=first).stdout


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("rewrite", REWRITES)
def test_a_rewrite_of_rows_that_a_function_uses_is_reported(tmp_path, body, rewrite):
    assert "0001_task.sql: rewrites task, whose row type task_json() uses" in lint_migrations(tmp_path, FUNCTION + body, rewrite)


@pytest.mark.parametrize("first, second", [
    (FUNCTION + BODIES[0], "ALTER TABLE task ADD COLUMN n int;\nALTER TABLE task ALTER COLUMN n SET DEFAULT 0;"),
    (FUNCTION + BODIES[0], "DROP FUNCTION task_json;\n" + FUNCTION + BODIES[0]),
    (FUNCTION + BODIES[0], "ALTER TABLE tasks ADD COLUMN n int DEFAULT 0; -- ALTER TABLE task ADD COLUMN n int DEFAULT 0"),
    (FUNCTION + "AS $$ SELECT json_build_object('id', t.id) $$;\nSELECT 1 RETURN", REWRITES[0]),
])
def test_other_changes_of_tables_are_accepted(tmp_path, first, second):
    assert lint_migrations(tmp_path, first, second) == ""


TABLE = "CREATE FUNCTION tag_valid(t text) RETURNS boolean LANGUAGE sql RETURN t <> '';\nCREATE TABLE tag (t text CHECK (tag_valid(t)));\n"
TRIGGER = "CREATE FUNCTION tag_added() RETURNS trigger LANGUAGE plpgsql AS $$ $$;\nCREATE TRIGGER a AFTER INSERT ON tag EXECUTE FUNCTION tag_added();"


@pytest.mark.parametrize("text, fault", [(TABLE, ""), (TABLE + TRIGGER, "creates tag_added(), which no table uses")])
def test_a_function_in_a_migration_is_reported_unless_a_table_uses_it(tmp_path, text, fault):
    (tmp_path / "svc-a/tag").mkdir(parents=True)
    (tmp_path / "svc-a/tag/tag.fn.sql").write_text("")
    assert fault in (found := lint(tmp_path, path="svc-a/migrations/0001_schema.sql", text=text).stdout) and bool(fault) == ("creates" in found)


def test_edited_functions_without_a_new_version_are_reported(tmp_path):
    assert "svc-a: its functions were edited" in lint(tmp_path, path="svc-a/tag/tag.fn.sql", text="SELECT 1;").stdout


LISTING = "folders = [\n  ['base', [], files(\n  )],\n  ['pg', [], files(\n  )],\n]\n"


def make_folders(root):
    """A component with the folders base and pg, each with the header that describes it."""
    for folder in ("base", "pg"):
        (root / "libcommon" / folder).mkdir(parents=True)
        (root / "libcommon" / folder / f"{folder}.h").write_text(f"/** libcommon/{folder}/: words. */\n#pragma once\n")
    (root / "libcommon" / "meson.build").write_text(LISTING)


@pytest.mark.parametrize(
    "path, header, is_fine",
    [
        ("libcommon/pg/pool.c", "base/arena.h", True),
        ("libcommon/pg/pool.c", "pg/pool.h", True),
        ("libcommon/base/arena.c", "pg/pool.h", False),
        ("libcommon/base/arena.c", "reply/reply.h", False),
    ],
)
def test_includes_follow_the_order_of_folders(tmp_path, path, header, is_fine):
    make_folders(tmp_path)
    done = lint(tmp_path, path=path, text=f'#include "{header}"\n')
    assert (done.returncode == 0) == is_fine, done.stdout
    assert is_fine or f"{path}:1: includes {header}" in done.stdout


def test_a_folder_has_one_header_that_describes_it(tmp_path):
    make_folders(tmp_path)
    assert lint(tmp_path, path="libcommon/pg/pool.c").returncode == 0
    (tmp_path / "libcommon" / "pg" / "pg.h").write_text("/** Words. */\n#pragma once\n")
    assert "libcommon/pg: 0 headers begin with" in lint(tmp_path, path="libcommon/pg/pool.c").stdout


@pytest.mark.parametrize(
    "text, fault",
    [
        ("`a.c`, `libcommon/a.c`, `a.*`, `libcommon/`, `make()`, `jobs.<service>`, `POST /api/v1.0/x`, `TIMEOUT`\n", None),
        ("\n" * 150, None),
        ("\n" * 151, ": 151 lines, the limit is 150"),
        ("one\n`task/gone.c`\n", ":2: there is no file task/gone.c"),
        ("`gone.fn.sql`\n", ":1: there is no file gone.fn.sql"),
        ("`svc-gone/`\n", ":1: there is no file svc-gone/"),
        ("`deploy/processes`\n", ":1: there is no file deploy/processes"),
        ("`task/*.fn.sql`\n", ":1: there is no file task/*.fn.sql"),
        ("`mak()`\n", ":1: there is no function mak()"),
    ],
)
def test_the_page_of_the_architecture_names_what_exists(tmp_path, text, fault):
    (tmp_path / "libcommon").mkdir()
    (tmp_path / "libcommon/ARCHITECTURE.md").write_text(text)
    done = lint(tmp_path, text="int make(void);\n")
    assert done.stdout == (f"libcommon/ARCHITECTURE.md{fault}\n" if fault else "")


@pytest.mark.parametrize(
    "path, text, fault",
    [
        ("libcommon/a.c", "/* make_one() */\nint make_one(void);\n", ""),
        ("libcommon/a.c", '/* As\n * make_two() does. */\nconst char *text = "/* make_three() */";\n', "libcommon/a.c:2: there is no function make_two()"),
        ("libcommon/a.c", "/* wcwidth() of the C library */\n", ""),
        ("svc-a/a.sql", "-- held_now() says so.\nSELECT held_since();\n", "svc-a/a.sql:1: there is no function held_now()"),
        ("svc-a/migrations/0001_schema.sql", "-- held_now() says so.\n", ""),
    ],
)  # fmt: skip
def test_comments_name_functions_that_there_are(tmp_path, path, text, fault):
    assert lint(tmp_path, path=path, text=text).stdout == (f"{fault}\n" if fault else "")


@pytest.mark.parametrize(
    "label, fault",
    [
        ("LABEL a=b org.opencontainers.image.version=0.2.0 c=d\n", ""),
        ("LABEL org.opencontainers.image.version=0.1.0\n", "is 0.1.0, that of meson.build 0.2.0"),
        ("LABEL a=b\n", "is missing, that of meson.build 0.2.0"),
    ],
)
def test_the_label_of_the_image_has_the_version(tmp_path, label, fault):
    (tmp_path / "deploy").mkdir()
    (tmp_path / "deploy/Dockerfile").write_text(f"FROM scratch\n{label}")
    (tmp_path / "meson.build").write_text("project('expops', 'c',\n  version: '0.2.0', # also in the label\n)\n")
    done = lint(tmp_path)
    assert fault in done.stdout and bool(done.stdout) == bool(fault)


@pytest.mark.parametrize(
    "path, text, tag",
    [
        ("compose.yaml", "image: ${EXPOPS_IMAGE:-expops:0.2.0}\nimage: ${EXPOPS_SERVERS_IMAGE:-expops-servers:0.2.0}\n", None),
        ("compose.yaml", "image: ${EXPOPS_IMAGE:-expops}\n", ""),
        ("k8s/trial/kustomization.yaml", "  - { name: expops, newName: expops, newTag: latest }\n", "latest"),
        ("README.md", "    docker build -f deploy/Dockerfile -t expops:0.1.0 .\n", "0.1.0"),
    ],
)
def test_the_tags_of_images_have_the_version(tmp_path, path, text, tag):
    (tmp_path / "deploy" / path).parent.mkdir(parents=True)
    (tmp_path / "deploy/Dockerfile").write_text("FROM scratch\nLABEL org.opencontainers.image.version=0.2.0\n")
    (tmp_path / "deploy" / path).write_text(text)
    (tmp_path / "meson.build").write_text("project('expops', 'c',\n  version: '0.2.0', # also in the label\n)\n")
    done = lint(tmp_path)
    expected = "" if tag is None else f"deploy/{path}: an image has the tag '{tag}', the version of meson.build is 0.2.0\n"
    assert done.stdout == expected
