#include "command/login.h"

#include "base/ip.h"
#include "base/url.h"
#include "call/profile.h"
#include "json/json.h"
#include "program/file.h"
#include "program/prompt.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <termios.h>
#include <unistd.h>

#define DEFAULT_URL  "http://127.0.0.1:8080"
#define PREFIX_BYTES 12 /* of a key, which the service shows */
#define PAGE_ITEMS   100
#define PAGES_MAX    10

/* ---- asking ---- */

static struct termios shown; /* how the terminal was */

static const int ENDING[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

static void handle_ending(void (*handler)(int signal))
{
	for (size_t i = 0; i < ARRAY_LEN(ENDING); i++)
		signal(ENDING[i], handler);
}

/* Let the terminal show what is typed, however the program ends. */
static void show(void)
{
	tcsetattr(STDIN_FILENO, TCSAFLUSH, &shown);
}

static void show_and_exit(int signal)
{
	show();
	_exit(EXIT_BY_SIGNAL + signal);
}

static const char *ask_hidden(struct cli *cli, const char *what)
{
	if (tcgetattr(STDIN_FILENO, &shown) < 0)
		return prompt_text(cli, what, NULL);
	struct termios hidden = shown;
	hidden.c_lflag &= ~(tcflag_t)ECHO;
	require(atexit(show) == 0); /* prompt_line() ends the program where nothing was entered */
	handle_ending(show_and_exit);
	tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden);
	const char *line = prompt_text(cli, what, NULL);
	show();
	handle_ending(SIG_DFL);
	fputc('\n', stderr);
	return line;
}

/* ---- what the service knows of the key ---- */

static yyjson_val *own_key(struct cli *cli, const struct answer *answer, size_t *ret_count)
{
	yyjson_val *keys = json_get(answer->json, "keys"), *key;
	size_t index;
	*ret_count = yyjson_arr_size(keys);
	if (!yyjson_is_arr(keys))
		cli_fail(EXIT_FAILED, "%s answers, but not as expops does", cli->profile->url);
	yyjson_arr_foreach (keys, index, *ret_count, key) {
		const char *prefix = json_get_text(key, "prefix");
		if (prefix && strlen(prefix) == PREFIX_BYTES &&
		    strncmp(prefix, cli->profile->key, PREFIX_BYTES) == 0)
			return key;
	}
	return NULL;
}

/* The service's record of the key; NULL: the key works, and `ret_why` says why nothing is known of
 * it. Fails for a wrong one. */
static yyjson_val *key_read(struct cli *cli, const char **ret_why)
{
	size_t count = PAGE_ITEMS;
	*ret_why = NULL;
	for (size_t page = 0; page < PAGES_MAX && count == PAGE_ITEMS; page++) {
		struct query *query = query_new(cli, "api_keys_list");
		query_set(query, "limit", arena_printf(cli->arena, "%d", PAGE_ITEMS));
		query_set(query, "offset", arena_printf(cli->arena, "%zu", page * PAGE_ITEMS));
		struct answer *answer = call_try(query);
		const char *error = json_get_text(answer->json, "error");
		if (answer->status == 403 && error && strcmp(error, "insufficient_scope") == 0) {
			*ret_why = "the key is valid, and lacks the scope account:read, which "
				   "shows more";
			return NULL;
		}
		if (answer->status != 200)
			call_fail(cli, answer);
		yyjson_val *key = own_key(cli, answer, &count);
		if (key)
			return key;
	}
	*ret_why = "the key is valid, and is not among the first 1,000 of the account";
	return NULL;
}

static const struct column WHOAMI_COLUMNS[] = {
	{"Address", "/url"},
	{"Profile", "/profile"},
	{"Key", "/key/name"},
	{"Begins with", "/prefix"},
	{"Kind", "/key/kind"},
	{"Repository", "/key/repo"},
	{"Interest", "/key/interest_id"},
	{"Expires", "/key/expires_at"},
	{"Scopes", "/key/scopes"},
	{"Note", "/note"},
	{0},
};
const struct view WHOAMI_VIEW = {.columns = WHOAMI_COLUMNS};

void whoami_run(struct cli *cli, const struct arguments *arguments)
{
	const struct profile *profile = profile_get(cli);
	const char *note;
	yyjson_val *key = key_read(cli, &note);
	yyjson_mut_doc *doc = json_doc_new(cli->arena);
	yyjson_mut_val *root = yyjson_mut_obj(doc);
	json_add_text(doc, root, "url", profile->url);
	json_add_text(doc, root, "profile", profile->name);
	json_add_text(doc, root, "prefix", arena_strndup(cli->arena, profile->key, PREFIX_BYTES));
	yyjson_mut_obj_add_val(doc, root, "key",
	                       key ? yyjson_val_mut_copy(doc, key) : yyjson_mut_null(doc));
	json_add_text(doc, root, "note", note);
	const struct answer answer = {
		.json = json_parse_own(cli->arena, json_write_mut(cli->arena, root, NULL))};
	view_show(cli, arguments->command->view, &answer);
}

/* ---- log-in ---- */

/* Bytes of the address of 127.0.0.0/8 that `authority` begins with; 0: of none. */
static size_t loopback_address_length(struct arena *arena, const char *authority)
{
	struct ip ip;
	size_t length = strspn(authority, "0123456789.");
	bool is_one = strncmp(authority, "127.", 4) == 0 &&
	              ip_parse(arena_strndup(arena, authority, length), &ip);
	return is_one ? length : 0;
}

/* Whether it is a whole host that stays on this machine, with or without a port. */
static bool is_loopback(struct arena *arena, const char *authority)
{
	size_t length = url_loopback_length(authority);
	if (length == 0)
		length = loopback_address_length(arena, authority);
	const char *rest = authority + length;
	if (*rest == ':')
		rest += 1 + strspn(rest + 1, "0123456789");
	return length > 0 && (*rest == '\0' || strchr("/?#", *rest));
}

static void warn_of_plain_http(struct arena *arena, const char *url)
{
	if (strncasecmp(url, "https:", 6) == 0 || is_loopback(arena, url + url_scheme_length(url)))
		return;
	fprintf(stderr,
	        "expops: this address is not https: everybody on the way can read the key\n");
}

static const char *url_to_log_in(struct cli *cli, const struct arguments *arguments,
                                 const struct profile *stored)
{
	const char *url = argument(arguments, "--url"), *environment = getenv("EXPOPS_URL");
	const char *fallback = stored->url                   ? stored->url
	                       : environment && *environment ? environment
	                                                     : NULL;
	if (!url && isatty(STDIN_FILENO))
		url = prompt_text(cli, "Address", fallback ? fallback : DEFAULT_URL);
	if (!url && !fallback)
		cli_fail(EXIT_USAGE, "--url is missing: without a terminal, only the key is read "
		                     "from standard input");
	return profile_url(cli, url ? url : fallback);
}

/* The program runs in other folders later. */
static const char *absolute_path(struct cli *cli, const char *path)
{
	char *absolute = realpath(path, NULL);
	if (!absolute)
		cli_fail(EXIT_FAILED, "%s: %s", path, file_reason(cli));
	const char *copy = arena_strdup(cli->arena, absolute);
	free(absolute);
	return copy;
}

void login_run(struct cli *cli, const struct arguments *arguments)
{
	const char *name = profile_name(cli), *ca_file = argument(arguments, "--ca-file");
	struct profile profile = {0};
	profile_read(cli, name, &profile);
	profile.url = url_to_log_in(cli, arguments, &profile);
	warn_of_plain_http(cli->arena, profile.url);
	profile.name = name;
	profile.key = isatty(STDIN_FILENO) ? ask_hidden(cli, "Key") : prompt_line(cli);
	profile.ca_file = ca_file ? absolute_path(cli, ca_file) : profile.ca_file;
	profile_key_check(profile.key);
	cli->profile = &profile;
	const char *why, *key_name = json_get_text(key_read(cli, &why), "name");
	profile_write(cli, &profile);
	fprintf(stderr, "logged in to %s%s%s; stored as profile %s in %s\n", profile.url,
	        key_name ? " with the key " : "", cli_shown(cli, key_name), profile.name,
	        profile_path(cli));
}

void logout_run(struct cli *cli, const struct arguments *arguments attr_unused)
{
	const char *name = profile_name(cli);
	if (!profile_remove(cli, name))
		cli_fail(EXIT_NOT_FOUND, "there is no profile %s", name);
	fprintf(stderr,
	        "removed the profile %s; its key is still valid: revoke it in the console's "
	        "settings, or by expops key revoke with another key\n",
	        name);
	cli->profile_name = NULL;
	const char *next = profile_name(cli);
	struct profile profile;
	if (profile_read(cli, next, &profile))
		fprintf(stderr, "commands use the profile %s, of %s, now\n", next, profile.url);
}

static const struct column PROFILE_COLUMNS[] = {
	{"PROFILE", "/name"},
	{"DEFAULT", "/default", CELL_FLAG},
	{"ADDRESS", "/url"},
	{0},
};
static const struct view PROFILES_VIEW = {"", PROFILE_COLUMNS,
                                          "there is no profile; expops login makes one"};

void profiles_run(struct cli *cli, const struct arguments *arguments attr_unused)
{
	const char *chosen = profile_name(cli);
	yyjson_mut_doc *doc = json_doc_new(cli->arena);
	yyjson_mut_val *list = yyjson_mut_arr(doc);
	for (const char **name = profile_names(cli); *name; name++) {
		struct profile profile;
		if (!profile_read(cli, *name, &profile))
			continue;
		yyjson_mut_val *row = yyjson_mut_arr_add_obj(doc, list);
		json_add_text(doc, row, "name", *name);
		yyjson_mut_obj_add_bool(doc, row, "default", strcmp(*name, chosen) == 0);
		json_add_text(doc, row, "url", profile.url);
	}
	const struct answer answer = {
		.total = -1,
		.json = json_parse_own(cli->arena, json_write_mut(cli->arena, list, NULL))};
	view_show(cli, &PROFILES_VIEW, &answer);
}

void profile_run(struct cli *cli, const struct arguments *arguments)
{
	const char *name = argument(arguments, "PROFILE");
	if (!profile_choose(cli, name))
		cli_fail(EXIT_NOT_FOUND, "there is no profile %s; expops profiles lists them",
		         name);
	fprintf(stderr, "%s is the default profile now\n", name);
}
