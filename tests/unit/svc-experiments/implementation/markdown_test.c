#include "implementation/markdown.h"

#include "arena_fixture.h"

#include <stdlib.h>
#include <string.h>

static const char *text_of(const char *text)
{
	struct buf out = {.arena = arena};
	markdown_text(&out, text);
	return out.data;
}

static void headings_are_lowered_and_texts_with_open_blocks_quoted(void **state)
{
	(void)state;
	static const char *const CASES[][2] = {
		{"Plain.", "Plain.\n"},
		{"\n\nOne.\r\nTwo.\rThree.\n \n", "One.\nTwo.\nThree.\n"},
		{"  - a\n    - b", "  - a\n    - b\n"},
		/* Headings are lowered below level 2, and keep their order. */
		{"# One\n## Two\n###### Six", "### One\n#### Two\n###### Six\n"},
		{"#### Four\n### Three", "#### Four\n### Three\n"},
		{"## Two\n#\tOne\n#\n#none\n    # code",
	         "#### Two\n###\tOne\n###\n#none\n    # code\n"},
		{"One\n===\n\nTwo\n---\ntext", "### One\n\n#### Two\ntext\n"},
		{"- item\n---\n> quote\n---\n1. one\n---",
	         "- item\n---\n> quote\n---\n1. one\n---\n"},
		{"above\n\n---\n\nbelow", "above\n\n---\n\nbelow\n"},
		{"####### seven", "####### seven\n"},
		/* Closed blocks are unchanged, and nothing in them is a heading. */
		{"```sh\n# comment\n```\n# One", "```sh\n# comment\n```\n### One\n"},
		{"~~~\n```\n~~~~ \n", "~~~\n```\n~~~~ \n"},
		{"``` a`b\ntext", "``` a`b\ntext\n"},
		{"- x\n  ```\n  # y\n  ```", "- x\n  ```\n  # y\n  ```\n"},
		{"<!-- # x\n\n# y -->\nz", "<!-- # x\n\n# y -->\nz\n"},
		{"<PRE>a</pre>", "<PRE>a</pre>\n"},
		{"<prefix> a\n<div>\n\nb", "<prefix> a\n<div>\n\nb\n"},
		/* Texts with an open block are quoted. */
		{"```\n# x", "> ```\n> # x\n"},
		{"````\n```\nx", "> ````\n> ```\n> x\n"},
		{"~~~\n~~~ x", "> ~~~\n> ~~~ x\n"},
		{"- x\n  ```\nout\n  ```", "> - x\n>   ```\n> out\n>   ```\n"},
		{"a\n<!-- b\n\nc", "> a\n> <!-- b\n>\n> c\n"},
		{"<script>\n", "> <script>\n"},
		{"<?php", "> <?php\n"},
	};
	for (size_t i = 0; i < ARRAY_LEN(CASES); i++)
		assert_string_equal(text_of(CASES[i][0]), CASES[i][1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ARENA_TEST(headings_are_lowered_and_texts_with_open_blocks_quoted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
