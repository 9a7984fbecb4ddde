#include "webhook/code_host_event.h"

#include "app/code_host.h"
#include "crypto/uuid.h"
#include "json/json.h"
#include "webhook/event_kind.h"
#include "webhook/revert.h"

#include <ctype.h>
#include <string.h>

#define HEAD_PREFIX "refs/heads/"

/* --- Reading ---------------------------------------------------------------------------------- */

struct reading {
	struct arena *arena;
	const struct event_kind *kind;
	const char *delivery;
	yyjson_val *root;
	yyjson_mut_doc *doc;
	yyjson_mut_val *members[EVENT_MEMBERS]; /* NULL: absent, or of another form */
	yyjson_mut_val *events;                 /* an array */
	yyjson_mut_val *changed_repos;          /* an array */
	yyjson_mut_val *repositories;           /* an array */
	struct code_host_events found;
};

/* A repository's name at a path; NULL: there is none. */
static const char *repo_at(yyjson_val *value, const char *path)
{
	const char *text = yyjson_get_str(json_at(value, path));
	return text && repository_name_is_valid(text) ? text : NULL;
}

static void read_members(struct reading *reading)
{
	for (enum event_member i = 0; i < EVENT_MEMBERS; i++) {
		const char *path = reading->kind->paths[i];
		if (path)
			reading->members[i] =
				event_member_read(reading->doc, i, json_at(reading->root, path));
	}
}

/* A push names its branch by the whole reference; one of a tag has no branch. */
static void read_pushed_branch(struct reading *reading)
{
	const char *ref = yyjson_mut_get_str(reading->members[MEMBER_BRANCH]);
	bool is_branch = ref && strncmp(ref, HEAD_PREFIX, strlen(HEAD_PREFIX)) == 0;
	reading->members[MEMBER_BRANCH] =
		is_branch ? yyjson_mut_str(reading->doc, ref + strlen(HEAD_PREFIX)) : NULL;
}

/* The path of a required member that is missing; NULL: none is. */
static const char *missing_member(const struct reading *reading)
{
	const struct event_kind *kind = reading->kind;
	for (enum event_member i = 0; i < EVENT_MEMBERS; i++)
		if (kind->required & EVENT_MEMBER_BIT(i) && !reading->members[i])
			return kind->paths[i];
	return NULL;
}

/* What is missing in the delivery; NULL: nothing. */
static const char *read_all(struct reading *reading)
{
	const struct event_kind *kind = reading->kind;
	struct code_host_events *found = &reading->found;
	yyjson_val *installation = json_at(reading->root, "installation.id");
	yyjson_val *action = json_get(reading->root, "action");
	read_members(reading);
	if (kind->has_no_action)
		read_pushed_branch(reading);
	else if (yyjson_is_str(action) && code_host_name_is_valid(yyjson_get_str(action)))
		found->action = yyjson_get_str(action);
	if (event_member_read(reading->doc, MEMBER_NUMBER, installation))
		json_is_whole(installation, &found->installation);
	if (!kind->is_of_installation)
		found->repo = repo_at(reading->root, "repository.full_name");
	if (!kind->has_no_action && !found->action)
		return "action";
	if (kind->is_of_installation)
		return found->installation ? NULL : "installation.id";
	if (!found->repo)
		return "repository.full_name";
	return missing_member(reading);
}

/* --- Reverts ---------------------------------------------------------------------------------- */

static bool is_default_branch(const struct reading *reading, const char *branch)
{
	const char *own = yyjson_get_str(json_at(reading->root, "repository.default_branch"));
	return own && branch && strcmp(own, branch) == 0;
}

/* By its merge: whatever else happens to it later, its words may have been edited since. */
static void add_reverts_of_pull_request(const struct reading *reading, yyjson_mut_val *reverts)
{
	yyjson_val *pull = json_get(reading->root, "pull_request");
	const char *by =
		arena_printf(reading->arena, "#%lld", (long long)json_get_int(pull, "number", 0));
	const char *base = yyjson_get_str(json_at(pull, "base.ref"));
	bool is_merge = strcmp(reading->found.action, "closed") == 0 &&
	                json_get_bool(pull, "merged", false);
	if (is_merge && is_default_branch(reading, base))
		reverts_add(reading->doc, reverts, json_get_text(pull, "body"),
		            revert_is_title(json_get_text(pull, "title")), reading->found.repo, by);
}

/* Of the last commit: a delivery may have more commits than there is memory for. */
static void add_reverts_of_push(const struct reading *reading, yyjson_mut_val *reverts)
{
	yyjson_val *commit = json_get(reading->root, "head_commit");
	yyjson_mut_val *id = event_member_read(reading->doc, MEMBER_COMMIT, json_get(commit, "id"));
	if (id && is_default_branch(reading, yyjson_mut_get_str(reading->members[MEMBER_BRANCH])))
		reverts_add(reading->doc, reverts, json_get_text(commit, "message"), true,
		            reading->found.repo, yyjson_mut_get_str(id));
}

/* NULL: it says of none. */
static yyjson_mut_val *reverts_of(const struct reading *reading)
{
	yyjson_mut_val *reverts = yyjson_mut_arr(reading->doc);
	if (strcmp(reading->kind->event, "pull_request") == 0)
		add_reverts_of_pull_request(reading, reverts);
	else if (strcmp(reading->kind->event, "push") == 0)
		add_reverts_of_push(reading, reverts);
	return yyjson_mut_arr_size(reverts) ? reverts : NULL;
}

/* --- Writing ---------------------------------------------------------------------------------- */

/* What the event says; of equal facts it is equal. */
static yyjson_mut_val *fact_of(struct reading *reading, const char *repo)
{
	yyjson_mut_doc *doc = reading->doc;
	yyjson_mut_val *data = yyjson_mut_obj(doc);
	yyjson_mut_obj_add_str(doc, data, "event", reading->kind->event);
	json_add_text(doc, data, "action", reading->found.action);
	json_add_text(doc, data, "repo", repo);
	for (enum event_member i = 0; i < EVENT_MEMBERS; i++) {
		yyjson_mut_val *value = reading->members[i];
		yyjson_mut_obj_add_val(doc, data, event_member_name(i),
		                       value ? yyjson_mut_val_mut_copy(doc, value)
		                             : yyjson_mut_null(doc));
	}
	yyjson_mut_val *reverts = reverts_of(reading);
	yyjson_mut_obj_add_val(doc, data, "reverts", reverts ? reverts : yyjson_mut_null(doc));
	return data;
}

/* Without a time, a later fact could say the same. */
static const char *fact_id(struct reading *reading, yyjson_mut_val *data)
{
	const char *text = json_write_mut(reading->arena, data, NULL);
	if (!reading->members[MEMBER_OCCURRED_AT])
		text = arena_printf(reading->arena, "%s\n%s", text, reading->delivery);
	struct uuid id = uuid_of_hash(text, strlen(text));
	char *out = arena_alloc(reading->arena, UUID_TEXT_LEN + 1);
	uuid_format(&id, out);
	return out;
}

static yyjson_mut_val *number_or_null(struct reading *reading, yyjson_val *number)
{
	yyjson_mut_val *read = event_member_read(reading->doc, MEMBER_NUMBER, number);
	return read ? read : yyjson_mut_null(reading->doc);
}

/* `repo` NULL: the event concerns no single one. */
static void add_event(struct reading *reading, const char *repo, yyjson_val *number)
{
	yyjson_mut_doc *doc = reading->doc;
	struct code_host_events *found = &reading->found;
	yyjson_mut_val *data = fact_of(reading, repo);
	yyjson_mut_val *event = yyjson_mut_arr_add_obj(doc, reading->events);
	yyjson_mut_obj_add_str(doc, event, "id", fact_id(reading, data));
	yyjson_mut_obj_add_str(doc, event, "lane",
	                       repo ? arena_lower(reading->arena, repo)
	                            : arena_printf(reading->arena, "installation %lld",
	                                           (long long)found->installation));
	yyjson_mut_obj_add_val(doc, event, "data", data);
	yyjson_mut_obj_add_val(doc, data, "repository_id", number_or_null(reading, number));
	yyjson_mut_obj_add_val(doc, data, "installation_id",
	                       found->installation ? yyjson_mut_sint(doc, found->installation)
	                                           : yyjson_mut_null(doc));
	yyjson_mut_obj_add_str(doc, data, "delivery_id", reading->delivery);
	found->count++;
}

static void add_changed(struct reading *reading, const char *repo)
{
	if (repo)
		yyjson_mut_arr_add_str(reading->doc, reading->changed_repos, repo);
}

/* --- Installations and repositories ----------------------------------------------------------- */

static const char *const REPO_LISTS[] = {"repositories", "repositories_added",
                                         "repositories_removed"};

/* Note that the repository of this number has the name. The new row, for what else is known. */
static yyjson_mut_val *add_repository(struct reading *reading, yyjson_val *number, const char *name)
{
	yyjson_mut_doc *doc = reading->doc;
	yyjson_mut_val *id = event_member_read(doc, MEMBER_NUMBER, number);
	if (!id)
		return NULL;
	yyjson_mut_val *row = yyjson_mut_arr_add_obj(doc, reading->repositories);
	yyjson_mut_obj_add_val(doc, row, "number", id);
	yyjson_mut_obj_add_str(doc, row, "name", name);
	return row;
}

/* Of each repository that the delivery lists an event, unless these are too many. How many it
 * lists. */
static size_t add_listed(struct reading *reading, bool has_events)
{
	yyjson_val *item;
	size_t i, max, count = 0;
	for (size_t list = 0; list < ARRAY_LEN(REPO_LISTS); list++) {
		yyjson_arr_foreach (json_get(reading->root, REPO_LISTS[list]), i, max, item) {
			const char *repo = repo_at(item, "full_name");
			yyjson_val *number = json_get(item, "id");
			count += repo != NULL;
			if (repo && has_events) {
				add_event(reading, repo, number);
				add_repository(reading, number, repo);
			} else {
				add_changed(reading, repo);
			}
		}
	}
	return count;
}

static void add_installation_events(struct reading *reading)
{
	reading->found.is_installation_changed = true;
	size_t count = add_listed(reading, false);
	if (count == 0 || count > EVENT_REPOS_MAX)
		add_event(reading, NULL, NULL);
	else
		add_listed(reading, true);
}

/* `owner/name` of two texts; NULL: they are none. */
static const char *joined_name(struct arena *arena, yyjson_val *owner, yyjson_val *name)
{
	if (!yyjson_is_str(owner) || !yyjson_is_str(name))
		return NULL;
	const char *full =
		arena_printf(arena, "%s/%s", yyjson_get_str(owner), yyjson_get_str(name));
	return repository_name_is_valid(full) ? full : NULL;
}

/* The first of the paths where the delivery has a value. */
static yyjson_val *first_at(const struct reading *reading, const char *const *paths)
{
	yyjson_val *value = NULL;
	for (; *paths && !value; paths++)
		value = json_at(reading->root, *paths);
	return value;
}

/* The name that the repository had before; NULL: the one that it has. */
static const char *former_name(const struct reading *reading)
{
	static const char *const OWNER[] = {"changes.owner.from.user.login",
	                                    "changes.owner.from.organization.login",
	                                    "repository.owner.login", NULL};
	static const char *const NAME[] = {"changes.repository.name.from", "repository.name", NULL};
	const char *former =
		joined_name(reading->arena, first_at(reading, OWNER), first_at(reading, NAME));
	return former && strcmp(former, reading->found.repo) != 0 ? former : NULL;
}

static bool is_rename(const struct reading *reading)
{
	const char *action = reading->found.action;
	return reading->kind->may_move_repo && action &&
	       (strcmp(action, "renamed") == 0 || strcmp(action, "transferred") == 0);
}

/* The event of the one repository, and the name that it has. */
static void add_repository_event(struct reading *reading)
{
	yyjson_mut_doc *doc = reading->doc;
	yyjson_val *number = json_at(reading->root, "repository.id");
	const char *former = reading->kind->may_move_repo ? former_name(reading) : NULL;
	if (reading->kind->may_move_repo)
		add_changed(reading, reading->found.repo);
	add_changed(reading, former);
	add_event(reading, reading->found.repo, number);
	yyjson_mut_val *row = add_repository(reading, number, reading->found.repo);
	yyjson_mut_val *at = event_member_read(doc, MEMBER_OCCURRED_AT,
	                                       json_at(reading->root, "repository.updated_at"));
	if (!row)
		return;
	json_add_text(doc, row, "former", is_rename(reading) ? former : NULL);
	yyjson_mut_obj_add_val(doc, row, "at", at ? at : yyjson_mut_null(doc));
	yyjson_mut_obj_add_bool(doc, row, "is_rename", is_rename(reading));
}

/* --- The whole delivery ----------------------------------------------------------------------- */

bool delivery_id_is_valid(const char *text)
{
	size_t length = strlen(text);
	for (const char *at = text; *at; at++)
		if (!isalnum((unsigned char)*at) && !strchr("-_.:", *at))
			return false;
	return length > 0 && length <= DELIVERY_ID_MAX;
}

bool code_host_name_is_valid(const char *text)
{
	return event_word_is_valid(text, strlen(text), CODE_HOST_NAME_MAX);
}

static const char *ignored_reason(struct reading *reading, const char *text, size_t length)
{
	const char *why = NULL;
	if (!reading->kind)
		return "events of this kind are not used";
	if (json_parse_lenient(reading->arena, text, length, SIZE_MAX, &reading->root, &why))
		return arena_printf(reading->arena, "the content %s", why);
	if (!yyjson_is_obj(reading->root))
		return "the content is not an object";
	const char *missing = read_all(reading);
	return missing ? arena_printf(reading->arena, "%s is missing or has another form", missing)
	               : NULL;
}

struct code_host_events code_host_events_read(struct arena *arena, const char *event,
                                              const char *delivery, const char *text, size_t length)
{
	struct reading reading = {
		.arena = arena,
		.kind = event_kind_of(event),
		.delivery = delivery,
		.doc = json_doc_new(arena),
	};
	reading.events = yyjson_mut_arr(reading.doc);
	reading.changed_repos = yyjson_mut_arr(reading.doc);
	reading.repositories = yyjson_mut_arr(reading.doc);
	reading.found.ignored = ignored_reason(&reading, text, length);
	if (!reading.found.ignored && reading.kind->is_of_installation)
		add_installation_events(&reading);
	else if (!reading.found.ignored)
		add_repository_event(&reading);
	reading.found.json = json_write_mut(arena, reading.events, NULL);
	reading.found.changed_repos = json_write_mut(arena, reading.changed_repos, NULL);
	reading.found.repositories = json_write_mut(arena, reading.repositories, NULL);
	return reading.found;
}
