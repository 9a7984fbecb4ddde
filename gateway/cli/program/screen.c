#include "program/screen.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define DEFAULT_COLUMNS 80
#define COLUMNS_MIN     20
#define COLUMNS_MAX     10000

static size_t columns_of_environment(void)
{
	const char *text = getenv("COLUMNS");
	char *end;
	long columns = text ? strtol(text, &end, 10) : 0;
	return columns > 0 && columns <= COLUMNS_MAX && *end == '\0'
	               ? (size_t)MAX_OF(columns, COLUMNS_MIN)
	               : 0;
}

static size_t columns_of_terminal(void)
{
	struct winsize size;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_col == 0)
		return DEFAULT_COLUMNS;
	return MAX_OF(size.ws_col, COLUMNS_MIN);
}

void screen_init(struct screen *screen)
{
	const char *no_color = getenv("NO_COLOR"), *terminal = getenv("TERM");
	screen->is_terminal = isatty(STDOUT_FILENO);
	screen->has_colors = screen->is_terminal && !(no_color && *no_color) &&
	                     !(terminal && strcmp(terminal, "dumb") == 0);
	screen->columns = columns_of_environment();
	if (screen->columns == 0 && screen->is_terminal)
		screen->columns = columns_of_terminal();
}

const char *screen_style(const struct screen *screen, struct arena *arena, enum style style,
                         const char *text)
{
	static const char *const CODES[STYLE_COUNT] = {"", "1", "2", "31", "32", "33"};
	if (!screen->has_colors || style == STYLE_NONE || *text == '\0')
		return text;
	return arena_printf(arena, "\033[%sm%s\033[0m", CODES[style], text);
}

enum style screen_style_of(const char *word)
{
	static const struct {
		const char *word;
		enum style style;
	} STYLES[] = {
		{"active", STYLE_GREEN},       {"completed", STYLE_GREEN},
		{"merged", STYLE_GREEN},       {"ready", STYLE_GREEN},
		{"shipped", STYLE_GREEN},      {"succeeded", STYLE_GREEN},
		{"pull_request", STYLE_GREEN}, {"building", STYLE_YELLOW},
		{"pending", STYLE_YELLOW},     {"queued", STYLE_YELLOW},
		{"running", STYLE_YELLOW},     {"warning", STYLE_YELLOW},
		{"stale", STYLE_YELLOW},       {"critical", STYLE_RED},
		{"error", STYLE_RED},          {"expired", STYLE_RED},
		{"failed", STYLE_RED},         {"rejected", STYLE_RED},
		{"revoked", STYLE_RED},        {"timed_out", STYLE_RED},
	};
	for (size_t i = 0; i < ARRAY_LEN(STYLES); i++)
		if (strcmp(STYLES[i].word, word) == 0)
			return STYLES[i].style;
	return STYLE_NONE;
}
