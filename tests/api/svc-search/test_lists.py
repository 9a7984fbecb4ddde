"""GET /search/assets/list and GET /search/stats."""

import re
import secrets

import pytest

from lib.tables import search as search_tables
from lib.wait import wait_for


def faults(document):
    return {fault["field"] for fault in document["errors"]}


@pytest.fixture
def archive():
    """An archive that no paper of another test is in."""
    return "x" + "".join(chr(ord("a") + int(digit, 16)) for digit in secrets.token_hex(5))


@pytest.fixture
def listed(put, archive):
    """Store five papers of the archive; returns their ids, newest first."""
    rows = [
        {"published_at": "2024-03-01T00:00:00.000Z", "categories": [f"{archive}.AA"], "container_status": "ready"},
        {"published_at": "2024-02-01T00:00:00.000Z", "categories": [f"{archive}.AA", f"{archive}.BB"]},
        {"published_at": "2024-01-01T00:00:00.000Z", "categories": [f"{archive}.BB", "cs.LG"]},
        {"published_at": "2023-12-31T23:59:59.999Z", "categories": [archive]},
        {"published_at": None, "categories": [f"{archive}.AA", f"{archive}.AA"], "container_status": "ready"},
    ]
    return [put(title=f"Paper {number}", **row)["arxiv_id"] for number, row in enumerate(rows)]


def page(api, **params):
    """(ids, total) of a page."""
    answer = api.get("/search/assets/list", params=params, expect=200)
    return [asset["arxiv_id"] for asset in answer.json()], int(answer.headers["X-Total-Count"])


def test_lists_are_sorted_newest_first(api, archive, listed):
    assert page(api, category=archive) == (listed, 5)


@pytest.mark.parametrize(
    ("suffix", "container", "positions"),
    [
        (".AA", None, [0, 1, 4]), (".BB", None, [1, 2]), (".CC", None, []), ("", "true", [0, 4]), ("", "false", [1, 2, 3]),
        (".AA", "true", [0, 4]), (".BB", "true", []), ("", "1", [0, 4]),
    ],
)  # fmt: skip
def test_filters(api, archive, listed, suffix, container, positions):
    params = {"category": archive + suffix} | ({"has_container": container} if container else {})
    assert page(api, **params) == ([listed[position] for position in positions], len(positions))


def test_repeated_categories_match_any(api, archive, listed):
    several = [f"{archive}.AA", f"{archive}.BB"]
    assert page(api, category=several) == ([listed[position] for position in (0, 1, 2, 4)], 4)
    assert page(api, category=several, has_container="true") == ([listed[0], listed[4]], 2)
    assert page(api, category=several * 2) == page(api, category=several)
    assert page(api, category=[archive, "cs.LG"])[0][: len(listed)] != []
    answer = api.get("/search/assets/list", params={"category": several, "limit": 3}, expect=200)
    rest = api.get(answer.links["next"]["url"], expect=200)
    assert [asset["arxiv_id"] for asset in rest.json()] == [listed[4]]
    for bad in (["cs.LG", ""], ["cs.LG"] * 101):
        document = api.problem("GET", "/search/assets/list", 400, "invalid_request", params={"category": bad})
        assert faults(document) == {"category"}


def test_papers_are_listed_by_their_ids(api, archive, listed):
    wanted = [listed[3], f"{listed[0]}v2", listed[3], "2001.99999", "no id", "'"]
    assert page(api, ids=wanted) == ([listed[0], listed[3]], 2)
    assert page(api, ids=wanted, limit=1, offset=1) == ([listed[3]], 2)
    assert page(api, ids=wanted, category=f"{archive}.AA") == ([listed[0]], 1)
    assert page(api, ids=wanted, category=[f"{archive}.BB", "cs.LG"]) == ([], 0)
    assert page(api, ids=wanted, has_container="false") == ([listed[3]], 1)
    answer = api.get("/search/assets/list", params={"ids": wanted, "limit": 1}, expect=200)
    assert [asset["arxiv_id"] for asset in api.get(answer.links["next"]["url"], expect=200).json()] == [listed[3]]
    document = api.problem("GET", "/search/assets/list", 400, "invalid_request", params={"ids": ["2205.14135"] * 101})
    assert faults(document) == {"ids"}


def test_lists_have_whole_abstracts(api, put, archive):
    abstract = "A sentence of the abstract. " * 100
    put(title="Paper", categories=[archive], abstract=abstract.strip())
    (asset,) = api.get("/search/assets/list", params={"category": archive}, expect=200).json()
    assert asset["abstract"] == abstract.strip()


def test_links_are_encoded_anew(api):
    """No byte of the query ends the address in the field, or adds a parameter to it."""
    query = 'limit=1&offset=1&category=%3E;%20rel="evil",%20<http://evil/&cat%65gory=c%3Dd%26b'
    answer = api.get(f"/search/assets/list?{query}", expect=200, checked=False)
    link = answer.headers["Link"]
    assert "category=c%3Dd%26b" in link
    assert "evil" not in link.replace("%22evil%22", "").replace("%2F%2Fevil", "")
    assert link.count("<") == link.count(">") == link.count("; rel=")


def test_recent_additions_are_those_of_seven_days(api, put, cluster):
    before = api.get("/search/stats", expect=200).json()["recent_additions"]
    ids = [put(title=f"Paper {number}")["arxiv_id"] for number in range(2)]
    assert api.get("/search/stats", expect=200).json()["recent_additions"] == before + 2
    with cluster.postgres.connect("search") as connection:
        search_tables.add_days_ago(connection, ids[0], 8)
    assert api.get("/search/stats", expect=200).json()["recent_additions"] == before + 1


def test_pages_and_links(api, archive, listed):
    answer = api.get("/search/assets/list", params={"category": archive, "limit": 2, "offset": 2}, expect=200)
    assert [asset["arxiv_id"] for asset in answer.json()] == listed[2:4]
    links = answer.links
    assert api.get(links["next"]["url"], expect=200).json()[0]["arxiv_id"] == listed[4]
    assert api.get(links["prev"]["url"], expect=200).json()[0]["arxiv_id"] == listed[0]
    assert page(api, category=archive, offset=5) == ([], 5)
    assert page(api, category=archive, offset=2**40) == ([], 5)


def test_limit(api, put, archive):
    for number in range(21):
        put(title=f"Paper {number}", categories=[archive])
    assert len(page(api, category=archive)[0]) == 20
    assert len(page(api, category=archive, limit=1000)[0]) == 21
    assert len(page(api, category=archive, limit=1)[0]) == 1


@pytest.mark.parametrize(
    ("name", "value"),
    [("limit", "0"), ("limit", "-1"), ("limit", "x"), ("limit", "1.5"), ("offset", "-1"), ("offset", "x"),
     ("has_container", "maybe"), ("category", ""), ("category", "x" * 65), ("ids", ""), ("ids", "x" * 65)],
)  # fmt: skip
def test_an_invalid_parameter(api, name, value):
    document = api.problem("GET", "/search/assets/list", 400, "invalid_request", params={name: value})
    assert faults(document) == {name}


def test_list_items_lack_the_detail_members(api, archive, listed):
    (first, *_) = api.get("/search/assets/list", params={"category": archive}, expect=200).json()
    assert "containerfile" not in first and "reference_summary" not in first


def test_changes_move_papers_between_lists(operator, api, db, archive, listed):
    operator.api.put(f"/search/assets/{listed[0]}", {"categories": [f"{archive}.BB"]}, expect=200)
    assert page(api, category=f"{archive}.AA") == ([listed[1], listed[4]], 2)
    assert page(api, category=f"{archive}.BB") == ([listed[0], listed[1], listed[2]], 3)
    operator.api.put(f"/search/assets/{listed[2]}", {"published_at": "2025-01-01T00:00:00Z"}, expect=200)
    assert page(api, category=f"{archive}.BB")[0][0] == listed[2]
    operator.api.put(f"/search/assets/{listed[1]}", {"container_status": "ready"}, expect=200)
    assert page(api, category=archive, has_container="true")[1] == 3
    search_tables.withdraw(db, [listed[2]])
    assert page(api, category=f"{archive}.BB") == ([listed[0], listed[1]], 2)
    assert page(api, category=archive)[1] == 4


def counted(db):
    """The figures of GET /search/stats, counted from the papers."""
    total, with_container, references, classified, categories = search_tables.counted(db)
    return {
        "total_assets": total,
        "by_container": {"with": with_container, "without": total - with_container},
        "by_category": categories,
        "citation_classification": {
            "classified": classified,
            "total": references,
            "coverage": pytest.approx(classified / references if references else 0, abs=0.0001),  # rounded to four digits
        },
    }


def figures(api):
    """The statistics that counted() counts."""
    stats = api.get("/search/stats", expect=200).json()
    return {name: value for name, value in stats.items() if name not in ("index", "recent_additions", "sources")}


def test_stats_match_the_papers(operator, api, db, put, listed):
    assert figures(api) == counted(db)
    summary = {"total": 7, "classified": 3, "by_class": {"uses": 3}}
    name = put(title="x", categories=["cs.LG", "cs.LG"], reference_summary=summary)["arxiv_id"]
    assert figures(api) == counted(db)
    assert figures(api)["citation_classification"]["classified"] >= 3
    operator.api.put(f"/search/assets/{name}", {"categories": ["cs.CV"], "container_status": "ready"}, expect=200)
    assert figures(api) == counted(db)
    search_tables.withdraw(db, [name, *listed])
    assert figures(api) == counted(db)


def test_stats_of_the_index(api, put):
    put(title="Newest")

    def caught_up():
        stats = api.get("/search/stats", expect=200).json()
        return stats if stats["index"]["documents"] == stats["total_assets"] else None

    assert wait_for(caught_up, "the index has all papers")["index"]["updated_at"]


def test_papers_leave_the_lists_by_the_index(db, put):
    """A plan that is made while there are few papers is kept for statements of many: it may not read the whole table for each."""
    ids = [put(title="A paper that is withdrawn")["arxiv_id"] for _ in range(3)]
    (plan,) = search_tables.plans_of_withdrawal(db, ids)
    assert re.search(r"(Index|Bitmap Heap) Scan .*on asset_key", plan) and "Seq Scan" not in plan, plan
