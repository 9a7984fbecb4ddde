/** libcommon/llm/: the language model, behind any OpenAI-compatible interface
 * (`/chat/completions`).
 *
 * It is off by default, and every caller can do without it: chat_complete() gives the model's
 * answer or says why there is none, and the caller goes on. A slow or hostile model costs a caller
 * at most the time that it allows, and a process at most LLM_CONCURRENCY waiting requests
 * (call_gate.h). A model that is away or refuses everything is left alone for a while: then there
 * is no answer at once. An answer that is late or unusable does not begin such a pause, since the
 * texts of one account may have caused it.
 *
 * Neither the prompt nor the answer is logged. Metrics: `expops_llm_calls_total` by purpose and
 * outcome, `expops_llm_call_seconds`, `expops_llm_calls_running`.
 */
#pragma once

#include "base/config.h"
#include "loop/request.h"

#include <stddef.h>
#include <stdint.h>

/** LLM_URL, LLM_MODEL, LLM_KEY, LLM_CONCURRENCY. How long to wait is the setting LLM_TIMEOUT of
 * each service: it knows who waits. */
extern const struct setting CHAT_SETTINGS[];

/** Set up from the settings; once, before threads start. */
void chat_init(void);

/** LLM_MODEL; NULL: no model is configured. Any thread. */
const char *chat_model(void);

enum chat_outcome {
	CHAT_ANSWERED,
	CHAT_NOT_CONFIGURED,
	CHAT_BUSY,     /* as many calls are running as the process, or the account, may have */
	CHAT_PAUSED,   /* it has failed just now */
	CHAT_AWAY,     /* no connection, status 429 or 5xx, or its key or address is refused */
	CHAT_REFUSED,  /* it does not accept these texts */
	CHAT_TOO_LATE, /* the time was over */
	CHAT_TOO_LONG, /* the answer exceeds answer_max_bytes */
	CHAT_UNUSABLE, /* not a completion, or without text */
	CHAT_OUTCOME_COUNT,
};

struct chat_call {
	const char *purpose; /* `query_expansion`: a literal, a label of the metrics */
	const char *system;  /* what the model is to do; ours alone, never text from outside */
	const char *text;    /* what it is to do that with: one message of the role `user` */
	size_t answer_max_bytes;
	int64_t answer_max_tokens; /* asked of the model, which then cuts its answer */
	uint64_t timeout_ms;       /* at most half of the time that the request has left is used */
};

struct chat_answer {
	enum chat_outcome outcome;
	const char *text; /* well-formed UTF-8 without space at its ends, not empty; NULL unless
			     CHAT_ANSWERED */
	bool is_cut;      /* the model has cut it after answer_max_tokens */
};

/** Ask the model once and wait for its answer, in the arena of `rq`. Never raises, whatever the
 * model does; a request that was cancelled raises at its next suspension. Suspends. */
struct chat_answer chat_complete(struct request *rq, const struct chat_call *call);
