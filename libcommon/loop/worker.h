/** A worker: one event loop, the thread that runs it, and its clients. Workers share only
 * data that never changes; the members of a worker are used only by its own thread.
 *
 * main/worker_run.c creates, runs and ends workers: some for requests, and one for background
 * work, so that jobs, events and the outbox relay never delay a request.
 */
#pragma once

#include <uv.h>

struct fetcher;
struct http_server;
struct identity_verifier;
struct waker;
struct peers;
struct pg_pool;
struct process;
struct redis;
struct request_list;
struct service_client;
struct worker_run;

struct worker {
	uv_loop_t loop;
	int index;
	struct process *process;       /* service/process.h */
	struct request_list *requests; /* running */
	struct pg_pool *pg;
	struct redis *redis;
	struct waker *waker; /* task/wake.h */
	struct fetcher *fetch;
	const struct peers *peers;          /* the other services (client/service_call.h) */
	struct identity_verifier *verifier; /* of requests that the process receives */
	struct service_client *services;    /* calls to them */
	struct http_server *server;         /* NULL in the background worker */
	void *user;             /* the service's own, set by its worker_start or background_start */
	struct worker_run *run; /* internal to worker_run.c */
};
