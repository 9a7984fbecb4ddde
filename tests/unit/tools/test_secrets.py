"""deploy/secrets gives each pair of processes that call each other a secret, which needs no container to be seen."""

import subprocess
from pathlib import Path

from lib.http.api_def import all_operations, internal_operations, process_of, public_callers, services

ROOT = Path(__file__).resolve().parents[3]
PROCESSES = [process_of(symbol) for symbol in services()]


def called():
    """{process: those that it calls}"""
    service_of = {operation.id: process_of(operation.service) for operation in all_operations()}
    pairs = {(caller, service) for _, _, service, callers in internal_operations() for caller in callers}
    pairs |= {(caller, service_of[operation]) for operation, callers in public_callers().items() for caller in callers}
    pairs |= {("gateway", process) for process in PROCESSES if process != "gateway"}
    return {process: sorted(callee for caller, callee in pairs if caller == process) for process in PROCESSES}


def test_every_pair_has_a_secret(tmp_path):
    subprocess.run([ROOT / "deploy/secrets", tmp_path], check=True)
    files = {process: tmp_path / process / "IDENTITY_SIGN_SECRETS" for process in PROCESSES}
    entries = {process: path.read_text().split() if path.exists() else [] for process, path in files.items()}
    assert {process: sorted(entry.partition("=")[0] for entry in found) for process, found in entries.items()} == called()
