#include "service/retained_table.h"

const struct retained_table COMMON_TABLES[] = {
	TABLE_AGES(
		"outbox", "created_at", NULL,
		"two days after it was sent, when all readers have read it; unsent rows wait for "
		"Redis"),
	TABLE_AGES("task", "finished_at", "TASK_RETENTION",
                   "after its end; TASKS_PENDING_MAX bounds those that wait"),
	TABLE_AGES("event_settled", "settled_at", NULL, "7 days"),
	TABLE_AGES("event_parked", "parked_at", NULL,
                   "when the event is handled or becomes a dead letter"),
	TABLE_AGES("event_seen", "seen_at", NULL, "not written since event_settled replaced it"),
	TABLE_AGES("idempotency", "created_at", NULL, "24 hours; by the next answers"),
	TABLE_BOUND("idempotency_running", "empty but inside of a transaction"),
	TABLE_BOUND("account_guard", "one row an account"),
	TABLE_BOUND("deleted_account",
                    "one row a deleted account, which late events must find deleted"),
	TABLE_BOUND("event_position", "one row a stream"),
	TABLE_BOUND("functions", "one row an owner of functions"),
	TABLE_BOUND("lease", "one row a name in the code"),
	TABLE_BOUND("migration", "one row a migration"),
	TABLE_BOUND("repository", "one row a repository of the code host"),
	TABLE_BOUND("repository_former", "one row a former name of a repository"),
	TABLE_BOUND("repository_guard", "one row a name of a repository"),
	TABLE_BOUND("task_limit", "one row"),
	TABLES_END,
};
