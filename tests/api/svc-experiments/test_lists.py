"""Lists: filters, pages and totals, and an index for each filter."""

import re
import secrets

import pytest

from lib.tables import experiments as experiments_tables

COUNT = 100_000
LISTED = "/experiments"
ACTIONABLE = "/implement/experiments/actionable"
SHARES = {"status": 8, "ticket_source": 3, "created_via": 4, "external_ticket_id": 5000}


@pytest.fixture
def three(make, make_project):
    """Two projects and three experiments that differ in every filter, oldest first."""
    projects = [make_project()["id"] for _ in range(2)]
    return [
        make(project_id=projects[0], status="running", ticket_source="tracker_a", external_ticket_id="A-1", tags=["ranking", "fast"]),
        make(project_id=projects[1], status="running", ticket_source="tracker_b", external_ticket_id="A-1", tags=["ranking"]),
        make(project_id=projects[1], ticket_source="tracker_b", external_ticket_id="B-2", created_via="mcp"),
    ]


FILTERS = [
    ({}, [2, 1, 0]),
    ({"status": "running"}, [1, 0]),
    ({"status": "shipped"}, []),
    ({"project_id": 1}, [2, 1]),
    ({"ticket_source": "tracker_b"}, [2, 1]),
    ({"ticket_source": "TRACKER_B"}, []),
    ({"external_ticket_id": "A-1"}, [1, 0]),
    ({"external_ticket_id": "A-_"}, []),
    ({"created_via": "mcp"}, [2]),
    ({"created_via": "seed"}, []),
    ({"tag": "ranking"}, [1, 0]),
    ({"tag": "fast", "status": "running"}, [0]),
    ({"tag": "rank"}, []),
    ({"status": "running", "ticket_source": "tracker_b"}, [1]),
    ({"project_id": 1, "external_ticket_id": "A-1", "created_via": "api"}, [1]),
    ({"project_id": 0, "external_ticket_id": "B-2"}, []),
    ({"project_id": "019bb695-8a5a-7951-9d9d-c9f81818e811"}, []),
]


@pytest.mark.parametrize("filters, expected", FILTERS)
def test_filters(api, three, filters, expected):
    params = dict(filters)
    if params.get("project_id") in (0, 1):
        params["project_id"] = three[params["project_id"]]["project_id"]
    answer = api.get(LISTED, params=params, expect=200)
    assert [item["id"] for item in answer.json()] == [three[number]["id"] for number in expected]
    assert answer.headers["x-total-count"] == str(len(expected))


def test_links_lead_to_all_pages(api, make):
    ids = [make()["id"] for _ in range(5)][::-1]
    answer = api.get(LISTED, params={"limit": 2, "status": "draft"}, expect=200)
    seen = [item["id"] for item in answer.json()]
    while "next" in answer.links:
        answer = api.get(answer.links["next"]["url"], expect=200)
        assert answer.headers["x-total-count"] == "5"
        seen += [item["id"] for item in answer.json()]
    assert seen == ids
    back = api.get(answer.links["prev"]["url"]).json()
    assert [item["id"] for item in back] == ids[2:4]


def test_a_limited_key_has_the_same_pages(api, make):
    """Also past the end of them, as far as an offset goes."""
    body = {"name": "agent", "kind": "automation", "scopes": ["experiments:read"], "repo": "acme/ranker"}
    limited = api.as_key(api.post("/account/api-keys", body, expect=201).json()["key"])
    ids = [make(launch_context={"target_repo": "acme/ranker"})["id"] for _ in range(3)][::-1]
    for key in (api, limited):
        for offset in (0, 1, 2, 3, 2**31, 2**63 - 1):
            answer = key.get(LISTED, params={"limit": 2, "offset": offset}, expect=200)
            assert [item["id"] for item in answer.json()] == ids[offset : offset + 2]
            assert answer.headers["x-total-count"] == "3"


@pytest.fixture(scope="module")
def many(cluster):
    """(client, account, project) of a user with 100,000 experiments, 4,000 of them in the project."""
    user = cluster.user()
    project = user.api.post("/projects", {"name": "Big"}, expect=201).json()["id"]
    with cluster.postgres.connect("experiments") as connection:
        experiments_tables.add_many(connection, user.account, project, COUNT)
        yield user.api, user.account, project
        experiments_tables.drop_many(connection, user.account)


def numbers(answer):
    return [int(item["name"].removeprefix("experiment ")) for item in answer.json()]


# Name -> query parameters, and a predicate that tells which of the experiments 0 to 99,999 match.
LARGE_FILTERS = {
    "none": ({}, lambda n: True),
    "status": ({"status": "running"}, lambda n: n % 8 == 1),
    "project_id": ({"project_id": "Big"}, lambda n: n % 25 == 0),
    "ticket_source": ({"ticket_source": "tracker_b"}, lambda n: n % 3 == 1),
    "external_ticket_id": ({"external_ticket_id": "T-7"}, lambda n: n % 5000 == 7),
    "created_via": ({"created_via": "web"}, lambda n: n % 4 == 2),
    "all but one": (
        {"status": "draft", "project_id": "Big", "ticket_source": "tracker_a", "created_via": "api"},
        lambda n: n % 600 == 0,
    ),
    "two": ({"status": "draft", "ticket_source": "tracker_a"}, lambda n: n % 24 == 0),
}


@pytest.mark.parametrize("name", LARGE_FILTERS)
@pytest.mark.parametrize("place", [0.0, 0.5, 1.0], ids=["newest", "middle", "oldest"])
def test_pages_of_a_hundred_thousand(many, name, place):
    api, _, project = many
    params, fits = LARGE_FILTERS[name]
    params = {**params, **({"project_id": project} if "project_id" in params else {})}
    expected = [n for n in range(COUNT - 1, -1, -1) if fits(n)]
    offset = max(int(place * len(expected)) - 100, 0)
    answer = api.get(LISTED, params={**params, "limit": 100, "offset": offset}, expect=200)
    assert numbers(answer) == expected[offset : offset + 100]
    assert answer.headers["x-total-count"] == str(len(expected))
    assert ("next" in answer.links) == (offset + 100 < len(expected))


def test_the_actionable_of_a_hundred_thousand(many):
    api, _, project = many
    for params, step in (({}, 20), ({"project_id": project}, 100)):
        expected = [n for n in range(COUNT - 1, -1, -1) if n % step == (10 if step == 20 else 50)]
        answer = api.get(ACTIONABLE, params={**params, "limit": 100, "offset": 300}, expect=200)
        assert numbers(answer) == expected[300:400]
        assert answer.headers["x-total-count"] == str(len(expected))


COLUMNS = ["project_id", "status", "ticket_source", "external_ticket_id", "created_via"]


@pytest.mark.parametrize("is_actionable", [False, True])
@pytest.mark.parametrize("name", LARGE_FILTERS)
def test_every_filter_uses_an_index(cluster, many, name, is_actionable):
    _, account, project = many
    params = {**LARGE_FILTERS[name][0]}
    if "project_id" in params:
        params["project_id"] = project
    with cluster.postgres.connect("experiments") as connection:
        found = experiments_tables.plans_of_page(connection, account, *(params.get(column) for column in COLUMNS), is_actionable)
    assert len(found) == 2, found  # the total and the page
    for plan in found:
        assert not re.search(r"Seq Scan on experiment\b", plan), plan
        assert re.search(r"Index (Only )?Scan (Backward )?using experiment_\w+ on experiment|Bitmap Index Scan on", plan)
        for rows in re.findall(r"Sort  \(.* rows=(\d+)", plan):
            assert int(rows) <= 1000, plan


def test_equal_names_do_not_change_the_order(api, make):
    name = secrets.token_hex(4)
    ids = [make(name=name)["id"] for _ in range(3)]
    assert [item["id"] for item in api.get(LISTED).json()] == ids[::-1]
