"""Traces, as a collector gets them: a request through the gateway, the task that it starts, and calls in between."""

import re
import secrets

import pytest

from lib.http.client import Api
from lib.system.cluster import Cluster
from lib.outside.collector import Collector
from lib.fixtures import run_cluster
from lib.wait import PATIENCE_SECONDS, wait_for

SERVER, CLIENT, CONSUMER = 2, 3, 5


class TracedCluster(Cluster):
    """Records every trace that begins in it."""

    def __init__(self, collector):
        self.collector = collector
        super().__init__()

    def settings(self, name, replica=0, **changes):
        traces = {
            "OTEL_EXPORTER_OTLP_ENDPOINT": f"{self.collector.url}/",
            "OTEL_EXPORTER_OTLP_HEADERS": "X-Tenant=a%20b,X-Other=c",
            "OTEL_TRACES_SAMPLER_ARG": "1",
        }
        return super().settings(name, replica, **{**traces, **changes})


@pytest.fixture(scope="module")
def collector():
    made = Collector()
    yield made
    made.close()


@pytest.fixture(scope="module")
def cluster(collector):
    with run_cluster(TracedCluster(collector)) as made:
        yield made


def traceparent(flags):
    return f"00-{secrets.token_hex(16)}-{secrets.token_hex(8)}-{flags}"


def only(spans, **members):
    found = [span for span in spans if all(getattr(span, name) == value for name, value in members.items())]
    assert len(found) == 1, (members, spans)
    return found[0]


def test_a_request_its_task_and_their_calls_are_one_trace(collector, api):
    api.post("/interests", {"name": "Traced", "context": "retrieval"}, expect=201)
    answer = api.post("/papers/recommended/refresh", {"num_results": 1}, expect=202)
    api.wait_task(answer)
    request_id = answer.headers["X-Request-Id"]
    task = wait_for(lambda: [span for span in collector.of(request_id) if span.kind == CONSUMER], "the span of the task")[0]
    spans = wait_for(lambda: (found := collector.trace(task.trace)) and {span.process for span in found} >= {"gateway", "svc-interests"} and found, "the trace")
    edge = only(spans, process="gateway", kind=SERVER)
    call = only(spans, process="gateway", kind=CLIENT)
    service = only(spans, process="svc-interests", kind=SERVER)
    assert (edge.parent, call.parent, service.parent, task.parent) == ("", edge.id, call.id, edge.id)
    assert edge.name == service.name == "recommendations_refresh" and call.name == "svc-interests"
    assert edge.attributes["http.request.method"] == "POST" and edge.attributes["http.response.status_code"] == 202
    assert edge.started <= call.started <= service.started and service.ended <= edge.ended + 1_000_000
    assert task.attributes["expops.task.outcome"] == "completed" and not task.has_failed


def test_a_call_between_services(collector, api):
    """The job of an interest asks svc-search for papers."""
    answer = api.post("/interests", {"name": "Pool", "context": "language models"}, expect=201)
    request_id = answer.headers["X-Request-Id"]
    task = wait_for(lambda: [span for span in collector.of(request_id) if span.kind == CONSUMER], "the span of the task")[0]

    def pair():
        spans = collector.trace(task.trace)
        calls = [span for span in spans if span.process == "svc-interests" and span.kind == CLIENT]
        return [(call, span) for call in calls for span in spans if span.parent == call.id and span.process == "svc-search"]

    call, asked = wait_for(pair, "the call of svc-search")[0]
    assert call.parent == task.id and call.name == "POST svc-search" and call.attributes["http.response.status_code"] == 200
    assert asked.kind == SERVER


def test_the_client_decides_when_it_sends_a_trace(collector, api):
    sampled, unsampled = traceparent("01"), traceparent("00")
    for header in (unsampled, sampled):
        api.get("/search/stats", headers={"traceparent": header}, expect=200)
    trace = sampled.split("-")[1]
    spans = wait_for(lambda: len(found := collector.trace(trace)) >= 3 and found, "the trace of the client")
    assert only(spans, process="gateway", kind=SERVER).parent == sampled.split("-")[2]
    assert collector.trace(unsampled.split("-")[1]) == []


def test_a_failure_is_told(collector, api):
    answer = api.get(f"/experiments/{'0' * 8}-0000-7000-8000-{'0' * 12}", expect=404)
    spans = wait_for(lambda: len(found := collector.of(answer.headers["X-Request-Id"])) == 2 and found, "both spans")
    service = only(spans, process="svc-experiments")
    assert service.attributes["error.type"] == "not_found" and not service.has_failed
    assert only(spans, process="gateway").attributes["http.response.status_code"] == 404


def test_requests_to_the_collector(collector):
    wait_for(lambda: collector.requests, "a request")
    method, path, headers = collector.requests[0]
    assert (method, path, headers["Content-Type"], headers["X-Tenant"], headers["X-Other"]) == (
        "POST", "/v1/traces", "application/json", "a b", "c",
    )  # fmt: skip


def spans_of(process, outcome):
    found = re.search(rf'^expops_spans_total{{outcome="{outcome}"}} (\d+)', process.metrics(), re.M)
    return int(found[1]) if found else 0


def test_a_collector_that_refuses_costs_no_request(cluster, collector, api):
    gateway = cluster["gateway"][0]
    wait_for(lambda: spans_of(gateway, "sent") > 0, "spans were sent")
    before = spans_of(gateway, "refused")
    collector.status = 400
    try:
        api.get("/search/stats", expect=200)
        wait_for(lambda: spans_of(gateway, "refused") > before, "spans are refused")
    finally:
        collector.status = 200
    assert "the collector does not take traces" in gateway.log()


def test_spans_are_sent_again_when_the_collector_is_back(collector, api):
    collector.status = 503
    answer = api.get("/search/stats", expect=200)
    seen = len(collector.requests)
    wait_for(lambda: len(collector.requests) > seen, "the collector is asked")
    collector.status = 200
    wait_for(lambda: collector.of(answer.headers["X-Request-Id"]), "the spans arrive")


def test_what_waits_is_sent_at_the_end(cluster, collector, user):
    gateway = cluster.separate("gateway", "traced")
    gateway.start()
    try:
        wait_for(gateway.is_ready, "the gateway")
        answer = Api(f"http://{gateway.env['LISTEN']}", user.key).get("/account/api-keys", expect=200)
    finally:
        gateway.stop()
    assert only(collector.of(answer.headers["X-Request-Id"]), process="gateway").name == "api_keys_list"


def test_a_second_signal_does_not_end_a_process_that_sends_its_last_traces(cluster, collector, user):
    gateway = cluster.separate("gateway", "signalled")
    gateway.start()
    wait_for(gateway.is_ready, "the gateway")
    collector.answers.clear()
    try:
        Api(f"http://{gateway.env['LISTEN']}", user.key).get("/account/api-keys", expect=200)
        gateway.terminate()
        wait_for(lambda: '"message":"stopped"' in gateway.log(), "the gateway has stopped")
        gateway.terminate()
        assert gateway.popen.wait(PATIENCE_SECONDS) == 0
    finally:
        collector.answers.set()
        gateway.stop()


def test_a_wrong_endpoint_is_refused(cluster):
    with pytest.raises(RuntimeError, match="OTEL_EXPORTER_OTLP_ENDPOINT: must be http"):
        cluster.run("gateway", "--show-config", OTEL_EXPORTER_OTLP_ENDPOINT="collector:4317")
