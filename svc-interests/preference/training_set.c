#include "preference/training_set.h"

#include <stdlib.h>
#include <string.h>

struct signal_row {
	const char *name;
	double label;
	double weight;
};

/* A dismissal is weaker than a dislike, because it can mean "not today". Merged or shipped work
 * counts as a like: more weight draws the model to few papers. What was tried and failed counts
 * half a dislike: it was chosen for its subject, and speaks little against that.
 * tests/bench/recommendation/outcome_quality.c measures both. */
static const struct signal_row signals[] = {
	[SIGNAL_LIKE] = {"like", +1, 1},
	[SIGNAL_SAVE] = {"save", +1, 1},
	[SIGNAL_IMPLEMENTED] = {"implemented", +1, 2},
	[SIGNAL_MERGED] = {"merged", +1, 1},
	[SIGNAL_SHIPPED] = {"shipped", +1, 1},
	[SIGNAL_DISLIKE] = {"dislike", -1, 1},
	[SIGNAL_DISMISS] = {"dismiss", -1, 0.5},
	[SIGNAL_CLOSED] = {"closed", -1, 0.5},
	[SIGNAL_ABANDONED] = {"abandoned", -1, 0.5},
};

/* The interest's text weighs as much as one like. */
#define TEXT_WEIGHT 1.0

/* Similarity to the interest's text from which a paper is the one that the text was taken from. */
#define TEXT_DUPLICATE 0.8

bool preference_signal_parse(const char *name, enum preference_signal *ret_signal)
{
	for (size_t i = 0; i < ARRAY_LEN(signals); i++) {
		if (strcmp(signals[i].name, name) == 0) {
			*ret_signal = (enum preference_signal)i;
			return true;
		}
	}
	return false;
}

bool preference_signal_is_positive(enum preference_signal signal)
{
	return signals[signal].label > 0;
}

bool training_set_is_text(const struct training_set *set, size_t row)
{
	return features_dot(set->text, set->features[row]) >= TEXT_DUPLICATE;
}

/* Set vectors, labels, weights and groups of all rows. */
static void list_rows(struct arena *arena, struct training_set *set,
                      const struct preference_input *input)
{
	size_t capacity = input->example_count + input->background_count + 1;
	const struct features **list = arena_array(arena, capacity, sizeof(void *));
	set->features = list;
	set->text = input->interest;
	set->labels = arena_array(arena, capacity, sizeof(double));
	set->weights = arena_array(arena, capacity, sizeof(double));
	set->groups = arena_array(arena, capacity, sizeof(*set->groups));
	bool is_example = false;
	size_t next = 0;
	for (size_t i = 0; i < input->example_count; i++, next++) {
		const struct signal_row *signal = &signals[input->examples[i].signal];
		list[next] = input->examples[i].features;
		set->labels[next] = signal->label;
		set->weights[next] = signal->weight;
		set->groups[next] = signal->label > 0 ? ROW_POSITIVE : ROW_REJECTED;
		set->positives += signal->label > 0;
		is_example = is_example || training_set_is_text(set, next);
	}
	if (input->interest) {
		list[next] = input->interest;
		set->labels[next] = 1;
		set->weights[next] = is_example ? 0 : TEXT_WEIGHT;
		set->groups[next++] = ROW_TEXT;
	}
	for (size_t i = 0; i < input->background_count; i++, next++) {
		list[next] = input->background[i];
		set->labels[next] = -1;
		set->weights[next] = 1;
		set->groups[next] = ROW_BACKGROUND;
	}
	set->matrix.row_count = next;
}

/* Set the term columns: each id that occurs, once, in ascending order. */
static void list_columns(struct arena *arena, struct training_set *set)
{
	const struct features **list = set->features;
	size_t total = 0, count = 0;
	for (size_t i = 0; i < set->matrix.row_count; i++)
		total += list[i]->count;
	uint32_t *ids = arena_array(arena, total, sizeof(*ids));
	for (size_t i = 0, next = 0; i < set->matrix.row_count; i++)
		for (size_t j = 0; j < list[i]->count; j++)
			ids[next++] = list[i]->terms[j].id;
	qsort(ids, total, sizeof(*ids), term_id_compare);
	for (size_t i = 0; i < total; i++)
		if (i == 0 || ids[i] != ids[i - 1])
			ids[count++] = ids[i];
	set->term_ids = ids;
	set->term_count = count;
}

static void set_dense_space(struct training_set *set)
{
	const struct features **list = set->features;
	for (size_t i = 0; i < set->matrix.row_count; i++) {
		if (list[i]->dense_length == 0 || list[i]->dense_length > FEATURES_DENSE_MAX)
			continue;
		set->dense_length = list[i]->dense_length;
		set->dense_space = list[i]->dense_space;
		return;
	}
}

/* Write the cells of a row. Returns their number. */
static size_t write_row(const struct training_set *set, const struct features *features,
                        struct cell *cells)
{
	size_t count = 0, column = 0;
	for (size_t i = 0; i < features->count; i++) {
		const uint32_t *found =
			bsearch(&features->terms[i].id, set->term_ids + column,
		                set->term_count - column, sizeof(*set->term_ids), term_id_compare);
		column = (size_t)(found - set->term_ids);
		cells[count++] = (struct cell){(uint32_t)column, features->terms[i].weight};
	}
	if (features->dense_length != set->dense_length ||
	    features->dense_space != set->dense_space)
		return count;
	for (uint32_t i = 0; i < set->dense_length; i++)
		cells[count++] = (struct cell){(uint32_t)set->term_count + i, features->dense[i]};
	return count;
}

struct training_set *training_set_new(struct arena *arena, const struct preference_input *input)
{
	struct training_set *set = arena_new_of(arena, struct training_set);
	list_rows(arena, set, input);
	list_columns(arena, set);
	set_dense_space(set);

	size_t total = 0;
	for (size_t i = 0; i < set->matrix.row_count; i++)
		total += set->features[i]->count + set->dense_length;
	struct cell *cells = arena_array(arena, total, sizeof(*cells));
	size_t *starts = arena_array(arena, set->matrix.row_count + 1, sizeof(*starts));
	for (size_t i = 0; i < set->matrix.row_count; i++)
		starts[i + 1] = starts[i] + write_row(set, set->features[i], cells + starts[i]);
	set->matrix.cells = cells;
	set->matrix.starts = starts;
	set->matrix.column_count = set->term_count + set->dense_length;
	return set;
}
