#include "engine/vector/pairs.h"

#include "engine/text/mem.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define TITLE    4
#define ABSTRACT 40
#define TERMS    (TITLE + ABSTRACT)
#define EPOCHS   200

/* One paper, each token another term: the number of a term is its place. */
struct paper {
	struct sample sample;
	size_t starts[2];
	uint32_t title_count;
	uint32_t tokens[TERMS];
};

static void fill(struct paper *paper, uint32_t title, uint32_t tokens)
{
	*paper = (struct paper){.starts = {0, tokens}, .title_count = title};
	for (uint32_t i = 0; i < tokens; i++)
		paper->tokens[i] = i;
	paper->sample.doc_count = 1;
	paper->sample.term_count = TERMS;
	paper->sample.starts = paper->starts;
	paper->sample.title_counts = &paper->title_count;
	paper->sample.tokens = paper->tokens;
}

/* The greatest and least term of the first side. */
static void bounds(const struct pair *pair, uint32_t *ret_least, uint32_t *ret_greatest)
{
	*ret_least = UINT32_MAX;
	*ret_greatest = 0;
	for (size_t i = 0; i < pair->counts[0]; i++) {
		*ret_least = MIN_OF(*ret_least, pair->terms[i].term);
		*ret_greatest = MAX_OF(*ret_greatest, pair->terms[i].term);
	}
}

static void test_the_three_kinds_have_their_probabilities(void **state)
{
	struct paper paper;
	struct pair pair;
	uint16_t counts[TERMS] = {0};
	double titles = 0;
	double spans = 0;
	(void)state;
	fill(&paper, TITLE, TERMS);
	for (uint32_t epoch = 0; epoch < EPOCHS; epoch++) {
		uint32_t least;
		uint32_t greatest;
		if (!pair_draw(&paper.sample, 0, epoch, counts, &pair))
			continue; /* all units by the same coin */
		bounds(&pair, &least, &greatest);
		size_t used = pair.counts[0] + pair.counts[1];
		bool is_title = greatest + 1 == TITLE && least == 0 && used == TERMS;
		titles += is_title;
		if (used == TERMS)
			continue;
		spans++;
		assert_in_range(pair.counts[0], 2, 6);
		assert_int_equal(greatest - least + 1, pair.counts[0]);
	}
	assert_true(fabs(titles / EPOCHS - .32) < .1); /* a coin gives the title alone, too */
	assert_true(fabs(spans / EPOCHS - .4) < .1);
}

static void test_no_token_is_on_both_sides(void **state)
{
	struct paper paper;
	struct pair pair;
	uint16_t counts[TERMS] = {0};
	(void)state;
	fill(&paper, TITLE, TERMS);
	for (uint32_t epoch = 0; epoch < EPOCHS; epoch++) {
		bool seen[TERMS] = {false};
		if (!pair_draw(&paper.sample, 0, epoch, counts, &pair))
			continue;
		for (size_t i = 0; i < pair.counts[0] + pair.counts[1]; i++) {
			assert_false(seen[pair.terms[i].term]);
			seen[pair.terms[i].term] = true;
			assert_true(pair.terms[i].weight == 1);
		}
		for (size_t term = 0; term < TERMS; term++)
			assert_int_equal(counts[term], 0);
	}
}

static void test_occurrences_are_damped(void **state)
{
	struct paper paper;
	struct pair pair;
	uint16_t counts[TERMS] = {0};
	(void)state;
	fill(&paper, 0, 24);
	for (size_t i = 0; i < 24; i++)
		paper.tokens[i] = i % 6;
	assert_true(pair_draw(&paper.sample, 0, 1, counts, &pair));
	for (size_t i = 0; i < pair.counts[1]; i++) /* the twelve tokens of the other unit */
		assert_true(fabsf(pair.terms[pair.counts[0] + i].weight - (1 + logf(2))) < 1e-6f);
}

static void test_short_papers_give_no_pair(void **state)
{
	struct paper paper;
	struct pair pair;
	uint16_t counts[TERMS] = {0};
	(void)state;
	fill(&paper, 0, 0);
	assert_false(pair_draw(&paper.sample, 0, 0, counts, &pair));
	fill(&paper, 0, PAIR_UNIT_TOKENS); /* one unit */
	assert_false(pair_draw(&paper.sample, 0, 0, counts, &pair));
	fill(&paper, 2, 4); /* no second side with three terms */
	for (uint32_t epoch = 0; epoch < 20; epoch++)
		assert_false(pair_draw(&paper.sample, 0, epoch, counts, &pair));
}

static void test_a_pair_depends_on_paper_and_epoch_only(void **state)
{
	struct paper paper;
	struct pair first;
	struct pair second;
	uint16_t counts[TERMS] = {0};
	(void)state;
	fill(&paper, TITLE, TERMS);
	assert_true(pair_draw(&paper.sample, 0, 3, counts, &first));
	assert_true(pair_draw(&paper.sample, 0, 3, counts, &second));
	assert_memory_equal(first.counts, second.counts, sizeof(first.counts));
	assert_memory_equal(first.terms, second.terms,
	                    (first.counts[0] + first.counts[1]) * sizeof(first.terms[0]));
	struct pair_random one = pair_random_for(3, 0);
	struct pair_random other = pair_random_for(3, 1);
	struct pair_random later = pair_random_for(4, 0);
	assert_true(one.state != other.state && one.state != later.state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_three_kinds_have_their_probabilities),
		cmocka_unit_test(test_no_token_is_on_both_sides),
		cmocka_unit_test(test_occurrences_are_damped),
		cmocka_unit_test(test_short_papers_give_no_pair),
		cmocka_unit_test(test_a_pair_depends_on_paper_and_epoch_only),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
