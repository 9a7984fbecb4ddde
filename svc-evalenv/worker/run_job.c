#include "base/timefmt.h"
#include "crypto/crypto.h"
#include "crypto/webhook_signature.h"
#include "http/head.h"
#include "json/json.h"
#include "observe/log.h"
#include "template/spec.h"
#include "worker/builder.h"
#include "worker/folder.h"
#include "worker/job.h"
#include "worker/leftover.h"
#include "worker/resources.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RESULT_MAX_BYTES (8 << 20) /* as the service takes */
#define EXIT_ENVIRONMENT 125 /* of podman, docker and buildah: the container was not started */
#define SIGNATURE_FIELDS 3

#define DELIVERY_ID_CHARACTERS 32

/* Longer than the worker's own limit, which counts from before the start and is looked at each
 * CHILD_TICK_MS. */
#define TIME_LIMIT_MORE_S 15

static const char *webhook_secrets;

const struct setting RUN_JOB_SETTINGS[] = {
	SETTING_SECRET(&webhook_secrets, "WEBHOOK_SECRETS", "",
                       "Secrets of templates, whsec_ and base64, separated by spaces: results are "
                       "signed with each of them."),
	SETTING_END,
};

/* --- The command ------------------------------------------------------------------------------ */

/* Write `env`, `NAME=value` a line, as container programs read it; and for a value that has several
 * lines, the file `env.d/NAME`. False: they cannot be written, errno says why. */
static bool write_variables(struct request *rq, const struct job *job)
{
	size_t index, count;
	yyjson_val *name, *value, *env = json_get(job->context, "env");
	const char *folder = arena_printf(rq->arena, "%s/env.d", job->folder);
	struct buf lines = {.arena = rq->arena};
	buf_puts(&lines, "");
	if (mkdir(folder, S_IRWXU))
		return false;
	json_obj_foreach (env, index, count, name, value) {
		const char *text = yyjson_get_str(value);
		if (!strpbrk(text, "\r\n"))
			buf_printf(&lines, "%s=%s\n", yyjson_get_str(name), text);
		else if (!folder_write(folder, yyjson_get_str(name), text))
			return false;
	}
	return folder_write(job->folder, "env", lines.data);
}

/* A string is run by the image's shell. */
static char **words(struct request *rq, yyjson_val *command)
{
	size_t index, count;
	yyjson_val *word;
	char **all = arena_array(rq->arena, MAX_OF(yyjson_arr_size(command), 3) + 1, sizeof(*all));
	if (yyjson_is_str(command)) {
		all[0] = "/bin/sh";
		all[1] = "-c";
		all[2] = arena_strdup(rq->arena, yyjson_get_str(command));
	}
	yyjson_arr_foreach (command, index, count, word)
		all[index] = arena_strdup(rq->arena, yyjson_get_str(word));
	return all;
}

static bool write_files(struct request *rq, const struct job *job)
{
	const char *work = arena_printf(rq->arena, "%s/work", job->folder);
	const char *params = json_write(rq->arena, json_get(job->context, "params"), NULL);
	return mkdir(work, S_IRWXU | S_IRWXG | S_IRWXO) == 0 &&
	       chmod(work, S_IRWXU | S_IRWXG | S_IRWXO) == 0 && /* for the image's own user */
	       folder_write(work, "params.json", params) && write_variables(rq, job);
}

static const char *prepare(struct request *rq, struct job *job, struct child_spec *spec)
{
	const char *image = json_get_text(job->context, "image"), *message;
	char *own[RESOURCE_VARIABLES + 3];
	const char *name =
		arena_printf(rq->arena, "expops-%s-%lld", job->id, (long long)job->attempt);
	int64_t timeout_s = json_get_int(job->context, "timeout_seconds", 3600);
	if (!image)
		return "There is no image.";
	if (!image_name_check(image, strlen(image), &message))
		return "The image has no valid name.";
	message = resource_variables(rq, job, own);
	if (message)
		return message;
	if (!write_files(rq, job) || !leftover_expect(job->folder, name))
		return job_unwritten(rq, job, "The files of the run");
	char **more = own + RESOURCE_VARIABLES;
	more[0] = arena_printf(rq->arena, "RUN_ID=%s", job->id);
	more[1] = arena_printf(rq->arena, "NAME=%s", name);
	more[2] = arena_printf(rq->arena, "IMAGE=%s", image);
	job->timeout_at_ms = time_monotonic_ms() + (uint64_t)timeout_s * 1000;
	spec->time_limit_s = timeout_s + TIME_LIMIT_MORE_S;
	spec->script = builder_run_script.text;
	spec->has_own_pids = builder_run_script.has_own_pids;
	spec->args = words(rq, json_get(job->context, "command"));
	spec->env = job_environment(rq, job, own, ARRAY_LEN(own));
	return NULL;
}

/* A command may end with EXIT_ENVIRONMENT itself: the script then leaves the file `started`. */
static bool has_started(struct request *rq, const struct job *job)
{
	return access(arena_printf(rq->arena, "%s/started", job->folder), F_OK) == 0;
}

static struct job_fault fault_of(struct request *rq, const struct job *job)
{
	int64_t exit_status = job->child->exit_status;
	if (exit_status == EXIT_ENVIRONMENT && !has_started(rq, job))
		return (struct job_fault){"environment", "The image was not started."};
	if (exit_status == EXIT_KILLED)
		return (struct job_fault){
			"task", "The command was killed, probably because memory ran out."};
	return (struct job_fault){"task", arena_printf(rq->arena,
	                                               "The command ended with exit status %lld.",
	                                               (long long)exit_status)};
}

/* --- The result ------------------------------------------------------------------------------- */

/* What the command left in result.json, an object; NULL: nothing. */
static yyjson_val *read_result(struct request *rq, const struct job *job, struct job_fault *fault)
{
	int64_t length;
	yyjson_val *result = NULL;
	const char *why = NULL, *folder = arena_printf(rq->arena, "%s/work", job->folder);
	char *text = folder_read(folder, "result.json", RESULT_MAX_BYTES, &length);
	if (length > RESULT_MAX_BYTES)
		*fault = (struct job_fault){"task", "result.json has more than 8 MiB."};
	if (!text)
		return NULL;
	if (json_parse(rq->arena, text, (size_t)length, &result, &why))
		*fault =
			(struct job_fault){"task", arena_printf(rq->arena, "result.json %s.", why)};
	else if (!yyjson_is_obj(result))
		*fault = (struct job_fault){"task", "result.json is not an object."};
	free(text);
	return fault->kind ? NULL : result;
}

static const char *status_of(struct job_fault fault)
{
	if (!fault.kind)
		return "succeeded";
	return strcmp(fault.kind, "timeout") == 0 ? "timed_out" : "failed";
}

static const char *content_of(struct request *rq, const struct job *job, yyjson_val *result,
                              struct job_fault fault)
{
	static const char *const MEMBERS[] = {"metrics", "results", "artifacts"};
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *made = yyjson_mut_obj(doc);
	json_add_text(doc, made, "run_id", job->id);
	yyjson_mut_obj_add_int(doc, made, "attempt", job->attempt);
	json_add_text(doc, made, "status", status_of(fault));
	for (size_t i = 0; i < ARRAY_LEN(MEMBERS); i++)
		json_add_member(doc, made, MEMBERS[i], result, MEMBERS[i]);
	if (fault.kind)
		job_add_fault(doc, made, fault);
	return json_write_mut(rq->arena, made, NULL);
}

/* By each secret, as Standard Webhooks allows for rotation: which template has which, the worker
 * does not know. */
static const char *signatures(struct request *rq, const char *id, const char *at,
                              const char *content)
{
	const struct signed_fields fields = {.id = id, .timestamp = at};
	struct buf out = {.arena = rq->arena};
	for (const char *secret = webhook_secrets; *secret; secret += strspn(secret, " ")) {
		size_t length = strcspn(secret, " ");
		struct webhook_key key;
		if (webhook_secret_decode(rq->arena, arena_strndup(rq->arena, secret, length),
		                          &key))
			webhook_signature_add(&out, &key, &fields, content, strlen(content));
		secret += length;
	}
	return out.data;
}

/* A delivery that is repeated keeps its id, so that it counts once. Nobody can guess the id and use
 * it first. */
static int deliver(struct request *rq, struct job *job, const char *content,
                   const char **ret_detail)
{
	char id[DELIVERY_ID_CHARACTERS + 1];
	random_base62(id, DELIVERY_ID_CHARACTERS);
	const char *at = arena_printf(rq->arena, "%lld", (long long)(time_now_ms() / 1000));
	const char *signature = signatures(rq, id, at, content);
	const struct http_field fields[SIGNATURE_FIELDS] = {
		http_field_of("webhook-id", id),
		http_field_of("webhook-timestamp", at),
		http_field_of("webhook-signature", signature ? signature : ""),
	};
	return job_send(rq, job, "/eval-env/webhooks/results", content, fields,
	                signature ? SIGNATURE_FIELDS : 1, ret_detail);
}

/* A result that the service refuses is the command's fault. */
static void report(struct request *rq, struct job *job, struct job_fault fault)
{
	const char *detail;
	bool has_run = !fault.kind || strcmp(fault.kind, "task") == 0;
	arena_wipe_on_free(rq->arena); /* the secrets */
	yyjson_val *result = has_run ? read_result(rq, job, &fault) : NULL;
	int status = deliver(rq, job, content_of(rq, job, result, fault), &detail);
	if (status == 400 || status == 413) {
		fault = (struct job_fault){"task",
		                           arena_printf(rq->arena, "result.json was refused: %s",
		                                        detail)};
		status = deliver(rq, job, content_of(rq, job, NULL, fault), &detail);
	}
	if (detail)
		log_warn("a result was refused", f_text("id", job->id), f_int("status", status),
		         f_text("reason", detail));
}

const struct job_kind RUN_JOB = {
	.name = "run",
	.path = "/eval-env/runs",
	.id_name = "run_id",
	.limit_fault = "task",
	.prepare = prepare,
	.fault_of = fault_of,
	.report = report,
};
