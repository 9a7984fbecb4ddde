"""A process whose log is not read."""

import json
import os
import threading

import httpx

from lib.wait import wait_for

LINES_PER_BURST = 500


def dropped(process):
    return process.metric("expops_log_lines_dropped_total")


def test_a_log_that_is_not_read_costs_lines_and_no_request(cluster):
    process = cluster.separate("gateway", "stalled-log", LOG_LEVEL="debug", RATE_LIMIT="0")
    reader, writer = os.pipe()
    process.start(stdout=writer)
    os.close(writer)
    process.wait_ready()

    with httpx.Client(base_url=process.url, timeout=120) as client:
        while not dropped(process):
            for _ in range(LINES_PER_BURST):
                assert client.get("/api/v1.0/no-such-path").status_code == 404

    lines = []
    log = os.fdopen(reader)
    thread = threading.Thread(target=lambda: lines.extend(map(json.loads, log)))
    thread.start()
    wait_for(lambda: any("dropped" in line["message"] for line in lines), "the log says that lines were dropped")
    assert sum(line["lines"] for line in lines if "dropped" in line["message"]) <= dropped(process)
    process.stop()
    thread.join()
    log.close()
    assert lines[-1]["message"] == "stopped"
    assert process.check() == []
