#include "embeddings/embeddings.h"

#include "base/arena.h"
#include "base/json.h"
#include "base/log.h"
#include "base/metrics.h"
#include "embeddings/embedding_answer.h"
#include "embeddings/openai.h"
#include "loop/wait.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A number of an answer, with what stands around it, takes no more bytes than this. */
#define NUMBER_BYTES 32

/* Of an answer beside its vectors. */
#define ENVELOPE_BYTES 65536

/* A batch may take so many times as long as a query. */
#define BATCH_PATIENCE 10

#define RETRY_AFTER_MAX_S 3600

static struct {
	const char *url, *model, *key; /* "": no outside embedder; no key */
	int64_t dimension;             /* asked of the model; 0: as it is */
	int64_t timeout_ms;            /* how long a query waits; a batch of papers ten times so */
	int64_t batch;                 /* texts of one call, at most */
	int64_t text_max_bytes;        /* what is longer is cut */
} settings;

const struct setting EMBEDDINGS_SETTINGS[] = {
	SETTING_TEXT(&settings.url, "EMBEDDINGS_URL", "",
                     "Base address of an OpenAI-compatible interface that embeds papers and "
                     "queries, such as https://api.example.com/v1; empty: they are embedded by "
                     "what the index learns from the papers themselves."),
	SETTING_TEXT(&settings.model, "EMBEDDINGS_MODEL", "",
                     "Model of EMBEDDINGS_URL; another name means that all papers are embedded "
                     "anew."),
	SETTING_SECRET(&settings.key, "EMBEDDINGS_KEY", "", "Bearer key of EMBEDDINGS_URL."),
	SETTING_INT(&settings.dimension, "EMBEDDINGS_DIMENSION", "0", 0, EMBEDDING_MAX_DIMENSION,
                    "Elements of a vector that are asked of a model that can shorten its own; 0: "
                    "not asked."),
	SETTING_MS(&settings.timeout_ms, "EMBEDDINGS_TIMEOUT", "3s", 100, 60000,
                   "How long a search waits for its vector before it goes by words alone; a batch "
                   "of papers may take ten times as long."),
	SETTING_INT(&settings.batch, "EMBEDDINGS_BATCH", "64", 1, 512,
                    "Papers that are embedded in one call, at most."),
	SETTING_BYTES(&settings.text_max_bytes, "EMBEDDINGS_MAX_TEXT", "8KiB", 256, 65536,
                      "Of a longer text only so much is embedded; four bytes are about a token."),
	SETTING_END,
};

static char space_name[300];

static const char *const PURPOSES[] = {[FOR_PAPERS] = "papers", [FOR_QUERY] = "query"};
static const char *const OUTCOMES[] = {[EMBEDDINGS_MADE] = "made",
                                       [EMBEDDINGS_REFUSED] = "refused",
                                       [EMBEDDINGS_FAILED] = "failed"};

static struct metric calls_counter =
	METRIC_COUNTER("expops_embedding_calls_total", "Calls of the embeddings endpoint.",
                       "purpose", "outcome");

size_t embeddings_batch(void)
{
	return (size_t)settings.batch;
}

void embeddings_init(void)
{
	if (!settings.url[0] != !settings.model[0])
		log_warn(LOG_GROUP_APP,
		         "EMBEDDINGS_URL and EMBEDDINGS_MODEL have to be set both: neither counts");
	if (!settings.url[0] || !settings.model[0])
		return;
	if (settings.dimension)
		snprintf(space_name, sizeof(space_name), "%s/%d", settings.model,
		         (int)settings.dimension);
	else
		snprintf(space_name, sizeof(space_name), "%s", settings.model);
	metric_register(&calls_counter);
	log_info(LOG_GROUP_APP, "papers and queries are embedded outside",
	         f_text("space", space_name));
}

const char *embeddings_space(void)
{
	return space_name[0] ? space_name : NULL;
}

uint64_t embeddings_timeout_ms(enum embeddings_purpose purpose)
{
	uint64_t timeout_ms = (uint64_t)settings.timeout_ms;
	return purpose == FOR_QUERY ? timeout_ms : timeout_ms * BATCH_PATIENCE;
}

/* Bytes of the text that are sent: no character is cut in two. */
static size_t cut_length(const char *text)
{
	size_t length = strlen(text);
	size_t most = (size_t)settings.text_max_bytes;
	if (length <= most)
		return length;
	while (most > 0 && (text[most] & 0xC0) == 0x80)
		most--;
	return most;
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
		yyjson_mut_arr_add_strn(doc, input, texts[i], cut_length(texts[i]));
	return json_write_mut(rq->arena, root, NULL);
}

/* Reading, which is away from the loop for a batch. */
struct reading {
	struct arena *arena;
	const struct fetch_answer *answer;
	size_t count;
	struct embedding_answer read;
	const char *why;
};

static void read_answer(void *arg)
{
	struct reading *reading = arg;
	reading->why =
		embedding_answer_read(reading->arena, reading->answer->body,
	                              reading->answer->body_length, reading->count, &reading->read);
}

static void take_vectors(struct request *rq, const struct fetch_answer *answer, size_t count,
                         struct embeddings *made)
{
	struct reading *reading = arena_new_of(rq->arena, struct reading);
	*reading = (struct reading){.arena = rq->arena, .answer = answer, .count = count};
	if (count > 1)
		fiber_offload(rq, read_answer, reading);
	else
		read_answer(reading);
	made->why = reading->why;
	if (!made->why && settings.dimension &&
	    reading->read.dimension != (uint64_t)settings.dimension)
		made->why = arena_printf(rq->arena, "its vectors have %u elements, %d were asked",
		                         reading->read.dimension, (int)settings.dimension);
	if (made->why)
		return;
	made->outcome = EMBEDDINGS_MADE;
	made->vectors = reading->read.vectors;
	made->dimension = reading->read.dimension;
}

/* What `Retry-After: 20` asks for; a date is passed over. */
static uint64_t retry_after_ms(const struct fetch_answer *answer)
{
	const char *text = fetch_header(answer, "Retry-After");
	char *end;
	if (!text)
		return 0;
	long long seconds = strtoll(text, &end, 10);
	return *end || seconds < 0 ? 0 : (uint64_t)MIN_OF(seconds, RETRY_AFTER_MAX_S) * 1000;
}

static void read_status(struct request *rq, const struct fetch_answer *answer, size_t count,
                        struct embeddings *made)
{
	if (answer->status == 200) {
		take_vectors(rq, answer, count, made);
		return;
	}
	if (answer->status == 400 || answer->status == 413 || answer->status == 422)
		made->outcome = EMBEDDINGS_REFUSED;
	made->why = arena_printf(rq->arena, "status %d", answer->status);
	made->retry_after_ms = retry_after_ms(answer);
}

struct embeddings *embeddings_make(struct request *rq, enum embeddings_purpose purpose,
                                   const char *const *texts, size_t count)
{
	struct embeddings *made = arena_new_of(rq->arena, struct embeddings);
	struct openai_call call = {
		.base_url = settings.url,
		.path = "/embeddings",
		.key = settings.key,
		.body = request_body(rq, texts, count),
		.answer_max_bytes = ENVELOPE_BYTES + count * EMBEDDING_MAX_DIMENSION * NUMBER_BYTES,
		.timeout_ms = MIN_OF(embeddings_timeout_ms(purpose), request_left_ms(rq) / 2),
	};
	struct fetch_answer *answer = NULL;
	enum err_code code = openai_post_try(rq, &call, &answer);
	made->outcome = EMBEDDINGS_FAILED;
	if (code)
		made->why = err_info(code)->slug;
	else
		read_status(rq, answer, count, made);
	metric_add(&calls_counter, PURPOSES[purpose], OUTCOMES[made->outcome], 1);
	return made;
}
