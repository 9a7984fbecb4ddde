#include "provision/workflow_file.h"

#include "base/base.h"
#include "base/error.h"
#include "crypto/crypto.h"
#include "product/agent_workflow.h"
#include "provision/agent_commands.h"
#include "workflow.h"

#include <stdio.h>
#include <string.h>

static const char *public_url;

const struct setting WORKFLOW_SETTINGS[] = {
	SETTING_TEXT(&public_url, "PUBLIC_URL", "",
                     "Address of the API as the workflows of repositories reach it: "
                     "https://api.example.org; "
                     "empty: nothing can be provisioned."),
	SETTING_END,
};

/* Whether the text can stand between single quotes in YAML, on one line. */
static bool is_line(const char *text)
{
	while ((unsigned char)*text >= 0x20 && *text != 0x7f)
		text++;
	return !*text;
}

enum err_code workflow_settings_check(void)
{
	const struct {
		const char *name, *text;
	} lines[] = {
		{"PUBLIC_URL", public_url},
		{"AGENT_WORKFLOW", agent_workflow},
	};
	enum err_code code = ERR_NONE;
	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		if (is_line(lines[i].text))
			continue;
		fprintf(stderr, "%s: must be one line\n", lines[i].name);
		code = ERR_INVALID;
	}
	return code;
}

const char *workflow_public_url(void)
{
	return public_url;
}

bool workflow_is_configured(void)
{
	return public_url[0];
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
		{"@PUBLIC_URL@", public_url, add_quoted},
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

const char *workflow_version(struct arena *arena, const char *content)
{
	char hex[SHA256_HEX_LEN + 1];
	sha256_hex(content, strlen(content), hex);
	return arena_strdup(arena, hex);
}
