/* `svc-search harvest`: reads a list of a source (source.h) from its first page to its last, and
 * waits as long as Retry-After says. It holds the lease under which the source is asked, since the
 * source counts all processes as one client. */
#include "base/timefmt.h"
#include "harvest/source.h"
#include "ingest/import.h"
#include "loop/wait.h"
#include "main/arguments.h"
#include "main/command_run.h"
#include "pg/lease.h"

#include <stdlib.h>
#include <string.h>

struct harvest {
	const char *source_name;
	const struct source *source;
	struct source_cursor cursor;
	struct lease lease;
	size_t withdrawn;  /* papers */
	size_t read;       /* records of the list so far */
	struct buf tokens; /* hashes of the list's tokens so far */
	int restarts;      /* how often the list was restarted */
	long complete;     /* records of the whole list; 0: not given */
};

/* Ask for the page at `url`. Failures of the network and of the server are retried with backoff. */
static struct source_answer ask(struct request *rq, const struct harvest *harvest, const char *url)
{
	struct source_answer answer = {0};
	for (int attempt = 0; attempt < SOURCE_ATTEMPTS_MAX; attempt++) {
		answer = source_ask(rq, harvest->source, url, harvest->tokens.length > 0);
		if (answer.outcome == SOURCE_REFUSED)
			raise_error(rq, ERR_UPSTREAM, "%s", answer.why);
		if (answer.outcome != SOURCE_BUSY)
			return answer;
		uint64_t wait_ms = answer.retry_after_ms;
		if (!wait_ms)
			wait_ms = source_backoff_ms(harvest->source, attempt);
		fprintf(stderr, "%s: retrying in %.0f s\n", answer.why, (double)wait_ms / 1000);
		fiber_sleep(rq, wait_ms);
	}
	raise_error(rq, ERR_UPSTREAM, "cannot read %s: %s", url, answer.why);
}

static void store(struct request *rq, struct harvest *harvest, struct import *import,
                  const struct source_page *page)
{
	harvest->withdrawn += source_store(rq, import, page);
	harvest->read += page->count;
	if (page->complete)
		harvest->complete = page->complete;
	if (harvest->complete)
		fprintf(stderr, "%zu of %ld records\n", harvest->read, harvest->complete);
	else
		fprintf(stderr, "%zu records\n", harvest->read);
}

/* The token has expired: restart the list. Papers stored already do not differ and are not written
 * again. Returns the URL of the first page. */
static const char *restart_list(struct request *rq, struct harvest *harvest)
{
	if (harvest->restarts++ == SOURCE_RESTARTS_MAX)
		raise_error(rq, ERR_UPSTREAM,
		            "resumption tokens keep expiring; harvest fewer days at once with "
		            "--until");
	fprintf(stderr, "the resumption token has expired: restarting the list\n");
	harvest->read = 0;
	harvest->tokens.length = 0;
	return harvest->source->first(rq->arena, harvest->source, &harvest->cursor);
}

/* Fetch and store one page. Returns the URL of the next one; NULL: it was the last. */
static const char *harvest_page(struct request *rq, struct harvest *harvest, struct import *import,
                                const char *url)
{
	struct source_answer answer = ask(rq, harvest, url);
	if (answer.outcome == SOURCE_EXPIRED)
		return restart_list(rq, harvest);
	store(rq, harvest, import, &answer.page);
	if (!answer.page.token)
		return NULL;
	if (!source_token_is_new(&harvest->tokens, answer.page.token))
		raise_error(rq, ERR_UPSTREAM, "the server repeats a resumption token");
	source_token_add(&harvest->tokens, answer.page.token);
	return harvest->source->next(rq->arena, harvest->source, &harvest->cursor,
	                             answer.page.token);
}

static void harvest_list(struct request *rq)
{
	struct harvest *harvest = rq->user;
	struct import *import = import_new(rq, harvest->source->name);
	harvest->tokens.arena = rq->arena;
	const char *url = harvest->source->first(rq->arena, harvest->source, &harvest->cursor);
	while (url) {
		struct arena *whole = request_page_begin(rq);
		url = arena_strdup(whole, harvest_page(rq, harvest, import, url));
		request_page_end(rq);
	}
	printf("%zu records read: %zu withdrawn, ", import->seen, harvest->withdrawn);
	import_print_outcome(import);
}

static void harvest_main(struct request *rq)
{
	struct harvest *harvest = rq->user;
	const char *owner = rq->worker->process->instance;
	struct problem problem;
	if (!lease_take(rq, &harvest->lease, owner))
		raise_error(rq, ERR_CONFLICT, "%s is being harvested by the process %s",
		            harvest->source->name, lease_owner(rq, &harvest->lease));
	enum err_code code =
		lease_run_try(rq, &harvest->lease, owner, harvest_list, harvest, &problem);
	if (code != ERR_UNAVAILABLE) /* Postgres is away: the lease runs out by itself */
		lease_give_up_all(rq, owner);
	if (code)
		raise_problem(rq, &problem);
}

static bool is_date(const char *text)
{
	int64_t day;
	return text && date_parse(text, strlen(text), &day);
}

static bool read_arguments(int argc, char **argv, struct harvest *harvest)
{
	static const struct argument ARGUMENTS[] = {
		ARGUMENT_TEXT(struct harvest, cursor.from, "from"),
		ARGUMENT_TEXT(struct harvest, cursor.until, "until"),
		ARGUMENT_TEXT(struct harvest, cursor.set, "set"),
		ARGUMENT_TEXT(struct harvest, source_name, "source"),
		ARGUMENT_END,
	};
	if (!options_read(argc, argv, ARGUMENTS, harvest))
		return false;
	harvest->source = source_find(harvest->source_name);
	return harvest->source && is_date(harvest->cursor.from) &&
	       (!harvest->cursor.until || is_date(harvest->cursor.until));
}

int harvest_command(struct process *process, int argc, char **argv)
{
	struct harvest harvest = {.source_name = ARXIV_SOURCE.name};
	if (!read_arguments(argc, argv, &harvest))
		return COMMAND_USAGE;
	harvest.lease.name = harvest.source->lease;
	return command_run(process, harvest_main, &harvest);
}
