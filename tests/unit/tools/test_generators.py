"""The code generators of libcommon/tools: their output compiles and has the content of the source."""

import json
import subprocess
from pathlib import Path

import pytest

LIBCOMMON = Path(__file__).resolve().parents[3] / "libcommon"
TOOLS = LIBCOMMON / "tools"


def generate(tool, *args, **options):
    return subprocess.run(
        [TOOLS / tool, *map(str, args)], capture_output=True, text=True, check=False, **options
    )


def compile_and_print(folder, header, expression):
    """Compile the header with the project's warnings and return what `puts(expression)` prints."""
    source = folder / "print.c"
    source.write_text(f'#include <stdio.h>\n#include "{header}"\nint main(void)\n{{\n\tputs({expression});\n\treturn 0;\n}}\n')
    flags = ["-std=gnu11", "-Wall", "-Wextra", "-Wpedantic", "-Woverlength-strings", "-Werror", "-iquote", LIBCOMMON]
    subprocess.run(["cc", *flags, "-I", folder, "-o", folder / "print", source], check=True)
    return subprocess.run([folder / "print"], capture_output=True, check=True).stdout.decode().removesuffix("\n")


def sql_header(tmp_path, text):
    source, header = tmp_path / "run.sql", tmp_path / "run.sql.h"
    source.write_text(text)
    return generate("sql_header.py", source, header), header


STATEMENTS = r"""-- Statements about runs; this has no name before it and needs none.

-- name: run_create(account,
--   seeds, first_days)
-- Makes one.
INSERT INTO run (seeds, days, account) /* two ; here
   and :here */ VALUES (:seeds, (:first_days::int[])[1 : 2], :account)  -- why; not :this
  ON CONFLICT DO NOTHING;

-- name: run_find
SELECT 'a;b--c', "odd;name", $tag$ it's; $tag$, E'\n', ':é' FROM run
"""


def test_statements_become_constants(tmp_path):
    done, header = sql_header(tmp_path, STATEMENTS)
    assert done.returncode == 0, done.stderr
    created = compile_and_print(tmp_path, header.name, "RUN_CREATE_SQL")
    wanted = "/* run_create */ INSERT INTO run (seeds, days, account) VALUES ($2, ($3::int[])[1 : 2], $1) ON CONFLICT DO NOTHING"
    assert created.split() == wanted.split()
    found = compile_and_print(tmp_path, header.name, "RUN_FIND_SQL")
    assert found == r"""/* run_find */ SELECT 'a;b--c', "odd;name", $tag$ it's; $tag$, E'\n', ':é' FROM run"""


def test_statements_have_their_name_and_the_mark_of_a_read(tmp_path):
    done, header = sql_header(tmp_path, "-- name: run_get (read)\nSELECT 1;\n-- name: run_set\nUPDATE run SET a = 1;\n"
                            "-- name: run_one(id) (read)\nSELECT :id;\n")
    assert done.returncode == 0, done.stderr
    assert compile_and_print(tmp_path, header.name, "RUN_ONE_SQL") == "/* read */ /* run_one */ SELECT $1"
    assert compile_and_print(tmp_path, header.name, "RUN_GET_SQL") == "/* read */ /* run_get */ SELECT 1"
    assert compile_and_print(tmp_path, header.name, "RUN_SET_SQL") == "/* run_set */ UPDATE run SET a = 1"


@pytest.mark.parametrize(
    "text, message",
    [
        ("-- name: a\nSELECT 1;\n-- name: a\nSELECT 2;\n", ":3: the name 'a' twice"),
        ("SELECT 1;\n-- name: a\nSELECT 2;\n", ":1: a statement without a name"),
        ("-- name:\nSELECT 1;\n", ":1: bad name ''"),
        ("-- name: Run\nSELECT 1;\n", ":1: bad name 'Run'"),
        ("\n-- name: a\nSELECT 1; SELECT 2;\n", ":2: 'a' has 2 statements, not one"),
        ("-- name: a\n-- only words\n-- name: b\nSELECT 1;\n", ":1: 'a' has 0 statements, not one"),
        ("-- name: a\nSELECT 'one\ntwo';\n", ":1: quoted text over several lines"),
        ("-- name: a(b)\nSELECT $1;\n", ":1: $1: parameters have names"),
        ("-- name: a(b)\nSELECT :c;\n", ":1: the parameter 'c' is not in the list"),
        ("-- name: a(b, c)\nSELECT :b;\n", ":1: the parameter 'c' is not in the statement"),
        ("-- name: a(b, b)\nSELECT :b;\n", ":1: the parameter 'b' twice"),
        ("-- name: a(b, B)\nSELECT :b;\n", ":1: bad parameter 'B'"),
        ("-- name: a(b,\nSELECT :b;\n", ":1: the parameters of 'a' have no end"),
    ],
)
def test_invalid_statements_are_refused(tmp_path, text, message):
    done, _ = sql_header(tmp_path, text)
    assert done.returncode != 0
    assert message in done.stderr


def embed(tmp_path, *files, prefix="", versions="svc-runs 7 abc"):
    """Generate schema.h with the struct schema SCHEMA of svc-runs from {name: text} or names of files in tmp_path."""
    (tmp_path / "functions").write_text(f"# versions\n{versions}\n")
    target = [tmp_path / "functions", tmp_path / "schema.h"]
    return generate("embed_schema.py", "--prefix", prefix, "SCHEMA", "svc-runs", *target, *(tmp_path / name for name in files))


def shown(tmp_path, expression):
    return compile_and_print(tmp_path, "schema.h", f'({expression}) ? ({expression}) : "NULL"')


def test_migrations_become_a_table(tmp_path):
    first = 'CREATE TABLE "é" (a text DEFAULT \'\\x\');\n' + "-- long\n" * 2000
    (tmp_path / "0001_first.sql").write_text(first)
    (tmp_path / "0002_next.sql").write_text("SELECT 2;")
    done = embed(tmp_path, "0002_next.sql", "0001_first.sql", prefix="common_")
    assert done.returncode == 0, done.stderr
    assert shown(tmp_path, "SCHEMA.migrations[0].sql") == first
    assert shown(tmp_path, "SCHEMA.migrations[1].name") == "common_0002_next"
    assert shown(tmp_path, "SCHEMA.migrations[2].name") == "NULL"
    assert shown(tmp_path, "(const char *)SCHEMA.functions") == "NULL"


def test_an_edited_migration_keeps_the_hash_of_its_original(tmp_path):
    (tmp_path / "0001_task.sql").write_text("SELECT 1;\n-- original-sha256: " + "a" * 64 + "\n")
    (tmp_path / "0002_edited.sql").write_text("-- original-sha256: " + "0f" * 32 + "\nSELECT 1;")
    assert embed(tmp_path, "0001_task.sql", "0002_edited.sql").returncode == 0
    assert shown(tmp_path, "SCHEMA.migrations[0].original_sha256") == "NULL"
    assert shown(tmp_path, "SCHEMA.migrations[1].original_sha256") == "0f" * 32


def test_a_migration_tells_which_it_replaces(tmp_path):
    (tmp_path / "0001_schema.sql").write_text("-- replaces: 0002_b and 0001_a\n-- replaces: 0007_c\n-- The tables.\nSELECT 1;\n")
    (tmp_path / "0002_next.sql").write_text("SELECT 2;\n-- replaces: 0001_a\n")
    assert embed(tmp_path, "0001_schema.sql", "0002_next.sql", prefix="common_").returncode == 0
    assert shown(tmp_path, "SCHEMA.migrations[0].replaces") == "common_0002_b common_0001_a common_0007_c "
    assert shown(tmp_path, "SCHEMA.migrations[1].replaces") == "NULL"


def test_functions_keep_their_order(tmp_path):
    for name in ("b.fn.sql", "a.fn.sql"):
        (tmp_path / name).write_text(f"-- {name}\n")
    assert embed(tmp_path, "b.fn.sql", "a.fn.sql").returncode == 0
    assert shown(tmp_path, "SCHEMA.functions[0].sql") == "-- b.fn.sql\n"
    assert shown(tmp_path, "SCHEMA.functions[1].name").endswith("/a.fn.sql")
    assert shown(tmp_path, 'SCHEMA.functions_version == 7 ? "7" : "other"') == "7"


def test_functions_need_a_version(tmp_path):
    (tmp_path / "a.fn.sql").write_text("SELECT 1;")
    done = embed(tmp_path, "a.fn.sql", versions="svc-other 1 abc")
    assert done.returncode != 0 and "svc-runs: no version of its functions" in done.stderr


@pytest.mark.parametrize(
    "names", [["0000_a.sql"], ["0001_a.sql", "0001_b.sql"], ["1_a.sql"], ["0001_A.sql"]]
)
def test_misnumbered_migrations_are_refused(tmp_path, names):
    for name in names:
        (tmp_path / name).write_text("SELECT 1;")
    assert embed(tmp_path, *names).returncode != 0


def test_a_migration_that_is_not_listed_is_refused(tmp_path):
    for name in ("0001_schema.sql", "0002_next.sql", "notes.sql"):
        (tmp_path / name).write_text("SELECT 1;")
    done = embed(tmp_path, "0001_schema.sql")
    assert done.returncode != 0 and "0002_next.sql: the migration is not listed in meson.build" in done.stderr


def test_a_version_rises_with_an_edit(tmp_path):
    source = tmp_path / "svc-runs/run/run.fn.sql"
    source.parent.mkdir(parents=True)
    (tmp_path / "deploy/schema").mkdir(parents=True)
    versions = tmp_path / "deploy/schema/functions"
    versions.write_text("")
    for version in (1, 2):
        source.write_text(f"SELECT {version};")
        checked = generate("functions_version.py", tmp_path)
        assert checked.returncode == 1 and checked.stdout.startswith("svc-runs: its functions were edited")
        assert generate("functions_version.py", "--raise", tmp_path).returncode == 0
        assert versions.read_text().splitlines()[1].startswith(f"svc-runs {version} ")
        assert generate("functions_version.py", tmp_path).returncode == 0


def test_the_api_description_becomes_json(tmp_path):
    source = tmp_path / "openapi.yaml"
    source.write_text("openapi: 3.1.0\ninfo: {title: é \"x\", version: y}\nat: 2026-01-31T09:30:00.000Z\nresponses: {200: a}\n")
    done = generate("openapi_json.py", "1.2.3", tmp_path / "openapi.h", source)
    assert done.returncode == 0, done.stderr
    document = json.loads(compile_and_print(tmp_path, "openapi.h", "OPENAPI_JSON"))
    assert document == {
        "openapi": "3.1.0",
        "info": {"title": 'é "x"', "version": "1.2.3"},
        "at": "2026-01-31T09:30:00.000Z",
        "responses": {"200": "a"},
    }


COMMON = """
openapi: 3.1.0
info: {title: t, version: y}
x-shared: {answers: &answers {404: {description: none}}}
tags: [{name: account}]
components: {schemas: {Id: {type: string}}}
paths: {/a: {get: {responses: *answers}}}
"""


def merged(tmp_path, part):
    (tmp_path / "common.yaml").write_text(COMMON)
    (tmp_path / "part.yaml").write_text(part)
    return generate("openapi_json.py", "1.2.3", tmp_path / "openapi.h", tmp_path / "common.yaml", tmp_path / "part.yaml")


def test_parts_of_the_description_are_merged(tmp_path):
    part = "tags: [{name: search}]\ncomponents: {headers: {H: {}}}\npaths: {/b: {get: {responses: *answers}}}\n"
    done = merged(tmp_path, part)
    assert done.returncode == 0, done.stderr
    document = json.loads(compile_and_print(tmp_path, "openapi.h", "OPENAPI_JSON"))
    assert [tag["name"] for tag in document["tags"]] == ["account", "search"]
    assert document["components"] == {"schemas": {"Id": {"type": "string"}}, "headers": {"H": {}}}
    assert document["paths"]["/a"] == document["paths"]["/b"]
    assert "x-shared" not in document


@pytest.mark.parametrize("part", ["paths: {/a: {}}\n", "components: {schemas: {Id: {}}}\n", "info: {title: x}\n"])
def test_parts_that_clash_are_refused(tmp_path, part):
    done = merged(tmp_path, part)
    assert done.returncode != 0
    assert "defined twice" in done.stderr or "cannot have info" in done.stderr


def event_types(tmp_path, name):
    body = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Ping"}, "example": {"data": {}}}}}
    document = {"components": {"schemas": {"Ping": {"type": "object"}}}, "webhooks": {name: {"post": {"summary": "A ping.", "requestBody": body}}}}
    (tmp_path / "openapi.yaml").write_text(json.dumps(document))
    return generate("event_types.py", tmp_path / "event_types.h", tmp_path / "openapi.yaml")


def test_the_types_of_messages_become_an_array(tmp_path):
    done = event_types(tmp_path, "test.ping")
    assert done.returncode == 0, done.stderr
    assert compile_and_print(tmp_path, "event_types.h", "EVENT_TYPES[0]") == "test.ping"
    (row,) = json.loads(compile_and_print(tmp_path, "event_types.h", "EVENT_TYPES_JSON"))
    assert row == {"type": "test.ping", "description": "A ping.", "schema": {"type": "object"}, "example": {"data": {}}}


@pytest.mark.parametrize("name", ["ping", "test.ping.again", "Test.ping", "test."])
def test_a_type_of_messages_is_two_words(tmp_path, name):
    done = event_types(tmp_path, name)
    assert done.returncode != 0 and f"the type {name} of webhooks is not two words" in done.stderr
