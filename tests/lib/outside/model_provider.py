"""The model providers, which the tests replace by one server. A key that begins with `good-` is accepted."""

import json
import threading

from lib.outside.stub_server import StubServer

NAMES = ["ANTHROPIC", "OPENAI", "GOOGLE", "MOONSHOT", "ZAI"]

# The field that carries the key, in order of preference.
FIELDS = ["x-api-key", "x-goog-api-key", "authorization"]


def key_of(headers):
    fields = {name.lower(): value for name, value in headers.items()}
    return next((fields[name].removeprefix("Bearer ") for name in FIELDS if name in fields), "")


class ModelProvider(StubServer):
    """`requests` lists what it was asked. `hold()` lets answers wait until release(); `status` of another number than 200
    is given to every key."""

    def __init__(self, port=0):
        super().__init__(self.answer_models, port=port)
        self.status, self.message = 200, "invalid x-api-key"
        self.open = threading.Event()
        self.open.set()

    def answer_models(self, request):
        self.open.wait()
        is_good = key_of(request.headers).startswith("good-")
        status = self.status if self.status != 200 else 200 if is_good else 401
        answer = {"data": []} if status == 200 else {"error": {"type": "error", "message": self.message}}
        request.reply(status, json.dumps(answer))

    def settings(self):
        return {f"{name}_URL": self.url for name in NAMES}

    def hold(self):
        self.open.clear()

    def release(self):
        self.open.set()

    def asked(self, key):
        """The requests that carried this key: [(method, path)]."""
        return [(method, path) for method, path, headers, _ in self.requests if key_of(headers) == key]
