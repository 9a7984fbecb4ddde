"""Which worker of pytest-xdist runs which black-box tests, and when: what takes longest begins first.

By itself `--dist loadfile` takes files in the order of their names, so that at the end one worker is alone with long files. The times
were measured (deploy/dev.d/slowest.py prints those of a run) and decide about the order alone: when a row is missing or no longer true,
a run takes longer, and nothing else happens. tests/lint.py checks that the files exist.
"""

from xdist.scheduler import LoadFileScheduling

# Files that share a cluster beside the usual one. One worker runs them all: each would start its own, and keep it to the end.
TOGETHER = {
    "svc-interests": ["api/svc-interests/"],
    "mcp": ["api/gateway/mcp/"],
    "cli": ["api/cli/"],
    "pair": [
        "api/gateway/test_provisioned_keys.py", "api/gateway/test_sessions.py", "api/svc-integrations/test_refresh.py",
        "fault/test_evalenv.py", "fault/test_events.py", "fault/test_replicas.py", "fault/test_telemetry.py", "fault/test_webhooks.py",
    ],
}  # fmt: skip

# Seconds of one worker, with AddressSanitizer, on a machine of two processors that three workers share.
SECONDS = {
    "svc-interests": 500,
    "mcp": 220,
    "pair": 230,
    "cli": 160,
    "api/console/test_pages.py": 400,
    "api/system/provisioning/test_workflow_trust.py": 263,
    "api/system/provisioning/test_workflow.py": 224,
    "api/console/test_work.py": 209,
    "fault/test_backup.py": 200,
    "fault/test_search_index.py": 150,
    "fault/test_restore.py": 124,
    "api/svc-fleet/test_reservations.py": 120,
    "api/system/test_invalid_input.py": 110,
    "api/svc-search/test_embeddings.py": 103,
    "fault/test_rotation.py": 100,
    "api/system/provisioning/test_provisioning.py": 92,
    "api/system/provisioning/test_killed.py": 91,
    "api/system/provisioning/test_workflow_secrecy.py": 85,
    "api/svc-experiments/test_run.py": 80,
    "fault/test_search_histories.py": 80,
    "api/system/isolation/test_other_accounts.py": 70,
    "api/system/provisioning/test_renewal.py": 65,
    "api/svc-search/test_harvester.py": 65,
    "api/system/isolation/test_stolen_processes.py": 65,
    "api/system/isolation/test_account_deletion.py": 60,
    "api/svc-integrations/test_notify_killed.py": 55,
    "fault/test_frozen_postgres.py": 45,
    "fault/test_vanished_node.py": 45,
}

SECONDS_PER_TEST = 0.2  # of the others


class LongestFirst(LoadFileScheduling):
    def _split_scope(self, nodeid):
        path = super()._split_scope(nodeid)
        return next((unit for unit, files in TOGETHER.items() if path.startswith(tuple(files))), path)

    def _assign_work_unit(self, node):
        longest = max(self.workqueue, key=lambda unit: SECONDS.get(unit, SECONDS_PER_TEST * len(self.workqueue[unit])))
        self.workqueue.move_to_end(longest, last=False)
        super()._assign_work_unit(node)
