#include "provision/workflow_file.h"

#include "base/base.h"
#include "base/error.h"
#include "crypto/crypto.h"
#include "product/agent_workflow.h"
#include "provision/agent_commands.h"
#include "service/process.h"
#include "workflow.h"

#include <stdio.h>
#include <string.h>

/* Whether the text can stand between single quotes in YAML, on one line. */
static bool is_line(const char *text)
{
	while ((unsigned char)*text >= 0x20 && *text != 0x7f)
		text++;
	return !*text;
}

enum err_code workflow_settings_check(void)
{
	if (is_line(agent_workflow))
		return ERR_NONE;
	fprintf(stderr, "AGENT_WORKFLOW: must be one line\n");
	return ERR_INVALID;
}

/* Append a text in single quotes (YAML 1.2, section 7.3.2). */
static void add_quoted(struct buf *out, const char *text)
{
	buf_puts(out, "'");
	for (; *text; text++)
		buf_add(out, *text == '\'' ? "''" : text, *text == '\'' ? 2 : 1);
	buf_puts(out, "'");
}

/* Append lines of a block scalar (YAML 1.2, section 8.1.2), whose first line is indented
 * already. */
static void add_indented(struct buf *out, const char *text)
{
	for (; *text; text++)
		buf_add(out, *text == '\n' ? "\n    " : text, *text == '\n' ? 5 : 1);
}

const char *workflow_file(struct arena *arena, const struct workflow_values *values)
{
	const struct {
		const char *name, *text;
		void (*add)(struct buf *out, const char *text);
	} marks[] = {
		{"@SITE@", process_settings.public_url, buf_puts},
		{"@PUBLIC_URL@", process_settings.public_url, add_quoted},
		{"@INTEREST@", values->interest, add_quoted},
		{"@AGENT@", values->agent, add_quoted},
		{"@PROVIDER@", values->provider, add_quoted},
		{"@AGENTS@", agent_commands_json(arena), add_indented},
	};
	struct buf out = {.arena = arena};
	for (const char *at = WORKFLOW; *at;) {
		size_t length = strcspn(at, "@"), i = 0;
		buf_add(&out, at, length);
		at += length;
		while (*at && i < ARRAY_LEN(marks) &&
		       strncmp(at, marks[i].name, strlen(marks[i].name)) != 0)
			i++;
		if (*at && i < ARRAY_LEN(marks)) {
			marks[i].add(&out, marks[i].text);
			at += strlen(marks[i].name);
		} else if (*at) {
			buf_add(&out, at++, 1);
		}
	}
	return out.data;
}

const char *workflow_version(struct arena *arena)
{
	const struct workflow_values values = {.interest = "", .agent = "", .provider = ""};
	if (!process_settings.public_url[0])
		return NULL;
	const char *content = workflow_file(arena, &values);
	char hex[SHA256_HEX_LEN + 1];
	sha256_hex(content, strlen(content), hex);
	return arena_strdup(arena, hex);
}
