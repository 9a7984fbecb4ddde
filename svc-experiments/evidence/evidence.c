#include "evidence/evidence.h"

#include "evidence/collection.h"
#include "evidence/format.h"
#include "evidence/snapshot.h"
#include "experiment/experiment.h"
#include "experiment/key_experiments.h"
#include "input/input.h"
#include "reply/reply.h"

#include <string.h>

struct evidence_input {
	const char *id;
	const char *at, *format;
};

static const char *const MOMENTS[] = {"decision", NULL};
static const char *const FORMATS[] = {"graph", "prov", "markdown", NULL};

static const struct field FIELDS[] = {
	PATH_UUID(struct evidence_input, id, "experiment_id"),
	QUERY_ENUM(struct evidence_input, at, "at", MOMENTS),
	QUERY_ENUM(struct evidence_input, format, "format", FORMATS),
	FIELD_END,
};

/* As it is now. */
static const char *live(struct request *rq, const char *experiment)
{
	const char *json = evidence_collect(rq, experiment).json;
	if (!json)
		raise_error(rq, ERR_NOT_FOUND, EXPERIMENT_MISSING);
	return json;
}

static void reply_markdown(struct request *rq, const char *page)
{
	reply_content(rq, 200, "text/markdown; charset=utf-8", page, strlen(page));
}

void evidence_get(struct request *rq)
{
	struct evidence_input *in = request_input(rq, struct evidence_input, FIELDS);
	key_require_experiment(rq, in->id);
	const char *json = in->at ? evidence_snapshot(rq, in->id) : live(rq, in->id);
	if (in->format && strcmp(in->format, "prov") == 0)
		json = evidence_provenance(rq, json);
	if (in->format && strcmp(in->format, "markdown") == 0)
		reply_markdown(rq, evidence_page(rq, json));
	else
		reply_json(rq, 200, json);
}
