#include "api/query_expansion.h"

#include "base/json.h"
#include "base/log.h"
#include "embeddings/openai.h"

#include <string.h>

static struct {
	const char *url, *model, *key; /* "": no language model */
	int64_t timeout_ms;
} settings;

const struct setting QUERY_EXPANSION_SETTINGS[] = {
	SETTING_TEXT(&settings.url, "LLM_URL", "",
                     "Base URL of an OpenAI-compatible interface for query expansion, such as "
                     "https://api.example.com/v1; empty: no query expansion."),
	SETTING_TEXT(&settings.model, "LLM_MODEL", "",
                     "Model that expands a query when a search sets use_llm."),
	SETTING_SECRET(&settings.key, "LLM_KEY", "", "Bearer key of LLM_URL."),
	SETTING_MS(&settings.timeout_ms, "LLM_TIMEOUT", "5s", 100, 60000,
                   "How long a search waits for LLM_MODEL."),
	SETTING_END,
};

/* Bytes of the answer that are added to the query. */
#define EXPANSION_MAX_BYTES 400

#define ANSWER_MAX_BYTES ((size_t)256 * 1024)

static const char INSTRUCTION[] =
	"You widen search queries for a library of computer science papers. Answer with nothing "
	"but 10 to 20 words or short terms, separated by spaces, that papers answering the query "
	"would "
	"use in their titles and abstracts. Do not repeat the query and do not explain.";

static void add_message(yyjson_mut_doc *doc, yyjson_mut_val *messages, const char *role,
                        const char *content)
{
	yyjson_mut_val *message = yyjson_mut_arr_add_obj(doc, messages);
	yyjson_mut_obj_add_str(doc, message, "role", role);
	yyjson_mut_obj_add_str(doc, message, "content", content);
}

static const char *request_body(struct request *rq, const char *query)
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *root = yyjson_mut_obj(doc);
	yyjson_mut_obj_add_str(doc, root, "model", settings.model);
	yyjson_mut_obj_add_int(doc, root, "max_tokens", 100);
	yyjson_mut_obj_add_int(doc, root, "temperature", 0);
	yyjson_mut_val *messages = yyjson_mut_obj_add_arr(doc, root, "messages");
	add_message(doc, messages, "system", INSTRUCTION);
	add_message(doc, messages, "user", query);
	return json_write_mut(rq->arena, root, NULL);
}

/* choices[0].message.content of the answer; NULL when it is missing or blank. */
static const char *answer_text(struct request *rq, const struct fetch_response *answer)
{
	yyjson_val *root = NULL;
	if (answer->status != 200 ||
	    json_parse(rq->arena, answer->body, answer->body_length, &root, NULL))
		return NULL;
	yyjson_val *choice = yyjson_arr_get_first(json_get(root, "choices"));
	const char *content = json_get_text(json_get(choice, "message"), "content");
	return content && content[strspn(content, " \t\r\n")] ? content : NULL;
}

const char *query_expand(struct request *rq, const char *query)
{
	if (!settings.url[0] || !settings.model[0])
		return NULL;
	struct openai_call call = {
		.base_url = settings.url,
		.path = "/chat/completions",
		.key = settings.key,
		.body = request_body(rq, query),
		.response_max_bytes = ANSWER_MAX_BYTES,
		.timeout_ms = (uint64_t)settings.timeout_ms,
	};
	struct fetch_response *answer = NULL;
	enum err_code code = openai_post_try(rq, &call, &answer);
	const char *words = code ? NULL : answer_text(rq, answer);
	if (!words) {
		log_warn(LOG_GROUP_APP, "query expansion failed; searching with the original query",
		         f_text("reason", err_info(code ? code : ERR_UPSTREAM)->slug));
		return NULL;
	}
	return arena_printf(rq->arena, "%s %.*s", query, EXPANSION_MAX_BYTES, words);
}
