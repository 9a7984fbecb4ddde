#include "client/peers.h"

#include "base/base.h"
#include "http/internal_api.h"

#include <stdio.h>
#include <string.h>

#define SIGN_NAME   "IDENTITY_SIGN_SECRETS"
#define VERIFY_NAME "IDENTITY_VERIFY_SECRETS"
#define BLANKS      " \t\r\n"

/* One of the two settings, while it is read. */
struct list {
	const char *name;
	struct arena *arena;
	struct identity_secret *secrets; /* `sender` is the name in the setting */
	size_t count, room;
	unsigned seen; /* bit 1 << enum api_service */
	bool is_valid;
};

static void fault(struct list *list, const char *text, const char *process)
{
	fprintf(stderr, "%s: %s%s%s\n", list->name, text, process ? " " : "",
	        process ? process : "");
	list->is_valid = false;
}

static void add_secret(struct list *list, const char *process, const char *secret)
{
	if (strlen(secret) < PEER_SECRET_MIN) {
		fault(list, "has a secret of fewer than 32 characters for", process);
		return;
	}
	if (list->count == list->room) {
		size_t size = sizeof(*list->secrets), room = list->room ? 2 * list->room : 8;
		list->secrets =
			arena_grow(list->arena, list->secrets, list->room * size, room * size);
		list->room = room;
	}
	list->secrets[list->count++] = (struct identity_secret){process, secret};
}

/* `svc-search=SECRET,SECRET` */
static void read_process(struct list *list, const char *at, size_t length)
{
	const char *equals = memchr(at, '=', length);
	enum api_service service;
	if (!equals || !api_service_find(at, (size_t)(equals - at), &service)) {
		/* Without a name this may be a secret, which must not be printed. */
		fault(list,
		      "must be a list such as svc-search=SECRET,SECRET with names of "
		      "processes",
		      NULL);
		return;
	}
	const char *process = api_service_name(service), *end = at + length;
	if (list->seen & 1U << service)
		fault(list, "contains twice", process);
	list->seen |= 1U << service;
	for (const char *secret = equals + 1; secret <= end;) {
		const char *comma = memchr(secret, ',', (size_t)(end - secret));
		const char *stop = comma ? comma : end;
		add_secret(list, process,
		           arena_strndup(list->arena, secret, (size_t)(stop - secret)));
		secret = stop + 1;
	}
}

static void read_list(struct list *list, const char *text)
{
	for (text += strspn(text, BLANKS); *text; text += strspn(text, BLANKS)) {
		size_t length = strcspn(text, BLANKS);
		read_process(list, text, length);
		text += length;
	}
}

static const char *first_secret(const struct list *list, const char *process)
{
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->secrets[i].sender, process) == 0)
			return list->secrets[i].secret;
	return NULL;
}

static void make_signers(struct peers *peers, const struct peer_settings *settings,
                         struct list *list)
{
	for (enum api_service service = 0; service < API_SERVICE_COUNT; service++) {
		const char *name = api_service_name(service), *url = settings->url[service];
		const char *secret = first_secret(list, name);
		if (secret)
			peers->signers[service] =
				identity_signer_new(api_service_name(settings->self), name, secret);
		else if (url && url[0] && service != settings->self &&
		         api_service_may_call(settings->self, service))
			fault(list, "has no secret for", name);
	}
}

enum err_code peers_init(struct peers *peers, const struct peer_settings *settings)
{
	struct arena *arena = arena_new_wiped();
	struct list sign = {.name = SIGN_NAME, .arena = arena, .is_valid = true};
	struct list verify = {.name = VERIFY_NAME, .arena = arena, .is_valid = true};
	*peers = (struct peers){.url = settings->url};
	read_list(&sign, settings->sign_secrets);
	make_signers(peers, settings, &sign);
	read_list(&verify, settings->verify_secrets);
	if (settings->self != API_GATEWAY && !(verify.seen & 1U << API_GATEWAY))
		fault(&verify, "has no secret for", api_service_name(API_GATEWAY));
	peers->verifier = identity_verifier_new(api_service_name(settings->self), verify.secrets,
	                                        verify.count);
	arena_free(arena);
	if (sign.is_valid && verify.is_valid)
		return ERR_NONE;
	peers_free(peers);
	return ERR_INVALID;
}

void peers_free(struct peers *peers)
{
	for (size_t i = 0; i < ARRAY_LEN(peers->signers); i++)
		identity_signer_free(peers->signers[i]);
	identity_verifier_free(peers->verifier);
	*peers = (struct peers){0};
}
