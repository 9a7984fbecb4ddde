#include "console/console.h"

#include "base/base.h"
#include "base/url.h"
#include "http/accept_encoding.h"
#include "json/json.h"
#include "observe/log.h"
#include "reply/etag.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROOT   "/console/"
#define DOCS   "/docs"
#define PAGE   "index.html"
#define ASSETS "assets/"

static const char *console_dir, *code_host;

const struct setting CONSOLE_SETTINGS[] = {
	SETTING_TEXT(&console_dir, "CONSOLE_DIR", "/usr/share/expops/console",
                     "Folder with the built files of the console."),
	SETTING_TEXT(&code_host, "CODE_HOST_WEB_URL", "https://github.com",
                     "Address of the code host's web pages: the console posts the form there that "
                     "makes the app."),
	SETTING_END,
};

enum form { FORM_PLAIN, FORM_GZIP, FORM_BROTLI, FORM_COUNT };

static const struct {
	const char *suffix, *coding; /* of the file's name; NULL: as it is */
} FORMS[FORM_COUNT] = {
	[FORM_PLAIN] = {"", NULL},
	[FORM_GZIP] = {".gz", "gzip"},
	[FORM_BROTLI] = {".br", "br"},
};

struct content {
	const char *data;
	size_t length;
};

struct file {
	const char *name; /* below ROOT */
	const char *type;
	const char *etag[FORM_COUNT];
	struct content forms[FORM_COUNT]; /* data is NULL: there is no such form */
};

struct console {
	struct file *files;
	size_t count;
	const struct file *page;
	const char *policy; /* Content-Security-Policy */
};

/* --- Reading ---------------------------------------------------------------------------------- */

/* False: it cannot be read. */
static bool file_read(struct arena *arena, const char *path, struct content *ret)
{
	struct stat info;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	bool is_read = fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
	if (is_read) {
		char *data = arena_alloc(arena, (size_t)info.st_size + 1);
		is_read = read(fd, data, (size_t)info.st_size) == info.st_size;
		*ret = (struct content){data, (size_t)info.st_size};
	}
	close(fd);
	return is_read;
}

/* Each form has a tag of its own (RFC 9110 section 8.8.3.3). */
static const char *tag_of(struct arena *arena, yyjson_val *entry, enum form form)
{
	return arena_printf(arena, "\"%.32s%s\"", json_get_text(entry, "sha256"),
	                    FORMS[form].suffix);
}

static bool forms_read(struct arena *arena, struct file *file, yyjson_val *entry)
{
	int count = json_get_bool(entry, "compressed", true) ? FORM_COUNT : FORM_PLAIN + 1;
	for (int form = 0; form < count; form++) {
		const char *path =
			arena_printf(arena, "%s/%s%s", console_dir, file->name, FORMS[form].suffix);
		if (!file_read(arena, path, &file->forms[form]))
			return false;
		file->etag[form] = tag_of(arena, entry, form);
	}
	return true;
}

static const struct file *file_find(const struct console *console, const char *name, size_t length)
{
	for (size_t i = 0; i < console->count; i++)
		if (strlen(console->files[i].name) == length &&
		    memcmp(console->files[i].name, name, length) == 0)
			return &console->files[i];
	return NULL;
}

/* The files of the manifest; NULL: one is missing. */
static struct console *manifest_read(struct arena *arena, const char *manifest)
{
	struct console *console = arena_new_of(arena, struct console);
	yyjson_val *files = json_get(json_parse_own(arena, manifest), "files");
	size_t index, count;
	yyjson_val *name, *entry;
	console->files = arena_array(arena, yyjson_obj_size(files), sizeof(*console->files));
	json_obj_foreach (files, index, count, name, entry) {
		struct file *file = &console->files[console->count++];
		file->name = arena_strdup(arena, yyjson_get_str(name));
		file->type = arena_strdup(arena, json_get_text(entry, "type"));
		if (!forms_read(arena, file, entry))
			return NULL;
	}
	console->page = file_find(console, PAGE, sizeof(PAGE) - 1);
	return console->page ? console : NULL;
}

/* Nothing of another origin, and no text that becomes a script or a style; a form may lead to the
 * code host, of whose address only the origin is taken. */
static const char *policy_of(struct arena *arena)
{
	size_t scheme = url_scheme_length(code_host);
	int origin = (int)(scheme + strcspn(code_host + scheme, "/?#;, "));
	return arena_printf(
		arena,
		"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' "
		"data:; connect-src 'self'; font-src 'self'; base-uri 'none'; "
		"frame-ancestors 'none'; form-action 'self'%s%.*s; "
		"require-trusted-types-for 'script'",
		scheme ? " " : "", scheme ? origin : 0, code_host);
}

const struct console *console_load(struct arena *arena)
{
	struct content manifest;
	struct console *console = NULL;
	if (file_read(arena, arena_printf(arena, "%s/manifest.json", console_dir), &manifest))
		console = manifest_read(arena, manifest.data);
	if (console)
		console->policy = policy_of(arena);
	else
		log_info("there is no console", f_text("folder", console_dir));
	return console;
}

/* --- Sending ---------------------------------------------------------------------------------- */

/* Fields of every file. No page of another origin can frame one, or learns where a user came from;
 * the own origin does (session/cookie.h). */
static const char *const FIELDS[][2] = {
	{"Vary", "Accept-Encoding"},
	{"X-Content-Type-Options", "nosniff"},
	{"Referrer-Policy", "same-origin"},
	{"Cross-Origin-Opener-Policy", "same-origin"},
	{"Permissions-Policy", "camera=(), microphone=(), geolocation=()"},
};

static enum form form_choose(const struct file *file, const struct http_head *head)
{
	if (!file->forms[FORM_GZIP].data)
		return FORM_PLAIN;
	if (coding_is_accepted(head, CODING_BROTLI))
		return FORM_BROTLI;
	return coding_is_accepted(head, CODING_GZIP) ? FORM_GZIP : FORM_PLAIN;
}

static bool is_asset(const struct file *file)
{
	return strncmp(file->name, ASSETS, sizeof(ASSETS) - 1) == 0;
}

static size_t fields_of(const struct console *console, const struct file *file, enum form form,
                        const char *request_id, struct http_field *fields)
{
	size_t count = 0;
	fields[count++] = http_field_of("Content-Type", file->type);
	fields[count++] = http_field_of("Content-Security-Policy", console->policy);
	fields[count++] = http_field_of("ETag", file->etag[form]);
	fields[count++] =
		http_field_of("Cache-Control",
	                      is_asset(file) ? "public, max-age=31536000, immutable" : "no-cache");
	if (FORMS[form].coding)
		fields[count++] = http_field_of("Content-Encoding", FORMS[form].coding);
	for (size_t i = 0; i < ARRAY_LEN(FIELDS); i++)
		fields[count++] = http_field_of(FIELDS[i][0], FIELDS[i][1]);
	fields[count++] = http_field_of("X-Request-Id", request_id);
	return count;
}

static void send_file(const struct console *console, struct http_exchange *x,
                      const struct file *file, const char *request_id)
{
	struct http_field fields[6 + ARRAY_LEN(FIELDS)];
	enum form form = form_choose(file, &x->head);
	const struct content *content = &file->forms[form];
	size_t count = fields_of(console, file, form, request_id, fields);
	const char *known = http_head_get(&x->head, "If-None-Match");
	if (known && etag_matches(known, file->etag[form])) {
		http_respond_start(x, 304, fields, count, 0);
		http_respond_end(x);
		return;
	}
	http_respond_start(x, 200, fields, count, (int64_t)content->length);
	http_respond_last(x, content->data, content->length);
}

/* What the root answers programs. */
static const char LINKS[] = "{\"openapi\":\"/api/v1.0/openapi.json\",\"console\":\"/console/"
			    "\",\"docs\":\"/docs\",\"mcp\":\"/mcp\"}";

static void send_links(struct http_exchange *x, const char *request_id)
{
	const struct http_field fields[] = {
		http_field_of("Content-Type", "application/json"),
		http_field_of("Vary", "Accept"),
		http_field_of("X-Request-Id", request_id),
	};
	http_respond_start(x, 200, fields, ARRAY_LEN(fields), sizeof(LINKS) - 1);
	http_respond_last(x, LINKS, sizeof(LINKS) - 1);
}

static void redirect(struct http_exchange *x, const char *request_id)
{
	const struct http_field fields[] = {
		http_field_of("Location", ROOT),
		http_field_of("Vary", "Accept"),
		http_field_of("X-Request-Id", request_id),
	};
	http_respond_start(x, 302, fields, ARRAY_LEN(fields), 0);
	http_respond_end(x);
}

/* --- Paths ------------------------------------------------------------------------------------ */

static bool is_path(const struct http_head *head, const char *path)
{
	return head->path_length == strlen(path) &&
	       memcmp(head->target, path, head->path_length) == 0;
}

static bool is_below(const struct http_head *head, const char *folder)
{
	size_t length = strlen(folder);
	return head->path_length >= length && memcmp(head->target, folder, length) == 0;
}

static bool is_docs(const struct http_head *head)
{
	return is_path(head, DOCS) || is_below(head, DOCS "/");
}

bool console_has_path(const struct http_head *head)
{
	return is_path(head, "/") || is_path(head, "/console") || is_below(head, ROOT) ||
	       is_docs(head);
}

/* Whether the name is that of a file, and not of a page: a repository may be called chart.js, and
 * has a page, but none directly below the root. */
static bool is_file_name(const char *name, size_t length)
{
	if (length >= sizeof(ASSETS) - 1 && memcmp(name, ASSETS, sizeof(ASSETS) - 1) == 0)
		return true;
	return !memchr(name, '/', length) && memchr(name, '.', length);
}

static const struct file *file_of(const struct console *console, const struct http_head *head)
{
	if (is_docs(head))
		return console->page;
	const char *name = head->target + sizeof(ROOT) - 1;
	size_t length = head->path_length - (sizeof(ROOT) - 1);
	return is_file_name(name, length) ? file_find(console, name, length) : console->page;
}

/* Browsers name text/html in their first requests; programs do not. */
static bool prefers_html(const struct http_head *head)
{
	const char *accept = http_head_get(head, "Accept");
	return accept && strstr(accept, "text/html");
}

enum err_code console_respond(const struct console *console, struct http_exchange *x,
                              const char *request_id)
{
	const struct http_head *head = &x->head;
	if (!head->is_head && strcmp(head->method, "GET") != 0)
		return ERR_METHOD;
	if (is_path(head, "/") && !prefers_html(head)) {
		send_links(x, request_id);
		return ERR_NONE;
	}
	if (!is_below(head, ROOT) && !is_docs(head)) {
		redirect(x, request_id);
		return ERR_NONE;
	}
	const struct file *file = console ? file_of(console, head) : NULL;
	if (!file)
		return ERR_NOT_FOUND;
	send_file(console, x, file, request_id);
	return ERR_NONE;
}
