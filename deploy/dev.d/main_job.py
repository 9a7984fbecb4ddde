"""Runs the product's main job once, as a client: creates an interest, refreshes it and prints its digest.

Reads EXPOPS_URL and EXPOPS_KEY from the environment. An existing interest is used again, and refreshed only when its
digest is empty, so that `deploy/dev up` can be repeated.
"""

import json
import os
import sys
import textwrap
import time
import urllib.error
import urllib.request

from terminal import shown

BASE = os.environ["EXPOPS_URL"] + "/api/v1.0"
TASK_SECONDS_MAX = 60

INTEREST = {
    "name": "Better retrieval for question answering",
    "context": "We run a question-answering assistant over our own documents. We want to try methods that find better "
    "evidence: dense and hybrid retrieval, re-ranking, query rewriting, retrieval-augmented generation with language "
    "models, and ways to evaluate whether an answer is supported by what was retrieved.",
    "daily_count": 5,
}


def call(method, path, body=None):
    request = urllib.request.Request(
        BASE + path,
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={"Authorization": f"Bearer {os.environ['EXPOPS_KEY']}", "Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        sys.exit(shown(f"{method} {path}: {error.code} {error.read().decode(errors='replace')}"))
    except OSError as error:
        sys.exit(shown(f"{method} {path}: {error}"))


def find_interest():
    for interest in call("GET", "/interests?limit=100"):
        if interest["name"] == INTEREST["name"]:
            return interest
    return call("POST", "/interests", INTEREST)


def refresh(interest):
    task = call("POST", "/papers/recommended/refresh", {"interest_id": interest["id"]})
    path = f"/papers/recommended/refresh/{task['task_id']}"
    deadline = time.monotonic() + TASK_SECONDS_MAX
    while task["status"] in ("pending", "running"):
        if time.monotonic() > deadline:
            sys.exit(f"the refresh is still {task['status']} after {TASK_SECONDS_MAX} s: GET {path}")
        time.sleep(0.1)
        task = call("GET", path)
    if task["status"] != "completed":
        sys.exit(shown(f"the refresh ended as {task['status']}: {task['error']}"))


def recommended(interest):
    digest = call("GET", "/papers/recommended/digest?limit=5")
    return next((one["recommendations"] for one in digest["interests"] if one["id"] == interest["id"]), [])


def show(interest, papers):
    print(f"\n  Recommended today for \"{interest['name']}\"\n")
    for paper in papers:
        print(shown(f"  {paper['rank']:>2}. {paper['title']}"))
        print(shown(f"      {paper['relevance_score']:.2f}  arXiv:{paper['resource_id']}  {paper['url']}"))
        print(textwrap.fill(shown(paper["reasoning"]), 100, initial_indent=" " * 6, subsequent_indent=" " * 6))
    print()


def main():
    interest = find_interest()
    papers = recommended(interest)
    if not papers:
        refresh(interest)
        papers = recommended(interest)
    if not papers:
        sys.exit("the digest is empty")
    show(interest, papers)


if __name__ == "__main__":
    main()
