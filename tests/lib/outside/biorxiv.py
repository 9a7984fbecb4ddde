"""Answers of the API of details of bioRxiv and medRxiv."""

import json

PAGE_ITEMS = 100


def item(doi, **members):
    """A version of a paper."""
    return {
        "doi": doi, "title": "A title", "authors": "Byron, A. B.; Team", "date": "2024-03-01", "version": "1",
        "type": "new results", "license": "cc_by", "category": "cell biology", "abstract": "An abstract.",
        "published": "NA", "server": "bioRxiv", **members,
    }  # fmt: skip


def page(items, cursor=0, total=None):
    """A page of a list. As seen in practice, some of its numbers are strings."""
    message = {"status": "ok", "cursor": cursor, "count": len(items), "total": str(len(items) if total is None else total)}
    return json.dumps({"messages": [message], "collection": items})


def message(status):
    """An answer without a list."""
    return json.dumps({"messages": [{"status": status}]})


def empty():
    """The answer to days without posts."""
    return message("no posts found")
