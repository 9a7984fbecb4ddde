/** LaTeX commands inside titles and abstracts, as arXiv gives them: `$\mathcal{O}(n\log n)$`,
 * `G\"odel`. */
#pragma once

#include <stddef.h>

enum latex_kind {
	LATEX_BREAK,  /* separates words: a spacing, formatting or unknown one-character command */
	LATEX_ACCENT, /* nothing by itself; the letter that follows belongs to the word before */
	LATEX_LETTER, /* a letter of the word: `\o`, `\ss`; `text` is its plain spelling */
	LATEX_WORD,   /* a word by itself: `\alpha`, `\log`; `text` is the command's name */
	LATEX_UNDERSCORE, /* `\_` */
};

struct latex {
	enum latex_kind kind;
	size_t length;      /* bytes of the source that the command takes */
	const char *text;   /* for LATEX_LETTER and LATEX_WORD; borrows from the source or static */
	size_t text_length; /* bytes of `text` */
};

/** Read the command at `text`, whose first byte is a backslash and of which `length` bytes are
 * readable. */
struct latex latex_parse(const char *text, size_t length);
