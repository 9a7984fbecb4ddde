#include "embeddings/embeddings.h"

#include "base/arena.h"
#include "base/utf8.h"
#include "client/openai.h"
#include "embeddings/embedding_response.h"
#include "json/json.h"
#include "loop/wait.h"
#include "observe/log.h"
#include "observe/metrics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Maximum bytes of one number in an answer, with its separators. */
#define NUMBER_BYTES 32

/* Maximum bytes of an answer without the numbers. */
#define ENVELOPE_BYTES 65536

/* The timeout of a batch of papers, as a multiple of EMBEDDINGS_TIMEOUT. */
#define BATCH_TIMEOUT_FACTOR 10

static struct {
	const char *url, *model, *key; /* "": no external embedder; no key */
	int64_t dimension;             /* requested; 0: the model's own */
	int64_t timeout_ms;            /* of a query; see BATCH_TIMEOUT_FACTOR */
	int64_t batch;                 /* maximum texts of one call */
	int64_t text_max_bytes;        /* a longer text is cut */
} settings;

const struct setting EMBEDDINGS_SETTINGS[] = {
	SETTING_TEXT(&settings.url, "EMBEDDINGS_URL", "",
                     "Base URL of an OpenAI-compatible interface that embeds papers and queries, "
                     "such as https://api.example.com/v1; empty: the built-in embedder, trained on "
                     "the papers themselves."),
	SETTING_TEXT(&settings.model, "EMBEDDINGS_MODEL", "",
                     "Model of EMBEDDINGS_URL; when the name changes, all papers are embedded "
                     "again."),
	SETTING_SECRET(&settings.key, "EMBEDDINGS_KEY", "", "Bearer key of EMBEDDINGS_URL."),
	SETTING_INT(&settings.dimension, "EMBEDDINGS_DIMENSION", "0", 0, EMBEDDING_MAX_DIMENSION,
                    "Dimension to request from a model that can shorten its vectors; 0: request "
                    "none."),
	SETTING_MS(&settings.timeout_ms, "EMBEDDINGS_TIMEOUT", "3s", 100, 60000,
                   "How long a search waits for the vector of its query before it continues by "
                   "words alone; a batch of papers may take ten times as long."),
	SETTING_INT(&settings.batch, "EMBEDDINGS_BATCH", "64", 1, 512,
                    "Maximum papers of one call."),
	SETTING_BYTES(&settings.text_max_bytes, "EMBEDDINGS_MAX_TEXT", "8KiB", 256, 65536,
                      "Only this much of a longer text is embedded; a token has about four bytes."),
	SETTING_END,
};

static char space_name[300];

static const char *const PURPOSES[] = {[FOR_PAPERS] = "papers", [FOR_QUERY] = "query"};
static const char *const OUTCOMES[] = {[EMBEDDINGS_MADE] = "made",
                                       [EMBEDDINGS_REFUSED] = "refused",
                                       [EMBEDDINGS_FAILED] = "failed"};

METRIC_COUNTER(calls_counter, "expops_embedding_calls_total", "Calls of the embeddings endpoint.",
               "purpose", "outcome");

size_t embeddings_batch(void)
{
	return (size_t)settings.batch;
}

void embeddings_init(void)
{
	if (!settings.url[0] != !settings.model[0])
		log_warn("EMBEDDINGS_URL and EMBEDDINGS_MODEL must both be set; the "
		         "one given is ignored");
	if (!settings.url[0] || !settings.model[0])
		return;
	if (settings.dimension)
		snprintf(space_name, sizeof(space_name), "%s/%d", settings.model,
		         (int)settings.dimension);
	else
		snprintf(space_name, sizeof(space_name), "%s", settings.model);
	log_info("using an external embedder", f_text("space", space_name));
}

const char *embeddings_space(void)
{
	return space_name[0] ? space_name : NULL;
}

uint64_t embeddings_timeout_ms(enum embeddings_purpose purpose)
{
	uint64_t timeout_ms = (uint64_t)settings.timeout_ms;
	return purpose == FOR_QUERY ? timeout_ms : timeout_ms * BATCH_TIMEOUT_FACTOR;
}

static const char *request_body(struct request *rq, const char *const *texts, size_t count)
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *root = yyjson_mut_obj(doc);
	yyjson_mut_obj_add_str(doc, root, "model", settings.model);
	if (settings.dimension)
		yyjson_mut_obj_add_int(doc, root, "dimensions", settings.dimension);
	yyjson_mut_val *input = yyjson_mut_obj_add_arr(doc, root, "input");
	for (size_t i = 0; i < count; i++)
		yyjson_mut_arr_add_strn(doc, input, texts[i],
		                        utf8_cut(texts[i], strlen(texts[i]),
		                                 (size_t)settings.text_max_bytes));
	return json_write_mut(rq->arena, root, NULL);
}

/* Arguments and result of read_answer(), which runs on the thread pool for a batch. */
struct reading {
	struct arena *arena;
	const struct fetch_response *answer;
	size_t count;
	struct embedding_response vectors;
	const char *reason; /* NULL: success */
};

static void read_answer(void *arg)
{
	struct reading *reading = arg;
	reading->reason = embedding_response_read(reading->arena, reading->answer->body,
	                                          reading->answer->body_length, reading->count,
	                                          &reading->vectors);
}

static void read_vectors(struct request *rq, const struct fetch_response *answer, size_t count,
                         struct embeddings *result)
{
	struct reading *reading = arena_new_of(rq->arena, struct reading);
	*reading = (struct reading){.arena = rq->arena, .answer = answer, .count = count};
	if (count > 1)
		fiber_offload(rq, LANE_SHORT, read_answer, reading);
	else
		read_answer(reading);
	uint32_t dimension = reading->vectors.dimension;
	result->reason = reading->reason;
	if (!result->reason && settings.dimension && dimension != (uint64_t)settings.dimension)
		result->reason =
			arena_printf(rq->arena, "its vectors have %u elements, %d were requested",
		                     dimension, (int)settings.dimension);
	if (result->reason)
		return;
	result->outcome = EMBEDDINGS_MADE;
	result->vectors = reading->vectors.vectors;
	result->dimension = dimension;
}

struct embeddings *embeddings_create(struct request *rq, enum embeddings_purpose purpose,
                                     const char *const *texts, size_t count)
{
	struct embeddings *result = arena_new_of(rq->arena, struct embeddings);
	struct openai_call call = {
		.base_url = settings.url,
		.path = "/embeddings",
		.key = settings.key,
		.body = request_body(rq, texts, count),
		.response_max_bytes =
			ENVELOPE_BYTES + count * EMBEDDING_MAX_DIMENSION * NUMBER_BYTES,
		.timeout_ms = MIN_OF(embeddings_timeout_ms(purpose), request_left_ms(rq) / 2),
	};
	struct fetch_response *answer = NULL;
	enum err_code code = openai_post_try(rq, &call, &answer);
	result->outcome = EMBEDDINGS_FAILED;
	if (code) {
		result->reason = err_info(code)->slug;
	} else if (answer->status == 200) {
		read_vectors(rq, answer, count, result);
	} else {
		if (answer->status == 400 || answer->status == 413 || answer->status == 422)
			result->outcome = EMBEDDINGS_REFUSED;
		result->reason = arena_printf(rq->arena, "status %d", answer->status);
		result->retry_after_ms = fetch_retry_after_ms(answer);
		result->is_limited = answer->status == 429;
	}
	metric_add(&calls_counter, PURPOSES[purpose], OUTCOMES[result->outcome], 1);
	return result;
}
