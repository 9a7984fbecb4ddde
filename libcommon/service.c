#include "service.h"

#include <curl/curl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "crypto.h"
#include "http_service.h"
#include "log.h"
#include "request_run.h"
#include "worker_run.h"

#define SECRET_MIN 16

static struct process_settings settings;

static const struct setting COMMON[] = {
	SETTING_TEXT(&settings.listen, "LISTEN", "0.0.0.0:8080",
                     "Where requests are taken: host:port or unix:/path."),
	SETTING_TEXT(&settings.admin_listen, "ADMIN_LISTEN", "0.0.0.0:9090",
                     "Where /healthz, /readyz and /metrics are served."),
	SETTING_SECRET(&settings.database_url, "DATABASE_URL", NULL,
                       "Postgres, as the role that owns this process's schema: "
                       "postgres://role:password@host/database."),
	SETTING_SECRET(&settings.redis_url, "REDIS_URL", NULL,
                       "Redis: redis://:password@host:port/db."),
	SETTING_SECRET(&settings.identity_secret, "IDENTITY_SECRET", NULL,
                       "Signs who a request is for between processes; the same in all, 16 "
                       "characters or more."),
	SETTING_INT(&settings.workers, "WORKERS", "0", 0, 256,
                    "Event loops; 0: one for each core."),
	SETTING_TEXT(&settings.log_level, "LOG_LEVEL", "info",
                     "debug, info, warn or error; single groups as in info,pg=debug."),
	SETTING_INT(&settings.pg_pool_size, "PG_POOL_SIZE", "4", 1, 64,
                    "Postgres connections of each worker."),
	SETTING_INT(&settings.job_slots, "JOB_SLOTS", "4", 1, 256,
                    "Jobs that run at once in this process."),
	SETTING_MS(&settings.request_timeout_ms, "REQUEST_TIMEOUT", "30s", 100, 600000,
                   "Deadline of a request in this process."),
	SETTING_MS(&settings.drain_timeout_ms, "DRAIN_TIMEOUT", "20s", 100, 600000,
                   "How long SIGTERM waits for requests and jobs."),
	SETTING_BYTES(&settings.head_max_bytes, "HEAD_MAX", "64KiB", 1024, 1048576,
                      "Largest head of a request."),
	SETTING_MS(&settings.head_timeout_ms, "HEAD_TIMEOUT", "10s", 100, 600000,
                   "From a request's first byte to the end of its head."),
	SETTING_MS(&settings.body_timeout_ms, "BODY_TIMEOUT", "30s", 100, 600000,
                   "Between two pieces of a body."),
	SETTING_MS(&settings.idle_timeout_ms, "IDLE_TIMEOUT", "60s", 100, 3600000,
                   "How long a connection may wait for its next request."),
	SETTING_TEXT(&settings.service_url[API_EXPERIMENTS], "EXPERIMENTS_URL", "",
                     "svc-experiments: http://host:port or unix:/path; empty: not deployed."),
	SETTING_TEXT(&settings.service_url[API_INTERESTS], "INTERESTS_URL", "", "svc-interests."),
	SETTING_TEXT(&settings.service_url[API_SEARCH], "SEARCH_URL", "", "svc-search."),
	SETTING_TEXT(&settings.service_url[API_FLEET], "FLEET_URL", "", "svc-fleet."),
	SETTING_TEXT(&settings.service_url[API_INTEGRATIONS], "INTEGRATIONS_URL", "",
                     "svc-integrations."),
	SETTING_TEXT(&settings.service_url[API_EVALENV], "EVALENV_URL", "", "svc-evalenv."),
	SETTING_END,
};

static void print_help(const struct service *service)
{
	printf("Usage: %s            serve\n", service->name);
	for (const struct command *c = service->commands; c && c->name; c++)
		printf("       %s %s\n           %s\n", service->name, c->usage, c->help);
	printf("       %s --show-config | --version | --help\n\nSettings, as environment "
	       "variables:\n",
	       service->name);
	config_print_help(COMMON);
	if (service->settings)
		config_print_help(service->settings);
}

static const struct command *command_of(const struct service *service, const char *name)
{
	for (const struct command *c = service->commands; c && c->name; c++)
		if (strcmp(c->name, name) == 0)
			return c;
	return NULL;
}

static bool load_settings(const struct service *service)
{
	enum err_code common = config_load(COMMON);
	enum err_code own = service->settings ? config_load(service->settings) : ERR_NONE;
	if (common || own)
		return false;
	if (strlen(settings.identity_secret) < SECRET_MIN) {
		fprintf(stderr, "IDENTITY_SECRET: must have at least %d characters\n", SECRET_MIN);
		return false;
	}
	if (log_init(service->name, settings.log_level)) {
		fprintf(stderr, "LOG_LEVEL: \"%s\" is not a level\n", settings.log_level);
		return false;
	}
	return true;
}

static int cores(void)
{
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	return online > 0 ? (int)online : 1;
}

/* host-pid-random: unique among the processes that share a Redis. */
static char *instance_name(struct arena *arena)
{
	char host[64] = "host", random[9];
	gethostname(host, sizeof(host) - 1);
	random_base62(random, 8);
	return arena_printf(arena, "%s-%d-%s", host, (int)getpid(), random);
}

static int run_process(const struct service *service, const struct command *command, int argc,
                       char **argv)
{
	struct arena *arena = arena_new();
	struct process process = {
		.service = service,
		.settings = &settings,
		.signer = identity_signer_new(settings.identity_secret),
		.instance = instance_name(arena),
		.worker_count = settings.workers ? (int)settings.workers : cores(),
	};
	int status;
	if (command) {
		status = command->run(&process, argc, argv);
	} else {
		process.workers =
			arena_array(arena, (size_t)process.worker_count, sizeof(struct worker));
		status = workers_run(&process);
	}
	identity_signer_free(process.signer);
	arena_free(arena);
	return status;
}

/* The words before anything is loaded; -1: none of them. */
static int run_option(const struct service *service, const char *word)
{
	if (strcmp(word, "--help") == 0) {
		print_help(service);
		return 0;
	}
	if (strcmp(word, "--version") == 0) {
		printf("%s %s\n", service->name, EXPOPS_VERSION);
		return 0;
	}
	return -1;
}

int service_main(const struct service *service, int argc, char **argv)
{
	int status = argc > 1 ? run_option(service, argv[1]) : -1;
	if (status >= 0)
		return status;
	bool shows_config = argc > 1 && strcmp(argv[1], "--show-config") == 0;
	const struct command *command = argc > 1 ? command_of(service, argv[1]) : NULL;
	if (argc > 1 && !command && !shows_config) {
		fprintf(stderr, "%s: unknown command \"%s\"; see %s --help\n", service->name,
		        argv[1], service->name);
		return 2;
	}
	if (!load_settings(service))
		return 2;
	if (command)
		log_set_descriptor(STDERR_FILENO);
	if (shows_config) {
		config_print_values(COMMON);
		if (service->settings)
			config_print_values(service->settings);
		return 0;
	}
	signal(SIGPIPE, SIG_IGN);
	curl_global_init(CURL_GLOBAL_DEFAULT);
	api_init();
	http_request_register();
	tasks_register();
	if (!http_service_bind(service))
		return 2;
	status = run_process(service, command, argc - 1, argv + 1);
	curl_global_cleanup();
	return status;
}
