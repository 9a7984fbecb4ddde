"""Jira Cloud, as far as tickets need it, by Atlassian's documentation of the REST API v3 and of OAuth 2.0 (3LO). A stand-in of our
own: no program of others plays it."""

import json
import re
import secrets
from urllib.parse import parse_qs, urlsplit

from lib.outside.stub_server import StubServer

ISSUE = re.compile(r"/ex/jira/([^/]+)/rest/api/3/issue/([^/]+)(/comment)?")
MISSING = {"errorMessages": ["Issue does not exist or you do not have permission to see it."], "errors": {}}


def fault_of(document):
    """What is wrong with a document in the Atlassian Document Format, of paragraphs of text; None: nothing."""
    if (document.get("type"), document.get("version")) != ("doc", 1) or not document.get("content"):
        return "no document"
    for paragraph in document["content"]:
        texts = paragraph.get("content", [])
        if paragraph["type"] != "paragraph" or not all(text["type"] == "text" and text["text"] and "\n" not in text["text"] for text in texts):
            return f"no paragraph: {paragraph}"
    return None


class Jira(StubServer):
    """`sites` {id: address}, `issues` {(site, key): {"title", "state", "comments": [text of a document]}}, `tokens`: which are
    accepted. `status` of another number than 200 is given to everything."""

    def __init__(self):
        super().__init__(self.answer_call)
        self.sites, self.issues, self.tokens = {}, {}, set()
        self.status = 200

    def settings(self):
        return {"TRACKER_B_API_URL": self.url}

    def add_site(self):
        site = secrets.token_hex(8)
        self.sites[site] = f"https://{site}.atlassian.example"
        return site

    def add_issue(self, site, title, state="To Do"):
        key = f"ENG-{len(self.issues) + 1}"
        self.issues[site, key] = {"title": title, "state": state, "comments": []}
        return key

    def asked(self, key):
        """The requests about an issue: [(method, target)]."""
        return [(method, target) for method, target, _, _ in self.requests if re.search(rf"/issue/{key}\b", target)]

    def answer_call(self, request):
        status, answer = self.answer_of(request)
        request.reply(status, json.dumps(answer), Content_Type="application/json")

    def answer_of(self, request):
        if self.status != 200:
            return self.status, {"errorMessages": ["not now"]}
        if request.headers.get("Authorization", "").removeprefix("Bearer ") not in self.tokens:
            return 401, {"code": 401, "message": "Unauthorized"}
        target = urlsplit(request.path)
        if target.path == "/oauth/token/accessible-resources":
            return 200, [{"id": site, "url": url, "name": "acme", "scopes": ["read:jira-work"]} for site, url in self.sites.items()]
        found = ISSUE.fullmatch(target.path)
        issue = found and self.issues.get((found[1], found[2]))
        if not issue:
            return 404, MISSING
        if not found[3]:
            assert parse_qs(target.query) == {"fields": ["summary,status"]}
            return 200, {"id": "10001", "key": found[2], "fields": {"summary": issue["title"], "status": {"name": issue["state"]}}}
        return self.answer_comments(request, issue)

    @staticmethod
    def answer_comments(request, issue):
        comments = issue["comments"]
        if request.command == "GET":
            query = parse_qs(urlsplit(request.path).query)
            ordered = comments[::-1] if query.get("orderBy") == ["-created"] else comments
            page = ordered[: int(query.get("maxResults", ["100"])[0])]
            return 200, {"startAt": 0, "total": len(comments), "comments": [{"id": "1", "body": body} for body in page]}
        body = json.loads(request.body)["body"]
        if fault_of(body):
            return 400, {"errorMessages": [fault_of(body)], "errors": {}}
        comments.append(body)
        return 201, {"id": str(len(comments)), "body": body}


def document_of(text):
    """A document of one paragraph."""
    return {"type": "doc", "version": 1, "content": [{"type": "paragraph", "content": [{"type": "text", "text": text}]}]}


def lines_of(document):
    return ["".join(text["text"] for text in paragraph["content"]) for paragraph in document["content"]]
