#include "observe/log.h"

#include "base/arena.h"
#include "base/timefmt.h"
#include "json/json.h"
#include "log_groups.h"
#include "observe/log_writer.h"

#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* PIPE_BUF of Linux: the most that one write(2) adds to a pipe atomically. Longer text is cut. */
#define LINE_MAX_BYTES 4096
#define FLUSH_MS       1000 /* longest wait for a reader at the end of the process */
#define LINE_RESERVE   768  /* for the names, numbers and end that follow a text that was cut */
#define LINE_USUAL     512  /* most lines fit into it */

static const char *const LEVEL_NAMES[] = {"debug", "info", "warn", "error"};

/* Those of all processes, since LOG_LEVEL may be the same for all. */
static const char *const GROUPS[] = {LOG_GROUPS};

struct group_level {
	const char *group;
	enum log_level level;
};

/* Set before other threads start. */
static struct {
	const char *process;
	enum log_level level; /* of groups without one */
	struct group_level groups[ARRAY_LEN(GROUPS)];
	size_t group_count;
} logger = {.process = "", .level = LOG_INFO};

static _Thread_local const char *request_id;
static const char *(*id_source)(void);

/* The index of the word in `names`; -1: it is not there. */
static int find_word(const char *const *names, size_t count, const char *word, size_t length)
{
	for (size_t i = 0; i < count; i++) {
		if (strlen(names[i]) == length && memcmp(names[i], word, length) == 0)
			return (int)i;
	}
	return -1;
}

static int find_level(const char *word, size_t length)
{
	return find_word(LEVEL_NAMES, ARRAY_LEN(LEVEL_NAMES), word, length);
}

/* Read `pg=debug`. False: it is not of this form. */
static bool read_group(const char *text, size_t length, struct group_level *ret)
{
	const char *equals = memchr(text, '=', length);
	if (!equals)
		return false;
	size_t name_length = (size_t)(equals - text);
	int group = find_word(GROUPS, ARRAY_LEN(GROUPS), text, name_length);
	int level = find_level(equals + 1, length - name_length - 1);
	if (group < 0 || level < 0)
		return false;
	*ret = (struct group_level){GROUPS[group], (enum log_level)level};
	return true;
}

static struct group_level *find_group(struct group_level *groups, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(groups[i].group, name) == 0)
			return &groups[i];
	return NULL;
}

enum err_code log_init(const char *process, const char *levels)
{
	struct group_level groups[ARRAY_LEN(GROUPS)];
	size_t count = 0, length = strcspn(levels, ",");
	int level = find_level(levels, length);
	if (level < 0)
		return ERR_INVALID;
	for (const char *item = levels + length; *item != '\0'; item += length) {
		struct group_level named, *known;
		item++;
		length = strcspn(item, ",");
		if (!read_group(item, length, &named))
			return ERR_INVALID;
		known = find_group(groups, count, named.group);
		*(known ? known : &groups[count++]) = named;
	}
	memcpy(logger.groups, groups, count * sizeof(*groups));
	logger.group_count = count;
	logger.level = (enum log_level)level;
	logger.process = process;
	return ERR_NONE;
}

bool log_enabled(const char *group, enum log_level level)
{
	const struct group_level *named = find_group(logger.groups, logger.group_count, group);
	return level >= (named ? named->level : logger.level);
}

void log_set_id_source(const char *(*source)(void))
{
	id_source = source;
}

void log_set_request_id(const char *id)
{
	request_id = id;
}

/* Append as a JSON string, cut between two characters so that the line fits. */
static void add_text(struct buf *line, const char *text)
{
	size_t mark = line->length;
	size_t length = strnlen(text, LINE_MAX_BYTES);
	json_quote_for_terminal(line, text, length);
	while (line->length > LINE_MAX_BYTES - LINE_RESERVE && length > 0) {
		line->length = mark;
		length /= 2;
		while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80)
			length--;
		json_quote_for_terminal(line, text, length);
	}
}

static void add_name(struct buf *line, const char *name)
{
	buf_add(line, ",\"", 2);
	buf_puts(line, name);
	buf_add(line, "\":", 2);
}

/* Append microseconds as milliseconds: 1500 as 1.500. */
static void add_ms(struct buf *line, int64_t us)
{
	char fraction[] = {'.', (char)('0' + us / 100 % 10), (char)('0' + us / 10 % 10),
	                   (char)('0' + us % 10)};
	buf_add_int(line, us / 1000);
	buf_add(line, fraction, sizeof(fraction));
}

static void add_text_member(struct buf *line, const char *name, const char *text)
{
	add_name(line, name);
	add_text(line, text);
}

static void add_field(struct buf *line, const struct log_field *field)
{
	add_name(line, field->name);
	if (field->type == LOG_INT)
		buf_add_int(line, field->integer);
	else if (field->type == LOG_MS)
		add_ms(line, field->integer);
	else if (field->type == LOG_BOOL)
		buf_puts(line, field->boolean ? "true" : "false");
	else if (field->type == LOG_FLOAT && isfinite(field->number))
		buf_printf(line, "%.12g", field->number);
	else if (field->type == LOG_TEXT && field->text)
		add_text(line, field->text);
	else
		buf_puts(line, "null");
}

static int log_descriptor = STDOUT_FILENO;

void log_set_descriptor(int descriptor)
{
	log_descriptor = descriptor;
}

static void format_line(struct buf *line, const char *group, enum log_level level,
                        const char *message, const struct log_field *fields)
{
	char now[TIME_TEXT_LEN + 1];
	time_format(time_now_ms(), now);
	buf_reserve(line, LINE_USUAL);
	buf_puts(line, "{\"time\":\"");
	buf_add(line, now, TIME_TEXT_LEN);
	buf_puts(line, "\",\"level\":\"");
	buf_puts(line, LEVEL_NAMES[level]);
	buf_puts(line, "\"");
	add_text_member(line, "process", logger.process);
	add_text_member(line, "group", group);
	add_text_member(line, "message", message);
	const char *id = id_source ? id_source() : NULL;
	if (!id)
		id = request_id;
	if (id)
		add_text_member(line, "request_id", id);
	for (; fields && fields->type != LOG_END; fields++)
		add_field(line, fields);
	buf_puts(line, "}\n");
}

static void format_dropped(struct buf *line, uint64_t count)
{
	const struct log_field fields[] = {f_int("lines", count), {LOG_END}};
	format_line(line, LOG_GROUP, LOG_WARN, "log lines were dropped: their reader was too slow",
	            fields);
}

void log_start_writer(void)
{
	struct stat info;
	if (fstat(log_descriptor, &info) == 0 && !S_ISREG(info.st_mode))
		log_writer_start(log_descriptor, format_dropped);
}

void log_flush(void)
{
	log_writer_flush(FLUSH_MS);
}

bool log_is_due(struct log_pause *pause, uint64_t pause_ms)
{
	uint64_t now_ms = time_monotonic_ms(), until_ms = pause->until_ms;
	return now_ms >= until_ms &&
	       atomic_compare_exchange_strong(&pause->until_ms, &until_ms, now_ms + pause_ms);
}

void log_write(const char *group, enum log_level level, const char *message,
               const struct log_field *fields)
{
	int saved_errno = errno;
	struct arena *arena = arena_new();
	struct buf line = {.arena = arena};
	format_line(&line, group, level, message, fields);
	if (!log_writer_add(line.data, line.length, level >= LOG_WARN))
		log_write_lines(log_descriptor, line.data, line.length);
	arena_free(arena);
	errno = saved_errno;
}
