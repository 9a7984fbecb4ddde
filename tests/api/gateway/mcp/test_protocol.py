"""The agent-tool protocol at /mcp: what of HTTP and JSON-RPC is taken and refused, in both eras, and in which order it is checked."""

import json
import secrets

import pytest

from lib.http import plain_http
from lib.http.mcp import LEGACY, META, MODERN, Mcp, envelope, with_meta
from lib.wait import wait_for

REVISIONS = [MODERN, "2025-11-25", "2025-06-18", "2025-03-26"]
MODERN_FIELDS = {"MCP_Protocol_Version": MODERN}
LISTS = {"tools/list": "tools", "prompts/list": "prompts", "resources/list": "resources", "resources/templates/list": "resourceTemplates"}


def refused(answer, status, code):
    """The error of an answer that must have this status and code."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/json"
    message = answer.json()
    assert message["jsonrpc"] == "2.0" and message["error"]["code"] == code, message
    return message


# --- HTTP


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "HEAD"])
def test_other_methods_are_not_allowed(mcp, method):
    answer = mcp.http.request(method, "/mcp")
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")


def test_a_key_is_needed(cluster):
    answer = Mcp(cluster.gateway_url, None).answer("tools/list")
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == 'Bearer realm="expops", error="invalid_token"'
    assert answer.headers["content-type"] == "application/problem+json"


def test_a_key_in_the_address_is_refused(mcp, user):
    assert mcp.http.post(f"/mcp?key={user.key}", json=envelope("ping")).status_code == 400


def test_the_key_comes_before_the_message(cluster):
    assert Mcp(cluster.gateway_url, None).post(b"{").status_code == 401


def test_the_rate_comes_before_the_message(cluster, user):
    gateway = cluster.separate("gateway", "mcp-rate", RATE_LIMIT="1")
    gateway.start()
    gateway.wait_ready()
    limited = Mcp(gateway.url, user.key)
    statuses = {limited.post(b"{").status_code for _ in range(10)}
    gateway.stop()
    assert statuses == {400, 429}


def test_content_that_is_not_json_is_415(mcp):
    assert mcp.post(json.dumps(envelope("ping")).encode(), Content_Type="text/plain").status_code == 415


def test_content_over_a_mebibyte_is_413(mcp):
    assert mcp.post(b" " * (1 << 20) + b"{}").status_code == 413


def test_any_accept_is_taken_and_no_session_is_made(legacy):
    for accept in ("application/json, text/event-stream", "text/html", "*/*"):
        answer = legacy.post(envelope("ping"), Accept=accept, Mcp_Session_Id="x", Last_Event_ID="1")
        assert answer.status_code == 200 and answer.json()["result"] == {}
        assert not [name for name in answer.headers if name.startswith("mcp-session") or name == "last-event-id"]


@pytest.mark.parametrize("path", ["oauth-protected-resource", "oauth-protected-resource/mcp", "oauth-authorization-server"])
def test_there_is_no_oauth(cluster, path):
    answer = plain_http.get(f"{cluster.gateway_url}/.well-known/{path}")
    assert answer.status_code == 404 and "Authorization: Bearer" in answer.json()["detail"]


# --- Origin and Host


@pytest.mark.parametrize(("origin", "is_allowed"), [
    ("http://localhost:6274", True), ("http://127.0.0.1", True), ("http://[::1]:80", True),
    ("https://evil.example", False), ("http://localhost.evil.example", False), ("null", False), ("http://localhost:80x", False),
])
def test_pages_of_other_hosts_are_refused(legacy, origin, is_allowed):
    answer = legacy.post(envelope("ping"), Origin=origin)
    assert answer.status_code == (200 if is_allowed else 403), answer.text


@pytest.mark.parametrize(("host", "is_allowed"), [("localhost:1", True), ("127.0.0.1", True), ("[::1]:8080", True), ("evil.example", False)])
def test_a_rebound_name_is_refused(legacy, host, is_allowed):
    answer = legacy.post(envelope("ping"), Host=host)
    assert answer.status_code == (200 if is_allowed else 403), answer.text


def test_the_host_is_checked_before_the_key(cluster):
    assert Mcp(cluster.gateway_url, None).post(envelope("ping"), Host="evil.example").status_code == 403


def test_settings_allow_pages(cluster, user):
    gateway = cluster.separate("gateway", "mcp-origins", PUBLIC_URL="https://Expops.example/x", CORS_ORIGINS="https://app.example")
    gateway.start()
    gateway.wait_ready()
    client = Mcp(gateway.url, user.key, is_modern=False)
    statuses = {
        origin: client.post(envelope("ping"), Origin=origin, Host="any.example").status_code
        for origin in ("https://expops.example", "https://app.example", "https://other.example")
    }
    preflight = client.http.options("/mcp", headers={"Origin": "https://app.example", "Access-Control-Request-Method": "POST"})
    listed = client.post(envelope("ping"), Origin="https://app.example")
    gateway.stop()
    assert list(statuses.values()) == [200, 200, 403]
    allowed = {name.strip() for name in preflight.headers["access-control-allow-headers"].split(",")}
    assert {"Authorization", "Content-Type", "MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"} <= allowed
    assert "WWW-Authenticate" in listed.headers["access-control-expose-headers"]


# --- JSON-RPC


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b'{"a":1,"a":1}', b"{} {}"])
def test_what_is_not_json_is_a_parse_error(mcp, body):
    assert "id" not in refused(mcp.post(body), 400, -32700)


@pytest.mark.parametrize("body", [
    [], [envelope("ping")], 1, "x", None, {}, {"jsonrpc": "2.0"}, {"jsonrpc": "1.0", "id": 1, "method": "ping"},
    {"id": 1, "method": "ping"}, {"jsonrpc": "2.0", "id": None, "method": "ping"}, {"jsonrpc": "2.0", "id": 1.5, "method": "ping"},
    {"jsonrpc": "2.0", "id": {}, "method": "ping"}, {"jsonrpc": "2.0", "id": 1, "method": 1},
    {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []}, {"jsonrpc": "2.0", "id": 1},
    {"jsonrpc": "2.0", "id": 1, "result": {}, "error": {}}, {"jsonrpc": "2.0", "result": {}},
])
def test_what_is_no_message_is_an_invalid_request(mcp, body):
    refused(mcp.post(body), 400, -32600)


@pytest.mark.parametrize("request_id", ["a", "", 0, -1, 9007199254740993, 18446744073709551615, "\u2028\U0001f600"])
def test_an_answer_has_the_id_of_its_request(legacy, request_id):
    answer = legacy.post(envelope("ping", request_id=request_id))
    assert answer.json() == {"jsonrpc": "2.0", "id": request_id, "result": {}}
    assert refused(legacy.post(envelope("unknown", request_id=request_id)), 200, -32601)["id"] == request_id


@pytest.mark.parametrize("body", [
    {"jsonrpc": "2.0", "method": "notifications/initialized"}, {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}},
    {"jsonrpc": "2.0", "method": "unheard/of"}, {"jsonrpc": "2.0", "id": 1, "result": {}}, {"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": ""}},
])
@pytest.mark.parametrize("fields", [{}, MODERN_FIELDS], ids=["legacy", "modern"])
def test_what_needs_no_answer_is_accepted(mcp, body, fields):
    answer = mcp.post(body, **fields)
    assert (answer.status_code, answer.content) == (202, b"")


# --- Eras and revisions


@pytest.mark.parametrize(("asked", "given"), [
    ("2025-11-25", "2025-11-25"), ("2025-06-18", "2025-06-18"), ("2025-03-26", "2025-03-26"),
    (MODERN, "2025-11-25"), ("2024-11-05", "2025-11-25"), ("x", "2025-11-25"), (None, "2025-11-25"),
])
def test_initialize_agrees_on_a_revision(legacy, asked, given):
    params = {"capabilities": {}, "clientInfo": {"name": "test", "version": "1"}} | ({"protocolVersion": asked} if asked else {})
    result = legacy.post(envelope("initialize", params)).json()["result"]
    assert result["protocolVersion"] == given
    assert result["capabilities"] == {"tools": {}, "prompts": {}, "resources": {}}
    assert result["serverInfo"]["name"] == "expops" and len(result["instructions"]) <= 600
    assert set(result) == {"protocolVersion", "capabilities", "serverInfo", "instructions"}


def test_discover_names_the_revisions(mcp):
    result = mcp.result("server/discover")
    assert result["supportedVersions"] == REVISIONS and len(result["instructions"]) <= 600
    assert result["capabilities"] == {"tools": {}, "prompts": {}, "resources": {}}
    assert (result["resultType"], result["ttlMs"], result["cacheScope"]) == ("complete", 300000, "private")
    assert result["_meta"][META + "serverInfo"]["name"] == "expops"


def test_a_modern_field_needs_the_modern_members(mcp):
    message = refused(mcp.post(envelope("tools/list"), **MODERN_FIELDS), 400, -32602)
    assert META + "protocolVersion" in message["error"]["message"]


def test_initialize_is_not_modern(mcp):
    refused(mcp.post(envelope("initialize", {}), **MODERN_FIELDS), 400, -32020)
    assert mcp.error("initialize", status=404)["code"] == -32601


@pytest.mark.parametrize("capabilities", [None, [], "x"])
def test_modern_requests_tell_capabilities(mcp, capabilities):
    params = {"_meta": {META + "protocolVersion": MODERN, META + "clientCapabilities": capabilities}}
    if capabilities is None:
        del params["_meta"][META + "clientCapabilities"]
    refused(mcp.post(envelope("tools/list", params), **MODERN_FIELDS), 400, -32602)


@pytest.mark.parametrize("field", [None, LEGACY, "2099-01-01"])
def test_the_field_repeats_the_revision(mcp, field):
    refused(mcp.post(envelope("tools/list", with_meta({})), MCP_Protocol_Version=field, Mcp_Method="tools/list"), 400, -32020)


def test_an_unknown_revision_is_told_ours(mcp):
    answer = mcp.post(envelope("tools/list", with_meta({}, version="2099-01-01")), MCP_Protocol_Version="2099-01-01")
    assert refused(answer, 400, -32022)["error"]["data"] == {"supported": REVISIONS, "requested": "2099-01-01"}


@pytest.mark.parametrize(("field", "status"), [(None, 200), ("2025-03-26", 200), (LEGACY, 200), ("2024-11-05", 400), ("x", 400)])
def test_legacy_revisions_of_the_field(mcp, field, status):
    answer = mcp.post(envelope("ping"), MCP_Protocol_Version=field)
    assert answer.status_code == status
    if status == 400:
        refused(answer, 400, -32600)


def test_a_message_with_a_legacy_revision_is_legacy(mcp):
    result = mcp.post(envelope("tools/list", with_meta({}, version=LEGACY))).json()["result"]
    assert "resultType" not in result and "ttlMs" not in result


@pytest.mark.parametrize("method", ["ping", "logging/setLevel", "subscriptions/listen", "resources/subscribe", "completion/complete", "unheard/of"])
def test_methods_that_modern_requests_do_not_have(mcp, legacy, method):
    assert mcp.error(method, status=404)["code"] == -32601
    if method != "ping":
        assert legacy.error(method)["code"] == -32601
    assert legacy.error("server/discover")["code"] == -32601


# --- Any JSON at any member

METHODS = ["server/discover", "initialize", "ping", *LISTS, "tools/call", "prompts/get", "resources/read", "unheard/of"]
ANY_JSON = [None, True, False, 0, -1.5, 1 << 63, "", "x", [], [None], {}, {"x": {}}]
VERSION, CAPABILITIES = META + "protocolVersion", META + "clientCapabilities"
MEMBERS = [
    ("_meta",), ("_meta", VERSION), ("_meta", CAPABILITIES), ("_meta", CAPABILITIES, "elicitation"), ("_meta", META + "clientInfo"),
    ("name",), ("uri",), ("arguments",), ("arguments", "repo"), ("arguments", "confirm"), ("cursor",), ("requestState",), ("inputResponses",),
    ("inputResponses", "confirm"), ("inputResponses", "confirm", "action"), ("inputResponses", "confirm", "content"),
    ("inputResponses", "confirm", "content", "confirm"), ("protocolVersion",), ("capabilities",), ("clientInfo",),
]


def valid_params(is_modern):
    """Parameters that every method takes what it knows of."""
    params = {
        "name": "start_run", "uri": "expops://digest/today", "arguments": {"repo": "acme/ranker"},
        "inputResponses": {"confirm": {"action": "accept", "content": {"confirm": True}}}, "requestState": "x",
    }
    return with_meta(params, {"elicitation": {}}) if is_modern else {"_meta": {}, **params}


def with_member(params, path, value):
    """The same, with the value at a path of members."""
    name, *rest = path
    inner = params.get(name) if isinstance(params.get(name), dict) else {}
    return {**params, name: with_member(inner, rest, value) if rest else value}


@pytest.mark.parametrize("is_modern", [True, False], ids=["modern", "legacy"])
@pytest.mark.parametrize("method", METHODS)
def test_any_json_at_any_member_is_answered(mcp, method, is_modern):
    fields = {**MODERN_FIELDS, "Mcp_Method": method} if is_modern else {}
    for path in MEMBERS:
        for value in ANY_JSON:
            params = with_member(valid_params(is_modern), path, value)
            name = params.get({"resources/read": "uri"}.get(method, "name"))
            named = {"Mcp_Name": name} if isinstance(name, str) and is_modern else {}
            answer = mcp.post(envelope(method, params, request_id=7), **fields, **named)
            message = answer.json()
            assert answer.status_code in (200, 400, 404) and message["id"] == 7, (path, value, answer.text)
            assert ("result" in message) != ("error" in message), (path, value, message)
            assert "error" not in message or message["error"]["code"] not in (-32603, -32700), (path, value, message)


@pytest.mark.parametrize("version", [value for value in ANY_JSON if not isinstance(value, str)], ids=repr)
def test_a_revision_is_a_string(mcp, version):
    for method in ("ping", "tools/list"):
        message = refused(mcp.post(envelope(method, {"_meta": {VERSION: version}})), 400, -32602)
        assert message["error"]["message"] == f'_meta["{VERSION}"] must be a string'


# --- Fields that repeat the message


@pytest.mark.parametrize("fields", [{}, {"Mcp_Method": "tools/call"}, {"Mcp_Method": "TOOLS/LIST"}])
def test_mcp_method_repeats_the_method(mcp, fields):
    refused(mcp.post(envelope("tools/list", with_meta({})), **MODERN_FIELDS, **fields), 400, -32020)


@pytest.mark.parametrize(("method", "params"), [
    ("tools/call", {"name": "list_inbox"}), ("prompts/get", {"name": "review_digest"}), ("resources/read", {"uri": "expops://digest/today"}),
])
def test_mcp_name_repeats_the_name(mcp, method, params):
    name = next(iter(params.values()))
    for field in (None, "", name + "x", name.upper()):
        refused(mcp.post(envelope(method, with_meta(params)), **MODERN_FIELDS, Mcp_Method=method, Mcp_Name=field), 400, -32020)
    assert mcp.post(envelope(method, with_meta(params)), **MODERN_FIELDS, Mcp_Method=method, Mcp_Name=name).status_code == 200


def test_mcp_name_may_be_base64(mcp):
    sent = with_meta({"name": "list_inbox"})
    fields = {**MODERN_FIELDS, "Mcp_Method": "tools/call"}
    assert mcp.post(envelope("tools/call", sent), **fields, Mcp_Name="=?base64?bGlzdF9pbmJveA==?=").status_code == 200
    for wrong in ("=?base64?bGlzdF9pbmJve?=", "=?base64??=", "=?base64?bGlzdF9pbmJveQ==?="):
        refused(mcp.post(envelope("tools/call", sent), **fields, Mcp_Name=wrong), 400, -32020)


def test_legacy_requests_need_no_fields(legacy):
    assert legacy.post(envelope("tools/call", {"name": "list_inbox"}), Mcp_Name="other").status_code == 200


# --- Lists and parameters


@pytest.mark.parametrize("method", LISTS)
def test_lists_have_one_page(mcp, legacy, method):
    modern, old = mcp.result(method), legacy.result(method)
    assert (modern["ttlMs"], modern["cacheScope"]) == (300000, "private")
    assert old == {LISTS[method]: modern[LISTS[method]]} and modern[LISTS[method]]
    assert "nextCursor" not in modern
    assert mcp.error(method, {"cursor": "x"})["code"] == legacy.error(method, {"cursor": "x"})["code"] == -32602


def test_what_is_unknown_is_told_with_200(mcp, legacy):
    for client in (mcp, legacy):
        assert client.error("tools/call", {"name": "unheard_of"})["code"] == -32602
        assert client.error("tools/call", {"name": "list_inbox", "arguments": []})["code"] == -32602
        assert client.error("prompts/get", {"name": "unheard_of"})["code"] == -32602
        assert client.error("prompts/get", {"name": "plan_experiment"})["code"] == -32602
    for uri in ("expops://unheard/of", "expops://digest/today/x", "expops://papers/", "expops://experiments/1", "x"):
        assert mcp.error("resources/read", {"uri": uri}) == {"code": -32602, "message": "there is no such resource", "data": {"uri": uri}}
        assert legacy.error("resources/read", {"uri": uri})["code"] == -32002


def test_a_call_is_found_in_the_log_by_its_request_id(cluster, legacy):
    request_id = f"mcp-{secrets.token_hex(8)}"
    answer = legacy.post(envelope("tools/call", {"name": "list_inbox"}), X_Request_Id=request_id)
    assert answer.headers["x-request-id"] == request_id

    def operations():
        lines = [json.loads(line) for line in cluster["gateway"][0].log().splitlines() if request_id in line]
        found = {line["operation"] for line in lines if line["message"] == "request finished"}
        return found if len(found) == 2 else None

    assert wait_for(operations, "both are logged") == {"mcp_post", "inbox_list"}
