"""Lists that are longer than a page: -n and --all follow the pages, and what is cut is told on standard error."""

import json
from urllib.parse import parse_qs, urlsplit

import pytest

from lib.outside.stub_server import StubServer
from lib.system.command_line import NOT_FOUND, USAGE, without_styles

TOTAL = 340


class Lists:
    """A service that has TOTAL of everything, in pages of at most `page` items. Searches have a total only where they have an offset."""

    def __init__(self, page=100, total=TOTAL):
        self.page, self.total = page, total
        self.server = StubServer(self.answer)

    def answer(self, request):
        fields = {name: values[0] for name, values in parse_qs(urlsplit(request.path).query).items()}
        fields |= json.loads(request.body or "{}")
        offset = int(fields.get("offset", 0))
        end = min(offset + min(int(fields.get("limit", fields.get("max_results", 20))), self.page), self.total)
        items = [{"id": f"{number}", "name": f"Item {number}"} for number in range(offset, end)]
        is_told = "search" not in request.path or "offset" in fields
        request.reply(200, json.dumps({"keys": items, "scopes": ["a"]} if "api-keys" in request.path else items), Content_Type="application/json",
                      **({"X_Total_Count": str(self.total)} if is_told else {}))  # fmt: skip


@pytest.fixture
def long(against):
    """long(): the command line against Lists, with these arguments."""
    started = []

    def start(**options):
        started.append(Lists(**options))
        return against(started[-1].server.url)

    start.requests = lambda: started[-1].server.requests
    yield start
    for lists in started:
        lists.server.close()


def ids(done):
    return [json.loads(line)["id"] for line in done.stdout.splitlines()]


@pytest.mark.parametrize("form", ["text", "json", "jsonl"])
def test_what_is_cut_is_told_on_standard_error(long, form):
    cli = long()
    for command in ("runs", "keys", "inbox", "experiments"):
        done = cli.run(command, "-o", form)
        assert done.stderr == f"expops: 20 of {TOTAL}; -n N shows more\n" and " of 340" not in done.stdout
    assert f"20 of {TOTAL}; -n N shows more" in without_styles(cli.screen("runs", "-o", form))


@pytest.mark.parametrize("command", ["interests", "agents", "runs", "inbox", "experiments", "keys"])
def test_more_than_a_page(long, command):
    done = long().run(command, "-n", "230", "-o", "jsonl")
    assert ids(done) == [str(number) for number in range(230)] and done.stderr == f"expops: 230 of {TOTAL}; -n N shows more\n"
    assert len(long.requests()) == 3


@pytest.mark.parametrize("words", [["-n", "500"], ["--all"], ["-n", str(TOTAL)]])
def test_a_whole_list(long, words):
    done = long().run("runs", "-r", "acme/ranker", *words, "-o", "jsonl")
    assert ids(done) == [str(number) for number in range(TOTAL)] and done.stderr == ""
    assert all("repo=acme%2Franker" in path for _, path, *_ in long.requests())


@pytest.mark.parametrize("total", [0, 1, 100, 101, 200])
def test_the_last_page(long, total):
    assert len(ids(long(total=total).run("eval", "runs", "--all", "-o", "jsonl"))) == total
    assert len(long.requests()) == max(1, -(-total // 100))


def test_json_has_the_form_of_one_page(long):
    assert [row["id"] for row in json.loads(long().run("runs", "--all", "-o", "json").stdout)] == [str(number) for number in range(TOTAL)]
    keys = json.loads(long().run("keys", "--all", "-o", "json").stdout)
    assert len(keys["keys"]) == TOTAL and keys["scopes"] == ["a"]


def test_the_recommendations_of_an_interest_have_smaller_pages(long):
    done = long(page=50).run("digest", "-i", "00000000-0000-7000-8000-000000000000", "-n", "120", "-o", "jsonl")
    assert ids(done) == [str(number) for number in range(120)]
    assert "at most 10 of each interest; -i INTEREST shows more" in long().run("digest", "-n", "11").stderr


def test_searches(long):
    assert len(ids(long().run("search", "x", "-n", "100", "-o", "jsonl"))) == 100
    assert [json.loads(body) for *_, body in long.requests()] == [{"query": "x", "max_results": 100}]
    assert len(ids(long().run("search", "x", "-n", "120", "-o", "jsonl"))) == 120
    assert [json.loads(body).get("offset") for *_, body in long.requests()] == [0, 100]


def test_a_number_is_asked_of_the_service_as_it_is(long):
    assert "not an integer" in long().run("runs", "-n", "many", status=USAGE).stderr
    assert "either --limit or --all" in long().run("runs", "-n", "3", "--all", status=USAGE).stderr
    long().run("runs", "-n", "0")
    assert [path for _, path, *_ in long.requests()] == ["/api/v1.0/fleet/runs?limit=0"]


def test_any_operation_tells_of_the_rest(long):
    for form in ("text", "jsonl"):
        assert "20 of 340; the fields limit and offset show others" in long().run("api", "fleet_runs_list", "-o", form).stderr
    assert "40 of 340" in long().run("api", "fleet_runs_list", "limit=40", "offset=299").stderr
    assert long().run("api", "fleet_runs_list", "limit=40", "offset=300").stderr == ""


def test_a_name_beyond_the_pages_that_are_looked_at(long):
    """It is not said that there is none."""
    told = long(total=5000).run("experiment", "Item 3000", status=NOT_FOUND).stderr
    assert "there is no experiment Item 3000 among the first 2,000" in told
    assert "there is no experiment Item 3000\n" in long().run("experiment", "Item 3000", status=NOT_FOUND).stderr


def test_against_the_service(cli, user):
    for number in range(105):
        user.api.post("/experiments", {"name": f"Try {number:03}"}, expect=201)
    assert len(set(ids(cli.run("experiments", "--all", "-o", "jsonl")))) == 105
    assert cli.run("experiments", "-n", "103", "-o", "jsonl").stderr == "expops: 103 of 105; -n N shows more\n"
