"""A process whose log is not read."""

import json
import os
import socket
import threading

from lib.wait import PATIENCE_SECONDS, wait_for

REQUEST = b"GET /api/v1.0/no-such-path HTTP/1.1\r\nHost: a\r\n\r\n"
BURST = 100  # requests in the pipeline of one connection


def dropped(process):
    return process.metric("expops_log_lines_dropped_total")


def read_status(answers):
    """Read one answer; returns its status."""
    status, length = int(answers.readline().split()[1]), 0
    while (line := answers.readline().lower()) != b"\r\n":
        if line.startswith(b"content-length:"):
            length = int(line.partition(b":")[2])
    answers.read(length)
    return status


def test_a_log_that_is_not_read_costs_lines_and_no_request(cluster):
    process = cluster.separate("gateway", "stalled-log", LOG_LEVEL="debug", RATE_LIMIT="0")
    reader, writer = os.pipe()
    process.start(stdout=writer)
    os.close(writer)
    process.wait_ready()

    with socket.create_connection(("127.0.0.1", process.port), timeout=PATIENCE_SECONDS) as connection:
        answers = connection.makefile("rb")
        while not dropped(process):
            connection.sendall(REQUEST * BURST)
            for _ in range(BURST):
                assert read_status(answers) == 404

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
