"""A client of the gateway that checks every answer against gateway/openapi.yaml."""

from lib.http import plain_http
from lib.http.contract import contract
from lib.wait import wait_for

PREFIX = "/api/v1.0"


class Api:
    """Calls with one API key: `api.get("/interests")`, `api.post("/interests", {...})`. A path without /api/ gets the
    prefix; a body is sent as JSON. Returns the answer of httpx. `expect` is the status that it must have."""

    def __init__(self, url, key=None, checked=True):
        headers = {"Accept-Encoding": "identity"}  # a compressed answer has another ETag
        headers |= {} if key is None else {"Authorization": f"Bearer {key}"}
        self.url, self.key = url, key
        self.http = plain_http.client(base_url=url, headers=headers)
        self.checked = checked

    def as_key(self, key):
        """A client with another key and its own connections."""
        return Api(self.url, key, self.checked)

    def request(self, method, path, body=None, *, expect=None, checked=None, **options):
        """`options` are passed to httpx: params, headers, content. With checked=False the answer is not checked against
        the description."""
        if not path.startswith("/api/"):
            path = PREFIX + path
        if body is not None:
            options["json"] = body
        answer = self.http.request(method, path, **options)
        if self.checked if checked is None else checked:
            contract().check(method, answer.request.url.raw_path.decode(), answer)
        if expect is not None:
            assert answer.status_code == expect, f"{method} {path}: {answer.status_code} {answer.text}"
        return answer

    def get(self, path, **options):
        return self.request("GET", path, **options)

    def post(self, path, body=None, **options):
        return self.request("POST", path, body, **options)

    def put(self, path, body=None, **options):
        return self.request("PUT", path, body, **options)

    def patch(self, path, body=None, **options):
        return self.request("PATCH", path, body, **options)

    def delete(self, path, **options):
        return self.request("DELETE", path, **options)

    def problem(self, method, path, status, error, body=None, **options):
        """Make a call that must fail with `status` and `error`; returns the problem document."""
        document = self.request(method, path, body, expect=status, **options).json()
        assert document["error"] == error, document
        return document

    def wait_task(self, answer):
        """Wait until the task of a 202 answer has ended; returns the task."""
        assert answer.status_code == 202, answer.text
        path = answer.json()["status_url"]

        def ended():
            task = self.get(path, expect=200).json()
            return task if task["status"] in ("completed", "failed", "cancelled") else None

        return wait_for(ended, f"task {path} ended")


def nested(depth):
    """An array in arrays, so many in all."""
    value = []
    for _ in range(depth - 1):
        value = [value]
    return value
