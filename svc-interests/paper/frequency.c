#include "paper/frequency.h"

#include "paper/term_index.h"

#include <math.h>
#include <stdlib.h>

struct term_frequency {
	uint32_t id;
	uint32_t documents; /* 2 or more */
	double idf;
};

struct frequency_table {
	uint32_t documents;
	size_t count;
	struct term_frequency *terms; /* in ascending order of id */
	struct term_index index;      /* of `terms` */
	double idf_once;              /* of a word that is not in the table */
};

static double idf_of(const struct frequency_table *table, double documents)
{
	return log(1 + table->documents / documents);
}

/* Compute the idf of each term, and index the terms. */
static void index_terms(struct arena *arena, struct frequency_table *table)
{
	table->index = term_index_new(arena, table->terms, table->count, sizeof(*table->terms));
	table->idf_once = idf_of(table, 1);
	for (size_t i = 0; i < table->count; i++)
		table->terms[i].idf = idf_of(table, table->terms[i].documents);
}

static int most_frequent_first(const void *a, const void *b)
{
	const struct term_frequency *left = a, *right = b;
	if (left->documents != right->documents)
		return left->documents < right->documents ? 1 : -1;
	return term_id_compare(&left->id, &right->id);
}

/* All ids of all bags, sorted: the length of a run of equal ids is a term's document frequency. */
static uint32_t *gather_ids(struct arena *arena, const struct bag *const *bags, size_t count,
                            size_t *ret_count)
{
	size_t total = 0;
	for (size_t i = 0; i < count; i++)
		total += bags[i]->count;
	uint32_t *ids = arena_array(arena, total, sizeof(*ids));
	size_t next = 0;
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < bags[i]->count; j++)
			ids[next++] = bags[i]->terms[j].id;
	qsort(ids, total, sizeof(*ids), term_id_compare);
	*ret_count = total;
	return ids;
}

static size_t count_runs(const uint32_t *ids, size_t total, struct term_frequency *out)
{
	size_t count = 0;
	for (size_t start = 0, end; start < total; start = end) {
		for (end = start + 1; end < total && ids[end] == ids[start]; end++)
			continue;
		if (end - start >= 2)
			out[count++] =
				(struct term_frequency){.id = ids[start],
			                                .documents = (uint32_t)(end - start)};
	}
	return count;
}

struct frequency_table *frequency_table_new(struct arena *arena, const struct bag *const *bags,
                                            size_t count)
{
	struct arena *scratch = arena_new();
	size_t total;
	uint32_t *ids = gather_ids(scratch, bags, count, &total);
	struct term_frequency *terms = arena_array(scratch, total / 2, sizeof(*terms));
	size_t kept = count_runs(ids, total, terms);
	if (kept > FREQUENCY_MAX_TERMS) {
		qsort(terms, kept, sizeof(*terms), most_frequent_first);
		kept = FREQUENCY_MAX_TERMS;
		qsort(terms, kept, sizeof(*terms), term_id_compare);
	}
	struct frequency_table *table = arena_new_of(arena, struct frequency_table);
	table->documents = (uint32_t)count;
	table->count = kept;
	table->terms = arena_memdup(arena, terms, kept * sizeof(*terms));
	index_terms(arena, table);
	arena_free(scratch);
	return table;
}

double frequency_idf(const struct frequency_table *table, uint32_t term)
{
	const struct term_frequency *found = term_index_find(&table->index, term);
	if (found)
		return found->idf;
	return (term & TERM_IS_PAIR) != 0 ? 0 : table->idf_once;
}

uint32_t frequency_documents(const struct frequency_table *table)
{
	return table->documents;
}

void frequency_write(const struct frequency_table *table, struct buf *out)
{
	write_uint(out, table->documents);
	write_uint(out, table->count);
	uint32_t previous = 0;
	for (size_t i = 0; i < table->count; i++) {
		write_uint(out, table->terms[i].id - previous);
		write_uint(out, table->terms[i].documents);
		previous = table->terms[i].id;
	}
}

struct frequency_table *frequency_read(struct arena *arena, struct reader *in)
{
	struct frequency_table *table = arena_new_of(arena, struct frequency_table);
	table->documents = (uint32_t)read_uint(in, UINT32_MAX);
	table->count = read_count(in, FREQUENCY_MAX_TERMS, 2);
	table->terms = arena_array(arena, table->count, sizeof(*table->terms));
	uint32_t previous = 0;
	for (size_t i = 0; i < table->count; i++) {
		uint64_t step = read_uint(in, UINT32_MAX - previous);
		if (step == 0 && i > 0)
			in->failed = true;
		previous += (uint32_t)step;
		table->terms[i].id = previous;
		table->terms[i].documents = (uint32_t)read_uint(in, table->documents);
		if (table->terms[i].documents == 0)
			in->failed = true;
	}
	if (in->failed)
		return NULL;
	index_terms(arena, table);
	return table;
}
