/** Test collections with relevance judgments, in folders of `../shared/data`: `corpus.jsonl.gz`
 * (`_id`, `title`, `text`, and in some collections `authors`, `categories`, `published_at`),
 * `queries.jsonl` (`_id`, `text`), and `qrels.tsv` (a header line; query id, document id,
 * score). */
#pragma once

#include "base/arena.h"
#include "engine/engine.h"

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
	struct judged_query *queries; /* only those with a judgment */
	size_t query_count;
};

/** The folder of the collections: the first argument of the program, or else `../shared/data`
 * relative to the repository, which is SOURCE_ROOT or the working directory. */
const char *judged_folder(struct arena *arena, int argc, char **argv);

/** Load the collection in the folder `path`. The result is in `arena`. `drops_titles` omits the
 * titles. Returns NULL when the folder is missing. A file that cannot be read ends the program. */
struct judged *judged_load(struct arena *arena, const char *path, bool drops_titles);

/** Load only the documents of the collection in the folder `path`. As judged_load(). */
struct judged *judged_load_papers(struct arena *arena, const char *path);

/** An index of the documents, added in pages as the service does, and merged into one part. */
struct engine *judged_index(const struct judged *judged);

/** nDCG@10 of a ranking of document ids (Järvelin and Kekäläinen, 2002): the judged gains, each
 * divided by log2(rank + 1), relative to the best possible ranking. */
double judged_ndcg10(const struct judged_query *query, const char *const *ids, size_t count);

/** Recall@100: the fraction of the relevant documents among the first 100. */
double judged_recall100(const struct judged_query *query, const char *const *ids, size_t count);
