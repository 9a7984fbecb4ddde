#include "preference/examples.h"

#include <stdlib.h>
#include <string.h>

struct signal_row {
	const char *name;
	double label;
	double weight;
};

/* What counts as how much. Someone's work that was merged or shipped says more than a click, a
 * dismissal less than a dislike: it can mean "not today". */
static const struct signal_row signals[] = {
	[SIGNAL_LIKE] = {"like", +1, 1},
	[SIGNAL_SAVE] = {"save", +1, 1},
	[SIGNAL_IMPLEMENTED] = {"implemented", +1, 2},
	[SIGNAL_MERGED] = {"merged", +1, 3},
	[SIGNAL_SHIPPED] = {"shipped", +1, 3},
	[SIGNAL_DISLIKE] = {"dislike", -1, 1},
	[SIGNAL_DISMISS] = {"dismiss", -1, 0.5},
	[SIGNAL_CLOSED] = {"closed", -1, 1},
	[SIGNAL_ABANDONED] = {"abandoned", -1, 1},
};

/* The interest's own text counts as one like. */
#define TEXT_WEIGHT 1.0

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

/* The vectors of all rows in order, labels and weights set. */
static const struct features **list_rows(struct arena *arena, struct example_rows *rows,
                                         const struct preference_input *input)
{
	size_t capacity = input->example_count + input->background_count + 1;
	const struct features **list = arena_array(arena, capacity, sizeof(void *));
	rows->labels = arena_array(arena, capacity, sizeof(double));
	rows->weights = arena_array(arena, capacity, sizeof(double));
	rows->groups = arena_array(arena, capacity, sizeof(*rows->groups));
	size_t next = 0;
	for (size_t i = 0; i < input->example_count; i++, next++) {
		const struct signal_row *signal = &signals[input->examples[i].signal];
		list[next] = input->examples[i].features;
		rows->labels[next] = signal->label;
		rows->weights[next] = signal->weight;
		rows->groups[next] = signal->label > 0 ? ROW_POSITIVE : ROW_REJECTED;
		rows->positives += signal->label > 0;
	}
	if (input->interest != NULL) {
		list[next] = input->interest;
		rows->labels[next] = 1;
		rows->weights[next] = TEXT_WEIGHT;
		rows->groups[next++] = ROW_TEXT;
	}
	for (size_t i = 0; i < input->background_count; i++, next++) {
		list[next] = input->background[i];
		rows->labels[next] = -1;
		rows->weights[next] = 1;
		rows->groups[next] = ROW_BACKGROUND;
	}
	rows->matrix.row_count = next;
	return list;
}

static int id_compare(const void *a, const void *b)
{
	uint32_t left = *(const uint32_t *)a;
	uint32_t right = *(const uint32_t *)b;
	return (left > right) - (left < right);
}

/* The ids that occur, each once, sorted: the columns. */
static void list_columns(struct arena *arena, struct example_rows *rows,
                         const struct features **list)
{
	size_t total = 0, count = 0;
	for (size_t i = 0; i < rows->matrix.row_count; i++)
		total += list[i]->count;
	uint32_t *ids = arena_array(arena, total, sizeof(*ids));
	for (size_t i = 0, next = 0; i < rows->matrix.row_count; i++)
		for (size_t j = 0; j < list[i]->count; j++)
			ids[next++] = list[i]->terms[j].id;
	qsort(ids, total, sizeof(*ids), id_compare);
	for (size_t i = 0; i < total; i++)
		if (i == 0 || ids[i] != ids[i - 1])
			ids[count++] = ids[i];
	rows->term_ids = ids;
	rows->term_count = count;
}

static void choose_dense(struct example_rows *rows, const struct features **list)
{
	for (size_t i = 0; i < rows->matrix.row_count; i++) {
		if (list[i]->dense_length == 0 || list[i]->dense_length > PREFERENCE_MAX_DENSE)
			continue;
		rows->dense_length = list[i]->dense_length;
		rows->dense_space = list[i]->dense_space;
		return;
	}
}

static bool has_dense_of(const struct example_rows *rows, const struct features *features)
{
	return features->dense_length == rows->dense_length &&
	       features->dense_space == rows->dense_space;
}

/* Write a row's cells; returns how many. */
static size_t lay_row(const struct example_rows *rows, const struct features *features,
                      struct cell *cells)
{
	size_t count = 0, column = 0;
	for (size_t i = 0; i < features->count; i++) {
		const uint32_t *found =
			bsearch(&features->terms[i].id, rows->term_ids + column,
		                rows->term_count - column, sizeof(*rows->term_ids), id_compare);
		column = (size_t)(found - rows->term_ids);
		cells[count++] = (struct cell){(uint32_t)column, features->terms[i].weight};
	}
	for (uint32_t i = 0; has_dense_of(rows, features) && i < rows->dense_length; i++)
		cells[count++] = (struct cell){(uint32_t)rows->term_count + i, features->dense[i]};
	return count;
}

struct example_rows *example_rows_new(struct arena *arena, const struct preference_input *input)
{
	struct example_rows *rows = arena_new_of(arena, struct example_rows);
	const struct features **list = list_rows(arena, rows, input);
	list_columns(arena, rows, list);
	choose_dense(rows, list);

	size_t total = 0;
	for (size_t i = 0; i < rows->matrix.row_count; i++)
		total += list[i]->count + rows->dense_length;
	struct cell *cells = arena_array(arena, total, sizeof(*cells));
	size_t *starts = arena_array(arena, rows->matrix.row_count + 1, sizeof(*starts));
	for (size_t i = 0; i < rows->matrix.row_count; i++)
		starts[i + 1] = starts[i] + lay_row(rows, list[i], cells + starts[i]);
	rows->matrix.cells = cells;
	rows->matrix.starts = starts;
	rows->matrix.column_count = rows->term_count + rows->dense_length;
	return rows;
}
