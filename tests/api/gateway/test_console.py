"""The files of the console, served from memory: forms, fields, paths, and the answer where there is none."""

import gzip
import hashlib
import json

import pytest

from lib.http import plain_http

PAGE = b"<!doctype html><title>expops</title>"
SCRIPT = b"console.log('expops')" * 50
PICTURE = b"\x89PNG\r\n\x1a\n"
FILES = {
    "index.html": ("text/html; charset=utf-8", PAGE),
    "assets/main-AB12.js": ("text/javascript; charset=utf-8", SCRIPT),
    "assets/today-CD34.png": ("image/png", PICTURE),
}
SECURITY = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}


def write_files(folder):
    """What gateway/console/build.mjs writes; instead of brotli, which Python lacks, the bytes with a mark."""
    (folder / "assets").mkdir()
    for name, (kind, content) in FILES.items():
        (folder / name).write_bytes(content)
        if kind != "image/png":
            (folder / f"{name}.gz").write_bytes(gzip.compress(content))
            (folder / f"{name}.br").write_bytes(b"brotli:" + content)
    files = {
        name: {"type": kind, "length": len(content), "sha256": hashlib.sha256(content).hexdigest(), "compressed": kind != "image/png"}
        for name, (kind, content) in FILES.items()
    }
    (folder / "manifest.json").write_text(json.dumps({"files": files}))
    (folder / "secret.txt").write_text("not in the manifest")


@pytest.fixture(scope="module")
def console(cluster, start_gateway, tmp_path_factory):
    folder = tmp_path_factory.mktemp("console")
    write_files(folder)
    with start_gateway(CONSOLE_DIR=str(folder), CODE_HOST_WEB_URL="https://github.com/of/acme?x=1") as gateway:
        yield plain_http.client(base_url=gateway.url)


def get(console, path, coding="identity", **headers):
    return console.get(path, headers={"Accept-Encoding": coding, **headers})


@pytest.mark.parametrize(
    "path",
    ["/console/", "/console/interests", "/console/agents/owner/chart.js", "/console/papers/2501.00001?x=1", "/docs", "/docs/guide/a.md"],
)
def test_every_other_path_is_the_page(console, path):
    answer = get(console, path)
    assert (answer.status_code, answer.content) == (200, PAGE)
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    assert answer.headers["Cache-Control"] == "no-cache"
    assert {name: answer.headers[name] for name in SECURITY} == SECURITY
    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "script-src 'self'" in policy and "frame-ancestors 'none'" in policy
    assert "form-action 'self' https://github.com;" in policy  # only the origin
    assert "unsafe" not in policy


@pytest.mark.parametrize(
    "path",
    [
        "/console/secret.txt",
        "/console/manifest.json",
        "/console/assets/none.js",
        "/console/assets/",
        "/console/../console/secret.txt",
        "/console/assets/..%2f..%2fsecret.txt",
        "/console/assets/main-AB12.js/",
        "/console/%2e%2e/secret.txt.",
        "/docs/../console/secret.txt",
        "/docsecret.txt",
    ],
)
def test_what_is_not_in_the_manifest_does_not_exist(console, path):
    answer = console.request("GET", path)
    assert b"not in the manifest" not in answer.content
    assert answer.status_code == 404 or answer.content == PAGE


def test_an_asset_may_be_kept_for_ever(console):
    answer = get(console, "/console/assets/main-AB12.js")
    assert answer.content == SCRIPT
    assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"


@pytest.mark.parametrize(
    ("accepted", "coding", "content"),
    [
        ("identity", None, SCRIPT),
        ("gzip", "gzip", gzip.compress(SCRIPT)),
        ("gzip, deflate, br", "br", b"brotli:" + SCRIPT),
        ("br;q=0, gzip", "gzip", None),
        ("gzip;q=0", None, SCRIPT),
    ],
    ids=["as it is", "gzip", "brotli first", "no brotli", "no gzip"],
)
def test_the_form_that_the_client_takes(console, accepted, coding, content):
    with console.stream("GET", "/console/assets/main-AB12.js", headers={"Accept-Encoding": accepted}) as answer:
        body = b"".join(answer.iter_raw())
    assert answer.headers.get("Content-Encoding") == coding
    assert answer.headers["Vary"] == "Accept-Encoding"
    assert coding == "gzip" and gzip.decompress(body) == SCRIPT or body == content


def test_a_picture_has_no_compressed_form(console):
    answer = get(console, "/console/assets/today-CD34.png", "gzip, br")
    assert (answer.content, answer.headers["Content-Type"]) == (PICTURE, "image/png")
    assert "Content-Encoding" not in answer.headers


def test_a_known_page_is_not_sent_again(console):
    tags = {coding: get(console, "/console/", coding).headers["ETag"] for coding in ("identity", "gzip", "br")}
    assert len(set(tags.values())) == 3
    for coding, tag in tags.items():
        answer = get(console, "/console/", coding, **{"If-None-Match": tag})
        assert (answer.status_code, answer.content) == (304, b"")


def test_head_has_the_fields_and_no_content(console):
    answer = console.head("/console/", headers={"Accept-Encoding": "identity"})
    assert (answer.status_code, answer.content) == (200, b"")
    assert answer.headers["Content-Length"] == str(len(PAGE))


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
def test_other_methods_are_refused(console, method):
    answer = console.request(method, "/console/")
    assert (answer.status_code, answer.headers["Allow"]) == (405, "GET, HEAD")


def test_the_root_leads_browsers_to_the_console(console):
    answer = console.get("/", headers={"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"})
    assert (answer.status_code, answer.headers["Location"]) == (302, "/console/")
    assert console.get("/console").headers["Location"] == "/console/"


def test_the_root_has_links_for_programs(console):
    answer = console.get("/", headers={"Accept": "*/*"})
    assert answer.json() == {"openapi": "/api/v1.0/openapi.json", "console": "/console/", "docs": "/docs", "mcp": "/mcp"}


def test_a_gateway_without_a_console_says_so(start_gateway, tmp_path):
    with start_gateway(CONSOLE_DIR=str(tmp_path)) as gateway:
        answer = plain_http.client(base_url=gateway.url).get("/console/")
    assert (answer.status_code, answer.json()["detail"]) == (404, "this gateway was built without the console")


def test_a_manifest_that_names_a_missing_file_is_no_console(start_gateway, tmp_path):
    write_files(tmp_path)
    (tmp_path / "assets/main-AB12.js.br").unlink()
    with start_gateway(CONSOLE_DIR=str(tmp_path)) as gateway:
        assert plain_http.client(base_url=gateway.url).get("/console/").status_code == 404
