"""Which worker of pytest-xdist runs which black-box tests, and when: what takes longest begins first.

By itself `--dist loadfile` takes files in the order of their names, so that at the end one worker is alone with long files. The times
were measured (deploy/dev.d/slowest.py prints those of a run) and decide about the order alone: when a row is missing or no longer true,
a run takes longer, and nothing else happens. tests/lint.py checks that the files exist.
"""

from xdist.scheduler import LoadFileScheduling

# Files that share a cluster beside the usual one. One worker runs them all: each would start its own. It ends after the last.
TOGETHER = {
    "svc-interests": ["api/svc-interests/"],
    "mcp": ["api/gateway/mcp/"],
    "cli": ["api/cli/"],
    "console": ["api/console/"],
    "fault": [
        "fault/test_audit.py", "fault/test_connections.py", "fault/test_embeddings.py", "fault/test_failover.py",
        "fault/test_fleet_alone.py", "fault/test_frozen_postgres.py", "fault/test_frozen_replica.py", "fault/test_keys.py",
        "fault/test_killed_request.py", "fault/test_postgres_partition.py", "fault/test_restart.py", "fault/test_roles.py",
        "fault/test_search_histories.py", "fault/test_search_index.py", "fault/test_shutdown.py",
        "fault/test_slow_readers.py", "fault/test_slow_upload.py", "fault/test_stalled_log.py", "fault/test_told_faults.py",
        "fault/test_unfinished_bodies.py", "fault/test_vanished_node.py",
    ],
    "pair": [
        "api/gateway/test_provisioned_keys.py", "api/gateway/test_sessions.py", "api/svc-integrations/test_refresh.py",
        "fault/test_evalenv.py", "fault/test_events.py", "fault/test_replicas.py", "fault/test_telemetry.py", "fault/test_webhooks.py",
    ],
}  # fmt: skip

# Seconds of one worker, with AddressSanitizer, on a machine of two processors that three workers share.
SECONDS = {
    "console": 609,
    "fault": 600,
    "svc-interests": 500,
    "mcp": 220,
    "pair": 230,
    "cli": 160,
    "api/system/provisioning/test_workflow_trust.py": 263,
    "api/system/provisioning/test_workflow.py": 224,
    "fault/test_backup.py": 230,
    "fault/test_restore.py": 124,
    "api/svc-fleet/test_reservations.py": 120,
    "api/system/test_invalid_input.py": 110,
    "api/svc-search/test_embeddings.py": 103,
    "fault/test_rotation.py": 100,
    "api/system/provisioning/test_provisioning.py": 92,
    "api/system/provisioning/test_killed.py": 91,
    "api/system/provisioning/test_workflow_secrecy.py": 85,
    "api/svc-experiments/test_run.py": 80,
    "api/system/isolation/test_other_accounts.py": 70,
    "api/system/provisioning/test_renewal.py": 65,
    "api/svc-search/test_harvester.py": 65,
    "api/system/isolation/test_stolen_processes.py": 65,
    "api/system/isolation/test_account_deletion.py": 60,
    "api/svc-integrations/test_notify_killed.py": 55,
}

SECONDS_PER_TEST = 0.2  # of the others


def unit_of(nodeid):
    """The name of the files that share a cluster, or else the file."""
    path = nodeid.partition("::")[0]
    return next((unit for unit, files in TOGETHER.items() if path.startswith(tuple(files))), path)


class LongestFirst(LoadFileScheduling):
    def _split_scope(self, nodeid):
        return unit_of(nodeid)

    def _assign_work_unit(self, node):
        longest = max(self.workqueue, key=lambda unit: SECONDS.get(unit, SECONDS_PER_TEST * len(self.workqueue[unit])))
        self.workqueue.move_to_end(longest, last=False)
        super()._assign_work_unit(node)
