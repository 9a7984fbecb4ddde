"""The sample in deploy/sample: its form, and a comparison with the corpus.

Needs no server. The corpus is ../shared/data/arxiv-cs beside the repository; without it the last tests are skipped.
"""

import datetime
import gzip
import json
import math
import re
from email.utils import parsedate_to_datetime
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
SAMPLE = ROOT / "deploy" / "sample"
CORPUS = ROOT.parent / "shared" / "data" / "arxiv-cs" / "corpus.jsonl.gz"

PAPERS = 200
PAPER_MEMBERS = {
    "id",
    "title",
    "authors",
    "categories",
    "abstract",
    "license",
    "versions",
    "update_date",
    "authors_parsed",
}
PAPER_OPTIONAL = {"github_url"}

ABSTRACT_WORDS_MIN = 30
ABSTRACT_WORDS_MAX = 120
SHARED_RUN_WORDS = 8  # an abstract that shares this many consecutive words with the real one is a copy

ARXIV_ID = re.compile(r"\d{4}\.\d{5}")
CATEGORY = re.compile(r"[a-z]+(-[a-z]+)*(\.[A-Z]{2}|\.[a-z]+(-[a-z]+)*)?")
LICENSE = re.compile(r"http://(creativecommons|arxiv)\.org/.+")
GITHUB_URL = re.compile(r"https://github\.com/[\w.-]+/[\w.-]+")
MARKUP = re.compile(r"[\\`#<>]|\*\*|\]\(|https?://|[\x00-\x1f]")

STATUSES = {
    "draft",
    "running",
    "complete",
    "analyzing",
    "shipped",
    "iterating",
    "rejected",
    "abandoned",
}
OUTCOMES = {None, "ship", "iterate", "abandon"}
CONFIDENCES = {"significant", "inconclusive", "not_tested"}
EXPERIMENT_MEMBERS = {
    "name",
    "project",
    "status",
    "hypothesis",
    "target_metric",
    "tags",
    "outcome",
    "decision",
    "observed_delta",
    "delta_confidence",
    "pr_url",
    "pr_status",
    "source_type",
    "source_ref",
    "launch_context",
}
LAUNCH_MEMBERS = {
    "resource",
    "code_repository",
    "container_image",
    "key_methods",
    "implementation_plan",
    "task_description",
    "target_repo",
    "base_branch",
}


def read_papers():
    with open(SAMPLE / "papers.jsonl", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def words(text):
    return re.findall(r"[a-z0-9]+", text.lower())


def runs(text, length):
    """All sequences of `length` consecutive words of a text."""
    found = words(text)
    return {tuple(found[at : at + length]) for at in range(len(found) - length + 1)}


@pytest.fixture(scope="module")
def papers():
    return read_papers()


@pytest.fixture(scope="module")
def examples():
    return json.loads((SAMPLE / "experiments.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def facts(papers):
    """{id: record of the corpus} of each paper of the sample."""
    if not CORPUS.exists():
        pytest.skip(f"no corpus at {CORPUS}: facts and wording are not compared")
    ids = {paper["id"] for paper in papers}
    with gzip.open(CORPUS, "rt", encoding="utf-8") as lines:
        records = (json.loads(line) for line in lines)
        return {record["_id"]: record for record in records if record["_id"] in ids}


# Papers


def test_papers_are_200_in_order_of_id(papers):
    ids = [paper["id"] for paper in papers]
    assert len(ids) == PAPERS
    assert ids == sorted(set(ids))


def test_papers_file_is_plain_json_lines():
    raw = (SAMPLE / "papers.jsonl").read_bytes()
    assert raw.endswith(b"}\n")
    assert raw.count(b"\n") == PAPERS
    assert b"\r" not in raw


def test_papers_have_the_members_of_the_snapshot_and_no_others(papers):
    for paper in papers:
        assert PAPER_MEMBERS <= paper.keys() <= PAPER_MEMBERS | PAPER_OPTIONAL, paper["id"]


def test_papers_are_well_formed(papers):
    for paper in papers:
        assert ARXIV_ID.fullmatch(paper["id"]), paper["id"]
        assert paper["title"] == " ".join(paper["title"].split()) != "", paper["id"]
        assert paper["license"] is None or LICENSE.fullmatch(paper["license"]), paper["id"]
        if "github_url" in paper:
            assert GITHUB_URL.fullmatch(paper["github_url"]), paper["github_url"]


def test_papers_categories_have_arxivs_form(papers):
    for paper in papers:
        categories = paper["categories"].split(" ")
        assert len(categories) == len(set(categories)), paper["id"]
        for category in categories:
            assert CATEGORY.fullmatch(category), (paper["id"], category)


def test_papers_authors_agree_with_authors_parsed(papers):
    for paper in papers:
        names = paper["authors"].split(", ")
        assert all(names), paper["id"]
        assert len(names) == len(paper["authors_parsed"]), paper["id"]
        for name, (last, first, suffix) in zip(names, paper["authors_parsed"]):
            assert last, (paper["id"], name)
            assert " ".join(filter(None, [first, last, suffix])) == name, paper["id"]


def test_papers_dates_agree_with_each_other_and_the_id(papers):
    for paper in papers:
        (version,) = paper["versions"]
        assert version.keys() == {"version", "created"}
        assert version["version"] == "v1"
        created = parsedate_to_datetime(version["created"])
        day = datetime.date.fromisoformat(paper["update_date"])
        assert created.date() == day, paper["id"]
        assert created.strftime("%a") == version["created"][:3], paper["id"]
        first = datetime.date(2000 + int(paper["id"][:2]), int(paper["id"][2:4]), 1)
        assert first <= day < first + datetime.timedelta(days=45), paper["id"]


def test_papers_abstracts_are_plain_prose_of_the_right_length(papers):
    for paper in papers:
        abstract = paper["abstract"]
        assert ABSTRACT_WORDS_MIN <= len(abstract.split()) <= ABSTRACT_WORDS_MAX, paper["id"]
        assert abstract == " ".join(abstract.split()), paper["id"]
        assert abstract[-1] in ".?!", paper["id"]
        assert not MARKUP.search(abstract), paper["id"]


def test_papers_abstracts_begin_differently(papers):
    openings = [" ".join(words(paper["abstract"])[:3]) for paper in papers]
    for opening in set(openings):
        assert openings.count(opening) <= 3, opening


# Experiments


def test_experiments_members(examples):
    assert examples.keys() == {"projects", "experiments"}
    for project in examples["projects"]:
        assert project.keys() == {"name", "description"}
        assert project["name"].startswith("Example") and project["description"]
    names = [experiment["name"] for experiment in examples["experiments"]]
    assert len(names) == len(set(names)) == 8
    for experiment in examples["experiments"]:
        assert experiment.keys() == EXPERIMENT_MEMBERS, experiment["name"]


def test_experiments_values_are_allowed(examples):
    for experiment in examples["experiments"]:
        name = experiment["name"]
        assert experiment["status"] in STATUSES, name
        assert experiment["outcome"] in OUTCOMES, name
        assert experiment["delta_confidence"] in CONFIDENCES, name
        delta = experiment["observed_delta"]
        assert delta is None or math.isfinite(delta), name
        assert (delta is None) == (experiment["delta_confidence"] == "not_tested"), name
        assert (experiment["outcome"] is None) == (experiment["decision"] is None), name
        assert "example" in experiment["tags"] and len(experiment["tags"]) <= 32, name
        assert all(0 < len(tag) <= 64 for tag in experiment["tags"]), name


def test_experiments_refer_to_papers_and_projects_of_the_sample(examples, papers):
    by_id = {paper["id"]: paper for paper in papers}
    projects = {project["name"] for project in examples["projects"]}
    for experiment in examples["experiments"]:
        assert experiment["source_type"] == "arxiv_paper"
        assert experiment["source_ref"] in by_id, experiment["name"]
        assert experiment["project"] in projects, experiment["name"]
    assert {experiment["project"] for experiment in examples["experiments"]} == projects


def test_experiments_launch_contexts_name_the_paper_and_an_example_repository(examples, papers):
    by_id = {paper["id"]: paper for paper in papers}
    launched = [e for e in examples["experiments"] if e["launch_context"]]
    for experiment in launched:
        context = experiment["launch_context"]
        paper = by_id[experiment["source_ref"]]
        assert context.keys() == LAUNCH_MEMBERS, experiment["name"]
        assert context["resource"] == {
            "arxiv_id": paper["id"],
            "title": paper["title"],
            "url": f"https://arxiv.org/abs/{paper['id']}",
        }
        assert context["code_repository"] == paper.get("github_url"), experiment["name"]
        assert context["container_image"] is None, experiment["name"]
        assert context["target_repo"].startswith("example-org/"), experiment["name"]
        assert context["key_methods"], experiment["name"]
        for method in context["key_methods"]:
            assert method.keys() == {"name", "description"}


def test_experiments_two_are_actionable(examples):
    actionable = [
        e for e in examples["experiments"] if e["launch_context"] and e["pr_url"] is None
    ]
    assert len(actionable) == 2
    assert {e["status"] for e in actionable} == {"draft"}


def test_experiments_pull_requests_are_examples(examples):
    for experiment in examples["experiments"]:
        assert (experiment["pr_url"] is None) == (experiment["pr_status"] is None)
        if experiment["pr_url"] is not None:
            assert re.fullmatch(
                r"https://github\.com/example-org/[a-z-]+/pull/\d+", experiment["pr_url"]
            )


# Against the corpus


def test_papers_facts_equal_the_corpus(papers, facts):
    assert facts.keys() == {paper["id"] for paper in papers}
    for paper in papers:
        fact = facts[paper["id"]]
        assert paper["title"] == fact["title"]
        assert paper["authors"] == ", ".join(fact["authors"]), paper["id"]
        assert paper["categories"].split(" ") == fact["categories"], paper["id"]
        assert paper["update_date"] == fact["published_at"], paper["id"]


def test_papers_github_urls_are_in_the_real_abstract(papers, facts):
    for paper in papers:
        if "github_url" in paper:
            repository = paper["github_url"].removeprefix("https://")
            assert repository in facts[paper["id"]]["text"], paper["id"]


def test_papers_abstracts_are_not_copied(papers, facts):
    for paper in papers:
        real = runs(facts[paper["id"]]["text"], SHARED_RUN_WORDS)
        shared = runs(paper["abstract"], SHARED_RUN_WORDS) & real
        assert not shared, (paper["id"], sorted(shared))
