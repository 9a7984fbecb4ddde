#include "app/installation.h"

#include "app/app_jwt.h"
#include "app/token_cache.h"
#include "base/timefmt.h"
#include "installation.sql.h"
#include "json/json.h"
#include "loop/wait.h"
#include "pg/pg.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define BELIEVED_S         3600
#define ABSENCE_BELIEVED_S 60
#define TOKENS_A_LOOKUP    4 /* that are kept: of several permissions of each repository */
#define LISTS_A_LOOKUP     4 /* pages; an installation may make 5,000 calls an hour */
#define WAIT_MS            UINT64_C(1000) /* before a new token is used again; then twice that */

static int64_t lookups_max;

const struct setting INSTALLATION_SETTINGS[] = {
	SETTING_INT(&lookups_max, "CODE_HOST_LOOKUPS", "600", 1, 1000000,
                    "How often an hour the code host is asked about the app on behalf of one "
                    "account. Tokens of repositories, which are kept for the next use, are made "
                    "for it four times as often, and as often a page of its lists is read."),
	SETTING_END,
};

static const char *number_text(struct request *rq, int64_t number)
{
	return arena_printf(rq->arena, "%" PRId64, number);
}

/* Read where the code host has led a request for a renamed repository:
 * `/repositories/1296269/installation`, which has its number; others write
 * `/repos/acme/ranker2/installation`, with its name. It leads the caller's own request for the
 * repository to the same one. */
static void read_redirect(struct request *rq, const struct repository_name *repo, const char *path,
                          struct installation *found)
{
	static const char BY_ID[] = "/repositories/", BY_NAME[] = "/repos/",
			  END[] = "/installation";
	const char *end = strstr(path, END);
	if (!end)
		return;
	const char *id = path + strlen(BY_ID), *name = path + strlen(BY_NAME);
	const char *slash = strchr(name, '/');
	if (strncmp(path, BY_ID, strlen(BY_ID)) == 0 && id + strspn(id, "0123456789") == end)
		found->repository_id = arena_strndup(rq->arena, id, (size_t)(end - id));
	else if (strncmp(path, BY_NAME, strlen(BY_NAME)) == 0 && slash && slash < end) {
		found->full_name = arena_strndup(rq->arena, name, (size_t)(end - name));
		found->repository_id = repo->id ? number_text(rq, repo->id) : NULL;
	}
}

/* Whether this is about a renamed repository that is not, or not known to be, the one that the
 * caller can push to: another one may have the old name now. */
static bool is_of_another(const struct repository_name *repo, const struct installation *found)
{
	bool is_renamed = found->repository_id || found->full_name;
	const char *number = found->repository_id ? found->repository_id : "0";
	return repo->id && is_renamed && strtoll(number, NULL, 10) != repo->id;
}

const char *installation_suspended(struct request *rq, const struct repository_name *repo)
{
	return arena_printf(rq->arena, "the app is suspended on %s: unsuspend it", repo->full);
}

enum counted { LOOKUPS, TOKENS, LISTS };

static void count(struct request *rq, enum counted what)
{
	static const int64_t MOST[] = {
		[LOOKUPS] = 1, [TOKENS] = TOKENS_A_LOOKUP, [LISTS] = LISTS_A_LOOKUP};
	struct pg_rows *rows = pg_query(rq, INSTALLATION_COUNT_SQL, pg_uuid(rq->caller.account),
	                                pg_int(what == LOOKUPS), pg_int(what == TOKENS),
	                                pg_int(what == LISTS), pg_int(MOST[what] * lookups_max));
	if (pg_empty(rows) || pg_get_bool(rows, 0, "may_look"))
		return;
	raise_retry_later(rq, ERR_RATE_LIMITED, (unsigned)pg_get_int(rows, 0, "wait_s"),
	                  "this account has asked the code host too often");
}

void installation_lookup_count(struct request *rq)
{
	count(rq, LOOKUPS);
}

void installation_list_count(struct request *rq)
{
	count(rq, LISTS);
}

/* Since when the installation is suspended, as the API shows times; NULL: it is not. What is no
 * time is the present one. */
static const char *suspended_at(struct request *rq, yyjson_val *described)
{
	yyjson_val *value = json_get(described, "suspended_at");
	if (!value || yyjson_is_null(value))
		return NULL;
	const char *text = yyjson_get_str(value);
	int64_t at_ms;
	if (!text || !time_parse(text, strlen(text), &at_ms))
		at_ms = time_now_ms();
	char *shown = arena_alloc(rq->arena, TIME_TEXT_LEN + 1);
	time_format(at_ms, shown);
	return shown;
}

/* Ask the code host. False: the app is not installed there. */
static bool ask(struct request *rq, const struct repository_name *repo, struct installation *found)
{
	installation_lookup_count(rq);
	struct code_host_auth auth = app_auth(rq);
	const char *path = arena_printf(rq->arena, "/repos/%s/installation", repo->full);
	struct code_host_answer answer = code_host_call(rq, &auth, "GET", path, NULL);
	if (answer.status == 404) {
		pg_query(rq, INSTALLATION_STORE_ABSENCE_SQL, pg_text(repo->full),
		         pg_int(ABSENCE_BELIEVED_S));
		return false;
	}
	if (answer.status != 200)
		raise_error(rq, ERR_UPSTREAM, "the code host refuses the app: %s",
		            code_host_reason(rq, &answer));
	int64_t id = json_get_int(answer.json, "id", 0);
	yyjson_val *permissions = json_get(answer.json, "permissions");
	const char *owner = json_get_text(json_get(answer.json, "account"), "login");
	if (id <= 0 || !yyjson_is_obj(permissions))
		raise_error(rq, ERR_UPSTREAM, "the code host's answer describes no installation");
	*found = (struct installation){
		.id = number_text(rq, id),
		.owner = owner ? owner : repo->owner,
		.permissions = json_write(rq->arena, permissions, NULL),
		.suspended_at = suspended_at(rq, answer.json),
	};
	if (strcmp(answer.path, path) != 0)
		read_redirect(rq, repo, answer.path, found);
	if (is_of_another(repo, found))
		return false;
	pg_query(rq, INSTALLATION_STORE_SQL, pg_text(repo->full), pg_text(found->id),
	         pg_text(found->owner), pg_text(found->permissions), pg_text(found->repository_id),
	         pg_text(found->full_name), pg_text(found->suspended_at));
	return true;
}

bool installation_find(struct request *rq, const struct repository_name *repo,
                       struct installation *ret_installation)
{
	struct pg_rows *rows = pg_query(rq, INSTALLATION_GET_SQL, pg_text(repo->full),
	                                pg_int(BELIEVED_S), pg_int(ABSENCE_BELIEVED_S));
	if (pg_empty(rows))
		return ask(rq, repo, ret_installation);
	if (!pg_get(rows, 0, "installation_id"))
		return false;
	*ret_installation = (struct installation){
		.id = pg_get(rows, 0, "installation_id"),
		.owner = pg_get(rows, 0, "owner_login"),
		.permissions = pg_get(rows, 0, "permissions"),
		.repository_id = pg_get(rows, 0, "repository_id"),
		.full_name = pg_get(rows, 0, "full_name"),
		.suspended_at = pg_get(rows, 0, "suspended_at"),
	};
	return !is_of_another(repo, ret_installation) || ask(rq, repo, ret_installation);
}

/* Add those of the permissions that the app has; the code host refuses a request for more. How
 * many. */
static size_t add_permissions(struct request *rq, const struct installation *installation,
                              const struct permission *permissions, yyjson_mut_doc *doc,
                              yyjson_mut_val *asked)
{
	yyjson_val *given = NULL;
	if (json_parse(rq->arena, installation->permissions, strlen(installation->permissions),
	               &given, NULL))
		return 0;
	for (; permissions->name; permissions++) {
		const char *level = json_get_text(given, permissions->name);
		if (!level)
			continue;
		bool is_lower = strcmp(level, "read") == 0;
		yyjson_mut_obj_add_str(doc, asked, permissions->name,
		                       is_lower ? "read" : permissions->level);
	}
	return yyjson_mut_obj_size(asked);
}

/* The body of a request for a token: by the number of the repository where it is known, since a
 * name can be another one's meanwhile. Without permissions the code host would give all that the
 * app has. */
static yyjson_mut_val *token_body(struct request *rq, const struct repository_name *repo,
                                  const struct installation *installation,
                                  const struct permission *permissions)
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *body = yyjson_mut_obj(doc);
	const char *slash = installation->full_name ? strchr(installation->full_name, '/') : NULL;
	const char *number = repo->id ? number_text(rq, repo->id) : installation->repository_id;
	if (number)
		yyjson_mut_arr_append(yyjson_mut_obj_add_arr(doc, body, "repository_ids"),
		                      yyjson_mut_raw(doc, number));
	else
		yyjson_mut_arr_add_str(doc, yyjson_mut_obj_add_arr(doc, body, "repositories"),
		                       slash ? slash + 1 : repo->name);
	yyjson_mut_val *asked = yyjson_mut_obj_add_obj(doc, body, "permissions");
	if (add_permissions(rq, installation, permissions, doc, asked) == 0)
		raise_error(rq, ERR_CONFLICT, "the installation of the app lacks the permission %s",
		            permissions->name);
	return body;
}

static struct code_host_answer
ask_token(struct request *rq, const struct installation *installation, yyjson_mut_val *body)
{
	struct code_host_auth auth = app_auth(rq);
	const char *path =
		arena_printf(rq->arena, "/app/installations/%s/access_tokens", installation->id);
	return code_host_post_safe(rq, &auth, path, body);
}

/* The repository's name now. */
static const char *name_of(struct request *rq, const struct repository_name *repo,
                           const struct installation *installation,
                           const struct code_host_auth *auth)
{
	if (installation->full_name)
		return installation->full_name;
	if (!installation->repository_id)
		return repo->full;
	const char *path = arena_printf(rq->arena, "/repos/%s", repo->full);
	struct code_host_answer answer = code_host_call(rq, auth, "GET", path, NULL);
	const char *name = json_get_text(answer.json, "full_name");
	if (answer.status != 200 || !name)
		raise_error(rq, ERR_UPSTREAM, "the code host does not name the repository: %s",
		            code_host_reason(rq, &answer));
	pg_query(rq, INSTALLATION_NAME_SQL, pg_text(repo->full), pg_text(name));
	return name;
}

/* Whether what is remembered of the installation is out of date: the code host does not know its id
 * (404), it is suspended (403), or it covers the repository or the permissions no more (422). */
static bool is_outdated(const struct code_host_answer *answer)
{
	return answer->status == 404 || answer->status == 403 || answer->status == 422;
}

/* What a token is for. */
struct token_use {
	struct repository_name repo;
	const struct permission *permissions;
	bool is_kept; /* in the cache */
	/* As it was found for the token: the installation, and the installation with what it is
	 * asked for, which is the token's name in the cache. */
	struct installation installation;
	const char *name;
	const char *unfit; /* a token that does not do; NULL: none */
};

/* Find the installation, and name the token; what it is asked for with. */
static yyjson_mut_val *prepare(struct request *rq, struct token_use *use)
{
	struct installation *found = &use->installation;
	if (!installation_find(rq, &use->repo, found))
		raise_error(rq, ERR_NOT_FOUND, "the app is not installed on this repository");
	if (found->suspended_at)
		raise_error(rq, ERR_CONFLICT, "%s, then try again",
		            installation_suspended(rq, &use->repo));
	yyjson_mut_val *body = token_body(rq, &use->repo, found, use->permissions);
	use->name =
		arena_printf(rq->arena, "%s %s", found->id, json_write_mut(rq->arena, body, NULL));
	return body;
}

/* A token that was kept for the use, and does. */
static bool is_there(struct request *rq, const struct token_use *use,
                     struct cached_token *ret_cached)
{
	return token_cache_get(request_secrets_arena(rq), use->name, time_now_ms(), ret_cached) &&
	       !(use->unfit && strcmp(ret_cached->token, use->unfit) == 0);
}

/* A new token. Asks for the installation again when what is remembered of it is out of date. With
 * ret_cached a token that was kept is taken, too; then the answer has no JSON. */
static struct code_host_answer find_token(struct request *rq, struct token_use *use,
                                          struct cached_token *ret_cached)
{
	struct code_host_answer answer = {.status = 404};
	for (int tries = 0; tries < 2 && is_outdated(&answer); tries++) {
		if (tries > 0)
			pg_query(rq, INSTALLATION_FORGET_SQL, pg_text(use->installation.id));
		yyjson_mut_val *body = prepare(rq, use);
		if (use->is_kept && tries == 0 && is_there(rq, use, ret_cached))
			return (struct code_host_answer){.status = 201};
		if (use->is_kept)
			count(rq, TOKENS);
		answer = ask_token(rq, &use->installation, body);
	}
	if (answer.status == 404)
		raise_error(rq, ERR_NOT_FOUND, "the app is not installed on this repository");
	const char *token = json_get_text(answer.json, "token");
	if (answer.status != 201 || !token)
		raise_error(rq, ERR_CONFLICT, "the code host gives no token: %s",
		            code_host_reason(rq, &answer));
	*ret_cached = (struct cached_token){token, (int64_t)time_monotonic_ms()};
	return answer;
}

static void keep(const struct token_use *use, const struct cached_token *token,
                 const struct code_host_answer *answer)
{
	const char *end = json_get_text(answer->json, "expires_at");
	int64_t end_ms;
	if (use->is_kept && end && time_parse(end, strlen(end), &end_ms))
		token_cache_put(use->name, token, end_ms, time_now_ms());
}

static bool renew(struct request *rq, struct code_host_auth *auth, int status);

static struct code_host_auth auth_of(struct request *rq, const struct token_use *use,
                                     const struct cached_token *token)
{
	return (struct code_host_auth){
		.token = token->token,
		.limit = arena_printf(rq->arena, "installation %s", use->installation.id),
		.is_of_app = true,
		.renew = renew,
		.renew_for = use,
		.made_ms = token->made_ms,
	};
}

/* Looking for another token, in a fiber: when it fails, the answer that there is stands. */
struct search {
	const struct token_use *use; /* of the token that there is */
	const char *unfit;           /* that token */
	bool is_compared;            /* TOKEN_COMPARE */
	bool is_found;               /* another one is in the cache */
};

static void look_for_token(struct request *rq)
{
	struct search *search = rq->user;
	struct token_use next = *search->use;
	struct cached_token token;
	next.unfit = search->unfit;
	prepare(rq, &next);
	if (search->is_compared && strcmp(next.name, search->use->name) == 0)
		return;
	struct code_host_answer answer = find_token(rq, &next, &token);
	keep(&next, &token, &answer);
	search->is_found = true;
}

/* Whether there is another token, in the cache. That the app is not installed any more, or is
 * suspended, is raised; that this cannot be asked now is not. */
static bool has_another(struct request *rq, const struct token_use *use, const char *unfit,
                        enum token_remedy remedy)
{
	struct search search = {.use = use, .unfit = unfit, .is_compared = remedy == TOKEN_COMPARE};
	struct problem problem;
	fiber_spawn(rq, look_for_token, &search);
	enum err_code code = fiber_join_try(rq, &problem);
	if (code == ERR_NOT_FOUND || code == ERR_CONFLICT)
		raise_problem(rq, &problem);
	return search.is_found;
}

/* A token in place of one that does not do. A new one may take a moment until all servers of the
 * code host know it. */
static bool renew(struct request *rq, struct code_host_auth *auth, int status)
{
	const struct token_use *use = auth->renew_for;
	int64_t age_ms = (int64_t)time_monotonic_ms() - auth->made_ms;
	enum token_remedy remedy = token_remedy_of(status, age_ms, auth->waits);
	if (remedy == TOKEN_USE_AGAIN) {
		fiber_sleep(rq, WAIT_MS << auth->waits++);
		return true;
	}
	bool is_perhaps = remedy == TOKEN_COMPARE || remedy == TOKEN_TRY_ANOTHER;
	if (remedy == TOKEN_IS_RIGHT || !use->is_kept ||
	    (is_perhaps && !has_another(rq, use, auth->token, remedy)))
		return false;
	token_cache_drop(use->name, auth->token);
	if (remedy == TOKEN_DROP)
		return false;
	struct token_use *next = arena_new_of(rq->arena, struct token_use);
	struct cached_token token;
	*next = *use;
	next->unfit = NULL;
	struct code_host_answer answer = find_token(rq, next, &token);
	keep(next, &token, &answer);
	*auth = auth_of(rq, next, &token);
	return true;
}

/* In the arena of the request, which has the token, too. */
static struct token_use *use_new(struct request *rq, const struct repository_name *repo,
                                 const struct permission *permissions, bool is_kept)
{
	struct token_use *use = arena_new_of(rq->arena, struct token_use);
	*use = (struct token_use){.repo = *repo, .permissions = permissions, .is_kept = is_kept};
	return use;
}

struct installation_token installation_token_new(struct request *rq,
                                                 const struct repository_name *repo,
                                                 const struct permission *permissions)
{
	struct token_use *use = use_new(rq, repo, permissions, false);
	struct cached_token made;
	struct code_host_answer answer = find_token(rq, use, &made);
	struct code_host_auth auth = auth_of(rq, use, &made);
	return (struct installation_token){
		.token = made.token,
		.expires_at = json_get_text(answer.json, "expires_at"),
		.permissions = json_get(answer.json, "permissions"),
		.repo = name_of(rq, repo, &use->installation, &auth),
	};
}

struct code_host_auth installation_auth(struct request *rq, const struct repository_name *repo,
                                        const struct permission *permissions, const char **ret_repo)
{
	struct token_use *use = use_new(rq, repo, permissions, true);
	struct cached_token token;
	struct code_host_answer answer = find_token(rq, use, &token);
	keep(use, &token, &answer);
	struct code_host_auth auth = auth_of(rq, use, &token);
	*ret_repo = name_of(rq, repo, &use->installation, &auth);
	return auth;
}
