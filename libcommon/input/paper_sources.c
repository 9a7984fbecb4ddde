#include "input/paper_sources.h"

#include "base/base.h"
#include "input/input.h"
#include "json/json.h"

#include <string.h>

bool paper_source_is_known(const char *name)
{
	static const char *const SOURCES[] = {"arxiv", "biorxiv", "medrxiv"};
	for (size_t i = 0; i < ARRAY_LEN(SOURCES); i++)
		if (strcmp(name, SOURCES[i]) == 0)
			return true;
	return false;
}

void request_check_paper_sources(struct request *rq)
{
	size_t index, count;
	yyjson_val *name;
	yyjson_arr_foreach (json_get(request_body(rq), "sources"), index, count, name) {
		if (yyjson_is_str(name) && !paper_source_is_known(yyjson_get_str(name)))
			problem_add_field(rq->arena, &rq->problem, "sources",
			                  "item %zu must be arxiv, biorxiv or medrxiv", index);
	}
}
