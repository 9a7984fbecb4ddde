"""What browsers and caches need: CORS, ETag and 304."""

import secrets

import pytest

from lib.http import plain_http
from lib.http.api_def import absent_target, by_id, operations
from lib.http.client import PREFIX, Api

PAGE = "https://app.example.org"


@pytest.fixture(scope="module")
def open_gateway(start_gateway):
    """URL of a gateway that pages of PAGE may call."""
    with start_gateway(CORS_ORIGINS=PAGE) as process:
        yield process.url


def preflight(url, origin=PAGE, method="PUT"):
    headers = {"Origin": origin, "Access-Control-Request-Method": method,
               "Access-Control-Request-Headers": "authorization,if-match"}
    return plain_http.request("OPTIONS", url + PREFIX + "/experiments", headers=headers)


def test_a_preflight_needs_no_key(open_gateway):
    answer = preflight(open_gateway)
    assert answer.status_code == 204 and answer.content == b""
    assert answer.headers["Access-Control-Allow-Origin"] == PAGE
    assert "PUT" in answer.headers["Access-Control-Allow-Methods"]
    assert {"Authorization", "Content-Encoding", "Idempotency-Key", "If-Match"} <= set(answer.headers["Access-Control-Allow-Headers"].split(", "))
    assert answer.headers["Vary"] == "Origin"
    assert "Access-Control-Allow-Credentials" not in answer.headers


@pytest.mark.parametrize("path", ["/account/api-keys", "/search/stats", "/nothing"])
def test_answers_can_be_read_by_the_page(open_gateway, user, path):
    answer = Api(open_gateway, user.key).get(path, headers={"Origin": PAGE}, checked=False)
    assert answer.headers["Access-Control-Allow-Origin"] == PAGE
    exposed = set(answer.headers["Access-Control-Expose-Headers"].split(", "))
    assert {"X-Total-Count", "Link", "ETag", "X-Request-Id", "RateLimit", "RateLimit-Policy", "Retry-After"} <= exposed


def test_other_origins_get_nothing(open_gateway, user):
    assert preflight(open_gateway, "https://evil.example").status_code == 405
    answer = Api(open_gateway, user.key).get("/search/stats", headers={"Origin": "https://evil.example"})
    assert not [name for name in answer.headers if name.startswith("access-control")]


def test_it_is_off_by_default(cluster, user):
    assert preflight(cluster.gateway_url).status_code == 405
    answer = user.api.get("/search/stats", headers={"Origin": PAGE})
    assert not [name for name in answer.headers if name.startswith("access-control")]


def test_the_description_is_sent_once(anonymous):
    first = anonymous.get("/openapi.json", expect=200)
    again = anonymous.get("/openapi.json", headers={"If-None-Match": first.headers["ETag"]}, expect=304)
    assert again.content == b"" and again.headers["ETag"] == first.headers["ETag"]
    assert again.headers["Cache-Control"] == first.headers["Cache-Control"]
    assert "Content-Type" not in again.headers
    anonymous.get("/openapi.json", headers={"If-None-Match": '"other"'}, expect=200)


def make_experiment(api):
    return "/experiments/" + api.post("/experiments", {"name": "one"}, expect=201).json()["id"]


def make_project(api):
    return "/projects/" + api.post("/projects", {"name": "one"}, expect=201).json()["id"]


def make_interest(api):
    body = {"name": "one", "context": "Attention for long sequences."}
    return "/interests/" + api.post("/interests", body, expect=201).json()["id"]


@pytest.mark.parametrize("make", [make_experiment, make_project])
def test_an_object_is_sent_again_when_it_has_changed(api, make):
    path = make(api)
    first = api.get(path, expect=200)
    known = {"If-None-Match": f'"other", W/{first.headers["ETag"]}'}
    assert api.get(path, headers=known, expect=304).headers["ETag"] == first.headers["ETag"]
    api.put(path, {"name": "two"}, expect=200)
    changed = api.get(path, headers=known, expect=200)
    assert changed.headers["ETag"] != first.headers["ETag"] and changed.json()["name"] == "two"


def test_an_interest_has_a_tag(api):
    path = make_interest(api)
    tag = api.get(path, expect=200).headers["ETag"]
    api.put(path, {"daily_count": 7}, expect=200)
    assert api.get(path, headers={"If-None-Match": tag}, expect=200).headers["ETag"] != tag


def test_the_tag_of_an_experiment_covers_the_name_of_its_project(api):
    project = make_project(api)
    made = api.post("/experiments", {"name": "one", "project_id": project.rpartition("/")[2]}, expect=201)
    path = f"/experiments/{made.json()['id']}"
    tag = api.get(path, expect=200).headers["ETag"]
    assert made.headers["ETag"] == tag
    api.put(project, {"name": "renamed"}, expect=200)
    again = api.get(path, headers={"If-None-Match": tag}, expect=200)
    assert again.json()["project_name"] == "renamed"
    api.put(path, {"name": "two"}, headers={"If-Match": tag}, expect=200)
    api.put(path, {"name": "three"}, headers={"If-Match": tag}, expect=412)


def make_template(api):
    body = {"name": f"template {secrets.token_hex(4)}", "spec": {"image": "i:1"}}
    return "/eval-env/templates/" + api.post("/eval-env/templates", body, expect=201).json()["template_id"]


@pytest.mark.parametrize("make", [make_experiment, make_project, make_interest, make_template])
def test_a_change_of_another_version_is_refused(api, make):
    path = make(api)
    first = api.get(path, expect=200).headers["ETag"]
    second = api.put(path, {"name": "two"}, headers={"If-Match": first}, expect=200).headers["ETag"]
    for tag in (first, '"other"', f"W/{second}"):
        api.problem("PUT", path, 412, "precondition_failed", {"name": "three"}, headers={"If-Match": tag})
    assert api.get(path, expect=200).json()["name"] == "two"
    third = api.put(path, {"name": "three"}, headers={"If-Match": f"{first}, {second}"}, expect=200).headers["ETag"]
    assert third not in (first, second)
    api.put(path, {"name": "four"}, headers={"If-Match": "*"}, expect=200)
    api.put(path, {"name": "five"}, expect=200)
    api.problem("PUT", path[:-4] + "0000", 404, "not_found", {"name": "six"}, headers={"If-Match": "*"})


@pytest.mark.parametrize("make", [make_experiment, make_project, make_interest])
def test_another_version_is_not_deleted(api, make):
    path = make(api)
    first = api.get(path, expect=200).headers["ETag"]
    api.put(path, {"name": "two"}, expect=200)
    api.problem("DELETE", path, 412, "precondition_failed", headers={"If-Match": first})
    api.delete(path, headers={"If-Match": api.get(path, expect=200).headers["ETag"]}, expect=200)


@by_id([op for op in operations() if op.method in ("PUT", "PATCH", "DELETE") and "VERSIONED" not in op.flags and "OPEN" not in op.flags])
def test_an_operation_that_compares_no_versions_refuses_to_be_asked_for_it(all_scopes, op):
    body = None if op.body == "NONE" else {}
    path = absent_target(op).removeprefix(PREFIX)
    answer = all_scopes.request(op.method, path, body, headers={"If-Match": '"4"'}, expect=400)
    assert "If-Match" in [error["field"] for error in answer.json()["errors"]]
    assert "If-Match" not in all_scopes.request(op.method, path, body, headers={"If-Match": "*"}).text


def test_what_users_do_not_change_is_no_other_version(api):
    """The number of a project's experiments is shown, but is nobody's change of the project."""
    path = make_project(api)
    tag = api.get(path, expect=200).headers["ETag"]
    api.post("/experiments", {"name": "one", "project_id": path.rpartition("/")[2]}, expect=201)
    api.get(path, headers={"If-None-Match": tag}, expect=200)
    api.put(path, {"name": "two"}, headers={"If-Match": tag}, expect=200)


def test_only_reads_are_validated(api):
    path = make_project(api)
    tag = api.get(path, expect=200).headers["ETag"]
    api.put(path, {"name": "one"}, headers={"If-None-Match": tag}, expect=200)
    assert "ETag" not in api.get("/projects", expect=200).headers


FIELDS_OF_200 = ["ETag", "Vary", "Cache-Control", "Last-Modified", "Content-Location", "Expires"]  # RFC 9110, section 15.4.5


@pytest.mark.parametrize("size", [10, 2_000, 9_000])
@pytest.mark.parametrize("coding", ["gzip", "identity"])
def test_a_304_has_the_fields_of_the_200(api, size, coding):
    path, fields = make_experiment(api), {"Accept-Encoding": coding}
    api.put(path, {"hypothesis": secrets.token_hex(size // 2)}, expect=200)
    first = api.get(path, headers=fields, expect=200)
    is_packed = coding == "gzip" and size >= 1_000
    assert (first.headers.get("Content-Encoding"), first.headers.get("Vary")) == (
        "gzip" if is_packed else None, "Accept-Encoding" if size >= 1_000 else None)
    for known in (first.headers["ETag"], "*"):
        again = api.get(path, headers=fields | {"If-None-Match": known}, expect=304)
        assert {name: again.headers.get(name) for name in FIELDS_OF_200} == {name: first.headers.get(name) for name in FIELDS_OF_200}
        assert again.content == b"" and "Content-Encoding" not in again.headers


def test_a_304_names_the_form_that_the_client_has(api):
    """A cache can use what it has only if the answer has its tag (RFC 9111, section 4.3.4)."""
    path = make_experiment(api)
    api.put(path, {"hypothesis": secrets.token_hex(1_000)}, expect=200)
    plain, packed = (api.get(path, headers={"Accept-Encoding": coding}, expect=200).headers["ETag"] for coding in ("identity", "gzip"))
    assert plain != packed
    for known, told in ((plain, plain), (packed, packed), (f"{plain}, {packed}", packed)):
        fields = {"Accept-Encoding": "gzip", "If-None-Match": known}
        assert api.get(path, headers=fields, expect=304).headers["ETag"] == told
