/** The search engine: papers in, ranked answers out. Knows neither HTTP nor SQL, and starts no
 * thread.
 *
 *     readers, many threads              the writer, one thread          a pool thread
 *     view = engine_view_get(engine)     engine_apply(engine, ...)
 *     engine_search(view, ...)           m = engine_merge_new(engine)
 *     engine_view_put(view)                                              engine_merge_run(m)
 *                                        engine_merge_commit(engine, m)
 *
 * A *view* is one unchanging state of the index. Readers hold one while they search and are never
 * held up by the writer; the writer makes a new view and swaps it in. Memory of an old view goes
 * when its last reader lets go of it.
 *
 * A *change* is the new state of a paper or its deletion, with a sequence number that rises from
 * change to change; Postgres has the truth. A view has taken in every change up to its own number.
 *
 * Changes go into a small *live* segment that is made anew each time; a *merge* makes a new *base*
 * of everything, and trains the embedder when the corpus has outgrown it.
 *
 * The vectors are made by one of two kinds of *embedder*. The one built in (embedder.h) is trained
 * on the corpus itself and embeds papers and queries alike. An *outside* one is a model elsewhere:
 * who feeds the engine hands in the vectors with the papers, who asks it with the query. A paper
 * that has none yet is found by its words and ranked as if its meaning were as near as they are,
 * and a query that comes without is answered by words alone.
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

/** One change; of a deletion only `document.id` and `document.seq` are looked at. */
struct engine_change {
	struct document document;
	bool is_deleted;
};

/** An empty engine. `outside_model` names the outside embedder whose vectors come in; vectors of
 * two names do not compare. NULL: the embedder is the one built in. */
struct engine *engine_new(const char *outside_model);

/** NULL is fine. Views that readers still hold stay good. No merge may be under way. */
void engine_free(struct engine *engine);

/* --- For the writer, one thread at a time ----------------------------------------------------- */

/** Take in changes, in order, and publish the view that has them. Copies. A change that is older
 * than what is known of its paper is passed over, so that handing one in twice does no harm. Takes
 * time in proportion to the live segment: some 50 ms for 1,000 papers. */
void engine_apply(struct engine *engine, const struct engine_change *changes, size_t count);

/** Whether a merge would pay: much of the index is live or dead, or the embedder has been
 * outgrown. */
bool engine_wants_merge(const struct engine *engine);

/** Begin a merge of what is there now. */
struct engine_merge *engine_merge_new(struct engine *engine);

/** Begin a new index that replaces all of the old one but changes after `seq`: a cold start, or a
 * rebuild. */
struct engine_merge *engine_load_new(struct engine *engine, uint64_t seq);

/** Publish the outcome of a merge that has run, with the changes that came in meanwhile on top.
 * Frees it. */
void engine_merge_commit(struct engine *engine, struct engine_merge *merge);

/** Give a merge up, run or not. NULL is fine. */
void engine_merge_cancel(struct engine *engine, struct engine_merge *merge);

/** Take the index from the snapshot at `path`, into an engine that has nothing yet. Returns false,
 * and changes nothing, when there is none that is whole, of this format (snapshot.h) and of this
 * engine's embedder. */
bool engine_restore(struct engine *engine, const char *path);

/* --- For any one thread ----------------------------------------------------------------------- */

/** Add a paper to a load. Copies. One that changed after the load's `seq` is passed over: it comes
 * in as a change. */
void engine_merge_add(struct engine_merge *merge, const struct document *document);

/** Have engine_merge_run() give up soon after `*stop` has become true. Borrows. */
void engine_merge_heed(struct engine_merge *merge, const atomic_bool *stop);

/** Do the work: some 4 s for 40,000 papers. Touches nothing that others see. Returns false when it
 * was stopped: the merge is then to be cancelled. */
bool engine_merge_run(struct engine_merge *merge);

/** Save the base of `view` to `path`, whole or not at all. The live segment is not saved: the
 * changes after engine_view_seq() of the restored view are to be applied again. Returns false with
 * errno set. */
bool engine_save(const struct engine_view *view, const char *path);

/* --- For readers, any number of threads ------------------------------------------------------- */

/** The current view; give it back with engine_view_put(). */
struct engine_view *engine_view_get(struct engine *engine);

/** NULL is fine. */
void engine_view_put(struct engine_view *view);

/** The last change that the view has taken in; 0 when none. */
uint64_t engine_view_seq(const struct engine_view *view);

/** Papers that can be found. */
uint32_t engine_view_count(const struct engine_view *view);

/** Bytes of the index, its live part and vectors included. */
size_t engine_view_bytes(const struct engine_view *view);

enum engine_strategy {
	ENGINE_LEXICAL, /* words alone: no embedder is trained yet, or the query has no vector */
	ENGINE_HYBRID,  /* words and vectors */
};

/** "lexical" or "hybrid". */
const char *engine_strategy_name(enum engine_strategy strategy);

/** Most results of one query. */
#define ENGINE_MAX_RESULTS 1000

/** A question. Borrows. */
struct engine_query {
	/* Words, a sentence, or pages that tell an interest; up to some 50,000 bytes. */
	const char *text;
	size_t length; /* bytes of `text` */
	size_t limit;  /* results wanted, 1 to ENGINE_MAX_RESULTS */
	struct filter filter;
	const float *vector; /* by the outside embedder, of length 1; NULL: none */
	uint32_t dimension;  /* elements of it; one that is not the index's is not looked at */
};

/** One paper of an answer. */
struct engine_hit {
	const char *id;
	float relevance;   /* 0 to 1, comparable between queries; see fusion.h */
	float words;       /* BM25 with word pairs */
	float cosine;      /* of the vectors; 0 where there are none */
	int32_t published; /* days since 1970-01-01 */
	bool has_container;
	uint64_t seq;               /* change that made the paper what is indexed */
	const char *const *matched; /* words of the query that it holds, the most telling first */
	size_t matched_count;       /* at most ENGINE_MAX_MATCHED */
};

/** Words that a hit names as matched. */
#define ENGINE_MAX_MATCHED 8

struct engine_result {
	enum engine_strategy strategy;
	struct engine_hit *hits; /* falling relevance; in the caller's arena */
	size_t count;
};

/** Answer `query` from `view`. A word of a question that no paper holds is taken for the one that it
 * was meant to be (spelling.h). What is returned and needed on the way is in `arena`. A query
 * without a word that says something, such as "the", has no hits. */
struct engine_result engine_search(const struct engine_view *view, const struct engine_query *query,
                                   struct arena *arena);

/** Whether the paper is indexed, and the state of which change. */
bool engine_find(const struct engine_view *view, const char *id, uint64_t *ret_seq);

/** Elements of a vector; 0 while there are none: no embedder is trained, or the outside one has
 * made nothing yet. Whether vectors of two views compare is told by engine_model(). */
uint32_t engine_dimension(const struct engine_view *view);

/** The vector of a paper, of length 1, into `out` (engine_dimension() elements). Returns false when
 * the paper is not indexed, holds no known word or has not been embedded outside yet. */
bool engine_vector(const struct engine_view *view, const char *id, float *out);

/** The same for a text, by the embedder built in; false where it is an outside one. */
bool engine_embed(const struct engine_view *view, const char *text, size_t length, float *out,
                  struct arena *arena);

/** Tells embedders apart: vectors of two views compare when this is the same. 0 while there are
 * none. */
uint32_t engine_model(const struct engine_view *view);
