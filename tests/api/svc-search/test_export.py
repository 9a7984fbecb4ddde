"""Lists of papers as BibTeX and RIS, by Accept."""

import re

import pytest

BIBTEX = "application/x-bibtex"
RIS = "application/x-research-info-systems"


@pytest.fixture
def paper(put, word, found):
    made = put(title=f"{word}: 100% of R&D", authors=["Tri Dao", "Laurens van der Maaten"], categories=["cs.LG"],
               published_at="2022-05-27T17:53:09.000Z")  # fmt: skip
    found(word, [made["arxiv_id"]])
    return made


def keys(answer):
    return re.findall(r"^@misc\{([^,]+),$", answer.text, re.MULTILINE)


def test_a_search(api, paper, word):
    answer = api.post("/search/assets", {"query": word}, headers={"Accept": BIBTEX}, expect=200)
    assert answer.headers["Content-Type"] == "application/x-bibtex; charset=utf-8"
    assert answer.headers["Content-Disposition"] == 'attachment; filename="papers.bib"'
    assert "Accept" in answer.headers.get_list("Vary", split_commas=True)
    assert keys(answer)[0] == f"arXiv:{paper['arxiv_id']}"
    assert f"title = {{{{{word}: 100\\% of R\\&D}}}}" in answer.text
    assert "author = {Dao, Tri and van der Maaten, Laurens}" in answer.text
    assert len(keys(answer)) == len(set(keys(answer)))
    answer = api.post("/search/assets", {"query": word}, headers={"Accept": RIS}, expect=200)
    assert answer.headers["Content-Type"] == "application/x-research-info-systems; charset=utf-8"
    assert f"TI  - {word}: 100% of R&D\r\nAU  - Dao, Tri\r\n" in answer.text
    assert answer.text.endswith("ER  - \r\n")


def test_a_list_is_validated_by_its_form(api, paper):
    params = {"category": "cs.LG", "limit": 5}
    first = {form: api.get("/search/assets/list", params=params, headers={"Accept": form}, expect=200) for form in (BIBTEX, RIS)}
    assert first[BIBTEX].headers["X-Total-Count"] == first[RIS].headers["X-Total-Count"]
    assert first[BIBTEX].headers["ETag"] != first[RIS].headers["ETag"]
    for form, answer in first.items():
        known = {"Accept": form, "If-None-Match": answer.headers["ETag"]}
        same = api.get("/search/assets/list", params=params, headers=known, expect=304)
        assert "Accept" in same.headers.get_list("Vary", split_commas=True)
    assert keys(first[BIBTEX]) == [f"arXiv:{paper['arxiv_id']}" for paper in api.get("/search/assets/list", params=params).json()]


def test_similar_papers(api, paper):
    answer = api.get(f"/search/assets/{paper['arxiv_id']}/similar", headers={"Accept": BIBTEX}, expect=200)
    assert f"arXiv:{paper['arxiv_id']}" not in keys(answer)
    assert answer.headers["ETag"]


@pytest.mark.parametrize("accept", [None, "*/*", "application/json", "application/*;q=0.5, text/html", f"{RIS};q=0.1, application/json"])
def test_json_unless_another_form_is_preferred(api, accept):
    answer = api.get("/search/assets/list", headers={"Accept": accept} if accept else {}, expect=200)
    assert answer.headers["Content-Type"] == "application/json"
    assert "Accept" in answer.headers.get_list("Vary", split_commas=True)


@pytest.mark.parametrize("accept", ["text/html", f"{BIBTEX};q=0", "application/x-bibtx"])
def test_no_form_is_acceptable(api, accept):
    document = api.problem("GET", "/search/assets/list", 406, "not_acceptable", headers={"Accept": accept})
    assert BIBTEX in document["detail"]
    api.problem("POST", "/search/assets", 406, "not_acceptable", {"query": "x"}, headers={"Accept": accept})
