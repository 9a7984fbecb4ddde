"""Every operation that changes something is in the audit log, or says here why it is not."""

import re

from lib.http import api_def
from lib.system.servers import ROOT

CHANGES = {
    "api_key_create": "key.created", "api_key_update": "key.updated", "api_key_delete": "key.deleted", "api_key_revoke": "key.revoked",
    "account_delete": "account.deleted", "account_create": "account.created", "team_update": "account.renamed",
    "session_create": "session.created", "session_delete": "session.ended", "session_end": "session.ended",
    "invitation_create": "invitation.created", "invitation_accept": "invitation.accepted", "invitation_delete": "invitation.revoked",
    "member_update": "member.role_changed", "member_delete": "member.removed", "tasks_retry": "task.retried",
    "experiment_create": "experiment.decided", "experiment_update": "experiment.decided", "experiment_delete": "experiment.deleted",
    "project_delete": "project.deleted", "implement_run": "run.triggered", "agent_pause": "agent.paused", "agent_resume": "agent.resumed",
    "interest_delete": "interest.deleted", "interest_provision": "provisioning.started", "feed_create": "feed.created", "feed_delete": "feed.deleted",
    "provision_cli_token_create": "key.created",
    "budget_put": "budget.changed", "budget_delete": "budget.changed", "installation_revoke": "installation.revoked", "fleet_trigger": "run.triggered",
    "app_create": "app.created", "app_delete": "app.deleted",
    "connection_create": "connection.connected", "connection_delete": "connection.disconnected", "model_key_connect": "model_key.connected",
    "webhook_create": "webhook.created", "webhook_update": "webhook.updated", "webhook_delete": "webhook.deleted",
    "webhook_secret_rotate": "webhook.secret_rotated", "email_confirm": "webhook.updated", "email_unsubscribe": "webhook.updated",
    "template_lock": "template.locked",
}

EXCEPT = {
    "work: what the account makes and does, which is shown where it is made, and not how it is set up": """
        result_create ticket_comment implement_report project_create project_update
        preference_model_refit interest_create interest_update interest_toggle recommendations_refresh
        asset_put search_harvest fork_create build_create build_cancel eval_run_create eval_run_cancel template_create template_update
        identity_link_create identity_link_delete webhook_test webhook_delivery_replay webhook_recover webhook_confirmation_create""",
    "feedback": "recommendation_feedback recommendation_feedback_delete inbox_dismiss",
    "telemetry, and what agents and workers report": """
        fleet_run_report fleet_run_admit fleet_run_delete build_claim build_heartbeat build_report eval_run_claim eval_run_heartbeat
        eval_result_deliver eval_hosted_result_deliver code_host_webhook""",
    "it changes nothing that lasts": """
        fleet_chat fleet_refresh fleet_run_analyze artifact_evidence_get inbox_digest_get app_manifest_create app_installation_confirm
        installation_token_create session_switch""",
    "it is gone": "account_tokens_root account_tokens_rest",
}


def changing():
    return {op.id for op in api_def.operations() if op.method != "GET" and "READS" not in op.flags}


def test_every_change_is_in_the_log_or_has_a_reason():
    reasoned = [id for ids in EXCEPT.values() for id in ids.split()]
    assert len(reasoned) == len(set(reasoned)) and not set(reasoned) & set(CHANGES)
    assert changing() == set(CHANGES) | set(reasoned)


def test_each_action_is_written_somewhere():
    sql = " ".join(path.read_text() for part in ("gateway", "libcommon", *(f"svc-{name}" for name in (
        "evalenv", "experiments", "fleet", "integrations", "interests"))) for path in (ROOT / part).rglob("*.sql"))
    written = set(re.findall(r"'([a-z_]+\.[a-z_]+)'", sql))
    assert sorted(set(CHANGES.values()) - written) == []
