/** svc-search/: research assets (papers), their index, and search. Folders from the bottom up:
 * plain/ (texts without markup), engine/ (the search engine, without HTTP and SQL), indexing/
 * (keeps the engine up to date with Postgres), embeddings/ (vectors of an external embedder),
 * ingest/ (import, harvest, conversion of older rows), api/ (the routes). main.c puts them
 * together.
 *
 * This header is what the service keeps for its process and for each worker. main.c makes and frees
 * it. */
#pragma once

#include "loop/request.h"
#include "loop/worker.h"
#include "service/process.h"

struct conversion;
struct daily_papers;
struct harvester;
struct indexer;
struct paper_embedding;
struct query_embedding;
struct shown_papers;
struct tokenizer;
struct trainer;

/** process->user. */
struct search_process {
	struct indexer *indexer; /* its reading functions are safe on any thread */
	struct shown_papers *shown_papers;
	struct conversion *conversion;
	struct harvester *harvester;
	struct daily_papers *daily_papers;       /* NULL: off */
	struct paper_embedding *paper_embedding; /* NULL: no external embedder */
	struct trainer *trainer;                 /* of the built-in embedder; NULL: none */
};

/** worker->user of the workers for requests. */
struct search_worker {
	struct query_embedding *query_embedding;
	struct tokenizer *tokenizer; /* of highlights */
};

/** The index that a request searches. */
static inline struct indexer *request_indexer(const struct request *rq)
{
	const struct search_process *process = rq->worker->process->user;
	return process->indexer;
}

/** The papers that its searches show. */
static inline struct shown_papers *request_shown_papers(const struct request *rq)
{
	const struct search_process *process = rq->worker->process->user;
	return process->shown_papers;
}
