"""The interfaces of two model providers, Messages of Anthropic and Responses of OpenAI, whose answer is a line of text and what it cost
in tokens. A request without one of `keys` is refused as the providers refuse it."""

import json

from lib.outside.stub_server import StubServer

TEXT = "Done."
TOKENS = {"fresh": 1000, "written": 200, "read": 300, "out": 50}


def events(*documents):
    """Server-sent events, each named by its type."""
    return "".join(f"event: {document['type']}\ndata: {json.dumps(document)}\n\n" for document in documents)


def messages(model):
    usage = {"input_tokens": TOKENS["fresh"], "cache_creation_input_tokens": TOKENS["written"],
             "cache_read_input_tokens": TOKENS["read"], "output_tokens": 1}  # fmt: skip
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": model, "content": [], "stop_reason": None,
               "stop_sequence": None, "usage": usage}  # fmt: skip
    return events(
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": TEXT}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": None}, "usage": {"output_tokens": TOKENS["out"]}},
        {"type": "message_stop"},
    )


def responses(model):
    text = {"type": "output_text", "text": TEXT, "annotations": []}
    item = {"type": "message", "id": "item_1", "role": "assistant", "status": "completed", "content": [text]}
    usage = {"input_tokens": TOKENS["fresh"] + TOKENS["read"], "input_tokens_details": {"cached_tokens": TOKENS["read"]},
             "output_tokens": TOKENS["out"], "output_tokens_details": {"reasoning_tokens": 0},
             "total_tokens": TOKENS["fresh"] + TOKENS["read"] + TOKENS["out"]}  # fmt: skip
    response = {"id": "resp_1", "object": "response", "created_at": 1, "model": model, "status": "in_progress", "output": []}
    at = {"item_id": "item_1", "output_index": 0, "content_index": 0}
    return events(
        {"type": "response.created", "response": response},
        {"type": "response.output_item.added", "output_index": 0, "item": {**item, "status": "in_progress", "content": []}},
        {"type": "response.content_part.added", **at, "part": {**text, "text": ""}},
        {"type": "response.output_text.delta", **at, "delta": TEXT},
        {"type": "response.output_text.done", **at, "text": TEXT},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": {**response, "status": "completed", "output": [item], "usage": usage}},
    )


INTERFACES = {"/messages": messages, "/responses": responses}


class ModelApi(StubServer):
    def __init__(self, key):
        self.key = key
        super().__init__(self.serve)

    def serve(self, request):
        path = request.path.partition("?")[0]
        interface = next((answer for end, answer in INTERFACES.items() if path.endswith(end)), None)
        if self.key not in (request.headers.get("x-api-key"), request.headers.get("Authorization", "").removeprefix("Bearer ")):
            error = {"type": "authentication_error", "message": "invalid key"}
            request.reply(401, json.dumps({"type": "error", "error": error}), Content_Type="application/json")
        elif interface and request.command == "POST":
            request.reply(200, interface(json.loads(request.body)["model"]), Content_Type="text/event-stream")
        else:
            request.reply(404, json.dumps({"type": "error", "error": {"type": "not_found_error", "message": path}}))
