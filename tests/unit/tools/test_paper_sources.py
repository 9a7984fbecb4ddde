"""The sources of papers are those of libcommon/product/paper_source.h wherever SQL, a description or a message lists them."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
BUT_ARXIV = re.findall(r'X\("(\w+)"\)', (ROOT / "libcommon/product/paper_source.h").read_text().partition("define PAPER_SOURCES_BUT_ARXIV(X)")[2])
SOURCES = ["arxiv", *BUT_ARXIV]


def found(pattern, *paths):
    """What the pattern finds in files: lists, each of which has the words of a source between others."""
    return [set(re.findall(r"\w+", text)) for path in paths for text in re.findall(pattern, (ROOT / path).read_text())]


def test_descriptions():
    names = found(r"enum: \[(arxiv,[^]]*)\]", "svc-search/openapi.yaml", "svc-interests/openapi.yaml")
    assert len(names) >= 4 and all(one == set(SOURCES) for one in names)
    types = {f"{name}_paper" for name in SOURCES}
    paths = ["svc-interests/openapi.yaml", "svc-experiments/openapi.yaml"]
    shown = found(r"(?:enum|source_types): \[(arxiv_paper,[^]]*)\]", *paths)
    others = {"code_repo", "ticket", "manual", "null"}  # of an experiment
    assert len(shown) >= 6 and all(one - others == types for one in shown)


def test_sql():
    (types,) = found(r"source_types\(\) RETURNS json [^\n]*\nRETURN '\[([^]]*)\]'", "svc-interests/api/recommendation.fn.sql")
    assert types == {f"{name}_paper" for name in SOURCES}
    (prefixes,) = found(r"\((\w+(?:\|\w+)+)\)\(\?:\\\.org/content", "libcommon/product/arxiv_id.fn.sql")
    assert prefixes == set(BUT_ARXIV)


def test_messages():
    (text,) = found(r'PAPER_SOURCES_TEXT "(.*)"', "libcommon/product/paper_source.h")
    (question,) = found(r'"array of those of ([^"]*) where', "svc-interests/analysis/repository_analysis.c")
    (usage,) = found(r"--source (\w+\|[\w|]+)", "svc-search/main.c")
    assert text - {"or"} == question - {"and"} == usage == set(SOURCES)
