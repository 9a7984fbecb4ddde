"""Commands after which something is lost: what is meant is named in whole, and a person at a terminal is asked."""

import json

import pytest

from lib.http.keys import new_key
from lib.system.command_line import FAILED, NOT_FOUND, USAGE

RESULT = {"name": "Retrieval for agents"}


@pytest.fixture
def interest(cli, user):
    """The id of an interest."""
    return user.api.post("/interests", {**RESULT, "context": "Retrieval."}, expect=201).json()["id"]


def names(user):
    return [row["name"] for row in user.api.get("/interests", expect=200).json()]


def states(user):
    """The status of each key by its name."""
    return {row["name"]: row["status"] for row in user.api.get("/account/api-keys", expect=200).json()["keys"]}


def test_the_beginning_of_a_name_or_id_removes_nothing(cli, user, interest):
    for beginning in ("ret", "Retrieval for agent", interest[:8]):
        told = cli.run("interest", "remove", beginning, status=USAGE).stderr
        assert "the whole name is needed here" in told and RESULT["name"] in told and interest in told
    cli.run("interest", "remove", "other", status=NOT_FOUND)
    assert names(user) == [RESULT["name"]]


@pytest.mark.parametrize("named", ["name", "case", "id", "ID", "number"])
def test_an_interest_is_removed_by_its_whole_name_its_id_or_a_number(cli, user, interest, named):
    cli.run("interests")
    words = {"name": RESULT["name"], "case": "retrieval FOR agents", "id": interest, "ID": interest.upper(), "number": "1"}
    assert cli.run("interest", "remove", words[named]).stdout == f"removed: {RESULT['name']}\n"
    assert names(user) == []


def test_json_is_the_answer_of_the_service(cli, interest):
    assert json.loads(cli.run("interest", "remove", RESULT["name"], "-o", "json").stdout) == {"id": interest, "deleted": True}


@pytest.mark.parametrize("answer, is_done", [("y\n", True), ("YES\n", True), ("\n", False), ("n\n", False), ("yet\n", False), ("\x04", False)])
def test_a_person_is_asked(cli, user, interest, answer, is_done):
    with cli.terminal("interest", "remove", interest, columns=200) as terminal:
        terminal.expect("Delete the interest Retrieval for agents with its recommendations, feedback and preference model? [y/N] ")
        terminal.type(answer)
        assert terminal.wait() == (0 if is_done else FAILED), terminal.output
    assert ("removed: Retrieval for agents" if is_done else "expops: nothing was changed") in terminal.output
    assert names(user) == ([] if is_done else [RESULT["name"]])


def test_a_person_can_say_so_before(cli, user, interest):
    assert cli.screen("interest", "remove", interest, "--yes") == f"removed: {RESULT['name']}\n"
    assert names(user) == []


def test_a_key_is_revoked_by_its_whole_name(cli, user):
    cli.run("key", "add", "laptop of the office")
    assert "the whole name is needed here" in cli.run("key", "revoke", "laptop", status=USAGE).stderr
    with cli.terminal("key", "revoke", "Laptop of the office") as terminal:
        terminal.expect("Revoke the key laptop of the office? [y/N] ")
        terminal.type("n\n")
        assert terminal.wait() == FAILED
    assert states(user)["laptop of the office"] == "active"
    assert "laptop of the office" in cli.run("key", "revoke", "laptop of the office").stdout
    assert states(user)["laptop of the office"] == "revoked"


def test_of_two_of_one_name_none_is_meant(cli, user):
    ids = [json.loads(cli.run("key", "add", "laptop", "-o", "json").stdout)["id"] for _ in range(2)]
    told = cli.run("key", "revoke", "laptop", status=USAGE).stderr
    assert "laptop is the name of more than one key" in told and all(one in told for one in ids)
    cli.run("key", "revoke", ids[0])
    assert [row["status"] for row in user.api.get("/account/api-keys", expect=200).json()["keys"] if row["id"] in ids].count("revoked") == 1


def test_an_evaluation_is_cancelled_by_its_whole_name(cli, user):
    spec = {"image": "registry.example.com/ranker:1", "command": ["evaluate"]}
    user.api.post("/eval-env/templates", {"name": "Nightly", "spec": spec}, expect=201)
    cli.run("eval", "run", "night", "--name", "first of all")
    assert "the whole name is needed here" in cli.run("eval", "cancel", "first", status=USAGE).stderr
    with cli.terminal("eval", "cancel", "first of all") as terminal:
        terminal.expect("Cancel the evaluation run first of all? [y/N] ")
        terminal.type("y\n")
        assert terminal.wait() == 0, terminal.output
    assert "cancelled" in terminal.output


def test_an_id_is_enough_where_names_may_not_be_read(cli, user, interest):
    key = user.api.post("/account/api-keys", {"name": "writer", "scopes": ["interests:write"]}, expect=201).json()["key"]
    assert cli.run("interest", "remove", interest, EXPOPS_KEY=key).stdout == f"removed: {interest}\n"
    cli.run("interest", "remove", interest, status=4, EXPOPS_KEY=new_key())
