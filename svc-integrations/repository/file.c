#include "repository/file.h"

#include "crypto/crypto.h"
#include "http/query.h"
#include "input/input.h"
#include "json/json.h"
#include "product/ref_name.h"
#include "reply/reply.h"
#include "repository/branch.h"
#include "repository/content.h"
#include "repository/replica_lock.h"

#include <string.h>
#include <strings.h>

#define PATH_MAX_LENGTH   1024
#define CONTENT_MAX_BYTES ((size_t)512 * 1024)
#define MESSAGE_MAX       2000
#define TRIES             3 /* when somebody else changes the branch at the same time */

static const struct permission FILE_PERMISSIONS[] = {
	{"contents", "write"},
	{"workflows", "write"},
	{0},
};

struct file_input {
	const char *repo, *branch, *base, *path, *content, *message;
};

static bool path_check(const char *text, size_t length, const char **ret_message)
{
	*ret_message = "is no path of a file in a repository";
	const char *step = text;
	for (size_t i = 0; i <= length; i++) {
		if ((unsigned char)text[i] < 0x20 && text[i])
			return false;
		if (text[i] != '/' && text[i])
			continue;
		size_t step_length = (size_t)(text + i - step);
		bool is_dots = step_length <= 2 && strspn(step, ".") >= step_length;
		bool is_git = step_length == 4 && strncasecmp(step, ".git", 4) == 0;
		if (is_dots || is_git)
			return false;
		step = text + i + 1;
	}
	return true;
}

static const struct field FILE_FIELDS[] = {
	BODY_TEXT(struct file_input, repo, "repo", REQUIRED, 1, REPOSITORY_NAME_MAX),
	{IN_BODY, FIELD_TEXT, "branch", FIELD_AT(struct file_input, branch, const char *), REQUIRED,
         1, BRANCH_NAME_MAX, .check = ref_name_check},
	{IN_BODY, FIELD_TEXT, "base", FIELD_AT(struct file_input, base, const char *), NULLABLE, 1,
         BRANCH_NAME_MAX, .check = ref_name_check},
	{IN_BODY, FIELD_TEXT, "path", FIELD_AT(struct file_input, path, const char *), REQUIRED, 1,
         PATH_MAX_LENGTH, .check = path_check},
	{IN_BODY, FIELD_TEXT, "content", FIELD_AT(struct file_input, content, const char *),
         REQUIRED, .bytes_max = 2 * CONTENT_MAX_BYTES},
	BODY_TEXT(struct file_input, message, "message", REQUIRED, 1, MESSAGE_MAX),
	FIELD_END,
};

/* Look at the file on the branch. NULL: it is not there. */
static const char *blob_of(struct request *rq, const struct repository *repository,
                           const struct file_input *in, bool *ret_is_same)
{
	struct code_host_answer answer =
		repository_call(rq, repository, "GET", NULL, "/contents/%s?ref=%s",
	                        query_encode(rq->arena, in->path),
	                        query_encode(rq->arena, in->branch));
	*ret_is_same = false;
	if (answer.status == 404)
		return NULL;
	const char *sha = json_get_text(answer.json, "sha");
	if (answer.status != 200)
		repository_refuse(rq, &answer, "no such repository");
	if (!sha)
		raise_error(rq, ERR_CONFLICT, "there is a folder at the path of the file");
	size_t length;
	const char *text = content_bytes(rq, answer.json, &length);
	*ret_is_same =
		text && length == strlen(in->content) && memcmp(text, in->content, length) == 0;
	return sha;
}

static struct code_host_answer write_file(struct request *rq, const struct repository *repository,
                                          const struct file_input *in, const char *old_blob)
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *body = yyjson_mut_obj(doc);
	yyjson_mut_obj_add_str(doc, body, "message", in->message);
	yyjson_mut_obj_add_str(doc, body, "content",
	                       base64_encode(rq->arena, in->content, strlen(in->content)));
	yyjson_mut_obj_add_str(doc, body, "branch", in->branch);
	if (old_blob)
		yyjson_mut_obj_add_str(doc, body, "sha", old_blob);
	return repository_call(rq, repository, "PUT", body, "/contents/%s",
	                       query_encode(rq->arena, in->path));
}

/* Write the file unless it is there with this content; its commit, or NULL. A write that meets
 * somebody else's (409, 422) looks again. */
static const char *put(struct request *rq, const struct repository *repository,
                       const struct file_input *in)
{
	struct code_host_answer answer = {0};
	for (int i = 0; i < TRIES; i++) {
		bool is_same;
		const char *old_blob = blob_of(rq, repository, in, &is_same);
		if (is_same)
			return NULL;
		answer = write_file(rq, repository, in, old_blob);
		const char *sha = json_get_text(json_get(answer.json, "commit"), "sha");
		if ((answer.status == 200 || answer.status == 201) && sha)
			return sha;
		if (answer.status != 409 && answer.status != 422)
			break;
	}
	repository_refuse(rq, &answer, "no such branch");
}

void file_put(struct request *rq)
{
	struct file_input *in = request_input(rq, struct file_input, FILE_FIELDS);
	if (strlen(in->content) > CONTENT_MAX_BYTES)
		raise_field(rq, "content", "must have at most %zu bytes", CONTENT_MAX_BYTES);
	struct repository repository = repository_open(rq, in->repo, FILE_PERMISSIONS);
	branch_lock(rq, &repository, in->branch);
	bool is_made = branch_make(rq, &repository, in->branch, in->base);
	const char *commit = put(rq, &repository, in);
	bool is_changed = commit;
	if (!commit)
		commit = branch_head(rq, &repository, in->branch);
	replica_lock_give_up(rq);
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *answer = yyjson_mut_obj(doc);
	yyjson_mut_doc_set_root(doc, answer);
	yyjson_mut_obj_add_str(doc, answer, "repo", repository.full_name);
	yyjson_mut_obj_add_str(doc, answer, "branch", in->branch);
	yyjson_mut_obj_add_bool(doc, answer, "branch_created", is_made);
	yyjson_mut_obj_add_str(doc, answer, "path", in->path);
	yyjson_mut_obj_add_bool(doc, answer, "changed", is_changed);
	json_add_text(doc, answer, "commit_sha", commit);
	reply_doc(rq, 200, doc);
}

static const struct permission READ_PERMISSIONS[] = {{"contents", "read"}, {0}};

static const struct field GET_FIELDS[] = {
	BODY_TEXT(struct file_input, repo, "repo", REQUIRED, 1, REPOSITORY_NAME_MAX),
	{IN_BODY, FIELD_TEXT, "branch", FIELD_AT(struct file_input, branch, const char *), NULLABLE,
         1, BRANCH_NAME_MAX, .check = ref_name_check},
	{IN_BODY, FIELD_TEXT, "path", FIELD_AT(struct file_input, path, const char *), REQUIRED, 1,
         PATH_MAX_LENGTH, .check = path_check},
	FIELD_END,
};

void file_get(struct request *rq)
{
	struct file_input *in = request_input(rq, struct file_input, GET_FIELDS);
	struct repository repository = repository_open(rq, in->repo, READ_PERMISSIONS);
	const char *query =
		in->branch ? arena_printf(rq->arena, "?ref=%s", query_encode(rq->arena, in->branch))
			   : "";
	struct code_host_answer answer =
		repository_call(rq, &repository, "GET", NULL, "/contents/%s%s",
	                        query_encode(rq->arena, in->path), query);
	if (answer.status != 200 && answer.status != 404)
		repository_refuse(rq, &answer, "no such repository");
	bool is_found = answer.status == 200;
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *reply = yyjson_mut_obj(doc);
	yyjson_mut_doc_set_root(doc, reply);
	yyjson_mut_obj_add_str(doc, reply, "repo", repository.full_name);
	yyjson_mut_obj_add_str(doc, reply, "path", in->path);
	yyjson_mut_obj_add_bool(doc, reply, "found", is_found);
	json_add_text(doc, reply, "content",
	              is_found ? content_text(rq, answer.json, SIZE_MAX, NULL) : NULL);
	reply_doc(rq, 200, doc);
}
