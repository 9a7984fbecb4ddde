"""Somebody has a key, and names what is not the key's: the objects of another account or, with a limited key, of the rest of its own.
They are as if absent: nothing of them is shown or changed. Generated from api.def: each operation is called with each kind of key."""

import uuid
from dataclasses import dataclass

import pytest

from lib.http import api_def
from lib.http.api_def import by_id
from lib.scenario.possessions import EXTERNAL_ID, MARK, PAPER, RUN, Possessions
from lib.scenario.provisioning import new_team
from lib.tables import gateway as gateway_tables
from lib.tables.owned_rows import OwnedRows
from lib.wait import wait_for

OPERATIONS = [op for op in api_def.operations() if op.method != "ANY"]

ABSENT = {403, 404}             # what the path names is another's
REFUSED = {400, 403, 404, 409}  # what the body or the query names is
OWN = {200, 201, 202, 204, 304} | REFUSED  # it names nothing of others, or may name what it likes: what it shows is the key's own
OPENED = {200, 401, 410}        # needs no key


@dataclass
class Call:
    """`query` and `body`: functions of the Possessions."""

    expect: set
    query: object = lambda victim: {}
    body: object = lambda victim: None


def absent(body=None):
    return Call(ABSENT, body=lambda victim: body)


def refused(body):
    return Call(REFUSED, body=body)


def own(query=lambda victim: {}, body=lambda victim: None):
    return Call(OWN, query, body)


def of_repo(victim):
    return {"repo": victim.repo}


def in_experiment(victim):
    return {"template_id": victim.ids["template_id"], "build_id": victim.ids["build_id"],
            "params": {"experiment_id": victim.ids["experiment_id"]}}


CALLS = {
    "api_keys_list": own(),
    "api_key_create": own(body=lambda v: {"name": "k", "kind": "automation", "repo": v.repo, "interest_id": v.interest}),
    "api_key_update": absent({"name": "mine"}),
    "api_key_delete": absent(),
    "api_key_revoke": absent(),
    "api_key_usage_list": absent(),
    "account_delete": refused(lambda v: {"confirm": False, "user_id": v.account}),
    "accounts_list": own(),
    "audit_list": own(),
    "account_create": own(body=lambda v: {"name": "mine"}),
    "openapi_get": Call(OPENED),
    "version_get": Call(OPENED),
    "session_get": Call(OPENED),
    "session_create": Call(OPENED, body=lambda v: {"key": "usr_wrong"}),
    "session_delete": Call(OPENED),
    "session_login_get": Call(OPENED),
    "session_oidc_callback": Call({404}, query=lambda v: {"state": "a"}),
    "session_oidc_start": Call({404}),
    "session_switch": Call(OPENED, body=lambda v: {"account_id": v.account}),
    "sessions_list": own(),
    "session_end": absent(),
    "tasks_list": Call(REFUSED),
    "tasks_retry": refused(lambda v: {"account_id": v.account}),
    "tasks_summary_get": Call(REFUSED),
    "team_get": own(),
    "team_update": own(body=lambda v: {"name": "mine"}),
    "people_list": own(query=lambda v: {"ids": f"{v.ids['person_id']},{v.ids['key_id']}"}),
    "member_update": absent({"role": "viewer"}),
    "member_delete": absent(),
    "invitation_create": own(body=lambda v: {"email": "mine@example.org", "role": "viewer"}),
    "invitation_delete": absent(),
    "invitation_accept": Call(OPENED, body=lambda v: {"token": "x" * 43}),
    "experiments_list": own(query=lambda v: {"project_id": v.ids["project_id"]}),
    "experiment_create": refused(lambda v: {"name": "e", "project_id": v.ids["project_id"], "launch_context": {"target_repo": v.repo}}),
    "experiment_get": absent(),
    "experiment_update": absent({"name": "mine", "launch_context": {}, "project_id": None}),
    "experiment_delete": absent(),
    "experiments_compare": Call(ABSENT, query=lambda v: {"ids": f"{v.ids['experiment_id']},{v.ids['experiments_compare.other']}"}),
    "sample_size_get": own(body=lambda v: {"kind": "proportion", "baseline": 0.1, "min_effect": 0.1}),
    "results_get": absent(),
    "result_create": absent({"rows": [{"arm": "control", "metrics": {}}]}),
    "ticket_get": absent(),
    "ticket_comment": absent(),
    "implement_actionable_list": own(query=lambda v: {"project_id": v.ids["project_id"]}),
    "implement_context_get": absent(),
    "implement_reference_get": absent(),
    "implement_report": absent({"status": "completed", "pr_url": "https://github.com/acme/mine/pull/1"}),
    "implement_run": absent(),
    "implement_status_get": absent(),
    "projects_list": own(),
    "project_create": own(body=lambda v: {"name": "p"}),
    "project_get": absent(),
    "project_update": absent({"name": "mine"}),
    "project_delete": absent(),
    "preference_model_refit": absent(),
    "refit_task_get": absent(),
    "candidates_score": absent({}),
    "interests_list": own(),
    "interest_create": own(body=lambda v: {"name": "i", "context": "c", "project_id": v.ids["project_id"]}),
    "repository_analyze": own(body=lambda v: {"repo_url": f"https://github.com/{v.repo}"}),
    "interest_get": absent(),
    "interest_update": absent({"name": "mine", "project_id": None}),
    "interest_delete": absent(),
    "agent_pause": absent(),
    "agent_resume": absent(),
    "interest_provision": absent({}),
    "provision_cli_token_create": absent(),
    "provision_status_get": absent(),
    "provision_task_get": absent(),
    "interest_toggle": absent(),
    "recommendations_list": own(query=lambda v: {"interest_id": v.interest, "period": "all"}),
    "interest_quality_get": absent(),
    "experiment_evidence_get": absent(),
    "asset_outcomes_get": own(),
    "recommendations_funnel_get": own(),
    "recommendations_digest_get": own(query=lambda v: {"period": "all"}),
    "recommendations_refresh": refused(lambda v: {"interest_id": v.interest}),
    "refresh_task_get": absent(),
    "recommendation_explanation": absent(),
    "recommendation_feedback": absent({"signal": "like"}),
    "recommendation_feedback_delete": Call(ABSENT, query=lambda v: {"signal": "like"}),
    "feeds_list": own(),
    "feed_create": refused(lambda v: {"interest_id": v.interest}),
    "feed_delete": absent(),
    "feed_get": absent(),
    "asset_search": own(body=lambda v: {"query": MARK}),
    "asset_facets": own(body=lambda v: {"query": MARK}),
    "assets_list": own(),
    "asset_get": own(),
    "asset_put": Call(ABSENT, body=lambda v: {"title": "mine"}),
    "asset_similar_list": Call(OWN, query=lambda v: {"exclude_seen_by": v.interest}),
    "search_harvest": refused(lambda v: {"source": "arxiv", "set": "cs"}),
    "search_stats_get": own(),
    "fleet_activity_get": Call(ABSENT, query=of_repo),
    "artifact_evidence_get": refused(lambda v: {"artifact": {"run_id": RUN}}),
    "fleet_chat": Call(ABSENT, body=lambda v: {"repo": v.repo, "messages": [{"role": "user", "content": "What has failed?"}]}),
    "inbox_list": own(),
    "inbox_digest_get": refused(lambda v: {"href": f"https://github.com/{v.repo}/pull/{MARK}"}),
    "inbox_dismiss": own(body=lambda v: {"ids": v.inbox}),
    "fleet_refresh": own(body=lambda v: {"full": False}),
    "budgets_list": own(),
    "fleet_rejections_get": own(),
    "fleet_outcome_costs_get": own(),
    "recommendations_precision_get": own(),
    "budget_put": Call(ABSENT, body=lambda v: {"scope": "repo", "repo": v.repo, "period": "day", "usd": 1}),
    "budget_delete": absent(),
    "budget_history_list": absent(),
    "fleet_prices_get": own(),
    "fleet_report_get": own(query=lambda v: {"repos": v.repo}),
    "fleet_run_analyze": Call(ABSENT, body=lambda v: {"repo": v.repo, "run_id": RUN}),
    "installations_list": own(),
    "installation_revoke": absent(),
    "fleet_run_status_get": Call(ABSENT, query=of_repo),
    "fleet_runs_list": own(query=lambda v: {"repo": v.repo, "include": "selection"}),
    "fleet_run_delete": Call(ABSENT | {200}, query=of_repo),  # a run of that name that the thief reported
    "fleet_run_report": own(body=lambda v: {"repo": v.repo, "run_id": RUN, "status": "pr_opened", "error": None}),
    "fleet_run_admit": own(body=lambda v: {"repo": v.repo, "run_id": RUN, "run_attempt": 1, "agent": "agent_one", "provider": "anthropic"}),
    "fleet_trigger": Call(ABSENT, body=of_repo),
    "app_get": Call(REFUSED),
    "app_delete": Call(REFUSED),
    "app_create": refused(lambda v: {"code": "c", "state": "s"}),
    "app_install_url_get": own(),
    "app_installation_confirm": own(body=lambda v: {"installation_id": 1}),
    "app_manifest_create": refused(lambda v: {}),
    "app_installation_get": own(query=of_repo),
    "fork_create": Call(ABSENT, body=of_repo),
    "installation_token_create": Call(ABSENT, body=of_repo),
    "code_host_webhook": Call(OPENED, body=lambda v: {"repository": {"full_name": v.repo}}),
    "connections_list": own(),
    "identity_link_create": own(body=lambda v: {"source": "tracker_a", "external_id": EXTERNAL_ID}),
    "identity_link_delete": absent(),
    "identity_links_list": own(),
    "identity_resolve": own(query=lambda v: {"source": "tracker_a", "external_id": EXTERNAL_ID}),
    "providers_list": own(),
    "connection_delete": absent(),
    "auth_url_get": Call(REFUSED),
    "connection_create": refused(lambda v: {"code": "c", "redirect_uri": "http://127.0.0.1/", "state": "s"}),
    "model_key_connect": refused(lambda v: {"api_key": "bad"}),
    "connection_status_get": own(),
    "connection_token_get": Call(REFUSED, query=lambda v: {"user_id": v.account}),
    "webhooks_list": own(),
    "webhook_create": own(body=lambda v: {"kind": "webhook", "url": "https://hooks.example.org/", "events": ["*"]}),
    "webhook_event_types_list": own(),
    "webhook_get": absent(),
    "webhook_update": absent({"name": "mine"}),
    "webhook_delete": absent(),
    "webhook_secret_rotate": absent({}),
    "webhook_test": absent({}),
    "webhook_confirmation_create": absent(),
    "email_confirm_page_get": absent(),
    "email_confirm": absent(),
    "email_unsubscribe_page_get": absent(),
    "email_unsubscribe": absent(),
    "webhook_recover": absent({"since": "2026-01-01T00:00:00Z"}),
    "webhook_deliveries_list": absent(),
    "webhook_delivery_get": absent(),
    "webhook_delivery_replay": absent(),
    "build_create": own(body=lambda v: {"repo": v.repo, "template_id": v.ids["template_id"]}),
    "build_claim": Call({204, 403}, body=lambda v: {"worker": "thief"}),
    "build_get": absent(),
    "build_cancel": absent(),
    "build_context_get": absent(),
    "build_heartbeat": absent({"attempt": 1}),
    "build_report": absent({"status": "succeeded", "image": "i:1"}),
    "builds_list": own(),
    "eval_runs_list": own(query=lambda v: {"template_id": v.ids["template_id"]}),
    "eval_run_create": refused(in_experiment),
    "eval_run_claim": Call({204, 403}, body=lambda v: {"worker": "thief"}),
    "eval_run_get": absent(),
    "eval_run_cancel": absent(),
    "eval_run_heartbeat": absent({"attempt": 1}),
    "templates_list": own(),
    "template_create": own(body=lambda v: {"name": "t", "spec": {"image": "i:1", "command": "c", "metrics": []}}),
    "template_get": absent(),
    "template_update": absent({"name": "mine", "repo": None}),
    "template_lock": absent(),
    "eval_hosted_result_deliver": Call(ABSENT, body=lambda v: {"run_id": v.ids["run_id"], "call_id": "c", "state": "succeeded"}),
    "eval_result_deliver": Call(ABSENT, body=lambda v: {"run_id": v.ids["run_id"], "status": "succeeded", "metrics": {"recall": 0}}),
}

def target(op, victim):
    return op.target(**{name: victim.ids.get(f"{op.id}.{name}") or victim.ids[name] for name in op.parameters})


def call(op, api, victim, **options):
    row = CALLS[op.id]
    headers = {"Idempotency-Key": str(uuid.uuid4())} if "CREATES" in op.flags else {}
    return api.request(op.method, target(op, victim), row.body(victim), params=row.query(victim), headers=headers, **options)


def test_every_operation_has_a_row():
    assert set(CALLS) == {op.id for op in OPERATIONS}


@pytest.fixture(scope="module")
def victim(cluster, code_host):
    return Possessions(cluster, code_host)


SCOPES = api_def.account_scopes()


def automation(api, **limits):
    body = {"name": "stolen", "kind": "automation", "scopes": SCOPES, **limits}
    return api.as_key(api.post("/account/api-keys", body, expect=201).json()["key"])


def ended(cluster, api, change):
    """A client whose key has ended by change(db, key)."""
    made = api.post("/account/api-keys", {"name": "ended"}, expect=201).json()
    with cluster.postgres.connect("account") as db:
        change(db, made["id"])
    return api.as_key(made["key"])


@pytest.fixture(scope="module")
def thieves(cluster, code_host, victim):
    """{kind: a client with a stolen key}."""
    team = new_team(cluster, code_host)
    assert team.provision(auto_merge=True)["status"] == "completed"
    elsewhere = victim.make("/interests", name="elsewhere", context="Sparse attention.")["id"]
    token = team.api.post(team.path("provision-cli-token"), expect=200).json()["token"]
    return {
        "personal": team.api,
        "automation": automation(team.api),
        "of its repository, unverified": automation(team.api, repo=team.repo),
        "of its interest": automation(team.api, interest_id=team.interest),
        "of the victim's repository, unverified": automation(team.api, repo=victim.repo),
        "of the victim's interest": automation(team.api, interest_id=victim.interest),
        "of an agent": team.agent(),
        "of the command line": team.api.as_key(token),
        "of the victim, another repository": automation(victim.api, repo="acme/elsewhere"),
        "of the victim, another interest": automation(victim.api, interest_id=elsewhere),
        "revoked": ended(cluster, team.api, gateway_tables.revoke_key),
        "expired": ended(cluster, team.api, gateway_tables.expire_key),
    }


@pytest.fixture(scope="module")
def rows(cluster, victim, thieves):
    made = OwnedRows(cluster, victim.account)
    wait_for(made.is_quiet, "the tasks of the victim have ended")
    yield made
    made.db.close()


def faults(op, kind, answer):
    """What is wrong with an answer."""
    is_open = "OPEN" in op.flags
    expect = {401} if kind in ("revoked", "expired") and not is_open else CALLS[op.id].expect
    if answer.status_code not in expect:
        yield f"{kind}: {answer.status_code}, not one of {sorted(expect)}: {answer.text[:300]}"
    shown = answer.text + str(answer.headers)
    if MARK in shown and MARK not in answer.request.content.decode():
        yield f"{kind}: shows what is the victim's: {answer.text[:300]}"


@by_id(OPERATIONS)
def test_a_stolen_key_opens_nothing_of_others(op, victim, thieves, rows):
    before = rows.read()
    found = [fault for named in (victim, victim.in_capitals()) for kind, api in thieves.items()
             for fault in faults(op, kind, call(op, api, named))]
    changed = [table for table, digest in rows.read().items() if before[table] != digest]
    assert not found + changed


# ---- that the tests above would see something ----

READS = [op for op in OPERATIONS if op.method == "GET" and "OPEN" not in op.flags]
NO_TEXT = {"budgets_list", "budget_history_list", "fleet_prices_get", "refit_task_get", "refresh_task_get", "provision_task_get", "assets_list",
           "asset_get", "asset_similar_list", "search_stats_get", "app_get", "app_install_url_get", "app_installation_get", "connections_list",
           "auth_url_get", "providers_list",
           "connection_status_get", "connection_token_get", "installations_list", "provision_status_get",
           "implement_status_get", "fleet_run_status_get", "recommendations_digest_get", "recommendations_funnel_get", "interest_quality_get",
           "asset_outcomes_get", "fleet_rejections_get", "fleet_outcome_costs_get", "recommendations_precision_get", "build_get", "builds_list",
           "webhook_event_types_list", "sessions_list", "tasks_list", "tasks_summary_get", "feeds_list", "webhook_deliveries_list",
           "api_key_usage_list", "audit_list", "people_list"}


@by_id([op for op in READS if op.id not in NO_TEXT])
def test_its_owner_sees_the_mark(op, victim):
    answer = call(op, victim.api, victim, checked=False)
    assert answer.status_code == 200 and MARK in answer.text


@by_id([op for op in READS if CALLS[op.id].expect == ABSENT and op.parameters])
def test_what_is_named_is_there(op, victim):
    assert call(op, victim.api, victim, checked=False).status_code == 200


def test_a_change_is_seen(victim, rows):
    """Also of what only refers to the account's rows."""
    before = rows.read()
    victim.api.put(f"/experiments/{victim.ids['experiment_id']}", {"hypothesis": f"other {MARK}"}, expect=200)
    victim.api.post(f"/papers/recommended/{victim.ids['recommendation_id']}/feedback", {"signal": "like"}, expect=200)
    changed = {table for table, digest in rows.read().items() if before[table] != digest}
    assert {"experiments.experiment", "experiments.experiment_history", "interests.feedback"} <= changed


def test_the_stolen_keys_work(thieves):
    statuses = {kind: api.get("/search/stats").status_code for kind, api in thieves.items()}
    assert statuses == {kind: 401 if kind in ("revoked", "expired") else 200 for kind in thieves}
