#include "input/paper_sources.h"

#include "base/base.h"
#include "input/input.h"
#include "product/paper_source.h"

#include <string.h>

bool paper_source_is_known(const char *name)
{
	static const char *const SOURCES[] = {PAPER_SOURCES(PAPER_SOURCE_NAME)};
	for (size_t i = 0; i < ARRAY_LEN(SOURCES); i++)
		if (strcmp(name, SOURCES[i]) == 0)
			return true;
	return false;
}

void request_check_paper_sources(struct request *rq)
{
	request_check_texts(rq, "sources", paper_source_is_known, PAPER_SOURCES_TEXT);
}
