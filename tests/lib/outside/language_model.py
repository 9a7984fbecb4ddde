"""A language model with an OpenAI-compatible interface, whose answers the tests choose, and the answers that are unusable."""

import json
import threading
from contextlib import contextmanager

from lib.outside.stub_server import StubServer

KEY = "sk-do-not-tell-the-model-key"
NAME = "small-model"


def completion(content, **choice):
    message = {"role": "assistant", "content": content}
    return json.dumps({"object": "chat.completion", "choices": [{"index": 0, "message": message, **choice}]})


class LanguageModel:
    """say() sets its answer; `reply(request)` can be replaced to send any answer. `prompts` lists the bodies it got."""

    def __init__(self):
        self.stub = StubServer(lambda request: self.reply(request))
        self.say("I have nothing to say.")

    @property
    def calls(self):
        return len(self.stub.requests)

    @property
    def prompts(self):
        return [json.loads(body) for _, _, _, body in list(self.stub.requests)]

    def say(self, content, **choice):
        text = completion(content, **choice)
        self.reply = lambda request: request.reply(200, text, Content_Type="application/json")

    def hold(self, content="late"):
        """Answer nothing until the returned event is set, and then this."""
        go_on = threading.Event()
        text = completion(content)
        self.reply = lambda request: go_on.wait() and request.reply(200, text)
        return go_on

    def settings(self, **changes):
        return {"LLM_URL": self.stub.url + "/v1", "LLM_MODEL": NAME, "LLM_KEY": KEY, "LLM_TIMEOUT": "25s", **changes}

    def close(self):
        self.stub.close()


@contextmanager
def run_with(model, cluster, service, label, **changes):
    """A replica of the service, on its own port, that uses the model."""
    process = cluster.separate(service, f"llm-{label}", **model.settings(**changes))
    process.start()
    process.wait_ready()
    yield process
    process.stop()
    assert process.check() == []


def blocks(prompt):
    """The blocks of data in the prompt of svc-fleet, as {name: value}. Fails if something stands
    between them."""
    system, user = prompt["messages"]
    assert (system["role"], user["role"]) == ("system", "user")
    text, found = user["content"], {}
    while text:
        name, rest = text.removeprefix("<").split(">\n", 1)
        value, text = rest.split(f"\n</{name}>\n", 1)
        assert "<" not in value and name not in found
        found[name] = json.loads(value)
    return found


# After these the model is left alone for a while.
AWAY_ANSWERS = {
    "error": lambda request: request.reply(500, "oops"),
    "overloaded": lambda request: request.reply(429, "{}", Retry_After="1"),
    "wrong key": lambda request: request.reply(401, "{}"),
    "cut": lambda request: request.cut('{"choices": [{'),
    "moved": lambda request: request.reply(302, "", Location="/v1/chat/completions"),
}

# After these it is asked again at once.
UNUSABLE_ANSWERS = {
    "refused": lambda request: request.reply(400, "{}"),
    "text": lambda request: request.reply(200, "not JSON"),
    "list": lambda request: request.reply(200, "[]"),
    "no choice": lambda request: request.reply(200, '{"choices": []}'),
    "choice of another kind": lambda request: request.reply(200, '{"choices": [5]}'),
    "no text": lambda request: request.reply(200, completion(None)),
    "blank": lambda request: request.reply(200, completion(" \n")),
    "refusal": lambda request: request.reply(200, '{"choices": [{"message": {"content": "", "refusal": "No."}}]}'),
    "too much": lambda request: request.reply(200, completion("x" * 500_000)),
    "too long": lambda request: request.reply(200, completion("x" * 50_000)),
    "not HTTP": lambda request: request.wfile.write(b"what?\r\n\r\n"),
}
