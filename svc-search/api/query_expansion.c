#include "api/query_expansion.h"

#include "base/utf8.h"
#include "llm/chat.h"

#include <string.h>

static int64_t timeout_ms;

const struct setting QUERY_EXPANSION_SETTINGS[] = {
	SETTING_MS(&timeout_ms, "LLM_TIMEOUT", "5s", 100, 60000,
                   "How long a search that sets use_llm waits for LLM_MODEL."),
	SETTING_END,
};

/* Bytes of the answer that are added to the query, and what the model is asked for: about four
 * bytes a token. A model that does not know max_tokens may answer more. */
#define EXPANSION_MAX_BYTES  400
#define EXPANSION_MAX_TOKENS 100
#define ANSWER_MAX_BYTES     ((size_t)32 * 1024)

static const char INSTRUCTION[] =
	"You widen search queries for a library of computer science papers. Answer with nothing "
	"but 10 to 20 words or short terms, separated by spaces, that papers answering the query "
	"would use in their titles and abstracts. Do not repeat the query and do not explain.";

const char *query_expand(struct request *rq, const char *query)
{
	struct chat_call call = {
		.purpose = "query_expansion",
		.system = INSTRUCTION,
		.text = query,
		.answer_max_bytes = ANSWER_MAX_BYTES,
		.answer_max_tokens = EXPANSION_MAX_TOKENS,
		.timeout_ms = (uint64_t)timeout_ms,
	};
	struct chat_answer answer = chat_complete(rq, &call);
	if (answer.outcome != CHAT_ANSWERED)
		return NULL;
	size_t used = utf8_cut(answer.text, strlen(answer.text), EXPANSION_MAX_BYTES);
	return arena_printf(rq->arena, "%s %.*s", query, (int)used, answer.text);
}
