#include "main/reseal.h"

#include "crypto/crypto.h"
#include "main/command_run.h"
#include "pg/pg.h"
#include "service/service.h"
#include "vault/vault.h"

#include <stdio.h>
#include <string.h>

#define PAGE_ROWS 100

struct reseal {
	const struct sealed_column *columns;
	int64_t moved, unopened;
};

/* Seal one row anew. A row that has changed since it was read has been sealed by the service. */
static void reseal_row(struct request *rq, const struct sealed_column *column,
                       const struct pg_rows *rows, int row, struct reseal *reseal)
{
	arena_wipe_on_free(rq->arena);
	const char *context =
		arena_printf(rq->arena, "%s %s", column->context, pg_get(rows, row, "context"));
	size_t length;
	const void *old = pg_get_bytes(rq->arena, rows, row, "sealed", &length);
	const char *text = vault_open(rq->arena, context, old, length);
	if (!text) {
		printf("%s %s does not open\n", column->name, pg_get(rows, row, "context"));
		reseal->unopened++;
		return;
	}
	struct sealed sealed = vault_seal(rq->arena, context, text);
	struct pg_rows *done =
		pg_query(rq, column->update_sql, pg_text(pg_get(rows, row, "id")),
	                 pg_bytes(old, length), pg_bytes(sealed.data, sealed.length));
	reseal->moved += done->affected;
}

/* Seal a page anew; the last row of it in `outer`, NULL: there is none. */
static const char *reseal_page(struct request *rq, const struct sealed_column *column,
                               const char *after, const char *prefix, struct reseal *reseal)
{
	struct arena *outer = request_page_begin(rq);
	struct pg_rows *rows =
		pg_query(rq, column->page_sql, pg_text(after), pg_text(prefix), pg_int(PAGE_ROWS));
	for (int row = 0; row < rows->count; row++)
		reseal_row(rq, column, rows, row, reseal);
	const char *last = pg_empty(rows) ? NULL : pg_get(rows, rows->count - 1, "id");
	last = arena_strdup(outer, last);
	request_page_end(rq);
	return last;
}

static void reseal_all(struct request *rq)
{
	struct reseal *reseal = rq->user;
	const char *prefix = vault_prefix_hex(rq->arena);
	for (const struct sealed_column *column = reseal->columns; column->name; column++)
		for (const char *last = NULL;
		     (last = reseal_page(rq, column, last, prefix, reseal));)
			;
}

int reseal_run(struct process *process, const struct sealed_column *columns, int argc)
{
	struct reseal reseal = {.columns = columns};
	if (argc > 1)
		return COMMAND_USAGE;
	int status = command_run(process, reseal_all, &reseal);
	if (status)
		return status;
	printf("sealed %lld rows with the first key\n", (long long)reseal.moved);
	if (reseal.unopened)
		fprintf(stderr, "%lld rows do not open: their keys are missing from SEAL_KEYS\n",
		        (long long)reseal.unopened);
	return reseal.unopened ? 1 : 0;
}
