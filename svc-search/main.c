/* svc-search: research assets, their index, and searching it. */
#include "api/asset.h"
#include "api/query_expansion.h"
#include "api/search.h"
#include "embeddings/embeddings.h"
#include "embeddings/paper_vectors.h"
#include "embeddings/query_vector.h"
#include "indexing/indexer.h"
#include "ingest/import.h"
#include "service/process.h"
#include "service/service.h"
#include "svc-search-migrations.h"

static const struct route ROUTES[] = {
	{API_ID_asset_search, asset_search},    {API_ID_assets_list, asset_list},
	{API_ID_asset_get, asset_get},          {API_ID_asset_put, asset_put},
	{API_ID_search_stats_get, asset_stats}, {0},
};

#define BODY_MAX_BYTES ((size_t)1024 * 1024)

static const struct internal_route INTERNAL_ROUTES[] = {
	{"POST", "/internal/assets/similar", asset_similar, BODY_MAX_BYTES},
	{"POST", "/internal/assets/lookup", asset_lookup, BODY_MAX_BYTES},
	{0},
};

static const struct command COMMANDS[] = {
	{"import", "import FILE", "Load an arXiv metadata snapshot: JSON lines, gzip or plain.",
         import_command},
	{"harvest", "harvest --from DATE [--until DATE] [--set SET]",
         "Load what arXiv published since, over OAI-PMH.", harvest_command},
	{0},
};

static const struct setting *const SETTINGS[] = {
	INDEXER_SETTINGS, QUERY_EXPANSION_SETTINGS, EMBEDDINGS_SETTINGS, HARVEST_SETTINGS, NULL,
};

/* Worker 0's. */
static struct paper_vectors *paper_vectors;

static void process_start(struct process *process)
{
	embeddings_init();
	indexer_make(process, embeddings_space());
}

static void worker_start(struct worker *worker)
{
	query_vectors_make(worker);
	if (worker->index > 0)
		return;
	indexer_start(worker);
	paper_vectors = paper_vectors_start(worker);
}

static void worker_stop(struct worker *worker)
{
	query_vectors_free(worker);
	if (worker->index > 0)
		return;
	paper_vectors_stop(paper_vectors);
	indexer_stop(worker);
}

static const char *unready(struct process *process)
{
	return indexer_state(process).is_caught_up ? NULL : "the index is being built";
}

static const struct service SERVICE = {
	.name = "svc-search",
	.schema = "search",
	.api = API_SEARCH,
	.routes = ROUTES,
	.internal_routes = INTERNAL_ROUTES,
	.migrations = MIGRATIONS,
	.settings = SETTINGS,
	.commands = COMMANDS,
	.process_start = process_start,
	.process_stop = indexer_free,
	.worker_start = worker_start,
	.worker_stop = worker_stop,
	.unready = unready,
};

int main(int argc, char **argv)
{
	return service_main(&SERVICE, argc, argv);
}
