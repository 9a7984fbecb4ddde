"""URLs that are stored: clients turn them into links."""

import pytest

BAD = ["javascript:alert(1)", "https://user:secret@evil.example/", "https://user@evil.example", "data:text/html,x"]

# (path, a body with the URL)
PLACES = [
    ("/experiments", lambda url: {"name": "a", "pr_url": url}),
    ("/experiments", lambda url: {"name": "a", "ticket_url": url}),
    ("/experiments", lambda url: {"name": "a", "source_ref": url}),
    ("/experiments", lambda url: {"name": "a", "linked_resources": [{"type": "page", "url": url}]}),
    ("/experiments", lambda url: {"name": "a", "launch_context": {"resource": {"url": url}}}),
    ("/experiments", lambda url: {"name": "a", "launch_context": {"code_repository": url}}),
    ("/interests", lambda url: {"name": "a", "context": "c", "source_repo_url": url}),
]


@pytest.mark.parametrize("url", BAD)
@pytest.mark.parametrize(("path", "body"), PLACES)
def test_dangerous_urls_are_refused(api, path, body, url):
    api.problem("POST", path, 400, "invalid_request", body(url))


@pytest.mark.parametrize(("path", "body"), PLACES)
def test_links_are_accepted(api, path, body):
    api.post(path, body("https://example.org/a?b=c@d#e"), expect=201)


@pytest.mark.parametrize(("path", "body"), PLACES)
def test_schemes_and_hosts_have_no_case(api, path, body):
    api.post(path, body("HTTPS://Example.ORG/A"), expect=201)
    api.problem("POST", path, 400, "invalid_request", {**body("HTTPS://user@example.org"), "name": "b"})


@pytest.mark.parametrize(("path", "name"), [("/interests", "source_repo_url"), ("/experiments", "pr_url"), ("/experiments", "ticket_url")])
def test_a_url_is_kept_in_one_form(api, path, name):
    """What follows the host has case."""
    made = api.post(path, {"name": "a", "context": "c", name: "HTTPS://GitHub.COM:443/Acme/Ranker?A=B#C"}, expect=201).json()
    assert made[name] == "https://github.com:443/Acme/Ranker?A=B#C"


@pytest.mark.parametrize("text", ["arXiv:2205.14135", "acme/ranker", "git@host:acme/ranker.git"])
def test_references_need_not_be_urls(api, text):
    body = {"name": "a", "source_ref": text, "launch_context": {"code_repository": text}}
    api.post("/experiments", body, expect=201)


@pytest.mark.parametrize("url", BAD)
def test_urls_of_papers(operator, url):
    operator.api.problem("PUT", "/search/assets/2401.09999", 400, "invalid_request", {"title": "a", "github_url": url})
