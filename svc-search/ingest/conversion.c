#include "ingest/conversion.h"

#include "base/base.h"
#include "conversion.sql.h"
#include "json/json.h"
#include "loop/periodic.h"
#include "pg/pg.h"
#include "plain/plain_row.h"
#include "plain/plain_text.h"
#include "service/process.h"

#include <stdlib.h>
#include <string.h>

/* Papers of one pass, few enough that imports need not wait long for the lock of writers, and the
 * pause behind it. */
#define BATCH_PAPERS 200
#define PAUSE_MS     20

/* How often papers are looked for that a process of an older version has written. */
#define POLL_MS 60000

#define PASS_TIMEOUT_MS 60000

struct conversion {
	struct periodic *periodic;
};

/* Convert the next papers. Returns how many there were. */
static size_t convert_batch(struct request *rq)
{
	struct pg_rows *rows = pg_query(rq, CONVERSION_NEXT_SQL, pg_int(BATCH_PAPERS));
	const char *text = pg_json(rows);
	yyjson_val *papers = NULL;
	if (json_parse(rq->arena, text, strlen(text), &papers, NULL) || !yyjson_arr_size(papers))
		return 0;
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *list = yyjson_val_mut_copy(doc, papers), *row;
	size_t index, count;
	yyjson_mut_arr_foreach (list, index, count, row)
		plain_row(rq->arena, doc, row);
	pg_query(rq, CONVERSION_STORE_SQL, pg_text(json_write_mut(rq->arena, list, NULL)),
	         pg_int(PLAIN_TEXT_VERSION));
	return count;
}

static void pass(struct request *rq)
{
	struct conversion *conversion = periodic_user(rq);
	const struct process *process = rq->worker->process;
	bool has_more = process->is_migrated && !process->is_draining && convert_batch(rq) > 0;
	if (has_more || !process->is_migrated)
		periodic_wake_in(conversion->periodic, has_more ? PAUSE_MS : 1000);
}

struct conversion *conversion_start(struct worker *worker)
{
	struct conversion *conversion = calloc(1, sizeof(*conversion));
	require(conversion);
	conversion->periodic =
		periodic_new(worker, "convert-texts", pass, conversion, POLL_MS, PASS_TIMEOUT_MS);
	periodic_wake(conversion->periodic);
	return conversion;
}

void conversion_stop(struct conversion *conversion)
{
	if (!conversion)
		return;
	periodic_stop(conversion->periodic);
	periodic_free(conversion->periodic);
	free(conversion);
}
