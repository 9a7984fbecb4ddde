#include "main/worker_clients.h"

#include "client/fetch.h"
#include "client/service_call.h"
#include "loop/fiber.h"
#include "loop/request_list.h"
#include "pg/pg.h"
#include "redis/redis.h"
#include "service/process.h"
#include "service/service.h"
#include "task/wake.h"

void worker_clients_make(struct worker *worker)
{
	const struct process_settings *settings = worker->process->settings;
	struct pg_settings pg = {
		.url = settings->database_url,
		.direct_url = process_direct_url(settings),
		.is_unprepared = !settings->pg_prepare,
		.connections = worker_is_background(worker)
	                               ? worker->process->background_connections
	                               : worker->process->worker_connections,
		.connect_timeout_ms = 5000,
		.pool_wait_ms = (uint64_t)settings->pg_pool_wait_ms,
		.idle_close_ms = 60000,
		.slow_ms = (uint64_t)settings->slow_ms,
	};
	worker->peers = &worker->process->peers;
	worker->verifier = identity_verifier_copy(worker->peers->verifier);
	worker->requests = request_list_new(&worker->loop);
	worker->pg = pg_pool_new(&worker->loop, &pg);
	worker->redis = redis_new(&worker->loop, settings->redis_url, worker->process->redis_trust);
	worker->waker =
		waker_new(worker, worker->process->service->name, worker->process->job_wake);
	worker->fetch = fetcher_new(&worker->loop);
	worker->services = service_client_new(&worker->loop, worker->peers);
	fiber_loop_attach(&worker->loop);
}

void worker_clients_make_outside(struct worker *worker)
{
	worker->requests = request_list_new(&worker->loop);
	worker->fetch = fetcher_new(&worker->loop);
	fiber_loop_attach(&worker->loop);
}

void worker_clients_free(struct worker *worker)
{
	service_client_free(worker->services);
	fetcher_free(worker->fetch);
	redis_free(worker->redis);
	pg_pool_free(worker->pg);
	waker_free(worker->waker);
	request_list_free(worker->requests);
	identity_verifier_free(worker->verifier);
	fiber_loop_detach(&worker->loop);
}
