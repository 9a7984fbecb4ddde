/** Collections with judgments, as `../shared/data` beside the repository holds them:
 * `corpus.jsonl.gz` (`_id`, `title`, `text`, and for some `categories`, `published_at`),
 * `queries.jsonl` (`_id`, `text`), `qrels.tsv` (query id, document id, score; a header line). */
#pragma once

#include "base/arena.h"
#include "engine/lexical/builder.h"

#include <stdbool.h>
#include <stddef.h>

struct judgment {
	const char *id; /* the document's */
	int gain;       /* above 0 */
};

struct judged_query {
	const char *id;
	const char *text;
	struct judgment *judgments;
	size_t judgment_count;
};

struct judged {
	struct document *documents;
	size_t document_count;
	struct judged_query *queries; /* those with a judgment alone */
	size_t query_count;
};

/** Where the collections are: what the program's first argument says, else `../shared/data` beside the
 * repository, whose folder is SOURCE_ROOT or the present one. */
const char *judged_folder(struct arena *arena, int argc, char **argv);

/** Load the collection in the folder `path`; everything lives in `arena`. `drops_titles` leaves the
 * titles out. Returns NULL when the folder is not there; a file that cannot be read ends the
 * program. */
struct judged *judged_load(struct arena *arena, const char *path, bool drops_titles);

/** nDCG at 10 of a ranking of document ids (Järvelin and Kekäläinen, 2002): gains as judged,
 * discounted by log2(rank + 1), over the best possible. */
double judged_ndcg10(const struct judged_query *query, const char *const *ids, size_t count);

/** Of the relevant documents, the part among the first 100. */
double judged_recall100(const struct judged_query *query, const char *const *ids, size_t count);
