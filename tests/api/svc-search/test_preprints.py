"""Papers of bioRxiv and medRxiv, harvested from a stub of their API."""

import itertools
from datetime import timedelta

import pytest

from lib.outside import biorxiv, oai
from lib.scenario.harvest import day, ended, harvest, new_record, replica, row, server, table  # noqa: F401
from lib.tables import search as search_tables


numbers = itertools.count(1)


@pytest.fixture
def new_doi(new_id):
    """new_doi(): a DOI that no other test uses."""
    return lambda: f"10.1101/{new_id()}.{next(numbers)}"


@pytest.fixture
def preprints(harvest):
    """preprints(answers, ...): start a replica that harvests bioRxiv's category cell biology from a server with these answers."""

    def start(answers, **settings):
        return harvest(answers, **{"HARVEST_SETS": "biorxiv:cell_biology", **settings})

    return start


def new_item(doi, **members):
    return biorxiv.item(doi, **{"date": day(1), **members})


def test_a_category_is_harvested_page_by_page(preprints, ended, api, new_doi):
    dois = [new_doi() for _ in range(biorxiv.PAGE_ITEMS + 2)]
    items = [new_item(doi) for doi in dois]
    items[-1]["abstract"] = ""
    stub = preprints([biorxiv.page(items[:100], total=102), biorxiv.page(items[100:], cursor=100, total=102)])
    done = ended("cell_biology")
    path = f"/details/biorxiv/{day(30)}/{day()}/%s/json?category=cell_biology"
    assert [request[1] for request in stub.requests] == [path % 0, path % 100]
    assert stub.times[1] - stub.times[0] >= 0.95
    assert (done["state"], done["records"], done["added"], done["skipped"]) == ("idle", 102, 101, 1)
    stored = api.get(f"/search/assets/biorxiv:{dois[100]}", expect=200).json()
    assert (stored["source"], stored["doi"], stored["url"]) == ("biorxiv", dois[100], f"https://doi.org/{dois[100]}")
    assert (stored["authors"], stored["categories"], stored["license"]) == (["A. B. Byron", "Team"], ["biorxiv.cell_biology"], "cc_by")
    assert stored["published_at"] == stored["updated_at"] == f"{day(1)}T00:00:00.000Z"


def test_all_of_a_server(preprints, ended):
    stub = preprints([biorxiv.empty()], HARVEST_SETS="medrxiv:all")
    done = ended("all")
    assert stub.requests[0][1] == f"/details/medrxiv/{day(30)}/{day()}/0/json"
    assert (done["state"], done["records"], done["error"]) in [("idle", 0, None), ("waiting", 0, None)]


def test_the_next_run_is_at_five(preprints, table, ended, new_doi):
    preprints([biorxiv.page([new_item(new_doi())])])
    next_at = ended("cell_biology")["next_at"]
    slot = search_tables.next_slot(table, "05:00", "UTC")
    assert slot <= next_at <= slot + timedelta(minutes=10)


def test_the_highest_version_counts(preprints, table, ended, api, new_doi):
    """Two versions in one page; then a third one alone, which does not say when the first was published."""
    doi = new_doi()
    versions = [new_item(doi, date=day(4), version="1", title="First"), new_item(doi, date=day(2), version=2, title="Second")]
    stub = preprints([biorxiv.page(versions), biorxiv.page([new_item(doi, version="3", title="Third")])])
    first = ended("cell_biology")["finished_at"]
    stored = api.get(f"/search/assets/biorxiv:{doi}", expect=200).json()
    assert (stored["title"], stored["published_at"][:10], stored["updated_at"][:10]) == ("Second", day(4), day(2))
    search_tables.make_due(table, "cell_biology")
    ended("cell_biology", after=first)
    assert stub.requests[1][1] == f"/details/biorxiv/{day(2)}/{day()}/0/json?category=cell_biology"
    stored = api.get(f"/search/assets/biorxiv:{doi}", expect=200).json()
    assert (stored["title"], stored["published_at"][:10], stored["updated_at"][:10]) == ("Third", day(4), day(1))


def test_a_later_version_of_an_unknown_paper_has_its_own_date(preprints, ended, api, new_doi):
    doi = new_doi()
    preprints([biorxiv.page([new_item(doi, version="2")])])
    ended("cell_biology")
    assert api.get(f"/search/assets/biorxiv:{doi}", expect=200).json()["published_at"][:10] == day(1)


def test_an_answer_that_is_no_list_ends_the_run(preprints, ended):
    preprints(["<html>We are down for maintenance.</html>"])
    done = ended("cell_biology")
    assert done["state"] == "failed" and "is not valid JSON" in done["error"]


def test_a_fault_in_place_of_a_page_is_no_end_of_a_list(preprints, table, ended, new_doi):
    """The run fails, and the next begins with the same day."""
    first = [new_item(new_doi()) for _ in range(biorxiv.PAGE_ITEMS)]
    stub = preprints([biorxiv.page(first, total=150), biorxiv.message("Error: could not connect to the database"), biorxiv.empty()])
    failed = ended("cell_biology")
    assert (failed["state"], failed["records"]) == ("failed", 100) and "could not connect" in failed["error"]
    search_tables.make_due(table, "cell_biology")
    ended("cell_biology", after=failed["finished_at"])
    assert stub.requests[2][1] == stub.requests[0][1]


def test_sources_are_harvested_at_the_same_time(harvest, ended, new_id, new_doi):
    """While arXiv keeps its answer back, bioRxiv is read."""

    def arxiv(request):
        ended("cell_biology")
        request.reply(200, oai.page([new_record(new_id())]))

    def answer(request):
        if request.path.startswith("/oai"):
            arxiv(request)
        else:
            request.reply(200, biorxiv.page([new_item(new_doi())]))

    harvest([answer, answer], HARVEST_SETS="cs biorxiv:cell_biology")
    assert (ended("cs")["added"], ended("cell_biology")["added"]) == (1, 1)


def test_a_search_can_be_limited_to_sources(operator, found, api, word, new_doi, new_id):
    """Also to papers whose categories do not say where they come from."""
    ids = {"biorxiv": f"biorxiv:{new_doi()}", "medrxiv": f"medrxiv:{new_doi()}", "arxiv": new_id()}
    for source, name in ids.items():
        members = {"title": word, "categories": ["biorxiv.cell_biology"] if source == "biorxiv" else []}
        operator.api.put(f"/search/assets/{name}", members, expect=200)
    found(word, ids.values())
    found(word, [ids["biorxiv"]], categories=["biorxiv"])
    for sources in (["arxiv"], ["biorxiv"], ["medrxiv"], ["arxiv", "medrxiv"], ["biorxiv", "medrxiv"], [], None):
        found(word, [ids[one] for one in sources or ids], sources=sources)
    answer = api.post("/search/assets", {"query": word, "sources": ["arxiv", "nature"]}, expect=400).json()
    assert [one["field"] for one in answer["errors"]] == ["sources"]


def test_a_category_of_a_source_is_a_list(operator, api, new_doi):
    name = f"medrxiv:{new_doi()}"
    operator.api.put(f"/search/assets/{name}", {"title": "T", "categories": ["medrxiv.oncology"]}, expect=200)
    for category in ("medrxiv.oncology", "medrxiv"):
        page = api.get("/search/assets/list", params={"category": category}, expect=200).json()
        assert name in [one["arxiv_id"] for one in page]


def test_a_journal_s_doi_is_kept(harvest, ended, api, new_id):
    name = new_id()
    harvest([oai.page([new_record(name, doi="10.1103/PhysRev.47.777 10.1000/other")])])
    ended()
    assert api.get(f"/search/assets/{name}", expect=200).json()["doi"] == "10.1103/PhysRev.47.777"


def test_bad_ids_are_refused(operator, api):
    too_long = "biorxiv:10.1101/" + 48 * "1"  # for the index
    for name in ("biorxiv:2401.01234", "chemrxiv:10.1101/1", "biorxiv:10.1101/x", too_long):
        operator.api.put(f"/search/assets/{name}", {"title": "T"}, expect=400)
        api.get(f"/search/assets/{name}", expect=404)
