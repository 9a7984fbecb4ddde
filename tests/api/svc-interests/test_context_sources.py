"""What the addresses in an interest's context lead to: papers, repositories and pages are read, and nothing in the private network.

The pages are on 127.0.0.2, which FETCH_ALLOW lists; 127.0.0.1 stands for the private network.
"""

import secrets

import pytest

from lib.outside.counterparts import connect
from lib.outside.stub_server import StubServer
from lib.tables import interests as interests_tables
from lib.tables import search as search_tables
from lib.wait import wait_for

PAGE = """<!doctype html><html><head><title>{title}</title><script>var x = "never";</script></head>
<body><nav>Home About</nav><main><p>{text}</p></main></body></html>"""
# Three subjects of the sample's papers, as READMEs and pages write of them.
ROBOTS = "Robots that see, read and act: vision-language-action models for manipulation, with small memory on the robot."
FLOODS = "Tests for coding agents: a language model writes unit tests and code, and reinforcement learning rewards both."
SPEECH = "Speech recognition for languages and dialects with little recorded data, by transfer from related languages."


class Site:
    """Pages by path: text, status, type and other fields. `requests` lists the paths that were asked for."""

    def __init__(self, host):
        self.stub, self.pages = StubServer(self.answer, host), {}

    def add(self, text, status=200, kind="text/html", path=None, **fields):
        path = path or f"/{secrets.token_hex(4)}"
        self.pages[path] = (status, text, {"Content_Type": kind, **fields})
        return self.stub.url + path

    def answer(self, request):
        status, text, fields = self.pages.get(request.path, (404, "", {}))
        request.reply(status, text, **fields)

    @property
    def requests(self):
        return [path for _, path, _, _ in list(self.stub.requests)]


@pytest.fixture(scope="module")
def site():
    made = Site("127.0.0.2")
    yield made
    made.stub.close()


@pytest.fixture(scope="module")
def inside():
    made = Site("127.0.0.1")
    yield made
    made.stub.close()


@pytest.fixture
def sources(api, interests):
    """sources(interest): its context_sources when all were tried, without read_at of those that were read."""

    def of(interest):
        def tried():
            found = api.get(f"/interests/{interest['id']}", expect=200).json()["context_sources"]
            return all(one["status"] != "pending" for one in found) and [found]

        return wait_for(tried, "the sources were tried")[0]

    return of


def state(source):
    return source["kind"], source["status"], source["title"]


def titles(interests, interest):
    interests.refresh(interest)
    return [one["title"] for one in interests.recommended(interest)]


def test_addresses_of_arxiv_wait_for_a_turn(interests, sources, cluster):
    """All requests to arXiv are those of one client: while its next turns are taken, it is not asked."""
    with cluster.postgres.connect("search") as search:
        search_tables.take_turns(search, "arxiv")
        made = interests.create(context="https://arxiv.org/list/cs.LG/recent")
        (source,) = wait_for(lambda: sources(made), "the address was tried")
        search_tables.free_turns(search)
    assert (source["kind"], source["status"], source["error"]) == ("page", "failed", "arXiv is being read for others")


def test_pages_are_read_and_found_by(interests, sources, site):
    url = site.add(PAGE.format(title="Robot lab", text=ROBOTS * 3))
    made = interests.ready(context=url, name="From a page", daily_count=2)
    source, = sources(made)
    assert state(source) == ("page", "read", "Robot lab")
    assert source["url"] == url and source["read_at"] and source["error"] is None and source["characters"] == 3 * len(ROBOTS)
    assert any("Vision-Language-Action" in title for title in titles(interests, made))


@pytest.mark.parametrize("is_active", [True, False])
def test_an_address_that_was_taken_away_is_forgotten(api, interests, sources, site, is_active):
    made = interests.ready(context="Vision-language-action models for manipulation", source_repo_url=site.add(ROBOTS), is_active=is_active)
    assert [one["status"] for one in sources(made)] == ["read"]
    assert api.put(f"/interests/{made['id']}", {"source_repo_url": None}, expect=200).json()["source_repo_url"] is None
    wait_for(lambda: sources(made) == [], "the address is forgotten")


def test_a_refresh_writes_no_address_that_is_not_due(db, interests, sources, site):
    made = interests.ready(context=f"{site.add('First')} {site.add('Second')}")
    sources(made)
    before = interests_tables.source_writes(db, made["id"])
    interests.refresh(made)
    assert interests_tables.source_writes(db, made["id"]) == before


def test_addresses_have_no_case(api, interests, sources, code_host):
    """An address of the code host in another case is a repository, and the same as another one; its pages are none."""
    at_host = code_host.user()
    connect(api, "code_host", at_host.login)
    repo = code_host.repository(at_host.login, files={"README.md": f"# Project\n\n{ROBOTS}\n"})
    url, page = code_host.url.upper() + f"/{repo}", f"{code_host.url}/Topics/ranking"
    made = interests.wait_pool(api.post("/interests", {"name": "a", "context": f"{url}, {code_host.url}/{repo} {page}"}, expect=201).json())
    repository, other = sources(made)
    assert (repository["url"], state(repository)) == (url, ("repository", "read", repo))
    assert (other["url"], other["kind"]) == (page, "page")


@pytest.mark.parametrize("readme, paper", [(ROBOTS, "Vision-Language-Action"), (FLOODS, "Unit Test"), (SPEECH, "ASR")])
def test_an_interest_that_is_only_a_repository(api, interests, sources, code_host, readme, paper):
    at_host = code_host.user()
    connect(api, "code_host", at_host.login)
    repo = code_host.repository(at_host.login, files={"README.md": f"# Project\n\n{readme}\n"})
    url = f"{code_host.url}/{repo}"
    made = api.post("/interests", {"source_repo_url": url}, expect=201).json()
    assert (made["name"], made["context"]) == (repo.split("/")[1], url)
    made = interests.wait_pool(made)
    source, = sources(made)
    assert state(source) == ("repository", "read", repo) and source["characters"] >= len(readme)
    assert any(paper in title for title in titles(interests, made)[:5])


def test_papers_are_looked_up(interests, sources, papers):
    named = next(iter(papers.values()))
    made = interests.ready(context=f"HTTPS://ARXIV.ORG/abs/{named['id']} and https://arxiv.org/abs/0704.0001")
    known, unknown = sources(made)
    assert state(known) == ("paper", "read", named["title"])
    assert state(unknown) == ("paper", "failed", None) and unknown["error"] == "the library has no such paper"


def test_what_cannot_be_read_says_why(interests, sources, site):
    cases = {
        site.add("", 500): "the answer had the status 500",
        site.add("%PDF", kind="application/pdf"): "the address leads to no text",
        site.add("<html></html>"): "the page has no text",
        site.add("x" * (513 * 1024)): "the answer is unusable, or larger than 512 KiB",
        site.stub.url + "/absent": "the answer had the status 404",
        "http://nobody.invalid/": "the server cannot be reached",
        f"{site.stub.url.rpartition(':')[0]}:1/": "the server cannot be reached",
    }
    made = interests.ready(context="retrieval for question answering " + " ".join(cases))
    found = sources(made)
    assert {one["url"]: one["error"] for one in found} == cases
    assert {one["status"] for one in found} == {"failed"} and {one["read_at"] for one in found} == {None}


def test_nothing_inside_is_asked(interests, sources, site, inside):
    secret = inside.add(PAGE.format(title="Inside", text="secret"), path="/secret")
    port = inside.stub.url.rpartition(":")[2]
    urls = [
        secret, site.add("", 302, Location=secret), site.add("", 302, Location=site.add("", 301, Location=secret)),
        f"http://localhost:{port}/secret", "http://169.254.169.254/latest/", f"http://[::ffff:127.0.0.1]:{port}/secret",
        f"http://[::1]:{port}/secret", site.add("", 302, Location="http://[::ffff:10.0.0.1]/"),
    ]  # fmt: skip
    made = interests.ready(context="retrieval " + " ".join(urls))
    found = sources(made)
    assert [(one["url"], one["status"], one["title"]) for one in found] == [(url, "refused", None) for url in urls]
    assert inside.requests == []


def test_a_redirect_is_followed_to_a_page(interests, sources, site):
    url = site.add("", 302, Location=site.add("Plain text about retrieval.", kind="text/plain; charset=utf-8"))
    source, = sources(interests.ready(context=f"retrieval {url}"))
    assert state(source) == ("page", "read", None) and source["characters"] == 27


def test_ten_addresses_are_read(interests, sources, site):
    urls = [site.add(PAGE.format(title=f"Page {number}", text="retrieval")) for number in range(12)]
    found = sources(interests.ready(context="\n".join(urls)))
    assert [one["title"] for one in found] == [f"Page {number}" for number in range(10)]


def test_a_source_is_read_again_after_a_week_and_kept_when_it_is_gone(api, db, interests, sources, site):
    url = site.add(PAGE.format(title="First", text="retrieval"))
    made = interests.ready(context=url)
    interests.refresh(made)
    path = url.removeprefix(site.stub.url)
    assert site.requests.count(path) == 1

    def a_week_later():
        interests_tables.age_sources(db, made["id"], "8 days")
        interests.refresh(made)
        return sources(made)[0]

    site.add(PAGE.format(title="Second", text="reranking"), path=path)
    assert state(a_week_later()) == ("page", "read", "Second")
    site.add("", 503, path=path)
    gone = a_week_later()
    assert state(gone) == ("page", "read", "Second") and gone["error"] == "the answer had the status 503"
    assert site.requests.count(path) == 3


def test_a_repository_is_kept_while_the_code_host_is_away(api, db, interests, sources, code_host):
    """Its page is no substitute: it says less, and at a code host of the private network it is refused, which would forget the text."""
    at_host = code_host.user()
    connect(api, "code_host", at_host.login)
    repo = code_host.repository(at_host.login, files={"README.md": f"# Project\n\n{ROBOTS}\n"})
    made = interests.ready(context=f"{code_host.url}/{repo}")
    read = sources(made)[0]
    assert state(read) == ("repository", "read", repo)
    code_host.fail("GET", f"^/repos/{repo}", status=503, times=100)
    interests_tables.age_sources(db, made["id"], "8 days")
    interests.refresh(made)
    code_host.stop_failing()
    kept = sources(made)[0]
    assert {**kept, "error": None} == read and kept["error"] == "the code host, or what asks it, is unavailable"
    interests.refresh(made)
    assert sources(made)[0]["error"] == kept["error"]
    interests_tables.age_sources(db, made["id"], "61 minutes")
    interests.refresh(made)
    assert sources(made)[0]["error"] is None


def test_addresses_that_are_not_named_any_more_are_forgotten(api, interests, sources, site):
    first, second = (site.add(PAGE.format(title=name, text="retrieval")) for name in ("First", "Second"))
    made = interests.ready(context=f"{first} retrieval")
    api.put(f"/interests/{made['id']}", {"context": f"{second} retrieval"}, expect=200)
    wait_for(lambda: [one["title"] for one in sources(made)] == ["Second"], "the second page is read")


def test_a_repository_is_read_when_it_is_set(api, interests, sources, site):
    made = interests.ready()
    assert sources(made) == []
    url = site.add(PAGE.format(title="Code", text="retrieval"))
    api.put(f"/interests/{made['id']}", {"source_repo_url": url}, expect=200)
    wait_for(lambda: [one["title"] for one in sources(made)] == ["Code"], "the repository is read")


def test_a_repository_that_cannot_be_read(api, interests, sources, site):
    made = api.post("/interests", {"source_repo_url": site.stub.url + "/acme/ranker.git?x=1"}, expect=201).json()
    assert made["name"] == "ranker"
    failed = interests.wait_pool(made, status="failed")
    assert state(sources(failed)[0]) == ("page", "failed", None)
    api.problem("POST", "/interests", 409, "conflict", {"source_repo_url": site.stub.url + "/acme/Ranker/"})
    task = api.wait_task(api.post("/papers/recommended/refresh", {"interest_id": made["id"]}, expect=202))
    assert task["status"] == "completed" and interests.recommended(made) == []


def test_a_repository_without_a_name_is_named_by_its_address(api, site):
    for path in ("/acme/.git", "/.git/?x=1"):
        url = site.stub.url + path
        assert api.post("/interests", {"source_repo_url": url}, expect=201).json()["name"] == url


def test_without_a_repository_both_are_needed(api):
    for body in ({}, {"source_repo_url": None}):
        problem = api.problem("POST", "/interests", 400, "invalid_request", body)
        assert {fault["field"] for fault in problem["errors"]} == {"name", "context"}
    problem = api.problem("POST", "/interests", 400, "invalid_request", {"source_repo_url": "ftp://x", "name": 5})
    assert {fault["field"] for fault in problem["errors"]} == {"source_repo_url", "name"}
