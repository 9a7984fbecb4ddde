#include "base/url.h"
#include "checkout.sh.h"
#include "input/key_limit.h"
#include "json/json.h"
#include "observe/log.h"
#include "worker/builder.h"
#include "worker/folder.h"
#include "worker/job.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define DIGEST_MAX 255

static const char *image_name, *repository_url;

const struct setting BUILD_JOB_SETTINGS[] = {
	SETTING_TEXT(&image_name, "IMAGE_NAME", "localhost/expops",
                     "Name of the images that are built; the tag is the id of the build."),
	SETTING_TEXT(&repository_url, "REPOSITORY_URL", "https://github.com",
                     "Where the repositories are that are named as owner/name."),
	SETTING_END,
};

static bool is_name(const char *text)
{
	const char *message;
	return repo_check(text, strlen(text), &message) && !strstr(text, "..");
}

/* Its address; "": there is no repository. NULL: it has none that is taken, such as a path of this
 * machine. */
static const char *address_of(struct request *rq, const char *repo)
{
	if (!repo)
		return "";
	if (strncasecmp(repo, "https://", 8) == 0)
		return url_canonical(rq->arena, repo); /* git knows schemes in lower case only */
	return is_name(repo) ? arena_printf(rq->arena, "%s/%s", repository_url, repo) : NULL;
}

/* `--build-arg NAME=VALUE` for each. */
static char **arguments(struct request *rq, yyjson_val *args)
{
	size_t index, count;
	yyjson_val *name, *value;
	char **words = arena_array(rq->arena, 2 * yyjson_obj_size(args) + 1, sizeof(*words));
	json_obj_foreach (args, index, count, name, value) {
		words[2 * index] = "--build-arg";
		words[2 * index + 1] = arena_printf(rq->arena, "%s=%s", yyjson_get_str(name),
		                                    yyjson_get_str(value));
	}
	return words;
}

static const char *image_of(struct request *rq, const struct job *job)
{
	return arena_printf(rq->arena, "%s:%s", image_name, job->id);
}

static const char *prepare(struct request *rq, struct job *job, struct child_spec *spec)
{
	const char *file = json_get_text(job->context, "containerfile");
	const char *ref = json_get_text(job->context, "ref");
	const char *address = address_of(rq, json_get_text(job->context, "repo"));
	if (!address)
		return "The repository is neither owner/name nor an address with https.";
	if (file && !folder_write(job->folder, "Containerfile", file))
		return job_unwritten(rq, job, "The container file");
	char *const own[] = {
		arena_printf(rq->arena, "BUILD_ID=%s", job->id),
		arena_printf(rq->arena, "IMAGE=%s", image_of(rq, job)),
		arena_printf(rq->arena, "REPO=%s", address),
		arena_printf(rq->arena, "REF=%s", ref ? ref : "HEAD"),
		arena_printf(rq->arena, "GIT_ALLOW_PROTOCOL=https:%.*s",
	                     (int)strcspn(repository_url, ":"), repository_url),
		"GIT_TERMINAL_PROMPT=0",
	};
	spec->script = arena_printf(rq->arena, "%s%s", CHECKOUT_SH, builder_build_script.text);
	spec->has_own_pids = builder_build_script.has_own_pids;
	spec->args = arguments(rq, json_get(job->context, "build_args"));
	spec->env = job_environment(rq, job, own, ARRAY_LEN(own));
	return NULL;
}

static struct job_fault fault_of(struct request *rq, const struct job *job)
{
	int64_t exit_status = job->child->exit_status;
	return (struct job_fault){"environment",
	                          exit_status == EXIT_KILLED
	                                  ? "The build was killed, probably because memory ran out."
	                                  : arena_printf(rq->arena,
	                                                 "The build ended with exit status %lld.",
	                                                 (long long)exit_status)};
}

static void add_image(struct request *rq, const struct job *job, yyjson_mut_doc *doc,
                      yyjson_mut_val *report)
{
	int64_t length;
	char *digest = folder_read(job->folder, "digest", DIGEST_MAX, &length);
	json_add_text(doc, report, "image", image_of(rq, job));
	if (digest && *digest)
		json_add_text(doc, report, "digest",
		              arena_strndup(rq->arena, digest, strcspn(digest, "\r\n")));
	free(digest);
}

static void report(struct request *rq, struct job *job, struct job_fault fault)
{
	const char *detail;
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *made = yyjson_mut_obj(doc);
	yyjson_mut_obj_add_int(doc, made, "attempt", job->attempt);
	json_add_text(doc, made, "status", fault.kind ? "failed" : "succeeded");
	if (fault.kind)
		job_add_fault(doc, made, fault);
	else
		add_image(rq, job, doc, made);
	int status =
		job_send(rq, job, arena_printf(rq->arena, "%s/%s/report", job->kind->path, job->id),
	                 json_write_mut(rq->arena, made, NULL), NULL, 0, &detail);
	if (detail)
		log_warn("a report was refused", f_text("id", job->id), f_int("status", status),
		         f_text("reason", detail));
}

const struct job_kind BUILD_JOB = {
	.name = "build",
	.path = "/eval-env/builds",
	.id_name = "build_id",
	.limit_fault = "environment",
	.prepare = prepare,
	.fault_of = fault_of,
	.report = report,
};
