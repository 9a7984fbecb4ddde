"""tests/lib/http/contract.py accepts valid responses and refuses invalid ones."""

import httpx
import pytest

from lib.http.contract import Contract, ContractError

DOCUMENT = {
    "openapi": "3.1.0",
    "paths": {
        "/things/{thing_id}": {
            "get": {
                "operationId": "thing_get",
                "responses": {
                    "200": {
                        "headers": {"X-Total-Count": {"required": True, "schema": {"type": "integer"}}},
                        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}},
                    },
                    "204": {},
                    "503": {"content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}},
                },
            }
        },
        "/things/list": {"get": {"operationId": "things_list", "responses": {"204": {}}}},
    },
    "components": {
        "schemas": {
            "Thing": {
                "type": "object",
                "additionalProperties": False,
                "required": ["id"],
                "properties": {
                    "id": {"type": "string", "format": "uuid"},
                    "at": {"type": ["string", "null"], "format": "date-time"},
                    "parent": {"$ref": "#/components/schemas/Thing"},
                },
            },
            "Problem": {"type": "object", "required": ["error"]},
        }
    },
}
ID = "019c1363-49c0-781f-a8e2-5d940ed90475"


def check_response(path, status, body=None, *, total="3", content_type="application/json"):
    headers = {"X-Total-Count": total} if total else {}
    answer = httpx.Response(status, headers=headers) if body is None else httpx.Response(status, json=body, headers=headers)
    if body is not None:
        answer.headers["Content-Type"] = content_type
    Contract(DOCUMENT).check("GET", path, answer)


def check_unavailable(error, **headers):
    headers |= {"Content-Type": "application/problem+json"}
    Contract(DOCUMENT).check("GET", "/things/1", httpx.Response(503, json={"error": error, "status": 503}, headers=headers))


def test_valid_responses_are_accepted():
    check_response("/things/1?x=2", 200, {"id": ID, "at": "2026-01-31T09:30:00.000Z", "parent": {"id": ID, "at": None}})
    check_response("/things/1", 204)
    check_response("/things/list", 204)
    check_response("/nowhere", 404, {"error": "not_found", "status": 404}, content_type="application/problem+json")


@pytest.mark.parametrize(
    "path, status, body, options",
    [
        ("/things/1", 200, {}, {}),
        ("/things/1", 200, {"id": "x"}, {}),
        ("/things/1", 200, {"id": ID, "at": "2026-01-31T09:30:00Z"}, {}),
        ("/things/1", 200, {"id": ID, "parent": {"id": 1}}, {}),
        ("/things/1", 200, {"id": ID, "more": 1}, {}),
        ("/things/1", 200, {"id": ID}, {"total": None}),
        ("/things/1", 200, {"id": ID}, {"total": "many"}),
        ("/things/1", 200, {"id": ID}, {"content_type": "text/plain"}),
        ("/things/1", 204, {"id": ID}, {}),
        ("/things/1", 201, {"id": ID}, {}),
        ("/things/1", 500, {"error": "internal", "status": 500}, {"content_type": "application/problem+json"}),
        ("/things/list", 200, {"id": ID}, {}),
        ("/things/1", 404, {"error": "not_found", "status": 400}, {"content_type": "application/problem+json"}),
        ("/things/1", 404, {"error": "not_found", "status": 404}, {}),
        ("/things/1/more", 200, {"id": ID}, {}),
    ],
)
def test_invalid_responses_are_refused(path, status, body, options):
    with pytest.raises(ContractError):
        check_response(path, status, body, **options)


def test_only_what_was_not_done_is_to_be_repeated():
    again = {"Retry-After": "1"}
    check_unavailable("unavailable", **again)
    check_unavailable("outcome_uncertain")
    with pytest.raises(ContractError, match="has no Retry-After"):
        check_unavailable("unavailable")
    with pytest.raises(ContractError, match="has a Retry-After"):
        check_unavailable("outcome_uncertain", **again)
