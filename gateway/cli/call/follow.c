#include "call/follow.h"

#include "base/timefmt.h"
#include "json/json.h"
#include "program/text.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PAUSE_MS          200 /* after the first answer; then half as long again each time */
#define PAUSE_MAX_MS      2000
#define OUTAGE_MAX_MS     600000
#define RETRY_AFTER_MAX_S 60
#define WAIT_SUFFIX       " -w"
#define CLEAR_LINE        "\r\033[K"

#define TASK(operation)                                                                           \
	{                                                                                         \
		(operation), "/status", " completed ", " failed cancelled ", NULL, NULL, "/error" \
	}

const struct followed FOLLOWED_REFRESH = TASK("refresh_task_get");
const struct followed FOLLOWED_REFIT = TASK("refit_task_get");
const struct followed FOLLOWED_PROVISION = TASK("provision_task_get");
const struct followed FOLLOWED_IMPLEMENT = {"implement_status_get",
                                            "/pipeline_status",
                                            " pr_opened completed ",
                                            " failed cancelled ",
                                            NULL,
                                            NULL,
                                            "/error"};
/* The state is that of the workflow, as the code host has it; without one it is the run's own,
 * which is any text, such as `pr_opened`. */
const struct followed FOLLOWED_AGENT_RUN = {"fleet_run_status_get",
                                            "/status",
                                            " completed ",
                                            " failed ",
                                            "/outcome_kind",
                                            " queued requested waiting pending in_progress ",
                                            "/error"};
const struct followed FOLLOWED_BUILD = {"build_get",          "/status", " succeeded ",
                                        " failed cancelled ", NULL,      NULL,
                                        "/error/message"};
const struct followed FOLLOWED_EVAL_RUN = {
	"eval_run_get", "/status", " succeeded ",   " failed cancelled timed_out ",
	NULL,           NULL,      "/error/message"};

static bool has_word(const char *words, const char *word)
{
	const char *at = word && *word ? strstr(words, word) : NULL;
	return at && at[-1] == ' ' && at[strlen(word)] == ' ';
}

static const char *text_at(yyjson_val *json, const char *path)
{
	return path ? yyjson_get_str(yyjson_ptr_get(json, path)) : NULL;
}

/* ---- showing the progress ---- */

struct progress {
	bool is_shown;
	uint64_t steps_shown; /* a bit for each step whose end was shown */
};

static void print_step(struct cli *cli, yyjson_val *step)
{
	const char *status = json_get_text(step, "status"),
		   *message = json_get_text(step, "message");
	fprintf(stderr, CLEAR_LINE "  %-10s %s%s%s\n", cli_shown(cli, status),
	        cli_shown(cli, json_get_text(step, "name")), message ? ": " : "",
	        cli_shown(cli, message));
}

static void print_steps(struct cli *cli, struct progress *progress, yyjson_val *steps)
{
	size_t index, count;
	yyjson_val *step;
	yyjson_arr_foreach (steps, index, count, step) {
		bool has_ended = yyjson_is_str(json_get(step, "finished_at"));
		uint64_t bit = UINT64_C(1) << (index % 64);
		if (has_ended && !(progress->steps_shown & bit))
			print_step(cli, step);
		progress->steps_shown |= has_ended ? bit : 0;
	}
}

static void print_state(struct cli *cli, struct progress *progress, const char *state,
                        yyjson_val *json)
{
	const char *message = json_get_text(json, "message");
	int64_t percent = json_get_int(json, "progress", -1);
	if (!progress->is_shown)
		return;
	print_steps(cli, progress, json_get(json, "steps"));
	const char *line = arena_printf(cli->arena, "  %s%s%s%s", cli_shown(cli, state),
	                                percent >= 0 ? arena_printf(cli->arena, "  %lld %%",
	                                                            (long long)percent)
	                                             : "",
	                                message ? "  " : "", cli_shown(cli, message));
	fprintf(stderr, CLEAR_LINE "%s",
	        text_cut(cli->arena, line, cli->screen.columns ? cli->screen.columns - 1 : 79));
}

static void print_end(const struct progress *progress)
{
	if (progress->is_shown)
		fputs(CLEAR_LINE, stderr);
}

/* ---- the end by Ctrl-C ---- */

static char at_interrupt[512]; /* what the handler of the signal writes */

static void leave(int signal)
{
	ssize_t written = write(STDERR_FILENO, at_interrupt, strlen(at_interrupt));
	_exit(written < 0 ? EXIT_FAILED : EXIT_BY_SIGNAL + signal);
}

const char *follow_verb(const char *again)
{
	size_t length = strlen(again), suffix = strlen(WAIT_SUFFIX);
	bool waits = length > suffix && strcmp(again + length - suffix, WAIT_SUFFIX) == 0;
	return waits ? "follows it" : "shows its state";
}

static void prepare_to_leave(struct cli *cli, const char *again)
{
	snprintf(at_interrupt, sizeof(at_interrupt), "\nexpops: the work goes on; %s %s\n",
	         cli_shown(cli, again), follow_verb(again));
	signal(SIGINT, leave);
}

/* ---- following ---- */

struct watch {
	const struct followed *followed;
	const struct subject *subject; /* NULL: every answer is of the work */
	struct progress progress;
	uint64_t heard_ms; /* when the service last told of the work */
};

static bool is_success(const struct answer *answer)
{
	return answer->status == 200 && answer->json;
}

/* Whether the answer is of this work: an id is a text or a number. */
static bool is_meant(struct cli *cli, const struct subject *subject, const struct answer *answer)
{
	yyjson_val *value = subject ? yyjson_ptr_get(answer->json, subject->path) : NULL;
	const char *text = yyjson_is_str(value) ? yyjson_get_str(value)
	                   : value              ? json_write(cli->arena, value, NULL)
	                                        : "";
	return !subject || strcmp(text, subject->id) == 0;
}

static bool has_ended(const struct followed *followed, const struct answer *answer)
{
	const char *state = text_at(answer->json, followed->state),
		   *result = text_at(answer->json, followed->result);
	if (has_word(followed->ends, state) || has_word(followed->fails, state))
		return true;
	return followed->goes_on && !has_word(followed->goes_on, state) && result &&
	       strcmp(result, "running") != 0;
}

/* Whether nothing is left to wait for: the work has ended, or the service refuses or is gone. */
static bool is_over(struct cli *cli, struct watch *watch, const struct answer *answer)
{
	bool is_heard = is_success(answer) && is_meant(cli, watch->subject, answer);
	if (is_heard)
		watch->heard_ms = time_monotonic_ms();
	print_state(cli, &watch->progress,
	            is_heard ? text_at(answer->json, watch->followed->state)
	                     : "no answer, trying again",
	            is_heard ? answer->json : NULL);
	if (is_heard)
		return has_ended(watch->followed, answer);
	return (!is_success(answer) && !call_is_transient(answer)) ||
	       time_monotonic_ms() - watch->heard_ms > OUTAGE_MAX_MS;
}

/* Send a request in the arena of the turn. */
static struct answer *send_in(struct cli *turn, struct query *query)
{
	struct cli *cli = query->cli;
	query->cli = turn;
	struct answer *answer = call_try(query);
	query->cli = cli;
	cli->curl = turn->curl;
	return answer;
}

/* The work where the answer of the operation is of other work; as it was answered, if the list has
 * none. */
static struct answer *ask_by_id(struct cli *turn, struct query *by_id, struct answer *answer)
{
	struct answer *list = send_in(turn, by_id);
	if (!is_success(list))
		return list;
	list->json = yyjson_arr_get_first(list->json);
	return list->json ? list : answer;
}

/* Ask once, in an arena of its own, since work can take hours: turn->arena. */
static struct answer *ask(struct query *query, const struct subject *subject, struct cli *turn)
{
	*turn = *query->cli;
	turn->arena = arena_new();
	struct answer *answer = send_in(turn, query);
	return is_success(answer) && !is_meant(turn, subject, answer)
	               ? ask_by_id(turn, subject->by_id, answer)
	               : answer;
}

struct answer *follow(struct query *query, const struct followed *followed,
                      const struct subject *subject, const char *again)
{
	struct cli *cli = query->cli, turn;
	struct watch watch = {followed,
	                      subject,
	                      {.is_shown = isatty(STDERR_FILENO)},
	                      time_monotonic_ms()};
	int64_t pause = PAUSE_MS;
	prepare_to_leave(cli, again);
	struct answer *answer = ask(query, subject, &turn);
	for (; !is_over(&turn, &watch, answer); pause = MIN_OF(pause * 3 / 2, PAUSE_MAX_MS)) {
		int64_t retry_after = MIN_OF(answer->retry_after, RETRY_AFTER_MAX_S);
		arena_free(turn.arena);
		call_pause(MAX_OF(pause, retry_after * 1000));
		answer = ask(query, subject, &turn);
	}
	arena_adopt(cli->arena, turn.arena);
	print_end(&watch.progress);
	signal(SIGINT, SIG_DFL);
	if (!is_success(answer))
		call_fail(cli, answer);
	if (!is_meant(cli, subject, answer))
		cli_fail(EXIT_FAILED, "the service does not know %s any more", subject->id);
	return answer;
}

void follow_require_success(struct cli *cli, const struct followed *followed,
                            const struct answer *answer)
{
	const char *state = text_at(answer->json, followed->state),
		   *result = text_at(answer->json, followed->result);
	const char *error = text_at(answer->json, followed->error);
	if (!has_word(followed->fails, state) && !has_word(followed->fails, result))
		return;
	cli_fail(EXIT_FAILED, "it %s%s%s",
	         cli_shown(cli, has_word(followed->fails, state) ? state : result),
	         error ? ": " : "", cli_shown(cli, error));
}
