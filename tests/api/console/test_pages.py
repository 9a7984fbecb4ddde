"""The pages in a real browser: every page, journeys of people, and what others wrote."""

from dataclasses import dataclass

import pytest

from lib.scenario.sample import load_sample
from lib.system.cluster import User
from lib.wait import wait_for

HOSTILE = "<img src=x onerror=\"wasRun=1\"> & 'quotes'"


@dataclass
class Reader:
    """An account with an interest whose recommendations are there."""

    user: User
    interest: str
    papers: int  # of its digest


@pytest.fixture
def reader(cluster):
    load_sample(cluster)
    user = cluster.user()
    body = {"name": "Retrieval", "context": "Retrieval-augmented generation for question answering with dense retrieval."}
    interest = user.api.post("/interests", body, expect=201).json()["id"]
    wait_for(lambda: user.api.get(f"/interests/{interest}", expect=200).json()["pool_status"] == "ready", "the pool is ready")
    user.api.wait_task(user.api.post("/papers/recommended/refresh", {"interest_id": interest}, expect=202))
    papers = user.api.get("/papers/recommended/digest", params={"limit": 10}, expect=200).json()["total"]
    return Reader(user, interest, papers)


@pytest.fixture
def experiment(reader):
    body = {"name": HOSTILE, "hypothesis": HOSTILE, "pr_url": "https://example.org/a/b/pull/1", "tags": ["a"]}
    return reader.user.api.post("/experiments", body, expect=201).json()["id"]


def test_every_page_is_sound(browse, reader, experiment):
    paths = [f"interests/{reader.interest}", f"experiments/{experiment}"]
    seen = browse("pages", key=reader.user.key, paths=paths)
    assert seen["found"] == []
    assert seen["titles"]["interests"] == "Interests – expops"
    assert seen["titles"]["no/such/page"] == "Not found – expops"


def test_every_page_of_a_new_account_is_sound(browse, cluster):
    assert browse("pages", key=cluster.user().key, paths=[])["found"] == []


def test_papers_are_rated_by_keyboard(browse, reader):
    seen = browse("rate", key=reader.user.key)
    assert seen["errors"] == []
    signals = [paper["signals"] for paper in reader.user.api.get("/papers/recommended", expect=200).json()]
    assert sorted(filter(None, signals)) == [["dislike"]]


def test_a_paper_becomes_an_experiment(browse, reader):
    seen = browse("plan", key=reader.user.key)
    assert seen["errors"] == []
    made = reader.user.api.get(f"/experiments/{seen['address'].rpartition('/')[2]}", expect=200).json()
    assert (made["name"], made["status"], made["source_type"]) == ("From the console", "running", "arxiv_paper")


def test_the_page_comes_back_after_another_log_in(browse, cluster):
    seen = browse("ended", key=cluster.user().key)
    assert (seen["errors"], seen["address"]) == ([], "?status=draft")


def test_what_others_wrote_stays_text(browse, reader, experiment):
    reader.user.api.put(f"/experiments/{experiment}", {"pr_url": "https://example.org/javascript:alert(1)"}, expect=200)
    seen = browse("hostile", key=reader.user.key, experiment=experiment, name=HOSTILE)
    assert (seen["errors"], seen["wasRun"]) == ([], False)
    assert all(link.startswith(("/console/", "#", "https://")) for link in seen["links"])
