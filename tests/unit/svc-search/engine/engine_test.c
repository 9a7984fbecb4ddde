#include "engine/engine.h"

#include "corpus.h"
#include "engine_fixture.h"
#include "trained.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Vocabulary of the generated papers. */
#define WORDS 300

static void apply_one(struct engine *engine, struct document document)
{
	struct engine_change change = {.document = document};
	engine_apply(engine, &change, 1, change.document.seq);
}

static void add(struct engine *engine, const char *id, const char *title, uint64_t seq)
{
	apply_one(engine, (struct document){.id = id, .title = title, .abstract = "", .seq = seq});
}

static void delete (struct engine *engine, const char *id, uint64_t seq)
{
	struct engine_change change = {.document = {.id = id, .seq = seq}, .is_deleted = true};
	engine_apply(engine, &change, 1, change.document.seq);
}

/* The ids that a search for `text` finds, separated by spaces. */
static const char *found(struct arena *arena, struct engine *engine, const char *text)
{
	struct engine_view *view = engine_view_get(engine);
	struct engine_result result = search_view(arena, view, text, 20);
	struct buf buf = {.arena = arena};
	buf_puts(&buf, "");
	for (size_t i = 0; i < result.count; i++)
		buf_printf(&buf, "%s%s", i > 0 ? " " : "", result.hits[i].id);
	engine_view_put(view);
	return result.count > 0 ? buf.data : "";
}

static uint32_t count_of(struct engine *engine)
{
	struct engine_view *view = engine_view_get(engine);
	uint32_t count = engine_view_count(view);
	engine_view_put(view);
	return count;
}

/* Add `count` papers as one batch of changes, merge, and train an embedder on them. */
static void load_generated(struct engine *engine, uint32_t count, uint64_t seq)
{
	struct arena *arena = arena_new();
	struct random_source noise = {101};
	struct engine_change *changes = arena_array(arena, count, sizeof(*changes));
	for (uint32_t i = 0; i < count; i++)
		changes[i].document = sample_document(arena, &noise, i, WORDS);
	engine_apply(engine, changes, count, seq);
	merge(engine);
	train(engine);
	arena_free(arena);
}

static void test_an_empty_engine_finds_nothing(void **state)
{
	struct engine *engine = engine_new(NULL);
	struct engine_view *view = engine_view_get(engine);
	struct arena *arena = arena_new();
	(void)state;
	assert_string_equal(found(arena, engine, "anything"), "");
	assert_int_equal(engine_view_seq(view), 0);
	assert_int_equal(engine_view_count(view), 0);
	assert_int_equal(engine_dimension(view), 0);
	uint64_t seq;
	assert_false(engine_find(view, "x", &seq));
	assert_false(engine_vector(view, "x", NULL));
	assert_false(engine_embed(view, "x", 1, NULL, arena));
	assert_false(engine_is_merge_due(engine, ENGINE_MERGE_DUE));
	engine_view_put(view);
	engine_view_put(NULL);
	merge(engine);
	assert_string_equal(found(arena, engine, "anything"), "");
	arena_free(arena);
	engine_free(engine);
	engine_free(NULL);
}

/* Apply a sequence of changes, with or without merges in between. */
static void apply_changes(struct engine *engine, bool merges)
{
	struct arena *arena = arena_new();
	add(engine, "a", "neural networks", 1);
	add(engine, "b", "graph networks", 2);
	if (merges)
		merge(engine);
	assert_string_equal(found(arena, engine, "neural"), "a");
	add(engine, "a", "symbolic logic", 3);
	assert_string_equal(found(arena, engine, "neural"), "");
	assert_string_equal(found(arena, engine, "logic"), "a");
	assert_int_equal(count_of(engine), 2);
	if (merges)
		merge(engine);
	delete (engine, "b", 4);
	assert_string_equal(found(arena, engine, "networks"), "");
	assert_int_equal(count_of(engine), 1);
	add(engine, "b", "graph again", 5);
	assert_string_equal(found(arena, engine, "graph"), "b");
	add(engine, "b", "an older state of it", 2);
	assert_string_equal(found(arena, engine, "graph"), "b");
	delete (engine, "b", 4);
	assert_string_equal(found(arena, engine, "graph"), "b");
	delete (engine, "unknown", 6);
	if (merges)
		merge(engine);
	assert_int_equal(count_of(engine), 2);
	assert_string_equal(found(arena, engine, "graph logic"), "b a");
	arena_free(arena);
}

static void test_changes_take_effect_before_and_after_merges(void **state)
{
	(void)state;
	for (int merges = 0; merges < 2; merges++) {
		struct engine *engine = engine_new(NULL);
		uint64_t seq = 0;
		apply_changes(engine, merges);
		struct engine_view *view = engine_view_get(engine);
		assert_int_equal(engine_view_seq(view), 6);
		assert_true(engine_find(view, "b", &seq));
		assert_int_equal(seq, 5);
		engine_view_put(view);
		engine_free(engine);
	}
}

static void test_the_newest_of_several_changes_to_a_paper_wins(void **state)
{
	struct engine *engine = engine_new(NULL);
	struct arena *arena = arena_new();
	struct engine_change changes[] = {
		{.document = {.id = "a", .title = "first", .abstract = "", .seq = 1}},
		{.document = {.id = "b", .title = "other", .abstract = "", .seq = 2}},
		{.document = {.id = "a", .seq = 3}, .is_deleted = true},
		{.document = {.id = "a", .title = "third", .abstract = "", .seq = 4}},
		{.document = {.id = "b", .seq = 5}, .is_deleted = true},
	};
	(void)state;
	engine_apply(engine, changes, ARRAY_LEN(changes), 5);
	assert_string_equal(found(arena, engine, "first third other"), "a");
	engine_apply(engine, changes, ARRAY_LEN(changes), 5);
	assert_string_equal(found(arena, engine, "first third other"), "a");
	engine_apply(engine, NULL, 0, 5);
	assert_int_equal(count_of(engine), 1);
	arena_free(arena);
	engine_free(engine);
}

static void test_changes_during_a_merge_are_kept(void **state)
{
	struct engine *engine = engine_new(NULL);
	struct arena *arena = arena_new();
	(void)state;
	add(engine, "a", "alpha", 1);
	add(engine, "b", "bravo", 2);
	add(engine, "c", "charlie", 3);
	struct engine_merge *slow = engine_merge_new(engine, ENGINE_MERGE_ALL);
	add(engine, "a", "changed", 4);
	delete (engine, "b", 5);
	add(engine, "d", "delta", 6);
	add(engine, "e", "echo", 7);
	delete (engine, "e", 8);
	engine_merge_run(slow);
	add(engine, "f", "foxtrot", 9);
	engine_merge_commit(engine, slow);
	assert_string_equal(found(arena, engine, "alpha bravo echo"), "");
	assert_string_equal(found(arena, engine, "changed"), "a");
	assert_string_equal(found(arena, engine, "charlie"), "c");
	assert_string_equal(found(arena, engine, "delta"), "d");
	assert_string_equal(found(arena, engine, "foxtrot"), "f");
	assert_int_equal(count_of(engine), 4);
	merge(engine);
	assert_int_equal(count_of(engine), 4);
	assert_string_equal(found(arena, engine, "alpha bravo echo"), "");
	slow = engine_merge_new(engine, ENGINE_MERGE_ALL);
	engine_merge_run(slow);
	engine_merge_cancel(engine, slow);
	engine_merge_cancel(engine, engine_merge_new(engine, ENGINE_MERGE_ALL));
	engine_merge_cancel(engine, NULL);
	assert_int_equal(count_of(engine), 4);
	arena_free(arena);
	engine_free(engine);
}

static void test_changes_during_an_adoption_are_kept(void **state)
{
	struct engine *engine = engine_new(NULL);
	struct engine *other = engine_new(NULL);
	struct arena *arena = arena_new();
	const char *word = sample_word(arena, 3);
	(void)state;
	load_generated(engine, 300, 300);
	load_generated(other, 200, 200);
	struct engine_adoption *slow = engine_adoption_new(engine, train_on_engine(other));
	assert_false(engine_is_merge_due(engine, ENGINE_MERGE_ALL));
	delete (engine, "p7", 301);
	add(engine, "new", word, 302);
	assert_true(engine_adoption_run(slow, NULL));
	delete (engine, "p8", 303);
	add(engine, "newer", word, 304);
	engine_adoption_commit(engine, slow);
	assert_int_equal(count_of(engine), 300);
	struct engine_view *view = engine_view_get(engine);
	struct engine_view *trained = engine_view_get(other);
	assert_string_equal(engine_version(view), engine_version(trained));
	engine_view_put(trained);
	float vector[512];
	uint64_t seq;
	assert_false(engine_find(view, "p7", &seq) || engine_find(view, "p8", &seq));
	assert_true(engine_vector(view, "new", vector) && engine_vector(view, "newer", vector));
	engine_view_put(view);
	merge(engine);
	assert_int_equal(count_of(engine), 300);
	engine_adoption_cancel(engine, engine_adoption_new(engine, train_on_engine(other)));
	engine_adoption_cancel(engine, NULL);
	arena_free(arena);
	engine_free(engine);
	engine_free(other);
}

/* A view that was taken before goes on with its own embedder. */
static void test_an_embedder_replaces_the_vectors_of_another(void **state)
{
	struct engine *engine = engine_new(NULL);
	struct arena *arena = arena_new();
	const char *text =
		arena_printf(arena, "%s %s", sample_word(arena, 3), sample_word(arena, 5));
	(void)state;
	load_generated(engine, 400, 400);
	struct engine_view *before = engine_view_get(engine);
	for (uint64_t seq = 401; seq < 700; seq++)
		add(engine, arena_printf(arena, "q%d", (int)seq),
		    sample_text(arena, &(struct random_source){seq}, 9, WORDS), seq);
	train(engine);
	struct engine_view *after = engine_view_get(engine);
	assert_string_not_equal(engine_version(before), engine_version(after));
	struct engine_result kept = search_view(arena, before, text, 10);
	assert_int_equal(kept.count, 10);
	engine_view_put(after);
	engine_view_put(before);
	merge(engine);
	assert_int_equal(count_of(engine), 699);
	arena_free(arena);
	engine_free(engine);
}

static void *merge_main(void *merge)
{
	return engine_merge_run(merge) ? merge : NULL;
}

/* A merge can be cancelled at any point and leaves the index unchanged. */
static void test_a_cancelled_merge_changes_nothing(void **state)
{
	struct engine *engine = engine_new(NULL);
	struct random_source noise = {109};
	(void)state;
	load_generated(engine, 400, 400);
	for (uint32_t round = 0; round < 40; round++) {
		atomic_bool cancel = round % 8 == 0;
		atomic_uint spins = random_below(&noise, 1u << (round % 20));
		struct engine_merge *merge = engine_merge_new(engine, ENGINE_MERGE_ALL);
		engine_merge_set_cancel_flag(merge, &cancel);
		pthread_t merger;
		assert_int_equal(pthread_create(&merger, NULL, merge_main, merge), 0);
		while (atomic_load(&spins) > 0)
			atomic_fetch_sub(&spins, 1);
		atomic_store(&cancel, true);
		void *merged;
		pthread_join(merger, &merged);
		assert_true(round % 8 != 0 || !merged);
		if (merged)
			engine_merge_commit(engine, merge);
		else
			engine_merge_cancel(engine, merge);
		assert_int_equal(count_of(engine), 400);
	}
	engine_free(engine);
}

static void test_a_trained_engine_ranks_by_words_and_vectors(void **state)
{
	struct engine *engine = engine_new(NULL);
	struct arena *arena = arena_new();
	const char *word = sample_word(arena, 3);
	(void)state;
	add(engine, "x", word, 1);
	struct engine_view *view = engine_view_get(engine);
	assert_int_equal(search_view(arena, view, word, 5).strategy, ENGINE_LEXICAL);
	assert_string_equal(engine_strategy_name(ENGINE_LEXICAL), "lexical");
	engine_view_put(view);
	load_generated(engine, 500, 500);
	assert_false(engine_is_merge_due(engine, ENGINE_MERGE_DUE));
	view = engine_view_get(engine);
	struct engine_result result = search_view(arena, view, word, 100);
	assert_int_equal(result.strategy, ENGINE_HYBRID);
	assert_string_equal(engine_strategy_name(ENGINE_HYBRID), "hybrid");
	assert_int_equal(result.count, 100);
	for (size_t i = 0; i < result.count; i++) {
		const struct engine_hit *hit = &result.hits[i];
		assert_true(hit->relevance >= 0 && hit->relevance <= 1);
		assert_true(i == 0 || result.hits[i - 1].relevance >= hit->relevance);
		assert_true(hit->matched_count <= 1);
		assert_int_equal(hit->matched_count == 1, hit->words > 0);
		if (hit->matched_count == 1)
			assert_string_equal(hit->matched[0], word);
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(result.hits[j].id, hit->id);
	}
	assert_true(result.hits[0].relevance > 0.3f);
	engine_view_put(view);
	arena_free(arena);
	engine_free(engine);
}

static void test_queries_without_known_words_find_nothing(void **state)
{
	static const char *const texts[] = {
		"", " ", "the of and", "\xFF\xFE\x80", "?!\"'()[]{}\\$", "unknownword"};
	struct engine *engine = engine_new(NULL);
	struct arena *arena = arena_new();
	(void)state;
	load_generated(engine, 100, 100);
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		assert_string_equal(found(arena, engine, texts[i]), "");
	arena_free(arena);
	engine_free(engine);
}

static void test_a_long_description_finds_papers(void **state)
{
	struct engine *engine = engine_new(NULL);
	struct arena *arena = arena_new();
	struct random_source noise = {103};
	const char *text = sample_text(arena, &noise, 10000, WORDS);
	(void)state;
	load_generated(engine, 400, 400);
	struct engine_view *view = engine_view_get(engine);
	assert_true(strlen(text) > 40000);
	struct engine_result result = search_view(arena, view, text, ENGINE_MAX_RESULTS);
	assert_true(result.count > 100 && result.count <= 400);
	for (size_t i = 0; i < result.count; i++)
		assert_true(result.hits[i].matched_count <= ENGINE_MAX_MATCHED);
	engine_view_put(view);
	arena_free(arena);
	engine_free(engine);
}

static void test_unknown_words_lower_the_relevance_of_short_queries(void **state)
{
	struct engine *engine = engine_new(NULL);
	struct arena *arena = arena_new();
	struct buf description = {.arena = arena};
	const char *word = sample_word(arena, 250);
	const char *question = arena_printf(arena, "%s unheard unseen unread", word);
	(void)state;
	load_generated(engine, 400, 400);
	struct engine_view *view = engine_view_get(engine);
	float full = search_view(arena, view, word, 1).hits[0].relevance;
	float part = search_view(arena, view, question, 1).hits[0].relevance;
	assert_true(part < full * 0.8f);
	for (int i = 0; i < 300; i++)
		buf_printf(&description, "unheard%d ", i);
	buf_puts(&description, word);
	assert_true(search_view(arena, view, description.data, 5).hits[0].words > 0);
	engine_view_put(view);
	arena_free(arena);
	engine_free(engine);
}

/* The sample depends on the ids only, and that of fewer papers begins that of more. */
static void test_a_sample_does_not_depend_on_the_history(void **state)
{
	const char *ids[2][200];
	struct engine_view *views[2];
	struct engine *engines[2];
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		engines[i] = engine_new(NULL);
		for (uint64_t seq = 1; i == 1 && seq <= 20; seq++)
			add(engines[i], seq % 2 ? "a" : "b", "old", seq);
		load_generated(engines[i], 400, 400);
		if (i == 1) {
			delete (engines[i], "a", 401);
			delete (engines[i], "b", 402);
		}
		views[i] = engine_view_get(engines[i]);
		assert_int_equal(engine_sample_ids(views[i], ids[i], 200), 200);
	}
	for (size_t i = 0; i < 200; i++)
		assert_string_equal(ids[0][i], ids[1][i]);
	const char *all[500];
	assert_int_equal(engine_sample_ids(views[0], all, 500), 400);
	for (size_t i = 0; i < 200; i++)
		assert_string_equal(all[i], ids[0][i]);
	for (size_t i = 0; i < 2; i++) {
		engine_view_put(views[i]);
		engine_free(engines[i]);
	}
}

static void test_filters_apply_to_every_part(void **state)
{
	static const char *const categories[] = {"cs.CL"};
	struct engine *engine = engine_new(NULL);
	struct arena *arena = arena_new();
	const char *text =
		arena_printf(arena, "%s %s", sample_word(arena, 0), sample_word(arena, 2));
	struct engine_query query = {.text = text, .length = strlen(text), .limit = 200};
	(void)state;
	load_generated(engine, 400, 400);
	for (uint32_t i = 0; i < 20; i++) {
		struct random_source noise = {i};
		struct document document = sample_document(arena, &noise, i * 7, WORDS);
		document.seq = 401 + i;
		apply_one(engine, document);
	}
	struct engine_view *view = engine_view_get(engine);
	query.filter = (struct filter){.categories = categories,
	                               .category_count = 1,
	                               .container = CONTAINER_WITHOUT,
	                               .has_published_since = true,
	                               .published_since = 50};
	struct engine_result result = engine_search(view, &query, arena);
	size_t before = result.count;
	assert_true(before > 5);
	const char **excluded = arena_array(arena, before, sizeof(*excluded));
	for (size_t i = 0; i < before; i++) {
		uint32_t number = (uint32_t)strtoul(result.hits[i].id + 1, NULL, 10);
		excluded[i] = result.hits[i].id;
		assert_false(result.hits[i].has_container);
		assert_true(number % 3 != 0);
		assert_true(result.hits[i].published >= 50);
		assert_true(number % 5 == 0 || number / 5 % 5 == 0);
	}
	query.filter.excluded = excluded + 1;
	query.filter.excluded_count = before - 1;
	result = engine_search(view, &query, arena);
	assert_true(result.count >= 1);
	assert_string_equal(result.hits[0].id, excluded[0]);
	for (size_t i = 0; i < result.count; i++)
		for (size_t j = 1; j < before; j++)
			assert_string_not_equal(result.hits[i].id, excluded[j]);
	engine_view_put(view);
	arena_free(arena);
	engine_free(engine);
}

static void test_vectors_of_papers_and_texts_match(void **state)
{
	struct engine *engine = engine_new(NULL);
	struct arena *arena = arena_new();
	struct random_source noise = {101};
	float cosine = 0;
	(void)state;
	load_generated(engine, 300, 300);
	struct document document;
	do
		document = sample_document(arena, &noise, 0, WORDS);
	while (strlen(document.abstract) < 100);
	document.id = "new";
	document.seq = 301;
	apply_one(engine, document);
	struct engine_view *view = engine_view_get(engine);
	assert_true(engine_dimension(view) > 0 && engine_dimension(view) <= 512);
	assert_string_not_equal(engine_version(view), "");
	char *text =
		arena_printf(arena, "%s %s %s", document.title, document.title, document.abstract);
	float stored[512];
	assert_true(engine_vector(view, "new", stored));
	float embedded[512];
	assert_true(engine_embed(view, text, strlen(text), embedded, arena));
	for (uint32_t i = 0; i < engine_dimension(view); i++)
		cosine += stored[i] * embedded[i];
	assert_true(cosine > 0.99f && cosine < 1.01f);
	assert_false(engine_vector(view, "absent", stored));
	assert_false(engine_embed(view, "unknownword", 11, embedded, arena));
	engine_view_put(view);
	arena_free(arena);
	engine_free(engine);
}

static void test_a_saved_index_is_restored(void **state)
{
	char path[] = "/tmp/engine_test.XXXXXX";
	struct engine *engine = engine_new(NULL);
	struct engine *restored = engine_new(NULL);
	struct arena *arena = arena_new();
	const char *word = sample_word(arena, 5);
	int file = mkstemp(path);
	(void)state;
	assert_true(file >= 0);
	close(file);
	assert_false(engine_restore(restored, path));
	load_generated(engine, 300, 300);
	struct engine_view *view = engine_view_get(engine);
	assert_true(engine_save(view, path));
	engine_view_put(view);
	add(engine, "new", word, 301);
	assert_true(engine_restore(restored, path));
	view = engine_view_get(restored);
	assert_int_equal(engine_view_seq(view), 300);
	assert_true(engine_view_bytes(view) > 10000);
	engine_view_put(view);
	add(restored, "new", word, 301);
	assert_string_equal(found(arena, restored, word), found(arena, engine, word));
	unlink(path);
	merge(restored);
	assert_int_equal(count_of(restored), 301);
	engine_free(restored);
	engine_free(engine);
	arena_free(arena);
}

/* What was applied past a gap is in the index, but the index does not claim it. */
static void test_a_snapshot_claims_what_is_complete(void **state)
{
	char path[] = "/tmp/engine_test.XXXXXX";
	struct engine *engine = engine_new(NULL);
	struct engine *restored = engine_new(NULL);
	struct engine_change change = {
		.document = {.id = "a", .title = "alpha", .abstract = "", .seq = 9}};
	int file = mkstemp(path);
	(void)state;
	assert_true(file >= 0);
	close(file);
	engine_apply(engine, &change, 1, 4);
	merge(engine);
	struct engine_view *view = engine_view_get(engine);
	assert_int_equal(engine_view_seq(view), 4);
	assert_true(engine_save(view, path));
	engine_view_put(view);
	assert_true(engine_restore(restored, path));
	view = engine_view_get(restored);
	assert_int_equal(engine_view_seq(view), 4);
	assert_int_equal(engine_view_newest(view), 9);
	assert_int_equal(engine_view_count(view), 1);
	engine_view_put(view);
	unlink(path);
	engine_free(engine);
	engine_free(restored);
}

/* Readers search while the writer applies changes and merges. */
struct race {
	struct engine *engine;
	atomic_bool is_over;
	atomic_uint searches;
};

static void *search_repeatedly(void *ctx)
{
	struct race *race = ctx;
	struct random_source noise = {107};
	while (!atomic_load(&race->is_over)) {
		struct arena *arena = arena_new();
		struct engine_view *view = engine_view_get(race->engine);
		const char *text = sample_text(arena, &noise, 4, WORDS);
		struct engine_result first = search_view(arena, view, text, 10);
		struct engine_result again = search_view(arena, view, text, 10);
		require(first.count == again.count);
		for (size_t i = 0; i < first.count; i++)
			require(strcmp(first.hits[i].id, again.hits[i].id) == 0);
		engine_view_put(view);
		arena_free(arena);
		atomic_fetch_add(&race->searches, 1);
	}
	return NULL;
}

static void test_a_view_does_not_change_while_it_is_read(void **state)
{
	struct race race = {.engine = engine_new(NULL)};
	struct arena *arena = arena_new();
	struct random_source noise = {106};
	uint64_t seq = 200;
	(void)state;
	load_generated(race.engine, 200, seq);
	pthread_t readers[2];
	for (size_t i = 0; i < ARRAY_LEN(readers); i++)
		assert_int_equal(pthread_create(&readers[i], NULL, search_repeatedly, &race), 0);
	for (int round = 0; round < 6 || atomic_load(&race.searches) < 50; round++) {
		struct engine_merge *merge = engine_merge_new(race.engine, ENGINE_MERGE_ALL);
		pthread_t merger;
		assert_int_equal(pthread_create(&merger, NULL, merge_main, merge), 0);
		for (uint32_t i = 0; i < 5; i++) {
			struct document document =
				sample_document(arena, &noise, random_below(&noise, 250), WORDS);
			document.seq = ++seq;
			apply_one(race.engine, document);
			delete (race.engine, arena_printf(arena, "p%u", random_below(&noise, 250)),
			        ++seq);
		}
		pthread_join(merger, NULL);
		engine_merge_commit(race.engine, merge);
	}
	atomic_store(&race.is_over, true);
	for (size_t i = 0; i < ARRAY_LEN(readers); i++)
		pthread_join(readers[i], NULL);
	arena_free(arena);
	engine_free(race.engine);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_empty_engine_finds_nothing),
		cmocka_unit_test(test_changes_take_effect_before_and_after_merges),
		cmocka_unit_test(test_the_newest_of_several_changes_to_a_paper_wins),
		cmocka_unit_test(test_changes_during_a_merge_are_kept),
		cmocka_unit_test(test_a_cancelled_merge_changes_nothing),
		cmocka_unit_test(test_a_trained_engine_ranks_by_words_and_vectors),
		cmocka_unit_test(test_queries_without_known_words_find_nothing),
		cmocka_unit_test(test_a_long_description_finds_papers),
		cmocka_unit_test(test_unknown_words_lower_the_relevance_of_short_queries),
		cmocka_unit_test(test_a_sample_does_not_depend_on_the_history),
		cmocka_unit_test(test_filters_apply_to_every_part),
		cmocka_unit_test(test_vectors_of_papers_and_texts_match),
		cmocka_unit_test(test_a_saved_index_is_restored),
		cmocka_unit_test(test_changes_during_an_adoption_are_kept),
		cmocka_unit_test(test_an_embedder_replaces_the_vectors_of_another),
		cmocka_unit_test(test_a_snapshot_claims_what_is_complete),
		cmocka_unit_test(test_a_view_does_not_change_while_it_is_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
