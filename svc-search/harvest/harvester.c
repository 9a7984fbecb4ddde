#include "harvest/harvester.h"

#include "base/timefmt.h"
#include "harvest/source.h"
#include "harvester.sql.h"
#include "ingest/import.h"
#include "json/json.h"
#include "loop/periodic.h"
#include "loop/wait.h"
#include "observe/log.h"
#include "observe/metrics.h"
#include "pg/lease.h"
#include "pg/pg.h"
#include "service/process.h"

#include <stdlib.h>
#include <string.h>

/* How often the table is looked at. */
#define POLL_MS 1000

#define SEPARATORS " ,\t\n"

/* How often the gauges are read from it. */
#define GAUGES_MS 60000

/* After a setting that Postgres refuses. */
#define SETTING_RETRY_MS 60000

/* A request takes HARVEST_TIMEOUT at most; then its page is stored. */
#define PASS_TIMEOUT_MS 600000

/* A bulk correction: searches must not suffer from indexing it. */
#define BULK_RECORDS  50000
#define BULK_PAUSE_MS 600000

static const char *sets;
static int64_t backfill_days, max_records;

const struct setting HARVESTER_SETTINGS[] = {
	SETTING_TEXT(&sets, "HARVEST_SETS", "",
                     "Sets that are harvested by the schedule, separated by blanks or commas: of "
                     "arXiv, `cs stat eess`, and of bioRxiv and medRxiv, `biorxiv:cell_biology`, "
                     "`medrxiv:all`; empty: none."),
	SETTING_INT(&backfill_days, "HARVEST_BACKFILL_DAYS", "30", 0, 36500,
                    "Days that the first harvest of a set goes back."),
	SETTING_INT(&max_records, "HARVEST_MAX_RECORDS", "300000", 1, 100000000,
                    "A harvest with more records pauses 10 minutes each 50,000 records."),
	SETTING_END,
};

METRIC_COUNTER(records_counter, "expops_harvest_records_total",
               "Records that this replica has harvested.", "source", "outcome");
METRIC_COUNTER(requests_counter, "expops_harvest_requests_total", "Requests for pages of a source.",
               "source", "outcome");

METRIC_GAUGE(complete_gauge, "expops_harvest_last_success_seconds",
             "When a set of HARVEST_SETS was last read to its end, since the Unix epoch.", "source",
             "set");
METRIC_GAUGE(missed_gauge, "expops_harvest_missed_announcements",
             "Announcements, of more than six hours ago, since which a set has had no new paper.",
             "source", "set");

METRIC_GAUGE(added_gauge, "expops_harvest_added_papers",
             "New papers of the last list of a set of HARVEST_SETS.", "source", "set");
METRIC_GAUGE(next_gauge, "expops_harvest_next_seconds",
             "When a set of HARVEST_SETS is read next, since the Unix epoch.", "source", "set");

struct harvester {
	const struct source *source;
	uint64_t gauges_due_ms; /* monotonic */
	struct periodic *periodic;
	struct lease lease;
	bool is_scheduled;        /* HARVEST_SETS is in the table */
	struct arena *list_arena; /* of the list that is being read */
	struct buf tokens;        /* hashes of its tokens, as far as this replica has read it */
	int64_t tokens_fence;     /* of the lease under which it has read it */
};

/* A set that is due, and what is known of its list. */
struct turn {
	struct harvester *harvester;
	const char *set;
	const char *from;
	const char *token; /* NULL: the first page */
	int64_t attempts, restarts, records;
	bool is_running;
};

/* --- The schedule ----------------------------------------------------------------------------- */

bool harvester_is_on(void)
{
	return sets[strspn(sets, SEPARATORS)];
}

/* What is before the first colon of a word is a source only if there is one of that name:
 * `cs:cs:LG` is a set of arXiv. Returns the set; NULL: it is one of another source. */
static const char *set_of(struct request *rq, const struct source *source, const char *word)
{
	const char *colon = strchr(word, ':');
	const struct source *named =
		colon ? source_find(arena_strndup(rq->arena, word, (size_t)(colon - word))) : NULL;
	if (!named)
		return source == &ARXIV_SOURCE ? word : NULL;
	return source == named ? colon + 1 : NULL;
}

/* The sets of HARVEST_SETS: `cs, arxiv:stat` gives ["cs", "stat"]. */
static const char *listed_sets(struct request *rq, const struct source *source)
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *list = yyjson_mut_arr(doc);
	const char *word = sets + strspn(sets, SEPARATORS);
	while (*word) {
		size_t length = strcspn(word, SEPARATORS);
		const char *set = set_of(rq, source, arena_strndup(rq->arena, word, length));
		if (set)
			yyjson_mut_arr_add_str(doc, list, set);
		word += length;
		word += strspn(word, SEPARATORS);
	}
	return json_write_mut(rq->arena, list, NULL);
}

/* Put HARVEST_SETS into the table. False: Postgres refuses HARVEST_AT. */
static bool schedule(struct request *rq, struct harvester *harvester)
{
	const struct source *source = harvester->source;
	struct time_of_day slot = time_of_day_split(source->at());
	struct pg_rows *rows;
	enum err_code code =
		pg_try(rq, &rows, NULL, SOURCE_SCHEDULE_SQL, pg_text(source->name),
	               pg_text(listed_sets(rq, source)), pg_text(slot.time), pg_text(slot.zone));
	if (code == ERR_INVALID) {
		log_error("HARVEST_AT is not HH:MM and a time zone; nothing is harvested",
		          f_text("value", source->at()));
		return false;
	}
	if (code)
		pg_raise(rq, code);
	return true;
}

/* The name of a set, kept as long as the process, since labels of metrics borrow it. Sets of
 * HARVEST_SETS only. */
static const char *kept_name(const char *set)
{
	static char **names;
	static size_t count;
	for (size_t i = 0; i < count; i++)
		if (strcmp(names[i], set) == 0)
			return names[i];
	names = realloc(names, (count + 1) * sizeof(*names));
	require(names);
	names[count] = strdup(set);
	require(names[count]);
	return names[count++];
}

static void show_gauges(struct request *rq, struct harvester *harvester)
{
	const char *source = harvester->source->name;
	if (time_monotonic_ms() < harvester->gauges_due_ms)
		return;
	struct pg_rows *rows = pg_query(rq, SOURCE_GAUGES_SQL, pg_text(source));
	for (int row = 0; row < rows->count; row++) {
		const char *set = kept_name(pg_get(rows, row, "set"));
		metric_set(&complete_gauge, source, set, pg_get_float(rows, row, "complete_at"));
		metric_set(&missed_gauge, source, set, pg_get_float(rows, row, "missed"));
		metric_set(&added_gauge, source, set, pg_get_float(rows, row, "added"));
		metric_set(&next_gauge, source, set, pg_get_float(rows, row, "next_at"));
	}
	harvester->gauges_due_ms = time_monotonic_ms() + GAUGES_MS;
}

/* --- The end of a run ------------------------------------------------------------------------- */

/* The list is complete, or the run gives up because of `failure`. */
static void finish(struct request *rq, const struct turn *turn, const char *failure)
{
	const struct source *source = turn->harvester->source;
	const char *name = source->name;
	struct time_of_day slot = time_of_day_split(source->at());
	struct pg_rows *rows = pg_query(rq, SOURCE_FINISH_SQL, pg_text(name), pg_text(turn->set),
	                                pg_text(failure), pg_text(slot.time), pg_text(slot.zone));
	if (failure)
		log_error("harvest failed", f_text("source", name), f_text("set", turn->set),
		          f_text("reason", failure),
		          f_text("next_at", pg_get(rows, 0, "next_time")));
	else
		log_info("harvest finished", f_text("source", name), f_text("set", turn->set),
		         f_text("state", pg_get(rows, 0, "state")),
		         f_int("records", pg_get_int(rows, 0, "records")),
		         f_int("added", pg_get_int(rows, 0, "added")),
		         f_int("changed", pg_get_int(rows, 0, "changed")),
		         f_int("withdrawn", pg_get_int(rows, 0, "withdrawn")),
		         f_int("skipped", pg_get_int(rows, 0, "skipped")),
		         f_text("next_at", pg_get(rows, 0, "next_time")));
	if (!failure)
		pg_query(rq, SOURCE_ANNOUNCE_FINISHED_SQL, pg_text(name), pg_text(turn->set));
}

/* --- One request ------------------------------------------------------------------------------ */

static void forget_tokens(struct harvester *harvester)
{
	arena_free(harvester->list_arena);
	harvester->list_arena = arena_new();
	harvester->tokens = (struct buf){.arena = harvester->list_arena};
	harvester->tokens_fence = harvester->lease.fence;
}

static void retry(struct request *rq, const struct turn *turn, const struct source_answer *answer)
{
	uint64_t wait_ms = answer->retry_after_ms;
	if (turn->attempts + 1 >= SOURCE_ATTEMPTS_MAX) {
		finish(rq, turn, answer->why);
		return;
	}
	if (!wait_ms)
		wait_ms = source_backoff_ms(turn->harvester->source, (int)turn->attempts);
	pg_query(rq, SOURCE_RETRY_SQL, pg_text(turn->harvester->source->name), pg_text(turn->set),
	         pg_int((int64_t)wait_ms), pg_text(answer->why));
	log_warn("harvest: retrying", f_text("set", turn->set), f_text("reason", answer->why),
	         f_int("pause_ms", wait_ms));
}

static void restart_list(struct request *rq, const struct turn *turn)
{
	if (turn->restarts == SOURCE_RESTARTS_MAX) {
		finish(rq, turn, "resumption tokens keep expiring");
		return;
	}
	pg_query(rq, SOURCE_RESTART_SQL, pg_text(turn->harvester->source->name),
	         pg_text(turn->set));
	log_warn("harvest: the resumption token has expired; restarting the list",
	         f_text("set", turn->set));
}

/* Milliseconds until the next page is due. */
static int64_t page_pause_ms(const struct turn *turn, const struct source_page *page)
{
	int64_t before = turn->records, after = before + (int64_t)page->count;
	if (after <= max_records || before / BULK_RECORDS == after / BULK_RECORDS)
		return 0;
	log_warn("harvest: pausing, as the list is long", f_text("set", turn->set),
	         f_int("records", after), f_int("pause_ms", BULK_PAUSE_MS));
	return BULK_PAUSE_MS;
}

static struct pg_param time_or_null(struct request *rq, int64_t time_ms)
{
	return time_ms ? pg_time(time_ms) : pg_null();
}

static void count_records(const struct turn *turn, const struct import *import, size_t withdrawn)
{
	const char *name = turn->harvester->source->name;
	const struct {
		const char *outcome;
		size_t count;
	} COUNTS[] = {
		{"added", import->added},         {"changed", import->updated},
		{"older", import->older},         {"skipped", import->skipped},
		{"unchanged", import->unchanged}, {"withdrawn", withdrawn},
	};
	for (size_t i = 0; i < ARRAY_LEN(COUNTS); i++)
		if (COUNTS[i].count)
			metric_add(&records_counter, name, COUNTS[i].outcome,
			           (double)COUNTS[i].count);
}

/* Store the papers of the page, and how far the list has been read, in one transaction. */
static void store(struct request *rq, const struct turn *turn, const struct source_page *page)
{
	const struct harvester *harvester = turn->harvester;
	struct import *import = import_new(rq, harvester->source->name);
	import->logs_skips = true;
	pg_begin(rq);
	size_t withdrawn = source_store(rq, import, page);
	struct pg_rows *rows =
		pg_query(rq, SOURCE_TURN_PAGE_SQL, pg_text(harvester->source->name),
	                 pg_text(turn->set), pg_text(harvester->lease.name),
	                 pg_text(rq->worker->process->instance), pg_int(harvester->lease.fence),
	                 pg_text(page->token), pg_int((int64_t)page->count),
	                 pg_int((int64_t)import->added), pg_int((int64_t)import->updated),
	                 pg_int((int64_t)withdrawn), pg_int((int64_t)import->skipped),
	                 time_or_null(rq, import->newest_added_ms),
	                 time_or_null(rq, page->answered_at_ms), pg_int(page_pause_ms(turn, page)));
	if (pg_empty(rows)) {
		turn->harvester->lease.mine_until_ms = 0; /* whatever the own clock says */
		raise_error(rq, ERR_CONFLICT, "another process harvests this source now");
	}
	if (!page->token)
		finish(rq, turn, NULL);
	pg_commit(rq);
	count_records(turn, import, withdrawn);
}

static void take_page(struct request *rq, const struct turn *turn, const struct source_page *page)
{
	if (page->token && !source_token_is_new(&turn->harvester->tokens, page->token))
		finish(rq, turn, "the server repeats a resumption token");
	else
		store(rq, turn, page);
	if (page->token)
		source_token_add(&turn->harvester->tokens, page->token);
}

/* The first page of a list: unless the list was restarted, a run begins. */
static void begin_list(struct request *rq, struct turn *turn)
{
	if (turn->is_running)
		return;
	struct pg_rows *rows =
		pg_query(rq, SOURCE_START_SQL, pg_text(turn->harvester->source->name),
	                 pg_text(turn->set), pg_int(backfill_days));
	turn->from = pg_value(rows, 0);
	turn->records = turn->attempts = turn->restarts = 0;
}

static const char *page_url(struct request *rq, const struct turn *turn)
{
	const struct source *source = turn->harvester->source;
	const struct source_cursor cursor = {.set = turn->set, .from = turn->from};
	return turn->token ? source->next(rq->arena, source, &cursor, turn->token)
	                   : source->first(rq->arena, source, &cursor);
}

/* Ask for the next page of the set, and do what its answer calls for. Runs under the lease. */
static void ask(struct request *rq)
{
	static const char *const OUTCOMES[] = {
		[SOURCE_PAGE] = "page",
		[SOURCE_EXPIRED] = "expired",
		[SOURCE_BUSY] = "busy",
		[SOURCE_REFUSED] = "refused",
	};
	struct turn *turn = rq->user;
	const struct source *source = turn->harvester->source;
	if (!turn->token || turn->harvester->tokens_fence != turn->harvester->lease.fence)
		forget_tokens(turn->harvester);
	if (!turn->token)
		begin_list(rq, turn);
	struct source_answer answer = source_ask(rq, source, page_url(rq, turn), turn->token);
	metric_add(&requests_counter, source->name, OUTCOMES[answer.outcome], 1);
	if (!lease_take(rq, &turn->harvester->lease, rq->worker->process->instance))
		raise_error(rq, ERR_CONFLICT, "another process harvests this source now");
	if (answer.outcome == SOURCE_PAGE)
		take_page(rq, turn, &answer.page);
	else if (answer.outcome == SOURCE_EXPIRED)
		restart_list(rq, turn);
	else if (answer.outcome == SOURCE_BUSY)
		retry(rq, turn, &answer);
	else
		finish(rq, turn, answer.why);
}

/* --- Passes ----------------------------------------------------------------------------------- */

/* The set to go on with; false: there is none, or not yet. */
static bool find_turn(struct request *rq, struct harvester *harvester, struct turn *turn)
{
	struct pg_rows *rows = pg_query(rq, SOURCE_DUE_SQL, pg_text(harvester->source->name));
	if (pg_empty(rows) || pg_get_int(rows, 0, "wait_ms") > 0)
		return false;
	*turn = (struct turn){
		.harvester = harvester,
		.set = pg_get(rows, 0, "set"),
		.is_running = pg_get_bool(rows, 0, "is_running"),
		.from = pg_get(rows, 0, "first_day"),
		.token = pg_get_bool(rows, 0, "is_running") ? pg_get(rows, 0, "token") : NULL,
		.attempts = pg_get_int(rows, 0, "attempts"),
		.restarts = pg_get_int(rows, 0, "restarts"),
		.records = pg_get_int(rows, 0, "records"),
	};
	return true;
}

/* Returns milliseconds to the next pass. */
static uint64_t step(struct request *rq, struct harvester *harvester)
{
	const char *owner = rq->worker->process->instance;
	struct turn *turn = arena_new_of(rq->arena, struct turn);
	if (!harvester->is_scheduled && !schedule(rq, harvester))
		return SETTING_RETRY_MS;
	harvester->is_scheduled = true;
	show_gauges(rq, harvester);
	if (!find_turn(rq, harvester, turn) || !lease_take(rq, &harvester->lease, owner))
		return POLL_MS;
	/* Once more under the lease: its holder before may have gone on meanwhile. */
	if (!find_turn(rq, harvester, turn))
		return POLL_MS;
	lease_run(rq, &harvester->lease, owner, ask, turn);
	return 0;
}

static void pass(struct request *rq)
{
	struct harvester *harvester = periodic_user(rq);
	const struct process *process = rq->worker->process;
	uint64_t next_ms = POLL_MS;
	if (process->is_migrated && !process->is_draining)
		next_ms = step(rq, harvester);
	periodic_wake_in(harvester->periodic, next_ms);
}

static void start(struct harvester *harvester, struct worker *worker, const struct source *source)
{
	harvester->source = source;
	harvester->lease.name = source->lease;
	forget_tokens(harvester);
	harvester->periodic = periodic_new(worker, "harvest", pass, harvester, PERIODIC_WHEN_WOKEN,
	                                   PASS_TIMEOUT_MS);
	periodic_wake(harvester->periodic);
}

struct harvester *harvester_start(struct worker *worker)
{
	if (!harvester_is_on())
		return NULL;
	struct harvester *harvesters = calloc(SOURCE_COUNT, sizeof(*harvesters));
	require(harvesters);
	for (size_t i = 0; i < SOURCE_COUNT; i++)
		start(&harvesters[i], worker, SOURCES[i]);
	return harvesters;
}

void harvester_stop(struct harvester *harvesters)
{
	for (size_t i = 0; harvesters && i < SOURCE_COUNT; i++) {
		periodic_stop(harvesters[i].periodic);
		periodic_free(harvesters[i].periodic);
		arena_free(harvesters[i].list_arena);
	}
	free(harvesters);
}
