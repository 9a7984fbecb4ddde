#include "service/retained_table.h"

#include "loop/fiber.h"
#include "observe/log.h"
#include "pg/pg.h"
#include "retained_table.sql.h"
#include "service/service.h"

#include <string.h>

#define BATCH       5000
#define BATCHES_MAX 200 /* of a table in a pass: the rest waits for the next */

const int64_t RETAINED_TABLES_EVERY_MS = (int64_t)24 * 3600 * 1000;

const struct retained_table COMMON_TABLES[] = {
	TABLE_AGES(
		"outbox", "created_at", NULL,
		"two days after it was sent, when all readers have read it; unsent rows wait for "
		"Redis"),
	TABLE_AGES("task", "finished_at", "TASK_RETENTION",
                   "after its end; TASKS_PENDING_MAX bounds those that wait"),
	TABLE_AGES("event_settled", "settled_at", NULL, "32 days"),
	TABLE_AGES("event_parked", "parked_at", NULL,
                   "when the event is handled or becomes a dead letter"),
	TABLE_AGES("event_seen", "seen_at", NULL, "not written since event_settled replaced it"),
	TABLE_AGES("idempotency", "created_at", NULL, "24 hours; by the next answers"),
	TABLE_BOUND("idempotency_running", "empty but inside of a transaction"),
	TABLE_BOUND("account_guard", "one row an account"),
	TABLE_BOUND("deleted_account",
                    "one row a deleted account, which late events must find deleted"),
	TABLE_BOUND("event_position", "one row a stream"),
	TABLE_BOUND("fill", "one row a fill of a migration"),
	TABLE_BOUND("functions", "one row an owner of functions"),
	TABLE_BOUND("lease", "one row a name in the code"),
	TABLE_BOUND("migration", "one row a migration"),
	TABLE_BOUND("repository", "one row a repository of the code host"),
	TABLE_BOUND("repository_former", "one row a former name of a repository"),
	TABLE_BOUND("repository_guard", "one row a name of a repository"),
	TABLE_BOUND("task_limit", "one row"),
	TABLES_END,
};

static const struct setting *setting_in(const struct setting *settings, const char *name)
{
	for (; settings->type != SET_END; settings++)
		if (strcmp(settings->name, name) == 0)
			return settings;
	return NULL;
}

const struct setting *retained_table_setting(const struct service *service,
                                             const struct retained_table *table)
{
	if (!table->setting)
		return NULL;
	const struct setting *found = setting_in(PROCESS_SETTINGS, table->setting);
	for (const struct setting *const *s = service->settings; !found && s && *s; s++)
		found = setting_in(*s, table->setting);
	return found && found->type == SET_INT ? found : NULL;
}

static enum err_code delete_old(struct request *rq, const struct retained_table *table,
                                int64_t *deleted)
{
	const struct setting *setting = retained_table_setting(rq->worker->process->service, table);
	int64_t batch = BATCH;
	for (int i = 0; i < BATCHES_MAX && batch == BATCH; i++) {
		struct pg_rows *rows;
		enum err_code code =
			pg_try(rq, &rows, NULL, RETAINED_TABLE_DELETE_OLD_SQL,
		               pg_text(table->table), pg_text(table->old),
		               setting ? pg_int(*(const int64_t *)setting->target) : pg_null(),
		               pg_int(BATCH), pg_bool(table->has_index));
		if (code)
			return code;
		batch = pg_value_int(rows, 0);
		*deleted += batch;
	}
	return ERR_NONE;
}

/* The table that the next pass begins with: the one behind that at which the time of a pass was
 * over, so that a slow table starves none. One worker of a process has the recurring work. */
static size_t next_first;

struct pass {
	int64_t deleted;
	size_t kept, failed; /* tables */
	enum err_code failure;
};

static void keep_table(struct request *rq, const struct retained_table *table, struct pass *pass)
{
	int64_t deleted = 0;
	enum err_code code = delete_old(rq, table, &deleted);
	pass->deleted += deleted;
	if (deleted > 0)
		log_info("old rows deleted", f_text("table", table->table),
		         f_int("count", deleted));
	if (code) {
		log_warn("old rows are not deleted", f_text("table", table->table),
		         f_text("error", err_info(code)->slug));
		pass->failure = code;
		pass->failed++;
	} else {
		pass->kept++;
	}
}

void retained_tables_keep(struct request *rq)
{
	const struct retained_table *tables = rq->worker->process->service->tables;
	const size_t first = next_first;
	struct pass pass = {0};
	size_t count = 0;
	while (tables[count].table)
		count++;
	for (size_t i = 0; i < count && !fiber_cancelled(rq->fiber); i++) {
		const struct retained_table *table = &tables[(first + i) % count];
		if (table->old)
			keep_table(rq, table, &pass);
		next_first = (first + i + 1) % count;
	}
	bool is_to_go_on = fiber_cancelled(rq->fiber) && pass.deleted > 0;
	if (pass.failed > 0 && (pass.kept == 0 || is_to_go_on))
		raise_error(rq, pass.failure, "old rows of %zu tables are not deleted",
		            pass.failed);
}
