"""Forms of one word, in titles, abstracts, authors and queries: what is stored in one form is found by the other."""

import unicodedata

import pytest

from lib.wait import wait_for

EQUAL = [
    ("한국어", unicodedata.normalize("NFD", "한국어")), ("йод", unicodedata.normalize("NFD", "йод")),
    ("ガラス", unicodedata.normalize("NFD", "ガラス")), ("été", unicodedata.normalize("NFD", "été")),
    ("Željko", "{\\v Z}eljko"), ("Želva", "\\v{Z}elva"), ("Žena", "\\v Zena"), ("Françoise", "Fran\\c{c}oise"), ("söhne", 's\\"ohne'),
    ("Ørsta", "\\O rsta"), ("Łódź", "{\\L}\\'od\\'z"), ("Straße", "Stra\\ss e"), ("café", "caf&eacute;"), ("café", "caf&#233;"),
    ("café", "caf&#xE9;"), ("Göttingen", "Goettingen"), ("Zürich", "Zuerich"), ("Bäume", "Baeume"), ("größe", "groesse"),
    ("Straße", "Strasse"), ("Tromsø", "Tromsoe"), ("Ålborg", "Aalborg"), ("αβ", "$\\alpha\\beta$"), ("Erdős", "Erd\\H{o}s"),
]  # fmt: skip
PAIRS = [*EQUAL, *((other, one) for one, other in EQUAL)]


@pytest.fixture
def is_found(api):
    def wait(query, name):
        def look():
            hits = api.post("/search/assets", {"query": query, "max_results": 100}, expect=200).json()
            return name in [hit["arxiv_id"] for hit in hits if hit["highlights"]]

        wait_for(look, f"{query} finds {name}")

    return wait


@pytest.mark.parametrize(("stored", "asked"), PAIRS, ids=ascii)
@pytest.mark.parametrize("field", ["title", "abstract"])
def test_a_word_is_found_by_its_other_form(put, is_found, field, stored, asked):
    name = put(**{"title": "x", field: f"The {stored} of it"})["arxiv_id"]
    is_found(asked, name)


NAMES = [("Jos\\'e Garc\\'{\\i}a", "José García"), ("Kurt G\\\"odel", "Kurt Goedel"), ("Erwin Schrödinger", "Erwin Schroedinger"),
         ("{\\v Z}eljko B", "Željko B"), (unicodedata.normalize("NFD", "김 한국"), "김 한국"), ("S{\\o}ren Å", "Søren Å")]  # fmt: skip
NAMES = [*NAMES, *((asked, stored) for stored, asked in NAMES)]


@pytest.mark.parametrize(("stored", "asked"), NAMES, ids=ascii)
def test_an_author_is_found_by_the_other_form(put, is_found, author, stored, asked):
    name = put(title="x", authors=[f"{stored}{author.lower()}"])["arxiv_id"]
    is_found(f"{asked}{author.lower()}", name)


def test_the_form_that_is_asked_for_counts_more(put, api, word, found):
    other = put(title=f"{word} Moeller", abstract="x")["arxiv_id"]
    same = put(title=f"{word} Möller", abstract="x")["arxiv_id"]
    found(word, [other, same])
    hits = api.post("/search/assets", {"query": f"{word} Möller"}, expect=200).json()
    assert [hit["arxiv_id"] for hit in hits][:2] == [same, other]


@pytest.mark.parametrize("title", ["WHO", "To Be or Not to Be", "IT", "What Is It?"])
@pytest.mark.parametrize("form", [str, str.lower])
def test_a_title_of_stop_words_is_found(put, is_found, title, form):
    name = put(title=title, abstract="Something else.")["arxiv_id"]
    is_found(form(title), name)
