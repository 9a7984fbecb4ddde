/* oai_parse(): any input is either read as a consistent page or refused with a reason.
 * metadata_row() turns each record of the page into a row, or refuses it with a reason. */
#include "harvest/oai.h"

#include "base/base.h"
#include "fuzz.h"
#include "ingest/metadata.h"
#include "json/json.h"

#include <string.h>

static void check_paper(struct arena *arena, const struct metadata *paper)
{
	const char *why = NULL;
	yyjson_mut_val *row = metadata_row(arena, json_doc_new(arena), paper, &why);
	require(!row == (why != NULL));
	for (size_t i = 0; i < paper->author_count; i++)
		require(paper->authors[i]);
	if (row)
		require(strlen(json_write_mut(arena, row, NULL)) > 2);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *arena = arena_new();
	struct oai_page page;
	const char *why = NULL;
	if (oai_parse(arena, (const char *)data, size, &page, &why)) {
		require(why);
	} else {
		size_t count = 0;
		const struct source_record *record;
		STAILQ_FOREACH (record, &page.list.records, entry) {
			check_paper(arena, &record->paper);
			count++;
		}
		require(count == page.list.count);
		require(!page.list.token || *page.list.token);
		require(!page.error || page.error_text);
	}
	arena_free(arena);
	return 0;
}
