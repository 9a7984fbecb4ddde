"""deploy/k8s lets each process reach those that it calls, and no others. tests/deploy has what kustomize makes of it."""

import pytest
import yaml

from lib.check.network_policies import reached
from lib.system.servers import ROOT, read_processes

PROCESSES = [name for name, _, _ in read_processes()]


@pytest.fixture(scope="module")
def policies():
    documents = yaml.safe_load_all((ROOT / "deploy" / "k8s" / "base" / "network.yaml").read_text(encoding="utf-8"))
    return {document["metadata"]["name"]: document for document in documents}


@pytest.mark.parametrize("process", PROCESSES)
def test_a_process_reaches_just_what_it_calls(cluster, policies, process):
    assert reached(policies[process], "egress") == sorted(cluster.calls[process])
    callers = [caller for caller in PROCESSES if process in cluster.calls[caller]]
    assert process == "gateway" or reached(policies[process], "ingress") == sorted(callers)
