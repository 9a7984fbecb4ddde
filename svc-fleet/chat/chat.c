#include "chat/chat.h"

#include "chat/chat_records.h"
#include "chat/citation.h"
#include "chat/composed_reply.h"
#include "input/input.h"
#include "input/key_limit.h"
#include "json/json.h"
#include "llm/chat.h"
#include "reply/reply.h"
#include "run/run.h"
#include "wording/run_brief.h"
#include "wording/wording.h"

#include <string.h>

/* What a prompt shows of runs: of a member of the one in focus, of the others, and of all
 * together. */
#define FOCUS_MEMBER_MAX_BYTES 2000
#define MEMBER_MAX_BYTES       300
#define RUNS_MAX_BYTES         ((size_t)48 * 1024)

struct chat_input {
	const char *repo;
	const char *messages;
	const char *focus_run_id; /* JSON text */
};

static const char *const ROLES[] = {"user", "assistant", NULL};

static const struct field MESSAGE[] = {
	JSON_ENUM("role", REQUIRED, ROLES),
	JSON_TEXT("content", REQUIRED, 1, 8000),
	FIELD_END,
};

static const struct field CHAT_FIELDS[] = {
	BODY_REPO(struct chat_input, repo),
	{IN_BODY, FIELD_ARRAY, "messages", FIELD_AT(struct chat_input, messages, const char *),
         REQUIRED | OTHERS_IGNORED, 1, 50, .members = MESSAGE},
	BODY_ID(struct chat_input, focus_run_id, "focus_run_id", NULLABLE, RUN_ID_MAX),
	FIELD_END,
};

static const char TASK[] =
	"Answer the last message of the user in <conversation> in at most eight sentences, from "
	"<repository> and <runs> alone. You know no other repository and no other account; say so "
	"if you are asked about one. Mark each statement that rests on a run with the label of the "
	"run and the member of it, such as [R2.error].";

static void add_repository(struct request *rq, struct buf *prompt,
                           const struct chat_records *records)
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *repository = yyjson_mut_obj(doc);
	yyjson_mut_obj_add_str(doc, repository, "repo", records->repo);
	const struct {
		const char *name;
		yyjson_val *value;
	} MEMBERS[] = {
		{"agents", records->agents},
		{"sums_of_30_days", records->month},
		{"sums_of_all_days", records->total},
		{"waiting", records->waiting},
		{"findings_of_30_days", records->findings},
	};
	for (size_t i = 0; i < ARRAY_LEN(MEMBERS); i++)
		yyjson_mut_obj_add_val(doc, repository, MEMBERS[i].name,
		                       yyjson_val_mut_copy(doc, MEMBERS[i].value));
	yyjson_mut_obj_add_int(doc, repository, "pull_requests_merged_in_30_days", records->merged);
	wording_add(prompt, "repository", json_write_mut(rq->arena, repository, NULL));
}

/* Add a run to the list, labelled, unless the list would become too long. */
static void add_run(struct request *rq, struct buf *list, struct labelled_runs *labelled,
                    yyjson_val *run, size_t member_max_bytes)
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *brief = run_brief(rq->arena, doc, run, member_max_bytes);
	yyjson_mut_obj_add_str(doc, brief, "label",
	                       arena_printf(rq->arena, "R%zu", labelled->count + 1));
	size_t length = 0;
	const char *text = json_write_mut(rq->arena, brief, &length);
	if (list->length + length > RUNS_MAX_BYTES)
		return;
	buf_printf(list, "%s%s", labelled->count > 0 ? ",\n" : "", text);
	labelled->runs[labelled->count++] = run;
}

static struct labelled_runs add_runs(struct request *rq, struct buf *prompt,
                                     const struct chat_records *records)
{
	struct labelled_runs labelled = {0};
	struct buf list = {.arena = rq->arena};
	size_t i, count;
	yyjson_val *run;
	buf_puts(&list, "[");
	if (records->focus)
		add_run(rq, &list, &labelled, records->focus, FOCUS_MEMBER_MAX_BYTES);
	yyjson_arr_foreach (records->runs, i, count, run) {
		bool is_focus = records->focus && yyjson_equals(json_get(run, "run_id"),
		                                                json_get(records->focus, "run_id"));
		if (!is_focus)
			add_run(rq, &list, &labelled, run, MEMBER_MAX_BYTES);
	}
	buf_puts(&list, "]");
	wording_add(prompt, "runs", list.data);
	return labelled;
}

/* The messages without members that we do not know. */
static void add_conversation(struct request *rq, struct buf *prompt, yyjson_val *messages)
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *conversation = yyjson_mut_arr(doc);
	size_t i, count;
	yyjson_val *message;
	yyjson_arr_foreach (messages, i, count, message) {
		yyjson_mut_val *copy = yyjson_mut_arr_add_obj(doc, conversation);
		json_add_member(doc, copy, "role", message, "role");
		json_add_member(doc, copy, "content", message, "content");
	}
	wording_add(prompt, "conversation", json_write_mut(rq->arena, conversation, NULL));
}

/* The model's answer; NULL: there is none. */
static const char *ask_model(struct request *rq, const struct chat_records *records,
                             yyjson_val *messages, struct citations *citations)
{
	if (!chat_model())
		return NULL;
	struct buf prompt = {.arena = rq->arena};
	add_repository(rq, &prompt, records);
	struct labelled_runs labelled = add_runs(rq, &prompt, records);
	add_conversation(rq, &prompt, messages);
	const char *text = wording_ask(rq, "chat", TASK, &prompt);
	const char *reply = text ? citations_take(citations, text, &labelled) : "";
	return reply[0] ? reply : NULL;
}

/* Add a fault when the last message is not the user's. Before request_input(), whose table has the
 * rows of each message. */
static void check_last_message(struct request *rq)
{
	yyjson_val *messages = json_get(request_body(rq), "messages");
	const char *role = json_get_text(yyjson_arr_get_last(messages), "role");
	if (role && strcmp(role, "assistant") == 0)
		problem_add_field(rq->arena, &rq->problem, "messages",
		                  "must end with a message of the user");
}

void fleet_chat(struct request *rq)
{
	check_last_message(rq);
	struct chat_input *in = request_input(rq, struct chat_input, CHAT_FIELDS);
	yyjson_val *messages = json_get(rq->http->json, "messages");
	const char *question = json_get_text(yyjson_arr_get_last(messages), "content");
	struct chat_records records = chat_records_read(rq, in->repo, in->focus_run_id);
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	struct citations citations = citations_new(rq->arena, doc);
	const char *worded = ask_model(rq, &records, messages, &citations);
	const char *reply = worded ? worded : composed_reply(&records, question, &citations);
	yyjson_mut_val *answer = yyjson_mut_obj(doc);
	yyjson_mut_doc_set_root(doc, answer);
	yyjson_mut_obj_add_str(doc, answer, "reply", reply);
	yyjson_mut_obj_add_val(doc, answer, "citations", citations.list);
	json_add_text(doc, answer, "model", worded ? chat_model() : NULL);
	reply_doc(rq, 200, doc);
}
