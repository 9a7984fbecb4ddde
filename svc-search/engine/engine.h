/** svc-search/engine/: the search engine. It indexes papers and answers queries with ranked papers.
 * It uses no HTTP and no SQL, and starts no thread but those of a training. text/ holds tokens and
 * queries, lexical/ the inverted index and BM25, vector/ the embeddings; this header is the
 * interface of the whole.
 *
 *     readers, many threads              the writer, one thread          a pool thread
 *     view = engine_view_get(engine)     engine_apply(engine, ...)
 *     engine_search(view, ...)           m = engine_merge_new(engine)
 *     engine_view_put(view)                                              engine_merge_run(m)
 *                                        engine_merge_commit(engine, m)
 *
 * A *view* is an immutable state of the index. A reader holds a reference to one view while it
 * searches and never waits for the writer, which builds a new view and swaps it in. The writer
 * frees an old view once it has no reader, since that can take some tenths of a second.
 *
 * A *change* is the new state of a paper or its deletion. Each has a sequence number, greater than
 * those before it. Postgres is the source of truth. A view includes every change up to its own
 * sequence number, and may include some later ones.
 *
 * Each batch of changes becomes a new *part* of the index. A search looks into all parts, with the
 * statistics of the whole index, so that its result does not depend on how the papers came into it.
 * A *merge* replaces several parts by one, off the loop, and keeps the vectors of their papers
 * (internal.h, tiers).
 *
 * Vectors come from one of two kinds of *embedder*. The built-in one (vector/embedder.h) is trained
 * on the corpus (vector/training.h) and embeds papers and queries alike. The engine does not train
 * it: it gives a sample of its papers, which anybody can train on, and *adopts* the embedder that
 * it is given. So many engines can use one embedder, and an engine without one answers by words
 * alone. The same papers give the same sample, and the same papers and embedder the same ranking.
 *
 * An *external* embedder is a model behind an API: the caller passes its vectors with the papers
 * and with the query. A paper whose external vector is missing is found by its words and ranked as
 * if its dense score were as high as its lexical score. A query without a vector is answered by
 * words alone.
 *
 * All vectors of a view were made by one embedder, and the view names it: engine_version().
 */
#pragma once

#include "base/arena.h"
#include "engine/filter.h"
#include "engine/lexical/builder.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine;
struct engine_view;
struct engine_merge;
struct engine_adoption;
struct embedder;
struct hit_explanation;
struct parsed_query;
struct sample;

/** One change. A deletion uses only `document.id` and `document.seq`. */
struct engine_change {
	struct document document;
	bool is_deleted;
};

/** An empty engine. `external_model` names the external embedder that makes the vectors; vectors of
 * different models are not comparable. NULL: use the built-in embedder. */
struct engine *engine_new(const char *external_model);

/** Let `threads` threads read the texts of the changes of one engine_apply(); otherwise one does.
 * The index is the same. Called before the first change. */
void engine_set_threads(struct engine *engine, int threads);

/** Let a large merge write its segment to a file in `folder` that has no name, and map it: the
 * kernel can then drop its pages when memory is short, as those of a snapshot. When the file cannot
 * be written, and without a folder (NULL), the segment is made in memory. Copies. */
void engine_set_folder(struct engine *engine, const char *folder);

/** Accepts NULL. Views that readers still hold stay valid. No merge or adoption may be open. */
void engine_free(struct engine *engine);

/* --- For the writer, one thread at a time ----------------------------------------------------- */

/** Apply changes, in order, and publish a view that includes them. Copies. `complete` is a number
 * up to which the engine has received every change now; it is less than those of `changes` while
 * older ones are missing. A change that is older than the indexed state of its paper is ignored, so
 * applying a change twice is harmless. Takes about 50 ms for 1,000 papers. */
void engine_apply(struct engine *engine, const struct engine_change *changes, size_t count,
                  uint64_t complete);

enum engine_merge_kind {
	ENGINE_MERGE_DUE, /* parts of which there are too many */
	ENGINE_MERGE_ALL, /* all; for tests and benchmarks */
};

/** Whether a merge of this kind is due, and no merge or adoption is open. */
bool engine_is_merge_due(const struct engine *engine, enum engine_merge_kind kind);

/** Open a merge; NULL when there is nothing to merge. One merge or adoption can be open at a
 * time. */
struct engine_merge *engine_merge_new(struct engine *engine, enum engine_merge_kind kind);

/** Publish the result of a merge that has run, with the changes that were applied meanwhile. Frees
 * the merge. */
void engine_merge_commit(struct engine *engine, struct engine_merge *merge);

/** Discard a merge, whether it has run or not. Accepts NULL. */
void engine_merge_cancel(struct engine *engine, struct engine_merge *merge);

/** Open an adoption: all vectors will be made by `embedder`, which it takes. The embedder of the
 * engine must not be external. */
struct engine_adoption *engine_adoption_new(struct engine *engine, struct embedder *embedder);

/** Publish the vectors of an adoption that has run, with the changes that were applied meanwhile.
 * Frees the adoption. */
void engine_adoption_commit(struct engine *engine, struct engine_adoption *adoption);

/** Discard an adoption, whether it has run or not. Accepts NULL. */
void engine_adoption_cancel(struct engine *engine, struct engine_adoption *adoption);

/** Whether an old view has lost its last reader since the writer last published a view. */
bool engine_is_collect_due(const struct engine *engine);

/** Free the old views that have no reader. */
void engine_collect(struct engine *engine);

/** Load the snapshot at `path` into an engine that is still empty. Returns false, and changes
 * nothing, when the file is missing or damaged, has another format (snapshot.h), or was made with
 * another external embedder. */
bool engine_restore(struct engine *engine, const char *path);

/* --- For any one thread ----------------------------------------------------------------------- */

/** Make engine_merge_run() return early once `*cancel` is true. Borrows. */
void engine_merge_set_cancel_flag(struct engine_merge *merge, const atomic_bool *cancel);

/** Do the work: about 4 s for 40,000 papers. Does not touch the engine or its views. Returns false
 * when it was cancelled; the caller then calls engine_merge_cancel(). */
bool engine_merge_run(struct engine_merge *merge);

/** Whether engine_merge_run() could not write its file, so that the result is in memory. */
bool engine_merge_has_file_failed(const struct engine_merge *merge);

/** The same for an adoption: embed all papers, about 1 s for 40,000. Returns false once `*cancel`
 * is true. `cancel` may be NULL. */
bool engine_adoption_run(struct engine_adoption *adoption, const atomic_bool *cancel);

/** The sample of the view's papers (vector/sample.h); the caller frees it with sample_free(). Takes
 * about 30 MB for 40,000 papers. */
struct sample *engine_sample(const struct engine_view *view);

/** Write the ids of `count` papers to `ids`, or of all if there are fewer: those that come first in
 * the order of samples, which is random and depends only on the ids. So a corpus that grows keeps
 * most of its sample. The ids are borrowed from the view. Returns their number. Takes 0.2 s for a
 * million papers. */
size_t engine_sample_ids(const struct engine_view *view, const char **ids, size_t count);

/** Save `view` to `path`, atomically. After a restore, the caller applies the changes after
 * engine_view_seq() again. Returns false with errno set. */
bool engine_save(const struct engine_view *view, const char *path);

/* --- For readers, any number of threads ------------------------------------------------------- */

/** A reference to the current view; release it with engine_view_put(). */
struct engine_view *engine_view_get(struct engine *engine);

/** Accepts NULL. */
void engine_view_put(struct engine_view *view);

/** The view includes every change up to this number; 0 when there is none. */
uint64_t engine_view_seq(const struct engine_view *view);

/** The greatest number of any change that was applied. */
uint64_t engine_view_newest(const struct engine_view *view);

/** Number of parts that a search looks into. */
size_t engine_view_parts(const struct engine_view *view);

/** Number of papers that a search can return. */
uint32_t engine_view_count(const struct engine_view *view);

/** Size of the index in bytes, including the vectors. */
size_t engine_view_bytes(const struct engine_view *view);

enum engine_strategy {
	/* words only: no embedder yet, no vector of the query, or it names an author */
	ENGINE_LEXICAL,
	ENGINE_HYBRID, /* words and vectors */
};

/** "lexical" or "hybrid". */
const char *engine_strategy_name(enum engine_strategy strategy);

/** Maximum results of one query, and of its papers that are left out of them. */
#define ENGINE_MAX_RESULTS  1000
#define ENGINE_MAX_LEFT_OUT 20000

/** The best candidates that a result has even where `left_out` names them. */
#define ENGINE_BEST 50

/** Which papers a query ranks. */
enum engine_mode {
	ENGINE_SEARCH, /* those that the index has for it */
	/* its `candidates` only, as the search did that found them: the best hits of that search
	 * must be among them, and `feedback` is what it gave (struct engine_result) */
	ENGINE_RERANK,
	/* its `candidates`, and the papers that have changed after `changed_after`, up to which the
	 * search that found the candidates included every change. The result is that of a search,
	 * except that a paper that has not changed can leave it and cannot enter it. A search is
	 * made where that is no less work, and where the view is older than `changed_after` */
	ENGINE_REFRESH,
};

/** A query. Borrows. */
struct engine_query {
	/* Words, a sentence, or a long description of an interest; up to about 50,000 bytes. */
	const char *text;
	size_t length; /* bytes of `text` */
	size_t limit;  /* maximum results, 1 to ENGINE_MAX_RESULTS */
	bool is_topic; /* of an interest: only whole names are taken as those of authors */
	bool explains; /* explain each hit (hit_explanation.h) */
	/* explain only the hits with these ids; NULL: all */
	const char *const *explained;
	size_t explained_count;
	/* explain only the hits from this place on, and before that one; 0: to the last */
	size_t explained_from, explained_below;
	enum engine_mode mode;
	const char *const *candidates; /* of ENGINE_RERANK and ENGINE_REFRESH, each once */
	size_t candidate_count;        /* at most ENGINE_MAX_RESULTS */
	uint64_t changed_after;        /* of ENGINE_REFRESH: a sequence number */
	const char *const *feedback;   /* of ENGINE_RERANK */
	size_t feedback_count;
	/* Leave these papers out of the result, in which others take their places, but not those
	 * that a later ENGINE_RERANK needs to rank as this query does: the ENGINE_BEST best, the
	 * best by words and by vectors, and the feedback. They do not count to `limit`. */
	const char *const *left_out;
	size_t left_out_count; /* at most ENGINE_MAX_LEFT_OUT */
	struct filter filter;
	const float *vector; /* by the external embedder, of length 1; NULL: none */
	uint32_t dimension; /* of `vector`, which is ignored when the index has another dimension */
};

/** One paper of a result. */
struct engine_hit {
	const char *id;
	float relevance;   /* 0 to 1, comparable between queries; see fusion.h */
	float words;       /* BM25 score with word pairs */
	float cosine;      /* of the vectors of query and paper; 0 when one is missing */
	int32_t published; /* days since 1970-01-01 */
	bool has_container, has_vector;
	uint64_t seq;               /* sequence number of the indexed state */
	const char *const *matched; /* query words that the paper contains, greatest weight first */
	size_t matched_count;       /* at most ENGINE_MAX_MATCHED */
	/* NULL if the query does not ask for it. */
	const struct hit_explanation *explanation;
};

/** Maximum matched words of a hit. */
#define ENGINE_MAX_MATCHED 8

/** Why a search has no hits. */
enum engine_hint {
	ENGINE_HINT_NONE,          /* it has some */
	ENGINE_HINT_NO_WORDS,      /* the query has only stop words or signs */
	ENGINE_HINT_UNKNOWN_WORDS, /* no paper has any of its words */
	ENGINE_HINT_UNKNOWN_NAME,  /* it is a name that no author bears */
	ENGINE_HINT_FILTERED,      /* papers have its words, but none that the filter lets pass */
};

/** "no_words" and so on; NULL for ENGINE_HINT_NONE. */
const char *engine_hint_name(enum engine_hint hint);

struct engine_result {
	enum engine_mode mode; /* ENGINE_SEARCH also where one was made instead of a refresh */
	enum engine_strategy strategy;
	enum engine_hint hint;
	const struct parsed_query
		*parsed;         /* the query as it was searched for: corrected, with names */
	struct engine_hit *hits; /* by descending relevance; in the caller's arena */
	size_t count;
	/* papers that moved the query's vector (fusion.h); borrowed from the view, or the query */
	const char *const *feedback;
	size_t feedback_count;
};

/** Answer `query` from `view`. In a short query, finds names of authors (query_names.h), splits
 * out-of-vocabulary compounds (compounds.h), and corrects other out-of-vocabulary words by edit
 * distance (spelling.h). The result and all working memory are in `arena`. A query of stop words
 * only has no hits. */
struct engine_result engine_search(const struct engine_view *view, const struct engine_query *query,
                                   struct arena *arena);

/** Whether the id is one of these. */
bool engine_is_listed(const char *id, const char *const *ids, size_t count);

/** Whether the paper is indexed, and the sequence number of its indexed state. */
bool engine_find(const struct engine_view *view, const char *id, uint64_t *ret_seq);

/** Write the categories of a paper to `names`, which has room for DOCUMENT_MAX_CATEGORIES. They are
 * borrowed from the view. Returns their number; 0 also when the paper is not indexed. */
size_t engine_categories(const struct engine_view *view, const char *id, const char **names);

/** Dimension of the vectors; 0 while there are none: no embedder was adopted yet, or no external
 * vector has arrived. */
uint32_t engine_dimension(const struct engine_view *view);

/** Write the vector of a paper, of length 1, to `out` (engine_dimension() elements). Returns false
 * when the paper is not indexed, contains no known word or has no external vector yet. */
bool engine_vector(const struct engine_view *view, const char *id, float *out);

/** The same for a text, by the built-in embedder; false when the embedder is external. For
 * tests. */
bool engine_embed(const struct engine_view *view, const char *text, size_t length, float *out,
                  struct arena *arena);

/** Names the embedder: vectors of two views are comparable if it is the same. The version of a
 * built-in embedder (vector/embedder.h) or the name of an external one; "" while there are no
 * vectors. Borrowed from the view. */
const char *engine_version(const struct engine_view *view);
