#include "chat/composed_reply.h"

#include "agent/analysis.h"
#include "base/base.h"
#include "base/utf8.h"
#include "json/json.h"

#include <ctype.h>
#include <string.h>

#define FAILURES_SHOWN 3
#define WAITING_SHOWN  5
#define FINDINGS_SHOWN 3
#define COSTS_CITED    5
#define REASON_MAX     200 /* bytes of an error in a sentence */

struct composition {
	const struct chat_records *records;
	struct citations *citations;
	struct arena *arena;
	struct buf text;
};

static const char *name_of(const struct composition *c, yyjson_val *run)
{
	return chat_run_name(c->arena, json_get(run, "run_id"));
}

static void cite(struct composition *c, yyjson_val *run, const char *field)
{
	yyjson_val *value = json_get(run, field);
	if (value && !yyjson_is_null(value))
		citation_add(c->citations, json_get(run, "run_id"), field);
}

static bool is_outcome(yyjson_val *run, const char *outcome)
{
	const char *kind = json_get_text(run, "outcome_kind");
	return kind && strcmp(kind, outcome) == 0;
}

/* Why a run failed, shortly: its error, or its status. */
static const char *reason_of(const struct composition *c, yyjson_val *run)
{
	const char *error = json_get_text(run, "error"), *status = json_get_text(run, "status");
	const char *text = error && *error ? error : status ? status : "no reason was reported";
	return utf8_shorten(c->arena, text, REASON_MAX);
}

static void speak_of_focus(struct composition *c)
{
	yyjson_val *run = c->records->focus;
	struct analysis_source source = {run, c->records->focus_gates, c->records->focus_stage};
	struct analysis analysis = run_analysis(c->arena, json_doc_new(c->arena), &source);
	buf_printf(&c->text, "Run %s: %s %s\n", name_of(c, run), analysis.cause,
	           analysis.next_step);
	cite(c, run, "status");
	cite(c, run, "error");
	cite(c, run, "artifact_url");
}

static void speak_of_state(struct composition *c)
{
	yyjson_val *agent = yyjson_arr_get_first(c->records->agents);
	const char *name = json_get_text(agent, "agent"), *status = json_get_text(agent, "status");
	if (!agent)
		buf_printf(&c->text,
		           "No agent is installed on %s; its runs are known from their "
		           "reports.\n",
		           c->records->repo);
	else if (strcmp(status, "revoked") == 0)
		buf_printf(&c->text, "The agent %s was revoked on %.10s.\n", name,
		           json_get_text(agent, "revoked_at"));
	else
		buf_printf(&c->text, "The agent %s is installed on %s since %.10s.\n", name,
		           c->records->repo, json_get_text(agent, "installed_at"));
}

/* What became of a run, as the end of a sentence. */
static const char *ending_of(const struct composition *c, yyjson_val *run)
{
	static const struct {
		const char *outcome, *text;
	} ENDINGS[] = {
		{"running", "is running"},      {"pull_request", "opened a pull request"},
		{"issue", "opened an issue"},   {"branch", "pushed a branch"},
		{"skipped", "changed nothing"},
	};
	for (size_t i = 0; i < ARRAY_LEN(ENDINGS); i++)
		if (is_outcome(run, ENDINGS[i].outcome))
			return ENDINGS[i].text;
	if (is_outcome(run, "failed"))
		return arena_printf(c->arena, "failed: %s", reason_of(c, run));
	const char *status = json_get_text(run, "status");
	return status ? arena_printf(c->arena, "ended with the status %s", status) : "ended";
}

static void speak_of_last_run(struct composition *c)
{
	yyjson_val *run = yyjson_arr_get_first(c->records->runs);
	if (!run) {
		buf_puts(&c->text, "There has been no run yet.\n");
		return;
	}
	const char *started = json_get_text(run, "started_at");
	buf_printf(&c->text, "The last run, %s of %.10s, %s.\n", name_of(c, run),
	           started ? started : json_get_text(run, "created_at"), ending_of(c, run));
	cite(c, run, "status");
	cite(c, run, "error");
}

static void speak_of_failures(struct composition *c)
{
	size_t i, count, failed = 0;
	yyjson_val *run;
	struct buf shown = {.arena = c->arena};
	yyjson_arr_foreach (c->records->runs, i, count, run) {
		if (!is_outcome(run, "failed") || ++failed > FAILURES_SHOWN)
			continue;
		buf_printf(&shown, "%s run %s (%s)", failed > 1 ? ";" : ":", name_of(c, run),
		           reason_of(c, run));
		cite(c, run, json_get(run, "error") ? "error" : "status");
	}
	if (failed == 0)
		buf_printf(&c->text, "None of the last %zu runs failed.\n", count);
	else
		buf_printf(&c->text, "%zu of the last %zu runs failed%s%s.\n", failed, count,
		           failed > FAILURES_SHOWN ? ", most recently" : "", shown.data);
}

static void add_cost(struct composition *c, const char *when, yyjson_val *sums)
{
	int64_t runs = json_get_int(sums, "runs", 0), known = json_get_int(sums, "cost_runs", 0);
	if (runs == 0)
		buf_printf(&c->text, "There were no runs %s.\n", when);
	else if (known == 0)
		buf_printf(&c->text, "The cost of the %jd runs %s is unknown.\n", (intmax_t)runs,
		           when);
	else
		buf_printf(&c->text, "%jd of the %jd runs %s cost %.2f USD%s.\n", (intmax_t)known,
		           (intmax_t)runs, when, yyjson_get_num(json_get(sums, "cost_usd")),
		           known < runs ? "; the others did not report their cost" : "");
}

static void speak_of_cost(struct composition *c)
{
	size_t i, count, cited = 0;
	yyjson_val *run;
	add_cost(c, "in the last 30 days", c->records->month);
	add_cost(c, "since the beginning", c->records->total);
	yyjson_arr_foreach (c->records->runs, i, count, run) {
		yyjson_val *cost = json_get(run, "cost_usd");
		if (cost && !yyjson_is_null(cost) && cited++ < COSTS_CITED)
			cite(c, run, "cost_usd");
	}
}

static void speak_of_pull_requests(struct composition *c)
{
	size_t i, count;
	yyjson_val *item;
	yyjson_arr_foreach (c->records->waiting, i, count, item) {
		if (i == 0)
			buf_puts(&c->text, "Waiting for somebody: ");
		if (i < WAITING_SHOWN) {
			yyjson_val *run_id = json_get(item, "run_id");
			buf_printf(&c->text, "%s%s of run %s, open since %.10s", i > 0 ? "; " : "",
			           json_get_text(item, "url"), chat_run_name(c->arena, run_id),
			           json_get_text(item, "opened_at"));
			citation_add(c->citations, run_id, "artifact_url");
		}
	}
	if (count > WAITING_SHOWN)
		buf_printf(&c->text, "; and %zu more", count - WAITING_SHOWN);
	buf_puts(&c->text, count > 0 ? ".\n" : "No pull request is open.\n");
	buf_printf(&c->text,
	           "In the last 30 days %jd pull requests were opened and %jd were merged.\n",
	           (intmax_t)json_get_int(c->records->month, "pull_requests", 0),
	           (intmax_t)c->records->merged);
}

static void speak_of_findings(struct composition *c)
{
	size_t i, count;
	yyjson_val *finding;
	yyjson_arr_foreach (c->records->findings, i, count, finding)
		if (i < FINDINGS_SHOWN)
			buf_printf(&c->text, "%s: %s.\n",
			           i == 0 ? "What stands out in the last 30 days" : "Also",
			           json_get_text(finding, "text"));
}

/* Subjects in the order in which they are spoken of. A `*` stands for any end of a word. */
static const struct subject {
	const char *words;
	void (*speak)(struct composition *composition);
} SUBJECTS[] = {
	{"state status agent* install* revoke* idle active silent", speak_of_state},
	{"last latest newest recent* now current* running happen*", speak_of_last_run},
	{"fail* error* broke* break* wrong why cause* problem* stop* abort*", speak_of_failures},
	{"cost* spen* usd dollar* money price* budget* expensive", speak_of_cost},
	{"pull pr prs review* merge* open* issue* wait*", speak_of_pull_requests},
	{"finding* attention notice* improve* next should summar*", speak_of_findings},
};

/* Whether one of the patterns is the word. */
static bool is_listed(const char *patterns, const char *word, size_t length)
{
	while (*patterns) {
		size_t size = strcspn(patterns, " ");
		bool is_stem = patterns[size - 1] == '*';
		size_t compared = size - is_stem;
		if ((is_stem ? length >= compared : length == compared) &&
		    strncmp(patterns, word, compared) == 0)
			return true;
		patterns += size + strspn(patterns + size, " ");
	}
	return false;
}

/* The question has a word of the subject; its letters are lower case. */
static bool asks_for(const char *question, const struct subject *subject)
{
	while (*question) {
		size_t length = 0;
		while (islower((unsigned char)question[length]))
			length++;
		if (length > 0 && is_listed(subject->words, question, length))
			return true;
		question += MAX_OF(length, 1);
	}
	return false;
}

const char *composed_reply(const struct chat_records *records, const char *question,
                           struct citations *citations)
{
	struct arena *arena = citations->arena;
	struct composition c = {.records = records,
	                        .citations = citations,
	                        .arena = arena,
	                        .text = {arena}};
	const char *words = arena_lower(arena, question);
	bool is_any = false;
	for (size_t i = 0; i < ARRAY_LEN(SUBJECTS); i++)
		is_any |= asks_for(words, &SUBJECTS[i]);
	if (records->focus)
		speak_of_focus(&c);
	for (size_t i = 0; i < ARRAY_LEN(SUBJECTS); i++)
		if (is_any ? asks_for(words, &SUBJECTS[i]) : !records->focus)
			SUBJECTS[i].speak(&c);
	if (c.text.length == 0)
		buf_puts(&c.text, "Nothing stands out in the last 30 days.\n");
	c.text.data[c.text.length - 1] = '\0';
	return c.text.data;
}
