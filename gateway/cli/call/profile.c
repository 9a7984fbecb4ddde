#include "call/profile.h"

#include "base/url.h"
#include "json/json.h"
#include "program/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_NAME "default"

static const char *environment(const char *name)
{
	const char *value = getenv(name);
	return value && *value ? value : NULL;
}

const char *profile_path(struct cli *cli)
{
	return file_path(cli, "XDG_CONFIG_HOME", ".config", "config.json");
}

/* The file's JSON; NULL: there is no file. */
static yyjson_val *config_read(struct cli *cli)
{
	size_t length;
	const char *path = profile_path(cli), *text = file_read(cli, path, &length), *why;
	yyjson_val *root;
	if (!text)
		return NULL;
	if (json_parse(cli->arena, text, length, &root, &why))
		cli_fail(EXIT_FAILED, "%s %s; mend it, or remove it and log in again", path, why);
	return root;
}

/* The profile that is used where none is named. */
static const char *default_name(struct cli *cli)
{
	const char *name = json_get_text(config_read(cli), "default");
	return name ? name : DEFAULT_NAME;
}

const char *profile_name(struct cli *cli)
{
	const char *name = cli->profile_name ? cli->profile_name : environment("EXPOPS_PROFILE");
	return name ? name : default_name(cli);
}

bool profile_read(struct cli *cli, const char *name, struct profile *ret_profile)
{
	yyjson_val *row = json_get(json_get(config_read(cli), "profiles"), name);
	const char *url = json_get_text(row, "url"), *key = json_get_text(row, "key");
	if (!url || !key)
		return false;
	*ret_profile = (struct profile){.name = name,
	                                .url = profile_url(cli, url),
	                                .key = key,
	                                .ca_file = json_get_text(row, "ca_file")};
	return true;
}

const char *profile_url(struct cli *cli, const char *text)
{
	const char *why;
	size_t length = strlen(text);
	while (length > 0 && text[length - 1] == '/')
		length--;
	if (!url_is_link(text, length, &why))
		cli_fail(EXIT_USAGE, "the address %s: %s", text, why);
	return url_canonical(cli->arena, arena_strndup(cli->arena, text, length));
}

void profile_key_check(const char *key)
{
	for (const char *at = key; *at; at++)
		if (*at <= ' ' || *at > '~')
			cli_fail(EXIT_USAGE, "the key has a character that no key has");
}

static attr_noreturn void fail_without_key(struct cli *cli)
{
	if (cli->profile_name)
		cli_fail(EXIT_NOT_ALLOWED,
		         "there is no profile %s; expops login --profile %s makes it",
		         cli->profile_name, cli->profile_name);
	cli_fail(EXIT_NOT_ALLOWED,
	         "not logged in: expops login asks for the address and a key; or set "
	         "EXPOPS_URL and EXPOPS_KEY");
}

/* What the environment lacks. */
static void fill_from_file(struct cli *cli, struct profile *profile)
{
	struct profile stored;
	if (!profile_read(cli, profile_name(cli), &stored))
		fail_without_key(cli);
	if (profile->url && strcmp(profile->url, stored.url) != 0)
		cli_fail(EXIT_NOT_ALLOWED,
		         "EXPOPS_URL is not the address of the profile %s, whose key is sent "
		         "nowhere else: set EXPOPS_KEY, too",
		         stored.name);
	profile->name = stored.name;
	profile->url = stored.url;
	profile->key = profile->key ? profile->key : stored.key;
	profile->ca_file = profile->ca_file ? profile->ca_file : stored.ca_file;
}

const struct profile *profile_get(struct cli *cli)
{
	if (!cli->profile) {
		struct profile *profile = arena_new_of(cli->arena, struct profile);
		const char *url = environment("EXPOPS_URL");
		profile->url = url ? profile_url(cli, url) : NULL;
		profile->key = environment("EXPOPS_KEY");
		profile->ca_file = environment("EXPOPS_CA_FILE");
		if (!profile->url || !profile->key)
			fill_from_file(cli, profile);
		profile_key_check(profile->key);
		cli->profile = profile;
	}
	return cli->profile;
}

const char **profile_names(struct cli *cli)
{
	yyjson_val *profiles = json_get(config_read(cli), "profiles"), *name, *row;
	const char **names = arena_array(cli->arena, yyjson_obj_size(profiles) + 1, sizeof(*names));
	size_t index, count;
	json_obj_foreach (profiles, index, count, name, row)
		names[index] = yyjson_get_str(name);
	return names;
}

/* Write the file again, without the profile `name`; with `added` if it is not NULL. */
static void config_write(struct cli *cli, const char *name, const struct profile *added,
                         const char *chosen)
{
	yyjson_mut_doc *doc = json_doc_new(cli->arena);
	yyjson_mut_val *root = yyjson_mut_obj(doc), *profiles = yyjson_mut_obj(doc), *row;
	yyjson_val *stored = json_get(config_read(cli), "profiles"), *key, *value;
	size_t index, count;
	yyjson_mut_doc_set_root(doc, root);
	json_add_text(doc, root, "default", chosen);
	yyjson_mut_obj_add_val(doc, root, "profiles", profiles);
	json_obj_foreach (stored, index, count, key, value)
		if (strcmp(yyjson_get_str(key), name) != 0)
			json_add_member(doc, profiles, yyjson_get_str(key), stored,
			                yyjson_get_str(key));
	if (added) {
		row = yyjson_mut_obj_add_obj(doc, profiles, name);
		json_add_text(doc, row, "url", added->url);
		json_add_text(doc, row, "key", added->key);
		if (added->ca_file)
			json_add_text(doc, row, "ca_file", added->ca_file);
	}
	const char *path = profile_path(cli);
	if (!file_write(cli, path, json_write_mut(cli->arena, root, NULL)))
		cli_fail(EXIT_FAILED, "%s cannot be written: %s", path, file_reason(cli));
}

void profile_write(struct cli *cli, const struct profile *profile)
{
	cli_check_text(cli, "the name of the profile", profile->name, strlen(profile->name));
	if (profile->ca_file)
		cli_check_text(cli, "--ca-file", profile->ca_file, strlen(profile->ca_file));
	config_write(cli, profile->name, profile, profile->name);
}

bool profile_remove(struct cli *cli, const char *name)
{
	struct profile stored;
	if (!profile_read(cli, name, &stored))
		return false;
	const char **names = profile_names(cli), *chosen = default_name(cli);
	while (*names && strcmp(*names, name) == 0)
		names++;
	config_write(cli, name, NULL, strcmp(chosen, name) == 0 ? *names : chosen);
	return true;
}

bool profile_choose(struct cli *cli, const char *name)
{
	struct profile stored;
	if (!profile_read(cli, name, &stored))
		return false;
	config_write(cli, "", NULL, name);
	return true;
}
