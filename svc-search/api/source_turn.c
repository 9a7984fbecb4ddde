#include "api/source_turn.h"

#include "harvest/source.h"
#include "input/input.h"
#include "pg/pg.h"
#include "reply/reply.h"

#define WAIT_MAX_MS 60000

struct turn_input {
	const char *source;
	int64_t wait_max_ms;
};

static const struct field FIELDS[] = {
	BODY_TEXT(struct turn_input, source, "source", REQUIRED, 1, 50),
	BODY_INT(struct turn_input, wait_max_ms, "wait_max_ms", REQUIRED, 0, WAIT_MAX_MS, 0),
	FIELD_END,
};

void source_turn(struct request *rq)
{
	struct turn_input *in = request_input(rq, struct turn_input, FIELDS);
	const struct source *source = source_find(in->source);
	int64_t wait_ms;
	if (!source)
		raise_field(rq, "source", "must be the name of a source");
	if (!source_reserve(rq, source, in->wait_max_ms, &wait_ms))
		raise_error(rq, ERR_UNAVAILABLE, "the source is asked by others");
	reply_json(rq, 200, arena_printf(rq->arena, "{\"wait_ms\": %lld}", (long long)wait_ms));
}
