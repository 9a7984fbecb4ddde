#include "retention/tables.h"

#define OF_A_PAPER "one row a paper; papers are what is searched, and stay"

const struct retained_table SEARCH_TABLES[] = {
	TABLE_BOUND("asset", OF_A_PAPER),
	TABLE_BOUND("asset_change_order", "empty: a lock"),
	TABLE_BOUND("asset_count", "two rows a category or other key of lists"),
	TABLE_BOUND("asset_key", "some rows a paper"),
	TABLE_BOUND("asset_vector", "one row a paper and space of vectors"),
	TABLE_BOUND("embedder", "the newest two; others go 7 days after their last use"),
	TABLE_BOUND("embedder_chunk", "with the embedder"),
	TABLE_BOUND("index_source", "one row"),
	TABLE_BOUND("source", "one row a source and set of HARVEST_SETS"),
	TABLE_BOUND("source_pace", "one row a source"),
	TABLE_BOUND("vector_space", "one row a model of embeddings that was configured"),
	TABLES_END,
};
