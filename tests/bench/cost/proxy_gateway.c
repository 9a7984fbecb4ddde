/* The gateway's proxy on one loop, without a database, for tls.py. It accepts the key
 * "key" and logs as the gateway does.
 *
 *     proxy_gateway LISTEN SERVICE [CERTIFICATE KEY]
 *
 * LISTEN and SERVICE are addresses such as 127.0.0.1:8080 or unix:/path; with the files of a
 * certificate it serves TLS.
 */
#include "crypto/scope.h"
#include "observe/log.h"
#include "proxy/proxy.h"
#include "tls/context.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct identity caller;

/* The linker takes these before those of the library. */
enum err_code key_check(struct key_checker *checker, const struct key_query *query,
                        struct identity *ret_caller, struct key_wait **ret_wait, key_check_cb *done,
                        void *context)
{
	(void)checker;
	(void)done;
	(void)context;
	*ret_wait = NULL;
	*ret_caller = caller;
	return strcmp(query->text, "key") == 0 ? ERR_NONE : ERR_UNAUTHENTICATED;
}

void key_check_cancel(struct key_wait *wait)
{
	(void)wait;
}

static void on_head(struct http_exchange *x)
{
	proxy_head(http_server_context(x->server), x);
}

static const struct http_handler HANDLER = {
	.on_head = on_head,
	.on_content = proxy_content,
	.on_end = proxy_end,
	.on_drained = proxy_drained,
	.on_gone = proxy_gone,
	.on_done = proxy_done,
};

/* NULL: there are no files. */
static struct tls_context *tls_of(struct arena *arena, int argc, char **argv)
{
	if (argc < 5)
		return NULL;
	const struct tls_settings settings = {.certificates = argv[3],
	                                      .keys = argv[4],
	                                      .min_version = "1.2"};
	struct tls_store *store;
	const char *reason;
	if (tls_store_new(&settings, arena, &store, &reason) != ERR_NONE) {
		fprintf(stderr, "%s\n", reason);
		exit(2);
	}
	return tls_context_new(store);
}

int main(int argc, char **argv)
{
	struct arena *arena = arena_new();
	struct address at, to;
	if ((argc != 3 && argc != 5) || address_parse(arena, argv[1], &at) != ERR_NONE ||
	    address_parse(arena, argv[2], &to) != ERR_NONE) {
		fprintf(stderr, "usage: proxy_gateway LISTEN SERVICE [CERTIFICATE KEY]\n");
		return 2;
	}
	api_init();
	const char *levels = getenv("LOG_LEVEL");
	if (log_init("gateway", levels ? levels : "info") != ERR_NONE)
		return 2;
	log_start_writer();
	signal(SIGPIPE, SIG_IGN);
	caller =
		(struct identity){.account = uuid_new(), .key_id = uuid_new(), .scopes = SCOPE_ALL};

	uv_loop_t *loop = uv_default_loop();
	struct upstream *service = upstream_new(loop, "service", &to, &upstream_limits_default);
	struct upstream *services[API_SERVICE_COUNT] = {[API_EXPERIMENTS] = service};
	struct identity_signer *signers[API_SERVICE_COUNT] = {
		[API_EXPERIMENTS] = identity_signer_new("gateway", "svc-experiments",
	                                                "0123456789abcdef0123456789abcdef")};
	struct proxy *proxy = proxy_new(&(struct proxy_parts){
		.limits = rate_limits_new(0, 0, 0),
		.signers = signers,
		.services = services,
	});
	struct http_server *server = http_server_new(loop, &HANDLER, &http_limits_default, proxy);
	struct tls_context *tls = tls_of(arena, argc, argv);
	if (http_server_listen_tls(server, &at, NULL, tls) != ERR_NONE) {
		perror(argv[1]);
		return 1;
	}
	return uv_run(loop, UV_RUN_DEFAULT);
}
