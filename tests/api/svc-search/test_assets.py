"""PUT and GET /search/assets/<arxiv_id>."""

import secrets
from concurrent.futures import ThreadPoolExecutor

import pytest

from lib.tables import search as search_tables
from lib.wait import wait_for

WHOLE = {
    "title": "Tiles that stay on the chip",
    "abstract": "Exact attention is computed block by block. Nothing is written twice.",
    "authors": ["Ada Byron", "Čapek, K."],
    "categories": ["cs.LG", "stat.ML"],
    "published_at": "2022-05-27T17:53:09.000Z",
    "updated_at": "2022-06-23T17:53:32.123Z",
    "github_url": "https://github.com/example/tiles",
    "comments": "12 pages, accepted at ICML 2022",
    "container_image": "registry.example.com/tiles:3",
    "container_status": "ready",
    "containerfile": "FROM scratch\n",
    "working_directory": "/work",
    "environment_vars": {"SEED": "7"},
    "reference_summary": {"total": 66, "classified": 3, "by_class": {"uses": 2, "extends": 1}},
    "license": "http://creativecommons.org/licenses/by/4.0/",
}
NULLABLE = ["published_at", "updated_at", "github_url", "comments", "container_image", "containerfile", "working_directory", "license"]


def faults(document):
    return {fault["field"] for fault in document["errors"]}


def test_put_stores_every_member(operator, api, new_id):
    name = new_id()
    stored = operator.api.put(f"/search/assets/{name}", WHOLE, expect=200).json()
    derived = {"source": "arxiv", "doi": None, "url": f"https://arxiv.org/abs/{name}", "has_container": True, "withdrawn": False}
    derived["upvotes"] = None
    shown = {**WHOLE, "arxiv_id": name, **derived}
    assert stored == shown
    assert api.get(f"/search/assets/{name}", expect=200).json() == shown


def test_put_with_only_a_title_uses_the_defaults(put):
    stored = put(title="  Only a title  ")
    assert stored["title"] == "Only a title"
    assert (stored["abstract"], stored["authors"], stored["categories"]) == ("", [], [])
    assert (stored["container_status"], stored["has_container"], stored["environment_vars"]) == ("none", False, {})
    assert stored["reference_summary"] == {"total": 0, "classified": 0, "by_class": {}}
    assert all(stored[name] is None for name in NULLABLE)


@pytest.mark.parametrize("member", [name for name in WHOLE if name != "container_status"])
def test_put_changes_only_the_given_member(operator, put, member):
    before = put(**{**WHOLE, member: WHOLE["title"] if member == "title" else None}) if member in NULLABLE else put(title="x")
    now = operator.api.put(f"/search/assets/{before['arxiv_id']}", {member: WHOLE[member]}, expect=200).json()
    assert now == {**before, member: WHOLE[member]}


@pytest.mark.parametrize("member", NULLABLE)
def test_null_clears_a_member(operator, put, member):
    before = put(**WHOLE)
    now = operator.api.put(f"/search/assets/{before['arxiv_id']}", {member: None}, expect=200).json()
    assert now == {**before, member: None}


def change_of(db, name):
    return search_tables.change_of(db, name)


def test_put_of_an_older_version_changes_nothing(operator, put):
    before = put(**WHOLE)
    body = {"title": "Older", "updated_at": "2022-06-23T17:53:32.122Z", "container_status": "failed"}
    assert operator.api.put(f"/search/assets/{before['arxiv_id']}", body, expect=200).json() == before
    newer = {"title": "Newer", "updated_at": "2022-06-23T17:53:32.124Z"}
    assert operator.api.put(f"/search/assets/{before['arxiv_id']}", newer, expect=200).json() == {**before, **newer}


def test_put_of_a_date_keeps_the_time_of_that_day(operator, put):
    before = put(**WHOLE)
    body = {"title": "Other", "published_at": "2022-05-27T00:00:00Z", "updated_at": "2022-06-23T00:00:00.000Z"}
    assert operator.api.put(f"/search/assets/{before['arxiv_id']}", body, expect=200).json() == {**before, "title": "Other"}


@pytest.mark.parametrize("body", [WHOLE, {"title": WHOLE["title"]}, {"updated_at": "2022-06-23T17:53:32.123Z"}])
def test_put_of_what_is_stored_is_no_change(operator, db, put, body):
    before = put(**WHOLE)
    change = change_of(db, before["arxiv_id"])
    assert operator.api.put(f"/search/assets/{before['arxiv_id']}", body, expect=200).json() == before
    assert change_of(db, before["arxiv_id"]) == change


@pytest.mark.parametrize("status", ["none", "queued", "building", "failed"])
def test_has_container_is_true_only_when_ready(put, status):
    assert put(title="x", container_status=status)["has_container"] is False


def test_read_only_members_are_ignored(operator, put):
    before = put(**WHOLE)
    body = {"title": "Other", "has_container": False, "url": "x", "arxiv_id": "9999.00001", "is_deleted": True, "change": 1}
    now = operator.api.put(f"/search/assets/{before['arxiv_id']}", body, expect=200).json()
    assert now == {**before, "title": "Other"}


def test_unknown_members_of_the_reference_summary_are_not_shown(put):
    summary = {"total": 1, "classified": 0, "by_class": {}, "more": 5}
    assert put(title="x", reference_summary=summary)["reference_summary"] == {"total": 1, "classified": 0, "by_class": {}}


@pytest.mark.parametrize("body", [{}, {"url": "x"}])
def test_put_without_a_known_member(operator, new_id, body):
    operator.api.problem("PUT", f"/search/assets/{new_id()}", 400, "invalid_request", body)


def test_a_new_paper_needs_a_title(operator, api, new_id):
    name = new_id()
    document = operator.api.problem("PUT", f"/search/assets/{name}", 400, "invalid_request", {"abstract": "x"})
    assert faults(document) == {"title"}
    api.get(f"/search/assets/{name}", expect=404)


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("title", ""), ("title", "   "), ("title", None), ("title", 5), ("title", "x" * 1001),
        ("abstract", None), ("abstract", "x" * 50001), ("abstract", []),
        ("authors", "Ada"), ("authors", [""]), ("authors", ["x" * 501]), ("authors", [1]), ("authors", ["x"] * 5001),
        ("categories", ["cs LG"]), ("categories", ["x" * 65]), ("categories", ["cs.LG"] * 65), ("categories", None),
        ("published_at", "yesterday"), ("published_at", "2022-02-30T00:00:00Z"), ("updated_at", 5),
        ("github_url", "javascript:alert(1)"), ("github_url", "example"),
        ("container_image", ""), ("container_image", "x" * 501), ("container_status", "done"), ("container_status", None),
        ("containerfile", "x" * 200001), ("working_directory", "x" * 1001), ("license", "x" * 501),
        ("environment_vars", []), ("environment_vars", {"A": 1}), ("environment_vars", None),
    ],
    ids=lambda value: repr(value)[:20],
)  # fmt: skip
def test_put_of_an_invalid_value(operator, new_id, member, value):
    document = operator.api.problem(
        "PUT", f"/search/assets/{new_id()}", 400, "invalid_request", {"title": "x", member: value}
    )
    assert faults(document) == {member}


@pytest.mark.parametrize(
    ("summary", "field"),
    [
        ({}, "reference_summary.total"),
        ({"total": -1, "classified": 0, "by_class": {}}, "reference_summary.total"),
        ({"total": 1.5, "classified": 0, "by_class": {}}, "reference_summary.total"),
        ({"total": 1, "classified": 2, "by_class": {}}, "reference_summary.classified"),
        ({"total": 1, "classified": 1}, "reference_summary.by_class"),
        ({"total": 1, "classified": 1, "by_class": []}, "reference_summary.by_class"),
        ({"total": 1, "classified": 1, "by_class": {"uses": -1}}, "reference_summary.by_class"),
    ],
)
def test_put_of_an_invalid_reference_summary(operator, new_id, summary, field):
    body = {"title": "x", "reference_summary": summary}
    document = operator.api.problem("PUT", f"/search/assets/{new_id()}", 400, "invalid_request", body)
    assert field in faults(document)


def test_every_invalid_member_is_reported(operator):
    body = {"title": "x", "categories": ["a b"], "environment_vars": {"A": 1}}
    document = operator.api.problem("PUT", "/search/assets/nonsense", 400, "invalid_request", body)
    assert faults(document) == {"arxiv_id", "categories", "environment_vars"}


def test_put_needs_the_scope_assets_write(api, new_id):
    document = api.problem("PUT", f"/search/assets/{new_id()}", 403, "insufficient_scope", {"title": "x"})
    assert "assets:write" in document["detail"] or document.get("scope") == "assets:write"


def test_body_over_the_limit_is_413(operator, new_id):
    body = {"title": "x", "containerfile": "x" * (1024 * 1024)}
    operator.api.request("PUT", f"/search/assets/{new_id()}", body, expect=413)


def test_body_that_is_not_json_is_415(operator, new_id):
    operator.api.put(f"/search/assets/{new_id()}", content="title=x", headers={"Content-Type": "text/plain"}, expect=415)


def test_concurrent_puts_of_a_new_paper_all_take_effect(cluster, operator, new_id):
    """Ten concurrent requests create the same paper; five members are each set by two of them."""
    name, members = new_id(), ["license", "working_directory", "container_image", "containerfile", "github_url"] * 2
    values = {member: f"https://example.com/{member}" for member in members}

    def write(member):
        return operator.api.as_key(operator.key).put(
            f"/search/assets/{name}", {"title": "At once", member: values[member]}
        ).status_code

    with ThreadPoolExecutor(len(members)) as pool:
        assert set(pool.map(write, members)) == {200}
    stored = operator.api.get(f"/search/assets/{name}", expect=200).json()
    assert {member: stored[member] for member in values} == values


# Ids


@pytest.mark.parametrize("form", ["{}", "{}v1", "{}v12", "arXiv:{}", "arxiv:{}v3"])
def test_forms_of_a_new_id(api, put, form):
    stored = put(title="x")
    shown = api.get(f"/search/assets/{form.format(stored['arxiv_id'])}", expect=200).json()
    assert shown == stored


@pytest.mark.parametrize("form", ["{a}/{n}", "{a}%2F{n}", "{a}%2f{n}", "{a}/{n}v2", "{a}%2F{n}v2", "{a}.GT/{n}"])
def test_forms_of_an_old_id(operator, api, form):
    number = f"{secrets.randbelow(10**7):07}"
    name = f"math/{number}"
    stored = operator.api.put(f"/search/assets/{name}", {"title": "Old"}, expect=200).json()
    assert stored["arxiv_id"] == name and stored["url"] == f"https://arxiv.org/abs/{name}"
    assert api.get(f"/search/assets/{form.format(a='math', n=number)}", expect=200).json() == stored


def test_put_ignores_the_version_of_an_id(operator, api, new_id):
    name = new_id()
    assert operator.api.put(f"/search/assets/{name}v2", {"title": "x"}, expect=200).json()["arxiv_id"] == name
    assert api.get(f"/search/assets/{name}", expect=200).json()["title"] == "x"


INVALID_IDS = ["x", "2401.1", "2401.012345", "24010.1234", "2401.01234v", "2401.01234v0", "2401.01234x", "hep-th/99",
              "hep-th/9901001/1", "HEP/9901001", "math.gt/0309136", "-/0309136", "%20", "2401.01234%20", "%C3%A9"]


@pytest.mark.parametrize("name", INVALID_IDS)
def test_an_invalid_id(operator, api, name):
    api.get(f"/search/assets/{name}", expect=404)
    document = operator.api.problem("PUT", f"/search/assets/{name}", 400, "invalid_request", {"title": "x"})
    assert faults(document) == {"arxiv_id"}


def test_an_unknown_paper_is_404(api):
    api.problem("GET", "/search/assets/9712.99999", 404, "not_found")


def test_put_to_the_list_is_405(operator):
    answer = operator.api.put("/search/assets/list", {"title": "x"}, expect=405)
    assert "GET" in answer.headers["Allow"]


# Withdrawn papers


def withdraw(db, name):
    search_tables.withdraw(db, [name])


def test_a_withdrawn_paper_is_not_found(api, db, put, word, found):
    name = put(title=f"Soon withdrawn {word}")["arxiv_id"]
    found(word, [name])
    withdraw(db, name)
    api.get(f"/search/assets/{name}", expect=404)
    found(word, [])


def test_put_without_a_title_does_not_restore_a_withdrawn_paper(operator, db, put):
    name = put(**WHOLE)["arxiv_id"]
    withdraw(db, name)
    operator.api.problem("PUT", f"/search/assets/{name}", 400, "invalid_request", {"container_status": "ready"})
    operator.api.get(f"/search/assets/{name}", expect=404)


def test_put_with_a_title_restores_a_withdrawn_paper_as_new(operator, db, put, word, found):
    name = put(**WHOLE)["arxiv_id"]
    withdraw(db, name)
    stored = operator.api.put(f"/search/assets/{name}", {"title": f"Back {word}"}, expect=200).json()
    assert stored["title"] == f"Back {word}"
    assert (stored["abstract"], stored["authors"], stored["license"]) == ("", [], None)
    found(word, [name])


def test_texts_are_shown_without_markup(operator, api, db, put):
    texts = {"title": "$\\alpha$-divergence", "abstract": "\\emph{Very} R&amp;D, $O(n^2)$.", "authors": ["Jos\\'e Garc\\'{\\i}a", "A B"]}
    stored = put(**texts)
    shown = {"title": "α-divergence", "abstract": "Very R&D, O(n²).", "authors": ["José García", "A B"]}
    assert {name: stored[name] for name in shown} == shown
    assert {name: api.get(f"/search/assets/{stored['arxiv_id']}").json()[name] for name in shown} == shown
    assert search_tables.source_texts(db, stored["arxiv_id"]) == (texts["title"], texts["abstract"], texts["authors"])
    operator.api.put(f"/search/assets/{stored['arxiv_id']}", {"title": "Plain"}, expect=200)
    assert search_tables.source_texts(db, stored["arxiv_id"]) == (None, texts["abstract"], texts["authors"])


def test_papers_of_before_are_converted(cluster, db, api, word, put, found):
    """As if they had been stored by an earlier version, beside a paper without markup, which is left alone."""
    name = put(title=f"{word} x")["arxiv_id"]
    plain = put(title=f"{word} y")["arxiv_id"]
    search_tables.store_unconverted(db, name, title=f"{word} $\\beta$", authors=["Erd\\H{o}s"])
    search_tables.store_unconverted(db, plain)
    before = change_of(db, plain)
    cluster.restart("svc-search")
    wait_for(lambda: api.get(f"/search/assets/{name}").json()["title"] == f"{word} β", "the paper is converted")
    assert api.get(f"/search/assets/{name}").json()["authors"] == ["Erdős"]
    assert search_tables.source_texts(db, name)[0] == f"{word} $\\beta$"
    assert change_of(db, plain) == before


WITHDRAWN = [
    "This paper has been withdrawn by the author(s), due a crucial sign error in eqn. 1",
    "This paper has been withdrawn.", "Withdrawn by the authors.", "withdrawn", "Paper withdrawn due to an error.",
    "We prove a bound. This article was withdrawn because Lemma 2 is wrong.", "[Withdrawn]",
    "This submission has been withdrawn by arXiv administrators because of disputed authorship.",
    "The authors have withdrawn this paper.", "This manuscript is being withdrawn, pending corrections.",
]  # fmt: skip
NOT_WITHDRAWN = [
    "We show that the drug was withdrawn from the market.", "Withdrawn drugs are studied.", "Retracted articles are cited for years.",
    "In this paper the account was withdrawn by the user.", "We study papers that were retracted and why authors do so.",
    "This paper studies whether consent was withdrawn.", "The offer was withdrawn by the author's employer.",
    "Water is withdrawn from the aquifer. This work has been extended.",
]  # fmt: skip


@pytest.mark.parametrize(("abstract", "is_withdrawn"), [*((text, True) for text in WITHDRAWN), *((text, False) for text in NOT_WITHDRAWN)])
def test_an_abstract_says_that_the_paper_was_withdrawn(api, put, abstract, is_withdrawn):
    stored = put(title="x", abstract=abstract)
    assert stored["withdrawn"] is is_withdrawn
