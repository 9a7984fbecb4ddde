/* svc-search: research assets (papers), their index, and search. */
#include "api/asset.h"
#include "api/harvest_request.h"
#include "api/query_expansion.h"
#include "api/search.h"
#include "api/shown_papers.h"
#include "api/similar.h"
#include "api/source_turn.h"
#include "embeddings/embeddings.h"
#include "embeddings/paper_embedding.h"
#include "embeddings/query_embedding.h"
#include "engine/text/highlight.h"
#include "harvest/daily_papers.h"
#include "harvest/harvester.h"
#include "harvest/source.h"
#include "indexing/indexer.h"
#include "indexing/trainer.h"
#include "ingest/conversion.h"
#include "ingest/import.h"
#include "llm/chat.h"
#include "main/service_main.h"
#include "retention/tables.h"
#include "state.h"
#include "svc-search-schema.h"

#include <stdlib.h>

static const struct route ROUTES[] = {
	{API_ID_asset_search, asset_search},
	{API_ID_asset_facets, asset_facets},
	{API_ID_assets_list, asset_list},
	{API_ID_asset_get, asset_get},
	{API_ID_asset_put, asset_put},
	{API_ID_asset_similar_list, asset_similar_list},
	{API_ID_search_stats_get, asset_stats},
	{API_ID_search_harvest, harvest_request},
	{0},
};

static const struct internal_route INTERNAL_ROUTES[] = {
	{INTERNAL_ID_assets_similar, asset_similar},
	{INTERNAL_ID_assets_lookup, asset_lookup},
	{INTERNAL_ID_assets_sample, asset_sample},
	{INTERNAL_ID_source_turn, source_turn},
	{0},
};

static const struct command COMMANDS[] = {
	{"import", "import FILE", "Load an arXiv metadata snapshot: JSON lines, plain or gzip.",
         import_command},
	{"harvest",
         "harvest --from DATE [--until DATE] [--set SET] [--source arxiv|biorxiv|medrxiv]",
         "Load the papers that arXiv, or another source, added or changed since DATE.",
         harvest_command},
	{0},
};

static const struct setting *const SETTINGS[] = {
	INDEXER_SETTINGS,      TRAINER_SETTINGS,    CHAT_SETTINGS,         QUERY_EXPANSION_SETTINGS,
	SHOWN_PAPERS_SETTINGS, EMBEDDINGS_SETTINGS, ARXIV_SETTINGS,        BIORXIV_SETTINGS,
	SOURCE_SETTINGS,       HARVESTER_SETTINGS,  DAILY_PAPERS_SETTINGS, NULL,
};

static void process_start(struct process *process)
{
	struct search_process *search = calloc(1, sizeof(*search));
	require(search);
	chat_init();
	embeddings_init();
	search->indexer = indexer_new(process, embeddings_space());
	search->shown_papers = shown_papers_new(search->indexer);
	process->user = search;
}

static void process_stop(struct process *process)
{
	struct search_process *search = process->user;
	shown_papers_free(search->shown_papers);
	indexer_free(search->indexer);
	free(search);
	process->user = NULL;
}

static void worker_start(struct worker *worker)
{
	struct search_worker *state = calloc(1, sizeof(*state));
	require(state);
	state->query_embedding = query_embedding_new();
	state->tokenizer = tokenizer_new(HIGHLIGHT_CACHE_SLOTS);
	worker->user = state;
}

static void worker_stop(struct worker *worker)
{
	struct search_worker *state = worker->user;
	query_embedding_free(state->query_embedding);
	tokenizer_free(state->tokenizer);
	free(state);
	worker->user = NULL;
}

/* Requests look into the index, and the trainer of the built-in embedder takes its papers from
 * there. */
static bool has_index(const struct process *process)
{
	return process->roles.has_http || !embeddings_space();
}

static void background_start(struct worker *worker)
{
	struct search_process *search = worker->process->user;
	if (has_index(worker->process))
		indexer_start(search->indexer, worker);
	if (worker->process->roles.has_http)
		shown_papers_start(search->shown_papers, worker);
	if (!worker->process->roles.has_jobs)
		return;
	search->conversion = conversion_start(worker);
	search->harvester = harvester_start(worker);
	search->daily_papers = daily_papers_start(worker);
	search->paper_embedding = paper_embedding_start(worker);
	if (!embeddings_space())
		search->trainer = trainer_start(worker, search->indexer);
}

static void background_stop(struct worker *worker)
{
	struct search_process *search = worker->process->user;
	conversion_stop(search->conversion);
	harvester_stop(search->harvester);
	daily_papers_stop(search->daily_papers);
	trainer_stop(search->trainer);
	paper_embedding_stop(search->paper_embedding);
	if (worker->process->roles.has_http)
		shown_papers_stop(search->shown_papers);
	if (has_index(worker->process))
		indexer_stop(search->indexer);
}

static const char *not_ready_reason(struct process *process)
{
	const struct search_process *search = process->user;
	bool is_missing = has_index(process) && !indexer_state(search->indexer).is_caught_up;
	return is_missing ? "the index is being built" : NULL;
}

static const struct service SERVICE = {
	.name = "svc-search",
	.schema = "search",
	.api = API_SEARCH,
	.routes = ROUTES,
	.internal_routes = INTERNAL_ROUTES,
	.schema_definition = &SCHEMA,
	.tables = SEARCH_TABLES,
	.settings = SETTINGS,
	.commands = COMMANDS,
	.process_start = process_start,
	.process_stop = process_stop,
	.worker_start = worker_start,
	.worker_stop = worker_stop,
	.background_start = background_start,
	.listens = true,
	.background_stop = background_stop,
	.not_ready_reason = not_ready_reason,
};

int main(int argc, char **argv)
{
	return service_main(&SERVICE, argc, argv);
}
