"""The pages of the documentation: their links lead somewhere, and pages that have a form have it."""

import re

import pytest

from lib.system.servers import ROOT

PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("*/*.md"), *ROOT.glob("tests/bench/*.md"), *ROOT.glob("gateway/cli/*.md")])
LINK = re.compile(r"\]\((?!https?://)([^)#]*)(?:#([^)]*))?\)")


def anchors(page):
    """Those of its headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    for path, anchor in LINK.findall(page.read_text()):
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{path} does not exist"
        assert not anchor or anchor in anchors(target), f"{path}#{anchor}: no such heading"


def test_what_more_is_said_of_settings_is_of_the_list():
    listed, more = (ROOT / "deploy/SETTINGS.md").read_text().split("<!-- end of the list -->")
    names = set(re.findall(r"^\| `([A-Z0-9_]+)` \|", listed, re.MULTILINE))
    told = {name for cell in re.findall(r"^\| (`[A-Z][^|]*) \|", more, re.MULTILINE) for name in re.findall(r"`(\w+)`", cell)}
    assert "ROLES" in told and told - names == set()


KINDS = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"]


def test_the_changelog_has_its_form():
    """That of keepachangelog.com: what is not released first, then versions from the newest, each change under one of the kinds."""
    text = (ROOT / "deploy/CHANGELOG.md").read_text()
    titles = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert titles[0] == "[Unreleased]"
    released = [re.fullmatch(r"\[(\d+)\.(\d+)\.(\d+)\] - \d{4}-\d\d-\d\d", title).groups() for title in titles[1:]]
    assert released == sorted(released, key=lambda version: [int(part) for part in version], reverse=True)
    for version in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        kinds = re.findall(r"^### (.*)$", version, re.MULTILINE)
        assert kinds == [kind for kind in KINDS if kind in kinds], kinds
        assert "- " not in re.split(r"^### ", version, maxsplit=1, flags=re.MULTILINE)[0].partition("\n")[2]
    entries = re.findall(r"^- .*(?:\n  .*)*", text, flags=re.MULTILINE)
    assert len(entries) == len(set(entries)), "an entry is there twice"
