"""gateway/openapi.yaml and api.def: the form of each, and that they agree. Needs no server."""

import re
from pathlib import Path

import jsonschema
import pytest

from lib.http import api_def, openapi
from lib.http.contract import contract

ROOT = Path(__file__).resolve().parents[3]

TABLE = api_def.operations()
DOCUMENT = contract().document
DESCRIBED = openapi.operations()

SERVICES = api_def.services()
FLAGS = {"OPEN", "GONE", "CREATES", "READS", "CALLS_OUT", "CONVERGES", "VERSIONED", "REPO_KEYS", "INTEREST_KEYS"}

# Operations that succeed with 201 and 202; the others succeed with 200.
CREATED = {op.id for op in TABLE if op.id.endswith("_create") and "CREATES" in op.flags} - {"fork_create", "connection_create", "webhook_confirmation_create"}
ACCEPTED = {"preference_model_refit", "recommendations_refresh", "code_host_webhook", "interest_provision", "implement_run"}
MERGED = {"fleet_run_report"}  # 201, and 200 for what was known before

# Operations whose answers do not follow from the row: 404 without a path parameter, and 409.
ABSENT = {"app_delete", "experiments_compare", "budget_put", "recommendations_refresh", "identity_resolve", "installation_token_create", "fork_create"}
ABSENT |= {"fleet_activity_get", "fleet_chat", "fleet_run_analyze", "artifact_evidence_get", "inbox_digest_get"}
ABSENT |= {"feed_create", "fleet_trigger", "fleet_run_status_get", "build_create", "eval_result_deliver", "eval_hosted_result_deliver"}
CONFLICTING = {"budget_put", "project_update", "experiment_update", "interest_update", "interest_toggle", "implement_report", "auth_url_get", "connection_token_get"}
CONFLICTING |= {"member_update", "member_delete", "api_key_update"}
CONFLICTING |= {"template_update", "build_cancel", "build_heartbeat", "build_report"}
CONFLICTING |= {"eval_run_cancel", "eval_run_heartbeat", "eval_result_deliver", "eval_hosted_result_deliver"}
CONFLICTING |= {"app_installation_confirm", "app_manifest_create", "app_installation_get", "installation_token_create", "fleet_refresh",
                "fleet_run_admit", "provision_cli_token_create", "search_harvest", "webhook_update", "webhook_test", "webhook_confirmation_create"}

# Lists of papers, which also come as BibTeX and RIS.
CITATIONS = ["application/x-bibtex", "application/x-research-info-systems"]
EXPORTED = {id: CITATIONS for id in ("asset_search", "assets_list", "asset_similar_list", "recommendations_list")} | {"results_get": ["text/csv"]}
# Lists that are sent in another form while they are read.
STREAMED = {"experiments_list", "experiments_compare", "fleet_runs_list", "eval_runs_list", "audit_list"}
EXPORTED |= {id: ["text/csv"] for id in STREAMED} | {"audit_list": ["application/x-ndjson"]}
# Forms that a parameter chooses, not the field Accept.
BY_PARAMETER = {"experiment_evidence_get": ["text/markdown"]}

SECRET = {"auth_url_get", "connection_token_get"}  # nobody keeps their answers, which have no ETag

EMPTY = {"build_claim", "eval_run_claim"}  # 204, where there is nothing

# They lead the browser on.
REDIRECTS = {"session_oidc_start": 302, "session_oidc_callback": 303}
# They ask the provider at which people log in, if there is one.
OF_PROVIDER = {"session_oidc_start": {401, 403}, "session_oidc_callback": {401, 403, 409}}

# Links of mails are followed by people.
EMAIL_PAGES = ("email_confirm_page_get", "email_confirm", "email_unsubscribe_page_get", "email_unsubscribe")

OTHER_TYPES = {"feed_get": "application/atom+xml"} | {id: "text/html" for id in EMAIL_PAGES}

# Answers that are not always a problem: a pool that is being built is told by a body of its own.
OWN_BODIES = {("fleet_trigger", "409"): ["application/json", "application/problem+json"]} | {(id, "404"): ["text/html"] for id in EMAIL_PAGES}

# Members that OpenAPI 3.1 defines, by kind of object. Members that start with `x-` are allowed everywhere.
KNOWN = {
    "document": {"openapi", "info", "servers", "security", "tags", "paths", "webhooks", "components"},
    "info": {"title", "version", "summary", "description"},
    "components": {"securitySchemes", "parameters", "headers", "responses", "schemas"},
    "item": {"parameters", *openapi.METHODS},
    "operation": {"operationId", "tags", "summary", "description", "parameters", "requestBody", "responses"}
    | {"security", "deprecated"},
    "parameter": {"name", "in", "required", "description", "schema", "example"},
    "header": {"required", "description", "schema", "example"},
    "response": {"description", "headers", "content"},
    "body": {"required", "content"},
    "media": {"schema", "example", "examples"},
    "example": {"summary", "value"},
}

# The keywords of JSON Schema that the document uses; another one is probably a typing error.
SUBSCHEMA = {"items", "additionalProperties"}
SUBSCHEMA_LIST = {"anyOf", "oneOf"}
KEYWORDS = SUBSCHEMA | SUBSCHEMA_LIST
KEYWORDS |= {"$ref", "type", "enum", "const", "format", "pattern", "description", "default", "example", "required"}
KEYWORDS |= {"properties", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "minProperties"}

# Schemas that allow members which they do not list. Messages may get further members.
REQUESTS = {op.id for op in DESCRIBED.values() if "requestBody" in op.node}
REQUESTS |= {"ApiKeyCreate", "ApiKeyUpdate", "ExperimentCreate", "ExperimentPlan", "ResultsInput", "ExperimentUpdate", "ProjectCreate", "ProjectUpdate"}
REQUESTS |= {"TemplateCreate", "TemplateUpdate", "TemplateSpec", "BuildCreate", "BuildReport", "Claim", "Heartbeat", "EvalRunCreate", "EvalResult", "HostedResult"}
REQUESTS |= {"BudgetInput", "WebhookCreate", "WebhookDigestCreate", "WebhookUpdate"}
REQUESTS |= {"InterestCreate", "InterestUpdate", "ScheduleChange", "Feedback", "Report", "AssetPut", "SearchRequest", "HarvestRequest", "LaunchContext", "Telemetry"}
FREE_FORM = re.compile(r"^openapi_get 200$|^ImplementationContext\.(resource|container)$|\bkey_methods\b|^\w+Message\b|^Run(\.selection_rejected\.items)?$|^Run\b.*\b(evidence|fidelity)$|^Evidence(Node|Edge)\.data$")


def ids(operations):
    return [op.id for op in operations]


def by_id(operations):
    return pytest.mark.parametrize("op", operations, ids=lambda op: op.id)


def references(node):
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"]
        for value in node.values():
            yield from references(value)
    elif isinstance(node, list):
        for value in node:
            yield from references(value)


def media_types():
    """(name, media type object) of every body and answer."""
    for name, response in DOCUMENT["components"]["responses"].items():
        for media in response.get("content", {}).values():
            yield name, media
    for op in DESCRIBED.values():
        for media in op.node.get("requestBody", {}).get("content", {}).values():
            yield op.id, media
        for status, response in op.node["responses"].items():
            for media in response.get("content", {}).values():
                yield f"{op.id} {status}", media


def messages():
    """(type, media type object) of every message that endpoints get."""
    for name, path in DOCUMENT["webhooks"].items():
        for media in path["post"]["requestBody"]["content"].values():
            yield name, media


def parameters_and_headers():
    """(name, object) of every parameter and header."""
    components = DOCUMENT["components"]
    for kind in ("parameters", "headers"):
        yield from components[kind].items()
    for op in DESCRIBED.values():
        for parameter in op.parameters:
            yield f"{op.id} {parameter['name']}", parameter
    for name, response in components["responses"].items():
        for header in response["headers"].values():
            yield name, contract().resolve(header)


def schemas():
    """(name, schema) of every top-level schema."""
    yield from DOCUMENT["components"]["schemas"].items()
    for where, holder in [*media_types(), *parameters_and_headers()]:
        yield where, holder["schema"]


def subschemas(where, schema):
    """(name, schema) of the schema and all schemas inside it."""
    yield where, schema
    for name, value in schema.get("properties", {}).items():
        yield from subschemas(f"{where}.{name}", value)
    for keyword in SUBSCHEMA & schema.keys():
        if isinstance(schema[keyword], dict):
            yield from subschemas(f"{where}.{keyword}", schema[keyword])
    for keyword in SUBSCHEMA_LIST & schema.keys():
        for number, value in enumerate(schema[keyword]):
            yield from subschemas(f"{where}.{keyword}[{number}]", value)


def all_subschemas():
    for where, schema in schemas():
        yield from subschemas(where, schema)


def examples(holder):
    if "example" in holder:
        yield holder["example"]
    for example in holder.get("examples", {}).values():
        yield example["value"]


def unknown(node, kind):
    return {name for name in node if name not in KNOWN[kind] and not name.startswith("x-")}


# ---- api.def ----


def test_rows_are_well_formed():
    assert len(set(ids(TABLE))) == len(TABLE)
    for op in TABLE:
        assert re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)+", op.id), op.id
        assert op.method in [*api_def.METHODS, "ANY"], op.id
        assert re.fullmatch(r"/api/v1\.0(/([a-z][a-z0-9.-]*|\{\w+\}))*(/\{\+\w+\}(/[a-z-]+)*)?", op.path), op.id
        assert op.service in SERVICES, op.id
        assert op.flags <= FLAGS, op.id
        assert ("OPEN" in op.flags) == (op.scope is None), op.id
        assert "CREATES" not in op.flags or op.method == "POST", op.id
        assert "CALLS_OUT" not in op.flags or "CREATES" in op.flags, op.id
        assert "CONVERGES" not in op.flags or {"CREATES", "CALLS_OUT"} & op.flags == {"CREATES"}, op.id
        assert "VERSIONED" not in op.flags or op.method in ("PUT", "PATCH", "DELETE"), op.id
        assert ("GONE" in op.flags) == (op.method == "ANY"), op.id
        assert op.body == "NONE" or op.method in ("POST", "PUT", "PATCH"), op.id


def test_rows_are_grouped_and_sorted():
    order = [*api_def.METHODS, "ANY"]
    keys = [(SERVICES.index(op.service), op.path, order.index(op.method)) for op in TABLE]
    assert keys == sorted(keys)


def test_rows_do_not_overlap():
    shapes = [(op.method, re.sub(r"\{\+?\w+\}", "{}", op.path)) for op in TABLE]
    assert len(set(shapes)) == len(shapes)


def test_a_malformed_row_is_refused():
    with pytest.raises(ValueError, match="not a row"):
        api_def.parse('API(thing_get, GET, "/api/v1.0/thing", GATEWAY, "account:read", BODY_NONE)')


def test_scopes_are_those_of_scope_def():
    names = re.findall(r'^SCOPE\(\w+, +"([^"]+)"', (ROOT / "libcommon/scope.def").read_text(), re.MULTILINE)
    assert DOCUMENT["components"]["schemas"]["Scope"]["enum"] == names
    assert {op.scope for op in TABLE if op.scope} <= set(names)


# ---- openapi.yaml ----


def test_document_is_well_formed():
    root = DOCUMENT
    assert re.fullmatch(r"3\.1\.\d+", root["openapi"])
    assert not unknown(root, "document")
    assert not unknown(root["info"], "info")
    assert not unknown(root["components"], "components")
    assert root["info"]["title"] and root["info"]["version"]
    assert root["security"] == [{"bearer": []}]
    scheme = root["components"]["securitySchemes"]["bearer"]
    assert (scheme["type"], scheme["scheme"]) == ("http", "bearer")
    for path, item in root["paths"].items():
        assert path.startswith("/api/v1.0/"), path
        assert not unknown(item, "item"), path


@by_id(DESCRIBED.values())
def test_operation_is_well_formed(op):
    assert not unknown(op.node, "operation")
    assert op.node["summary"] and not op.node["summary"].endswith(".")
    assert op.node["description"].strip().endswith(".")
    tags = [tag["name"] for tag in DOCUMENT["tags"]]
    assert len(op.node["tags"]) == 1 and op.node["tags"][0] in tags
    in_path = [p["name"] for p in op.parameters if p["in"] == "path"]
    assert sorted(in_path) == sorted(re.findall(r"\{(\w+)\}", op.path))
    keys = [(p["in"], p["name"]) for p in op.parameters]
    assert len(set(keys)) == len(keys)
    body = op.node.get("requestBody")
    if body:
        assert not unknown(body, "body")
        assert list(body["content"]) == ["application/json"]
        assert isinstance(body["required"], bool)


@by_id(DESCRIBED.values())
def test_answers_are_well_formed(op):
    for status, response in op.node["responses"].items():
        is_error = int(status) >= 400
        response = contract().resolve(response)
        assert not unknown(response, "response")
        assert response["description"].strip()
        assert "X-Request-Id" in response["headers"]
        expected = [] if status in ("204", "302", "303", "304") else ["application/problem+json" if is_error else OTHER_TYPES.get(op.id, "application/json")]
        expected = OWN_BODIES.get((op.id, status), expected)
        expected = expected + (EXPORTED.get(op.id, []) + BY_PARAMETER.get(op.id, []) if status == "200" else [])
        assert sorted(response.get("content", [])) == sorted(expected)
        for header in response["headers"].values():
            assert not unknown(contract().resolve(header), "header")


def test_parameters_are_well_formed():
    for where, holder in parameters_and_headers():
        assert holder["description"].strip(), where
        if "in" in holder:
            assert not unknown(holder, "parameter"), where
            assert holder["in"] in ("path", "query", "header"), where
            assert holder.get("required", False) or holder["in"] != "path", where


def test_references_resolve():
    found = list(references(DOCUMENT))
    assert found
    for reference in found:
        assert reference.startswith("#/components/"), reference
        assert isinstance(contract().resolve({"$ref": reference}), dict), reference


def test_components_are_all_used():
    used = set(references(DOCUMENT))
    for kind in ("parameters", "headers", "responses", "schemas"):
        for name in DOCUMENT["components"][kind]:
            assert f"#/components/{kind}/{name}" in used


def test_schemas_are_json_schema():
    for where, schema in schemas():
        jsonschema.Draft202012Validator.check_schema(schema)
        assert isinstance(schema, dict), where


def test_schemas_use_known_keywords():
    for where, schema in all_subschemas():
        keywords = {name for name in schema if not name.startswith("x-")}
        assert keywords <= KEYWORDS, (where, keywords - KEYWORDS)


def test_required_members_are_described():
    for where, schema in all_subschemas():
        if "properties" in schema:
            assert set(schema.get("required", [])) <= set(schema["properties"]), where


def test_schemas_of_answers_are_closed():
    """A member that an answer has and the document lacks is then an error."""
    for where, schema in all_subschemas():
        top = where.split(".")[0]
        if "properties" not in schema or top in REQUESTS or FREE_FORM.search(where):
            continue
        assert schema.get("additionalProperties") is False, where


def test_examples_match_their_schema():
    count = 0
    for where, schema in all_subschemas():
        for name in ("example", "default"):
            if name in schema:
                assert not openapi.fault(schema, schema[name]), where
                count += 1
    for where, holder in [*media_types(), *messages(), *parameters_and_headers()]:
        for value in examples(holder):
            assert not openapi.fault(holder["schema"], value), (where, value)
            count += 1
    assert count > 100


def test_every_body_and_answer_has_an_example():
    for where, media in media_types():
        assert not unknown(media, "media"), where
        assert list(examples(media)), where
        for example in media.get("examples", {}).values():
            assert set(example) == KNOWN["example"], where


def test_problems_are_those_that_the_processes_send():
    """Status, slug and title of each example are those of libcommon/base/error.c."""
    text = (ROOT / "libcommon/base/error.c").read_text(encoding="utf-8")
    rows = set(re.findall(r'\{(\d{3}), ERR_CLASS_\w+,\s+"(\w+)",\s+"([^"]+)"', text))
    assert rows
    for name, response in DOCUMENT["components"]["responses"].items():
        for value in examples(response["content"]["application/problem+json"]) if "application/problem+json" in response.get("content", {}) else []:
            assert (str(value["status"]), value["error"], value["title"]) in rows, name


# ---- both ----


def test_the_document_describes_exactly_the_built_operations():
    assert sorted(DESCRIBED) == sorted(ids(TABLE))


@by_id(TABLE)
def test_row_and_description_agree(op):
    described = DESCRIBED[op.id]
    assert described.path == op.plain_path
    assert described.has_any_method == (op.method == "ANY")
    assert described.method == ("GET" if op.method == "ANY" else op.method)
    assert described.node.get("x-required-scope") == op.scope
    assert described.is_open == ("OPEN" in op.flags)
    assert ("requestBody" in described.node) == (op.body != "NONE")
    assert bool(described.parameter("header", "Idempotency-Key")) == ("CREATES" in op.flags)


# They need no key, and look at the request's cookie or the key in its body themselves.
OF_COOKIES = {"session_create": {401, 403}, "session_get": {401, 403}, "session_delete": {401, 403},
              "session_switch": {401, 403, 404}, "invitation_accept": {401, 403, 404, 409}}


@by_id(TABLE)
def test_statuses_follow_from_the_row(op):
    described = DESCRIBED[op.id]
    statuses = {int(status) for status in described.node["responses"]}
    if "GONE" in op.flags:
        assert statuses == {410}
        return
    success = 201 if op.id in CREATED else 202 if op.id in ACCEPTED else REDIRECTS.get(op.id, 200)
    expected = {success, 500} | ({201} if op.id in MERGED else set()) | ({200} if op.id == "result_create" else set())  # a trial is not stored
    if op.method == "GET" and (op.parameters or op.id in ("openapi_get", "recommendations_digest_get")) and op.id not in SECRET:
        expected.add(304)
    if op.scope:
        expected |= {401, 403, 429, 502, 503, 504}
    else:
        expected |= {429} if op.service == "GATEWAY" else {429, 502, 503, 504}
        expected |= {401} if op.id == "code_host_webhook" else set()  # it has a signature
    expected |= OF_COOKIES.get(op.id, set())
    if op.id in OF_PROVIDER:
        expected |= {404, 502, 503, 504} | OF_PROVIDER[op.id]
    if op.body != "NONE":
        expected |= {400, 413, 415}
    if "CREATES" in op.flags:
        expected |= {409, 422}
    if any(p["in"] in ("path", "query") for p in described.parameters):
        expected.add(400)
    # PUT of an asset creates it when it does not exist; an account always exists.
    if op.parameters and op.id != "asset_put" or op.id in ABSENT:
        expected.add(404)
    assert bool(described.parameter("header", "If-Match")) == ("VERSIONED" in op.flags)
    if "VERSIONED" in op.flags:
        expected.add(412)
    if op.id in CONFLICTING:
        expected.add(409)
    if op.id in EXPORTED:
        expected |= {406} | ({304} if op.method == "GET" and op.id not in STREAMED else set())
    if op.id in EMPTY:
        expected.add(204)
    # An identity that is the caller's already is not created again.
    if op.id == "identity_link_create":
        expected.add(200)
    assert statuses == expected


def test_lists_are_pages():
    for op in DESCRIBED.values():
        answer = op.node["responses"].get("200", {})
        schema = answer.get("content", {}).get("application/json", {}).get("schema", {})
        is_page = op.method == "GET" and schema.get("type") == "array" or op.id in ("api_keys_list", "recommendations_digest_get")
        is_page = is_page and op.id not in ("asset_similar_list", "interest_quality_get", "people_list")  # the best of all papers; weeks; who was asked for
        assert is_page == (op.parameter("query", "offset") is not None), op.id
        is_counted = is_page or op.id == "asset_search"  # its offset is in the body
        assert is_counted == ("X-Total-Count" in answer.get("headers", {})), op.id
        assert is_page == ("Link" in answer.get("headers", {})), op.id
        limit = op.parameter("query", "limit")
        assert not is_page or limit is not None, op.id
        assert limit is None or limit["x-maximum"] >= limit["schema"]["default"], op.id
