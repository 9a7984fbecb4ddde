#include "api/index_cursor.h"

#include "indexing/indexer.h"
#include "state.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* The id of the database was set before a view had changes. */
static const char *prefix_of(struct request *rq, const struct engine_view *view)
{
	return arena_printf(rq->arena, "%s/%s/", indexer_source(request_indexer(rq)),
	                    engine_version(view));
}

const char *index_cursor_write(struct request *rq, const struct engine_view *view)
{
	uint64_t change = engine_view_seq(view);
	if (change == 0)
		return NULL;
	return arena_printf(rq->arena, "%s%llu", prefix_of(rq, view), (unsigned long long)change);
}

uint64_t index_cursor_read(struct request *rq, const struct engine_view *view, const char *cursor)
{
	if (engine_view_seq(view) == 0)
		return 0;
	const char *prefix = prefix_of(rq, view);
	if (strncmp(cursor, prefix, strlen(prefix)) != 0)
		return 0;
	const char *number = cursor + strlen(prefix);
	char *end;
	uint64_t change = isdigit((unsigned char)number[0]) ? strtoull(number, &end, 10) : 0;
	return change > 0 && *end == '\0' ? change : 0;
}
