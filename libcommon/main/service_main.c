#include "main/service_main.h"

#include "base/ip.h"
#include "base/resources.h"
#include "base/version.h"
#include "client/fetch.h"
#include "client/guard.h"
#include "client/trace_export.h"
#include "crypto/crypto.h"
#include "loop/request_list.h"
#include "main/command_run.h"
#include "main/dead_command.h"
#include "main/ready_check.h"
#include "main/retention_command.h"
#include "main/worker_run.h"
#include "observe/log.h"
#include "observe/metrics.h"
#include "request/http_request.h"
#include "request/http_service.h"
#include "service/connections.h"
#include "service/process.h"
#include "tls/store.h"
#include "tls/trust.h"

#include <curl/curl.h>

#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#define LARGE_BLOCK (1 << 20) /* bytes */

/* Those of every process. */
static const struct command COMMON_COMMANDS[] = {
	{"dead", "dead list|show|retry [--kind KIND] [--all] [--limit N] [--dry-run] [ID...]",
         "Print tasks and events that were given up, or have them tried again.", dead_command},
	{"retention", "retention --show",
         "Print each table with its rows, bytes, oldest row, setting, and what ends its rows.",
         retention_command},
	{0},
};

static void print_commands(const struct service *service, const struct command *commands)
{
	for (const struct command *c = commands; c && c->name; c++)
		printf("       %s %s\n           %s\n", service->name, c->usage, c->help);
}

static int print_help(const struct service *service)
{
	printf("Usage: %s            serve\n", service->name);
	print_commands(service, service->commands);
	print_commands(service, COMMON_COMMANDS);
	printf("       %s --ready | --show-config | --calls | --metrics | --version | "
	       "--help\n\nSettings, as environment variables:\n",
	       service->name);
	config_print_help(PROCESS_SETTINGS);
	config_print_help(TRACE_SETTINGS);
	for (const struct setting *const *table = service->settings; table && *table; table++)
		config_print_help(*table);
	for (const struct command *c = service->commands; c && c->name; c++) {
		if (!c->settings)
			continue;
		printf("\nSettings of %s %s:\n", service->name, c->name);
		config_print_help(OUTSIDE_SETTINGS);
		for (const struct setting *const *table = c->settings; *table; table++)
			config_print_help(*table);
	}
	return 0;
}

static const struct command *command_in(const struct command *commands, const char *name)
{
	for (const struct command *c = commands; c && c->name; c++)
		if (strcmp(c->name, name) == 0)
			return c;
	return NULL;
}

static const struct command *command_of(const struct service *service, const char *name)
{
	const struct command *own = command_in(service->commands, name);
	return own ? own : command_in(COMMON_COMMANDS, name);
}

static enum err_code load_tables(const struct setting *const *tables)
{
	enum err_code first = ERR_NONE;
	for (; tables && *tables; tables++) {
		enum err_code code = config_load(*tables);
		first = first ? first : code;
	}
	return first;
}

static enum err_code load_service_settings(const struct service *service)
{
	enum err_code common = process_settings_load();
	enum err_code traces = config_load(TRACE_SETTINGS);
	enum err_code own = load_tables(service->settings);
	common = common ? common : traces ? traces : trace_settings_check();
	if (!own && service->settings_check)
		own = service->settings_check();
	return common ? common : own;
}

static enum err_code load_outside_settings(const struct command *command)
{
	enum err_code common = config_load(OUTSIDE_SETTINGS);
	enum err_code own = load_tables(command->settings);
	return common ? common : own;
}

static bool is_outside(const struct command *command)
{
	return command && command->settings;
}

static void hide_tables(const struct setting *const *tables)
{
	for (; tables && *tables; tables++)
		config_hide_secrets(*tables);
}

/* Those of the process, also from a command that has other settings: it may start programs. */
static void hide_secrets(const struct service *service, const struct command *command)
{
	const struct setting *const common[] = {OUTSIDE_SETTINGS, PROCESS_SETTINGS, TRACE_SETTINGS,
	                                        NULL};
	hide_tables(common);
	hide_tables(service->settings);
	if (command)
		hide_tables(command->settings);
}

static bool load_settings(const struct service *service, const struct command *command)
{
	if (is_outside(command) ? load_outside_settings(command) : load_service_settings(service))
		return false;
	hide_secrets(service, command);
	if (log_init(service->name, process_settings.log_level)) {
		fprintf(stderr, "LOG_LEVEL: \"%s\" is not a level\n", process_settings.log_level);
		return false;
	}
	return true;
}

static char *instance_name(struct arena *arena)
{
	char host[64] = "host", random[9];
	gethostname(host, sizeof(host) - 1);
	random_base62(random, 8);
	return arena_printf(arena, "%s-%d-%s", host, (int)getpid(), random);
}

static enum err_code load_peers(const struct service *service, struct peers *peers)
{
	const struct peer_settings settings = {
		.self = service->api,
		.url = process_settings.service_url,
		.sign_secrets = process_settings.sign_secrets,
		.verify_secrets = process_settings.verify_secrets,
	};
	return peers_init(peers, &settings);
}

/* Set the event loops of the process and their connections. ERR_INVALID, after one line on standard
 * error: there are too few connections. */
static enum err_code share_connections(struct process *process)
{
	const struct connection_needs needs = {
		.connections = process_settings.pg_connections,
		.workers = process_settings.workers,
		.cores = cpu_count(),
		.has_http = process->roles.has_http,
		.has_background = process->has_background,
		.listens = process->service->listens,
	};
	struct connection_shares shares;
	enum err_code code = connections_share(&needs, &shares);
	if (code) {
		fprintf(stderr, "PG_CONNECTIONS: must be %lld or more with these WORKERS\n",
		        (long long)connections_needed(&needs));
		return code;
	}
	process->worker_count = shares.loops;
	process->worker_connections = shares.per_loop;
	process->background_connections = shares.background;
	return ERR_NONE;
}

/* What its settings let the process take does not include what it always has, such as an index. */
static void check_memory(const struct process *process)
{
	int workers = MAX_OF(process->worker_count, 1);
	int64_t limit = memory_limit(), allowed = config_memory(PROCESS_SETTINGS, workers);
	for (const struct setting *const *table = process->service->settings; table && *table;
	     table++)
		allowed += config_memory(*table, workers);
	if (limit && allowed > limit)
		log_warn(
			"the settings allow more memory than the control group has: the kernel may "
			"end the process",
			f_int("allowed_bytes", allowed), f_int("limit_bytes", limit));
}

/* Serve until a signal ends it. Returns the exit status. */
static int serve(struct process *process, struct arena *arena)
{
	static const struct tls_settings NONE = {.certificates = "",
	                                         .keys = "",
	                                         .min_version = "1.2"};
	const struct service *service = process->service;
	bool listens = process_listens_by_tls(process->settings);
	if (listens && !service->tls) {
		fprintf(stderr, "LISTEN: only the gateway serves https:// addresses\n");
		return 2;
	}
	if (tls_settings_open(service->tls ? service->tls : &NONE, listens, &process->tls))
		return 2;
	process->workers =
		arena_array(arena, (size_t)process_loops(process), sizeof(struct worker));
	check_memory(process);
	trace_export_start(service->name, process->instance);
	int status = workers_run(process);
	trace_export_stop();
	tls_store_free(process->tls);
	return status;
}

static int run_command(struct process *process, const struct command *command, int argc,
                       char **argv)
{
	int status = command->run(process, argc, argv);
	if (status != COMMAND_USAGE)
		return status;
	fprintf(stderr, "usage: %s %s\n", process->service->name, command->usage);
	return 2;
}

static int run_process(const struct service *service, const struct peers *peers,
                       const struct command *command, int argc, char **argv)
{
	struct arena *arena = arena_new();
	struct process process = {
		.service = service,
		.settings = &process_settings,
		.peers = *peers,
		.instance = instance_name(arena),
	};
	const struct ip_networks *allowed;
	require(roles_parse(process_settings.roles, &process.roles) == ERR_NONE);
	process.has_background = process.roles.has_jobs ||
	                         (service->background_start && !service->background_is_for_jobs);
	if (share_connections(&process) ||
	    process_trust_redis(&process_settings, &process.redis_trust)) {
		arena_free(arena);
		return 2;
	}
	require(ip_networks_parse(arena, process_settings.fetch_allow, NULL, NULL, &allowed) ==
	        ERR_NONE);
	fetch_guard_allow(allowed);
	int status = command ? run_command(&process, command, argc, argv) : serve(&process, arena);
	tls_trust_free(process.redis_trust);
	arena_free(arena);
	return status;
}

static int print_version(const struct service *service)
{
	printf("%s %s (%s)\n", service->name, EXPOPS_VERSION, version_commit);
	return 0;
}

/* The processes that this one may call: with each it shares a secret. */
static int print_calls(const struct service *service)
{
	for (enum api_service other = 0; other < API_SERVICE_COUNT; other++)
		if (api_service_may_call(service->api, other))
			puts(api_service_name(other));
	return 0;
}

static int print_config(const struct service *service)
{
	config_print_values(PROCESS_SETTINGS);
	config_print_values(TRACE_SETTINGS);
	for (const struct setting *const *table = service->settings; table && *table; table++)
		config_print_values(*table);
	return 0;
}

static int print_metrics(const struct service *service)
{
	(void)service;
	metrics_print();
	return 0;
}

static int check_ready(const struct service *service)
{
	(void)service;
	return ready_check(process_settings.admin_listen);
}

/* What a process does instead of serving. `run` returns the exit status. */
struct option {
	const char *name;
	bool needs_settings;
	int (*run)(const struct service *service);
};

static const struct option OPTIONS[] = {
	{"--help", false, print_help},
	{"--version", false, print_version},
	{"--calls", false, print_calls},
	{"--show-config", true, print_config},
	{"--metrics", false, print_metrics},
	{"--ready", true, check_ready},
	{0},
};

static const struct option *option_of(const char *name)
{
	for (const struct option *option = OPTIONS; option->name; option++)
		if (strcmp(option->name, name) == 0)
			return option;
	return NULL;
}

/* Keys and bodies in memory do not get into core files, and other processes of the user cannot read
 * the memory: only root can attach a debugger. Not with sanitizers, whose leak check attaches to
 * its own process. */
static void forbid_dumps(void)
{
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	static const struct rlimit NONE = {0, 0};
	setrlimit(RLIMIT_CORE, &NONE);
	prctl(PR_SET_DUMPABLE, 0);
#endif
}

/* Return large blocks to the system when they are freed. By default glibc raises both thresholds
 * when a large block is freed, and then keeps such blocks. */
static void set_malloc_thresholds(void)
{
#ifdef __GLIBC__
	mallopt(M_MMAP_THRESHOLD, LARGE_BLOCK);
	mallopt(M_TRIM_THRESHOLD, LARGE_BLOCK);
#endif
}

/* Raise the limit of open files as far as the process may. */
static void raise_descriptor_limit(void)
{
	struct rlimit files;
	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &files);
	}
}

static int run_outside(const struct service *service, const struct command *command, int argc,
                       char **argv)
{
	struct process process = {.service = service, .settings = &process_settings};
	return run_command(&process, command, argc, argv);
}

static int run_inside(const struct service *service, const struct command *command, int argc,
                      char **argv)
{
	struct peers peers;
	api_init();
	http_request_set_limits((size_t)process_settings.body_memory_bytes,
	                        (size_t)process_settings.answer_memory_bytes);
	fetch_set_limit((size_t)process_settings.fetch_memory_bytes);
	if (!http_service_bind(service) || load_peers(service, &peers))
		return 2;
	int status = run_process(service, &peers, command, argc, argv);
	peers_free(&peers);
	return status;
}

int service_main(const struct service *service, int argc, char **argv)
{
	forbid_dumps();
	const struct option *option = argc > 1 ? option_of(argv[1]) : NULL;
	const struct command *command = argc > 1 ? command_of(service, argv[1]) : NULL;
	if (argc > 1 && !command && !option) {
		fprintf(stderr, "%s: unknown command \"%s\"; see %s --help\n", service->name,
		        argv[1], service->name);
		return 2;
	}
	if ((!option || option->needs_settings) && !load_settings(service, command))
		return 2;
	if (option)
		return option->run(service);
	if (command)
		log_set_descriptor(STDERR_FILENO);
	else
		log_start_writer();
	signal(SIGPIPE, SIG_IGN);
	raise_descriptor_limit();
	set_malloc_thresholds();
	log_set_id_source(fiber_label);
	int status = is_outside(command) ? run_outside(service, command, argc - 1, argv + 1)
	                                 : run_inside(service, command, argc - 1, argv + 1);
	curl_global_cleanup();
	log_flush();
	return status;
}
