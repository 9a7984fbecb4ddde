#include "preference/preference.h"

#include "crypto/crypto.h"
#include "paper/codec.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum {
	TOPIC_WORDS = 40,
	PAPER_WORDS = 25,
	PAPERS = 60, /* on each of two topics */
	ALL_PAPERS = 2 * PAPERS,
};

/* Papers on two topics. With `separate` set in world_new() the topics share no word, otherwise all
 * words come from one vocabulary. */
struct world {
	struct arena *arena;
	struct frequency_table *frequencies;
	const struct features *papers[2][PAPERS];
	struct features *interest; /* text on topic 0 */
	uint64_t random;
};

static unsigned draw(struct world *world, unsigned below)
{
	world->random = world->random * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(world->random >> 33) % below;
}

static const char *paper_words(struct world *world, int topic)
{
	struct buf text = {.arena = world->arena};
	for (int i = 0; i < PAPER_WORDS; i++)
		buf_printf(&text, "q%c%c%dz ", 'b' + topic, 'b' + (int)draw(world, 20),
		           (int)draw(world, TOPIC_WORDS / 20));
	return text.data;
}

static struct world *world_new(bool separate, const float (*dense)[2])
{
	struct arena *arena = arena_new();
	struct world *world = arena_new_of(arena, struct world);
	world->arena = arena;
	struct word_splitter *splitter = word_splitter_new(arena);
	const struct bag *bags[ALL_PAPERS];
	for (int i = 0; i < ALL_PAPERS; i++) {
		int topic = i % 2;
		struct paper_text paper = {.abstract = paper_words(world, separate ? topic : 0)};
		if (dense != NULL) {
			paper.dense = dense[topic];
			paper.dense_length = 2;
			paper.dense_space = 1;
		}
		bags[i] = bag_new(arena, splitter, &paper);
	}
	world->frequencies = frequency_table_new(arena, bags, ALL_PAPERS);
	for (int i = 0; i < ALL_PAPERS; i++)
		world->papers[i % 2][i / 2] = features_new(arena, world->frequencies, bags[i]);
	struct paper_text text = {.title = paper_words(world, 0)};
	world->interest = features_new(arena, world->frequencies, bag_new(arena, splitter, &text));
	return world;
}

/* Likes of the first `likes` papers on topic 0 and dislikes of `dislikes` papers on topic 1. */
static struct preference_input feedback(struct world *world, size_t likes, size_t dislikes,
                                        size_t background)
{
	struct preference_example *examples =
		arena_array(world->arena, likes + dislikes, sizeof(*examples));
	for (size_t i = 0; i < likes + dislikes; i++)
		examples[i] =
			i < likes ? (struct preference_example){world->papers[0][i], SIGNAL_LIKE}
				  : (struct preference_example){world->papers[1][i - likes],
		                                                SIGNAL_DISLIKE};
	return (struct preference_input){
		.frequencies = world->frequencies,
		.examples = examples,
		.example_count = likes + dislikes,
		.background = world->papers[1] + PAPERS - background,
		.background_count = background,
	};
}

static struct preference_model *fit(struct world *world, const struct preference_input *input)
{
	const char *message = NULL;
	struct preference_model *model = preference_fit(world->arena, input, &message);
	assert_non_null(model);
	assert_null(message);
	return model;
}

static void test_signal_names(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		bool is_positive;
	} rows[] = {
		{"like", true},     {"save", true},    {"implemented", true},
		{"merged", true},   {"shipped", true}, {"dislike", false},
		{"dismiss", false}, {"closed", false}, {"abandoned", false},
	};
	enum preference_signal signal;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_true(preference_signal_parse(rows[i].name, &signal));
		assert_int_equal(signal, i);
		assert_true(preference_signal_is_positive(signal) == rows[i].is_positive);
	}
	assert_false(preference_signal_parse("", &signal));
	assert_false(preference_signal_parse("Like", &signal));
}

/* Without a text and a background, all that moves a raw score are the examples. */
static void test_coefficients_make_the_raw_score(void **state)
{
	(void)state;
	static const float dense[2][2] = {{1, 0.2f}, {0.3f, 1}};
	static const size_t likes[] = {3, 12};
	for (size_t i = 0; i < ARRAY_LEN(likes); i++) {
		struct world *world = world_new(false, dense);
		struct preference_input input = feedback(world, likes[i], 10, 0);
		struct preference_model *model = fit(world, &input);
		const double *coefficients = preference_coefficients(model);
		for (size_t paper = 20; paper < PAPERS; paper++) {
			const struct features *features = world->papers[paper % 2][paper];
			double sum = preference_parts_of(model, features).bias;
			double size = 1 + fabs(sum); /* rounding grows with what is added */
			for (size_t j = 0; j < input.example_count; j++) {
				double part = coefficients[j] *
				              features_dot(input.examples[j].features, features);
				sum += part;
				size += fabs(part);
			}
			double error = fabs(sum - preference_raw_score(model, features));
			assert_true(error < 1e-4 * size);
		}
		assert_true(coefficients[0] > 0 && coefficients[likes[i]] < 0);
		arena_free(world->arena);
	}
}

static void test_separable_topics_are_learned(void **state)
{
	(void)state;
	static const size_t likes[] = {3, 9, 10, 30};
	for (size_t i = 0; i < ARRAY_LEN(likes); i++) {
		struct world *world = world_new(true, NULL);
		struct preference_input input = feedback(world, likes[i], 2, 20);
		struct preference_model *model = fit(world, &input);
		struct preference_facts facts = preference_facts(model);
		assert_int_equal(facts.kind, likes[i] < PREFERENCE_LOGISTIC_MIN
		                                     ? PREFERENCE_CENTROID
		                                     : PREFERENCE_LOGISTIC);
		assert_int_equal(facts.examples, likes[i] + 2);
		assert_int_equal(facts.positives, likes[i]);
		assert_true(facts.auc > 0.99);
		assert_true(preference_trust(model) > 0.98);
		double liked = preference_score(model, world->papers[0][40]);
		double other = preference_score(model, world->papers[1][39]);
		assert_true(liked > 0.6 && liked <= 1);
		assert_true(other < 0.4 && other >= 0);
		arena_free(world->arena);
	}
}

static void test_auc_is_near_one_half_without_a_pattern(void **state)
{
	(void)state;
	static const size_t likes[] = {8, 40};
	for (size_t i = 0; i < ARRAY_LEN(likes); i++) {
		struct world *world = world_new(false, NULL);
		struct preference_input input = feedback(world, likes[i], 20, 40);
		double area = preference_facts(fit(world, &input)).auc;
		arena_free(world->arena);
		assert_true(area > 0.3 && area < 0.7);
	}
}

static void test_dense_vectors_alone_are_learned(void **state)
{
	(void)state;
	static const float dense[2][2] = {{1, 0.2f}, {-0.2f, 1}};
	for (size_t likes = 5; likes <= 20; likes += 15) {
		struct world *world = world_new(false, dense);
		struct preference_input input = feedback(world, likes, 5, 20);
		struct preference_model *model = fit(world, &input);
		assert_true(preference_facts(model).auc > 0.95);
		struct features moved = *world->papers[0][40];
		double before = preference_raw_score(model, &moved);
		moved.dense_space = 2; /* of another embedder: ignored */
		assert_true(preference_raw_score(model, &moved) < before);
		arena_free(world->arena);
	}
}

static void test_too_little_feedback_fits_nothing(void **state)
{
	(void)state;
	static const struct {
		size_t likes, dislikes, background;
		bool is_enough;
	} rows[] = {
		{0, 0, 0, false}, {0, 9, 40, false}, {2, 5, 40, false},
		{3, 0, 0, false}, {3, 1, 0, true},   {3, 0, 1, true},
	};
	struct world *world = world_new(true, NULL);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct preference_input input =
			feedback(world, rows[i].likes, rows[i].dislikes, rows[i].background);
		const char *message = NULL;
		struct preference_model *model = preference_fit(world->arena, &input, &message);
		assert_int_equal(model != NULL, rows[i].is_enough);
		assert_int_equal(message == NULL, rows[i].is_enough);
		assert_true(message == NULL || strstr(message, "feedback"));
	}
	arena_free(world->arena);
}

static void test_prior_is_the_similarity_to_the_interest(void **state)
{
	(void)state;
	struct world *world = world_new(true, NULL);
	struct preference_input input = feedback(world, 0, 0, PAPERS);
	input.interest = world->interest;
	for (size_t background = 0; background <= PAPERS; background += PAPERS) {
		input.background = world->papers[0];
		input.background_count = background;
		struct preference_model *model = preference_prior(world->arena, &input);
		assert_int_equal(preference_facts(model).kind, PREFERENCE_PRIOR);
		assert_true(preference_trust(model) == 0);
		assert_true(preference_score(model, world->interest) > 0.9);
		assert_true(preference_score(model, world->papers[1][0]) < 0.2);
		double raw = preference_raw_score(model, world->papers[0][0]);
		assert_true(fabs(raw - features_dot(world->interest, world->papers[0][0])) < 1e-6);
	}
	input.interest = NULL;
	struct preference_model *empty = preference_prior(world->arena, &input);
	assert_true(preference_raw_score(empty, world->papers[0][0]) == 0);
	arena_free(world->arena);
}

/* Each liked paper has another word of the interest's text, beside noise: the prior finds them all,
 * and what is learned from some of them does not help to find the others. */
static struct preference_input one_word_each(struct world *world, size_t likes)
{
	struct preference_example *examples = arena_array(world->arena, likes, sizeof(*examples));
	struct word_splitter *splitter = word_splitter_new(world->arena);
	struct buf all = {.arena = world->arena};
	for (size_t i = 0; i < likes; i++) {
		const char *word = arena_printf(world->arena, "w%cx%zuz", 'b' + (int)i, i);
		buf_printf(&all, "%s ", word);
		struct paper_text paper = {.title = word, .abstract = paper_words(world, 0)};
		examples[i].signal = SIGNAL_LIKE;
		examples[i].features = features_new(world->arena, world->frequencies,
		                                    bag_new(world->arena, splitter, &paper));
	}
	struct paper_text text = {.abstract = all.data};
	return (struct preference_input){
		.frequencies = world->frequencies,
		.interest = features_new(world->arena, world->frequencies,
	                                 bag_new(world->arena, splitter, &text)),
		.examples = examples,
		.example_count = likes,
		.background = world->papers[0],
		.background_count = PAPERS,
	};
}

static void test_a_better_prior_is_kept(void **state)
{
	(void)state;
	struct world *world = world_new(false, NULL);
	struct preference_input input = one_word_each(world, 12);
	struct preference_facts kept = preference_facts(fit(world, &input));
	assert_int_equal(kept.kind, PREFERENCE_PRIOR);
	assert_true(kept.auc > 0.95);
	assert_int_equal(kept.positives, 12);
	input.interest = NULL;
	struct preference_facts learned = preference_facts(fit(world, &input));
	assert_int_equal(learned.kind, PREFERENCE_LOGISTIC);
	assert_true(learned.auc < kept.auc);
	arena_free(world->arena);
}

/* Three likes are too few to say that a prior is better. */
static void test_a_prior_is_not_kept_by_chance(void **state)
{
	(void)state;
	struct world *world = world_new(true, NULL);
	struct preference_input input = feedback(world, 3, 0, 30);
	input.interest = world->papers[1][0];
	assert_int_equal(preference_facts(fit(world, &input)).kind, PREFERENCE_CENTROID);
	input.interest = world->interest;
	assert_int_equal(preference_facts(fit(world, &input)).kind, PREFERENCE_CENTROID);
	arena_free(world->arena);
}

static void test_dislikes_lower_and_interest_text_raises_the_score(void **state)
{
	(void)state;
	struct world *world = world_new(true, NULL);
	for (size_t likes = 4; likes <= 12; likes += 8) {
		struct preference_input input = feedback(world, likes, 0, 30);
		const struct features *probe = world->papers[1][3];
		double plain = preference_raw_score(fit(world, &input), probe);
		struct preference_input with_dislikes = feedback(world, likes, 4, 30);
		assert_true(preference_raw_score(fit(world, &with_dislikes), probe) < plain);
		input.interest = probe;
		assert_true(preference_raw_score(fit(world, &input), probe) > plain);
	}
	arena_free(world->arena);
}

static void test_outcomes_weigh_as_much_as_likes(void **state)
{
	(void)state;
	struct world *world = world_new(true, NULL);
	struct preference_input input = feedback(world, 4, 0, 30);
	struct preference_example examples[4];
	memcpy(examples, input.examples, sizeof(examples));
	input.examples = examples;
	double liked = preference_raw_score(fit(world, &input), examples[0].features);
	static const enum preference_signal WORKED[] = {SIGNAL_MERGED, SIGNAL_SHIPPED};
	for (size_t i = 0; i < ARRAY_LEN(WORKED); i++) {
		examples[0].signal = WORKED[i];
		double raw = preference_raw_score(fit(world, &input), examples[0].features);
		assert_true(raw == liked);
	}
	examples[0].signal = SIGNAL_IMPLEMENTED;
	assert_true(preference_raw_score(fit(world, &input), examples[0].features) > liked);
	arena_free(world->arena);
}

static void test_fit_is_deterministic(void **state)
{
	(void)state;
	struct world *world = world_new(false, NULL);
	struct preference_input input = feedback(world, 15, 5, 30);
	struct buf first = preference_save(world->arena, fit(world, &input));
	struct buf again = preference_save(world->arena, fit(world, &input));
	assert_int_equal(first.length, again.length);
	assert_memory_equal(first.data, again.data, first.length);
	arena_free(world->arena);
}

static void test_loaded_model_gives_the_same_scores(void **state)
{
	(void)state;
	static const float dense[2][2] = {{1, 0.2f}, {-0.2f, 1}};
	for (int kind = PREFERENCE_PRIOR; kind <= PREFERENCE_LOGISTIC; kind++) {
		struct world *world = world_new(true, dense);
		struct preference_input input =
			feedback(world, kind == PREFERENCE_LOGISTIC ? 12 : 4, 2, 10);
		input.interest = world->interest;
		struct preference_model *model = kind == PREFERENCE_PRIOR
		                                         ? preference_prior(world->arena, &input)
		                                         : fit(world, &input);
		struct buf bytes = preference_save(world->arena, model);
		struct arena *arena = arena_new();
		struct preference_model *loaded = preference_load(arena, bytes.data, bytes.length);
		assert_non_null(loaded);
		assert_int_equal(preference_facts(loaded).kind, kind);
		assert_int_equal(preference_facts(loaded).positives,
		                 preference_facts(model).positives);
		for (int i = 0; i < PAPERS; i++)
			assert_true(preference_score(loaded, world->papers[i % 2][i]) ==
			            preference_score(model, world->papers[i % 2][i]));
		const struct frequency_table *table = preference_frequencies(loaded);
		assert_int_equal(frequency_documents(table), ALL_PAPERS);
		arena_free(arena);
		arena_free(world->arena);
	}
}

static struct buf saved_model(struct world *world)
{
	struct preference_input input = feedback(world, 4, 1, 2);
	return preference_save(world->arena, fit(world, &input));
}

static void assert_refused(const void *data, size_t length)
{
	struct arena *arena = arena_new();
	assert_null(preference_load(arena, data, length));
	arena_free(arena);
}

static void test_every_prefix_is_refused(void **state)
{
	(void)state;
	struct world *world = world_new(true, NULL);
	struct buf bytes = saved_model(world);
	for (size_t length = 0; length < bytes.length; length++)
		assert_refused(bytes.data, length);
	buf_puts(&bytes, "x");
	assert_refused(bytes.data, bytes.length);
	arena_free(world->arena);
}

static void test_every_flipped_byte_is_refused(void **state)
{
	(void)state;
	struct world *world = world_new(true, NULL);
	struct buf bytes = saved_model(world);
	for (size_t i = 0; i < bytes.length; i++) {
		bytes.data[i] ^= 0x11;
		assert_refused(bytes.data, bytes.length);
		bytes.data[i] ^= 0x11;
	}
	arena_free(world->arena);
}

/* Damaged bytes with a correct checksum: loading must not crash, and a model that is loaded must
 * give scores from 0 to 1. */
static void test_damage_with_a_correct_checksum_is_harmless(void **state)
{
	(void)state;
	struct world *world = world_new(true, NULL);
	struct buf bytes = saved_model(world);
	size_t body = bytes.length - 4, refused = 0;
	for (size_t i = 0; i < body; i++) {
		char kept = bytes.data[i];
		bytes.data[i] = (char)(kept ^ 0xff);
		bytes.length = body;
		write_u32(&bytes, crc32_of(bytes.data, body));
		struct arena *arena = arena_new();
		struct preference_model *model = preference_load(arena, bytes.data, bytes.length);
		refused += model == NULL;
		if (model != NULL) {
			double score = preference_score(model, world->papers[0][0]);
			assert_true(score >= 0 && score <= 1);
		}
		arena_free(arena);
		bytes.data[i] = kept;
	}
	assert_true(refused > 0);
	bytes.length = body;
	buf_puts(&bytes, "x"); /* trailing bytes */
	write_u32(&bytes, crc32_of(bytes.data, body + 1));
	assert_refused(bytes.data, bytes.length);
	bytes.data[0] = PREFERENCE_FORMAT + 1;
	bytes.length = body;
	write_u32(&bytes, crc32_of(bytes.data, body));
	assert_refused(bytes.data, bytes.length);
	arena_free(world->arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_signal_names),
		cmocka_unit_test(test_separable_topics_are_learned),
		cmocka_unit_test(test_coefficients_make_the_raw_score),
		cmocka_unit_test(test_auc_is_near_one_half_without_a_pattern),
		cmocka_unit_test(test_dense_vectors_alone_are_learned),
		cmocka_unit_test(test_too_little_feedback_fits_nothing),
		cmocka_unit_test(test_prior_is_the_similarity_to_the_interest),
		cmocka_unit_test(test_a_better_prior_is_kept),
		cmocka_unit_test(test_a_prior_is_not_kept_by_chance),
		cmocka_unit_test(test_dislikes_lower_and_interest_text_raises_the_score),
		cmocka_unit_test(test_outcomes_weigh_as_much_as_likes),
		cmocka_unit_test(test_fit_is_deterministic),
		cmocka_unit_test(test_loaded_model_gives_the_same_scores),
		cmocka_unit_test(test_every_prefix_is_refused),
		cmocka_unit_test(test_every_flipped_byte_is_refused),
		cmocka_unit_test(test_damage_with_a_correct_checksum_is_harmless),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
