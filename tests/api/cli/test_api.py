"""`expops api`: every operation, from the table that the build makes of the description."""

import json
import os

import pytest

from lib.http.openapi import operations
from lib.outside.stub_server import StubServer
from lib.system.command_line import FAILED, NOT_ALLOWED, NOT_FOUND, USAGE

ID = "019c1d2f-e9f4-7d38-8f21-ddb66cad4a27"
DESCRIBED = [operation for operation in operations().values() if not operation.has_any_method]


def test_every_operation_is_listed(bare):
    listed = [json.loads(line) for line in bare.run("api", "-o", "jsonl").stdout.splitlines()]
    assert {(row["id"], row["method"], row["path"]) for row in listed} == {(one.id, one.method, one.path) for one in DESCRIBED}
    assert "interest_create" in bare.run("api").stdout


@pytest.mark.parametrize("operation", DESCRIBED, ids=lambda operation: operation.id)
def test_help_of_each_names_its_fields(bare, operation):
    text = bare.run("api", operation.id, "--help").stdout
    for name in [*(operation.body_schema or {}).get("properties", {}), *(parameter["name"] for parameter in operation.parameters)]:
        assert f"\n  {name} " in text or f"\n  {name}\n" in text
    assert f"{operation.method} {operation.path}" in text and operation.node["summary"] in text


def test_a_resource_from_its_creation_to_its_end(cli):
    made = json.loads(cli.run("api", "experiment_create", "name=Sparse", "tags=a", "tags=b, c", "observed_delta=0.5",
                              'ab_test_config:={"split": 0.5}', "external_ticket_id=17").stdout)  # fmt: skip
    assert (made["tags"], made["observed_delta"], made["external_ticket_id"]) == (["a", "b, c"], 0.5, "17")
    name = f"experiment_id={made['id']}"
    changed = json.loads(cli.run("api", "experiment_update", name, 'tags=["x", "y"]', "hypothesis:=null").stdout)
    assert changed["tags"] == ["x", "y"] and changed["hypothesis"] is None
    assert made["id"] in cli.run("api", "experiments_list", "limit=5", "status=draft", "-o", "jsonl").stdout
    cli.run("api", "experiment_delete", name)
    cli.run("api", "experiment_get", name, status=NOT_FOUND)


def test_a_body_from_a_file_and_from_standard_input(cli, tmp_path):
    (tmp_path / "body").write_text('{"name": "From a file", "context": "Attention"}')
    (tmp_path / "context").write_text("Kernels\nof attention")
    assert '"From a file"' in cli.run("api", "interest_create", "-d", str(tmp_path / "body")).stdout
    assert '"From a pipe"' in cli.run("api", "interest_create", "-d", "-", input='{"name": "From a pipe", "context": "x"}').stdout
    made = cli.run("api", "interest_create", "name=Mixed", f"context=@{tmp_path}/context").stdout
    assert json.loads(made)["context"] == "Kernels\nof attention"
    cli.run("api", "interest_create", "-d", str(tmp_path / "none"), status=FAILED)
    cli.run("api", "interest_create", "name=x", "-d", str(tmp_path / "body"), status=USAGE)


@pytest.mark.parametrize("words, status, told", [
    (["interest_creat"], NOT_FOUND, "no operation interest_creat"),
    (["interest_create", "nam=x"], USAGE, "no field nam"),
    (["interest_create", "name"], USAGE, "not FIELD=VALUE"),
    (["interest_create", "daily_count=many"], USAGE, "daily_count: many is not an integer"),
    (["interest_create", "is_active=maybe"], USAGE, "true or false"),
    (["interest_create", "name:={"], USAGE, "not valid JSON"),
    (["interest_create", "daily_count=0"], USAGE, "\n  daily_count: "),
    (["interest_get"], USAGE, "needs interest_id"),
    (["interest_get", "interest_id=.."], USAGE, "is no id"),
    (["interest_get", "interest_id=x/../../interests"], NOT_FOUND, ""),
    (["interest_get", "interest_id=019bbc3b-e37d-711d-ab0d-549b6f03675a"], NOT_FOUND, ""),
    (["search_harvest", "source=arxiv", "set=cs"], NOT_ALLOWED, "assets:write"),
])  # fmt: skip
def test_faults(cli, words, status, told):
    assert told in cli.run("api", *words, status=status).stderr


def test_ids_fill_one_segment_of_the_path(against):
    server = StubServer(lambda request: request.reply(200, "{}", Content_Type="application/json"))
    try:
        against(server.url).run("api", "interest_get", "interest_id=a/../b?c#d%2e")
        against(server.url).run("api", "assets_list", "category=cs.LG&limit=1")
        assert [request[1] for request in server.requests] == [
            "/api/v1.0/interests/a%2F..%2Fb%3Fc%23d%252e", "/api/v1.0/search/assets/list?category=cs.LG%26limit%3D1"]  # fmt: skip
    finally:
        server.close()


def test_any_number_of_words(against):
    server = StubServer(lambda request: request.reply(200, "{}", Content_Type="application/json"))
    try:
        against(server.url).run("api", "experiment_create", *["tags=a"] * 1000)
        assert json.loads(server.requests[0][3]) == {"tags": ["a"] * 1000}
    finally:
        server.close()


def test_what_is_no_json_is_printed_as_it_is(against):
    server = StubServer(lambda request: request.reply(200, "<feed>\x1b</feed>\n", Content_Type="application/atom+xml"))
    try:
        assert against(server.url).run("api", "interests_list").stdout == "<feed>\x1b</feed>\n"
        assert against(server.url).screen("api", "interests_list") == "<feed>\\u001b</feed>\n"
    finally:
        server.close()


LATIN = "b\udce4se"  # as a terminal of ISO 8859-1 sends it


@pytest.mark.parametrize("words, told", [
    (["interest", "add", LATIN, "-c", "-"], "NAME is not UTF-8"),
    (["interest", "add", "Base", "-c", "FILE"], "FILE is not UTF-8"),
    (["interest", "add", "Base", "-c", "FILE", "-r", f"acme/{LATIN}"], "FILE is not UTF-8"),
    (["run", f"acme/{LATIN}"], "the repository is not UTF-8"),
    (["schedule", ID, "daily", "--time-zone", LATIN], "--time-zone is not UTF-8"),
    (["eval", "run", ID, f"label={LATIN}"], "is not UTF-8"),
    (["eval", "build", "-f", "FILE"], "FILE is not UTF-8"),
    (["api", "interest_create", f"name={LATIN}"], "is not UTF-8"),
    (["api", "interest_create", "name=x", "context=@FILE"], "FILE is not UTF-8"),
    (["api", "interest_create", "-d", "FILE"], "FILE is not UTF-8"),
    (["api", "interest_create", "name=x", "context=@NUL"], "NUL has a NUL"),
])  # fmt: skip
def test_what_is_no_text_is_not_sent(against, tmp_path, words, told):
    """It would be stored with other characters, and so two names could become one."""
    (tmp_path / "FILE").write_text(f'{{"name": "{LATIN}"}}', errors="surrogateescape")
    (tmp_path / "NUL").write_text("x\0y")
    server = StubServer(lambda request: request.reply(200, "[]", Content_Type="application/json"))
    try:
        assert told in against(server.url).run(*words, status=USAGE, cwd=tmp_path).stderr
        assert server.requests == []
    finally:
        server.close()


def test_a_path_is_not_text(cli, tmp_path):
    path = os.fsencode(tmp_path / f"{LATIN}.json")
    with open(path, "w") as file:
        file.write('{"name": "From a file", "context": "Attention"}')
    assert '"From a file"' in cli.run("api", "interest_create", "-d", path).stdout
