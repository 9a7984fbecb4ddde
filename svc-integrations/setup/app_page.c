#include "setup/app_page.h"

#include "base/terminal.h"
#include "json/json.h"
#include "main/arguments.h"
#include "main/command_run.h"
#include "setup/app_registration.h"
#include "setup/manifest.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct arguments {
	const char *file; /* NULL: finish */
	const char *state, *code;
	struct manifest manifest;
	bool replaces;
};

static const struct argument ARGUMENTS[] = {
	ARGUMENT_TEXT(struct arguments, manifest.organization, "organization"),
	ARGUMENT_FLAG(struct arguments, replaces, "replace"),
	ARGUMENT_TEXT(struct arguments, state, "state"),
	ARGUMENT_TEXT(struct arguments, code, "code"),
	ARGUMENT_END,
};

/* The text as it stands in an attribute of HTML. */
static const char *escape(struct arena *arena, const char *text)
{
	struct buf out = {.arena = arena};
	for (; *text; text++) {
		const char *const ESCAPES[] = {
			['&'] = "&amp;",
			['<'] = "&lt;",
			['"'] = "&quot;",
		};
		size_t at = (unsigned char)*text;
		const char *escaped = at < ARRAY_LEN(ESCAPES) ? ESCAPES[at] : NULL;
		buf_add(&out, escaped ? escaped : text, escaped ? strlen(escaped) : 1);
	}
	return out.data;
}

/* Only the user who runs the command reads it: whoever has its state can take part in this way. */
static void write_file(struct request *rq, const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	size_t length = strlen(text);
	bool is_written = fd >= 0 && write(fd, text, length) == (ssize_t)length;
	if (fd >= 0)
		is_written = close(fd) == 0 && is_written;
	if (!is_written)
		raise_error(rq, ERR_INVALID, "%s cannot be written", path);
}

static void begin(struct request *rq)
{
	const struct arguments *arguments = rq->user;
	const char *organization = arguments->manifest.organization, *fault;
	if (organization &&
	    !manifest_organization_check(organization, strlen(organization), &fault))
		raise_error(rq, ERR_INVALID, "--organization %s", fault);
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *form =
		app_registration_form(rq, &arguments->manifest, arguments->replaces, doc);
	const char *manifest =
		json_write_mut(rq->arena, yyjson_mut_obj_get(form, "manifest"), NULL);
	const char *action = yyjson_mut_get_str(yyjson_mut_obj_get(form, "action"));
	const char *state = yyjson_mut_get_str(yyjson_mut_obj_get(form, "state"));
	write_file(rq, arguments->file,
	           arena_printf(rq->arena,
	                        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
	                        "<title>The app of expops</title>\n<form method=\"post\" "
	                        "action=\"%s\">\n<input type=\"hidden\" name=\"manifest\" "
	                        "value=\"%s\">\n<button>Make the app</button>\n</form>\n</html>\n",
	                        escape(rq->arena, action), escape(rq->arena, manifest)));
	printf("Open %s in a browser, and make the app. The code host then leads to an address "
	       "with "
	       "code=CODE; within an hour, run\n"
	       "    svc-integrations app-page --state %s --code CODE\n",
	       terminal_text(rq->arena, arguments->file), state);
}

static void finish(struct request *rq)
{
	const struct arguments *arguments = rq->user;
	const struct registration *app =
		app_registration_take(rq, arguments->code, arguments->state);
	printf("The app %s is stored. Install it on a repository:\n    %s\n",
	       terminal_text(rq->arena, app->slug),
	       terminal_text(rq->arena,
	                     arena_printf(rq->arena, "%s/installations/new", app->html_url)));
}

/* What to run; NULL: the arguments are wrong. */
static request_fn *read_arguments(int argc, char **argv, struct arguments *arguments)
{
	char **operands = arguments_read(argc, argv, ARGUMENTS, arguments);
	if (!operands)
		return NULL;
	arguments->file = operands[0];
	if (arguments->file)
		return operands[1] || arguments->state || arguments->code ? NULL : begin;
	return arguments->state && arguments->code ? finish : NULL;
}

int app_page_command(struct process *process, int argc, char **argv)
{
	struct arguments arguments = {0};
	request_fn *run = read_arguments(argc, argv, &arguments);
	return run ? command_run(process, run, &arguments) : COMMAND_USAGE;
}
