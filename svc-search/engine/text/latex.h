/** Parses LaTeX commands, which arXiv titles and abstracts contain: `$\mathcal{O}(n\log n)$`,
 * `G\"odel`. */
#pragma once

#include <stddef.h>

enum latex_kind {
	LATEX_BREAK,      /* separates words: formatting, a sign such as `\,`, a lone backslash */
	LATEX_ACCENT,     /* ignored; the letter that follows continues the word */
	LATEX_LETTER,     /* a letter of a word: `\o`, `\ss`; `text` is its plain spelling */
	LATEX_WORD,       /* a word by itself: `\alpha`, `\log`; `text` is the command's name */
	LATEX_UNDERSCORE, /* `\_` */
};

struct latex {
	enum latex_kind kind;
	size_t length;      /* bytes of the command in the source */
	const char *text;   /* for LATEX_LETTER and LATEX_WORD: in the source, or static */
	size_t text_length; /* bytes of `text` */
};

/** Parse the command at `text`, which begins with a backslash; `length` bytes are readable. */
struct latex latex_parse(const char *text, size_t length);
