#include "service/fill.h"

#include "base/base.h"
#include "base/timefmt.h"
#include "fill.sql.h"
#include "loop/wait.h"
#include "observe/log.h"
#include "pg/pg.h"

#define BATCH   200   /* rows: those who change them wait that long */
#define PASS_MS 10000 /* the next pass goes on */

const int64_t FILLS_EVERY_MS = 2000;

/* Whether there was something to do. */
static bool do_batch(struct request *rq)
{
	const struct pg_rows *step = pg_query(rq, FILL_STEP_SQL, pg_int(BATCH));
	const char *name = pg_get(step, 0, "name");
	if (name && pg_get_bool(step, 0, "is_finished"))
		log_info("the rows of before a migration are seen to", f_text("fill", name),
		         f_int("rows", pg_get_int(step, 0, "rows")));
	return name != NULL;
}

void fills_go_on(struct request *rq)
{
	const uint64_t end_ms = time_monotonic_ms() + PASS_MS;
	uint64_t begun_ms = time_monotonic_ms();
	while (begun_ms < end_ms && do_batch(rq)) {
		fiber_sleep(rq, time_monotonic_ms() - begun_ms + 1);
		begun_ms = time_monotonic_ms();
	}
}
