"""A collector of traces. What it is sent is read by the protocol's own definition (OTLP, opentelemetry-proto)."""

import base64
import json
import threading

from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from lib.outside.stub_server import StubServer
from lib.wait import PATIENCE_SECONDS

IDS = ("traceId", "spanId", "parentSpanId")


def request_of(text):
    """The message that the JSON stands for. Members that the protocol does not know, and values of another type, are refused.

    OTLP writes ids in hex where the JSON of Protocol Buffers has base64."""
    document = json.loads(text)
    for resource in document["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            for span in scope["spans"]:
                span.update({name: base64.b64encode(bytes.fromhex(span[name])).decode() for name in IDS if name in span})
    return json_format.ParseDict(document, ExportTraceServiceRequest())


class Span:
    def __init__(self, process, span):
        self.process, self.name, self.kind = process, span.name, span.kind
        self.trace, self.id, self.parent = span.trace_id.hex(), span.span_id.hex(), span.parent_span_id.hex()
        self.started, self.ended, self.has_failed = span.start_time_unix_nano, span.end_time_unix_nano, span.status.code == 2
        self.attributes = values_of(span.attributes)

    def __repr__(self):
        return f"{self.process}:{self.name} {self.attributes}"


def values_of(attributes):
    return {one.key: getattr(one.value, one.value.WhichOneof("value")) for one in attributes}


class Collector:
    """`spans` are those that it has taken. `status` is what it answers; while `answers` is cleared, it does not answer."""

    def __init__(self):
        self.status, self.spans, self.requests = 200, [], []
        self.answers = threading.Event()
        self.answers.set()
        self.server = StubServer(self.answer)
        self.url, self.close = self.server.url, self.server.close

    def answer(self, request):
        self.requests.append((request.command, request.path, dict(request.headers)))
        self.answers.wait(PATIENCE_SECONDS)
        if self.status == 200:
            for resource in request_of(request.body).resource_spans:
                process = values_of(resource.resource.attributes)["service.name"]
                self.spans += [Span(process, span) for scope in resource.scope_spans for span in scope.spans]
        request.reply(self.status, "{}", Content_Type="application/json")

    def of(self, request_id):
        return [span for span in self.spans if span.attributes.get("expops.request_id") == request_id]

    def trace(self, trace):
        return [span for span in self.spans if span.trace == trace]
