#include "plain/plain_text.h"

#include "arena_fixture.h"
#include "base/base.h"
#include "json/json.h"
#include "plain/plain_row.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static const char *const ROWS[][2] = {
	/* accents */
	{"Jos\\'e Garc\\'{\\i}a", "José García"},
	{"Garc\\'\\i a, {\\'E}cole, \\'{e}t\\'e", "García, École, été"},
	{"G\\\"odel, G{\\\"o}del, Sch\\\"{o}n, \\\"Uber", "Gödel, Gödel, Schön, Über"},
	{"{\\v Z}eljko, \\v{z}, \\v z, Fran\\c{c}ois, \\c ca", "Željko, ž, ž, François, ça"},
	{"Erd\\H{o}s, Erd\\H os, \\k{a}, \\r{u}, \\u g, \\d{t}, \\=a, \\.z",
         "Erdős, Erdős, ą, ů, ğ, ṭ, ā, ż"},
	{"\\O rsted, \\o{}, S{\\o}ren, \\L{}ukasz, {\\L}ukasz, \\ss, stra\\ss e, \\AA ngstr\\\"om",
         "Ørsted, ø, Søren, Łukasz, Łukasz, ß, straße, Ångström"},
	{"\\~n \\^o \\`a {\\ae} \\OE", "ñ ô à æ Œ"},
	{"a\\~{}b", "a~b"},
	{"\\'", "\\'"},
	{"\\'9", "\\'9"},
	/* formats and signs */
	{"\\emph{very} \\textbf{deep} {\\it net}", "very deep net"},
	{"\\textbf{a \\emph{b $\\alpha$}}", "a b α"},
	{"``{BERT}'' and {B}ayesian f''", "“BERT” and Bayesian f''"},
	{"{0,1}, {n}, {a, b}, {}", "{0,1}, {n}, {a, b}, {}"},
	{"Fig.~2, et~al., ~100, http://x.org/~me", "Fig. 2, et al., ~100, http://x.org/~me"},
	{"3--5 --- a -- b, --help, a---b", "3–5 — a – b, --help, a—b"},
	{"AT\\&T, 5\\%, \\$5, a\\_b, \\{x\\}", "AT&T, 5%, $5, a_b, {x}"},
	{"R&amp;D, caf&eacute;, &#233;, &#xE9;, &#XE9;, &lt;b&gt;", "R&D, café, é, é, é, <b>"},
	{"A & B; AT&T; &unknown; &#0; &#xD800; &", "A & B; AT&T; &unknown; &#0; &#xD800; &"},
	{"see https://github.com/a/low\\_rank, \\url{http://a.b/c_d}",
         "see https://github.com/a/low_rank, http://a.b/c_d"},
	{"\\href{http://x.y}{here}, \\cite{a~b}, \\foo", "here, \\cite{a~b}, \\foo"},
	{"H\\textsubscript{2}O, \\LaTeX{} and \\alpha-divergence", "H₂O, LaTeX and α-divergence"},
	/* formulas */
	{"$\\alpha$-divergence", "α-divergence"},
	{"$\\mathcal{O}(n^2)$, $O(n\\log n)$, $\\mathcal O(n^{10})$", "O(n²), O(n log n), O(n¹⁰)"},
	{"$p\\leq\\infty$, $x \\geq 0$, $\\ell_1$, CO$_2$, $10^{-3}$", "p≤∞, x ≥ 0, ℓ₁, CO₂, 10⁻³"},
	{"$\\mathbb{R}^n$, $\\sqrt{n}$, $\\sqrt{n+1}$, $\\frac{1}{2}$", "ℝⁿ, √n, √(n+1), 1/2"},
	{"$\\tilde{O}(n)$, $\\hat x$, $f'$, $A^*$, $30^\\circ$", "Õ(n), x̂, f′, A*, 30°"},
	{"\\(\\beta\\)-VAE, $$\\gamma$$, $\\left(a\\right)$", "β-VAE, γ, (a)"},
	{"$\\int_{\\Omega} f$, $x^{n/2}$, $\\foo$", "$\\int_{\\Omega} f$, $x^{n/2}$, $\\foo$"},
	{"costs $5 and $10, US$ 3, $5-$10", "costs $5 and $10, US$ 3, $5-$10"},
	{"$a_{ij}$ and $\\mathrm{SO}(3)$", "aᵢⱼ and SO(3)"},
	/* normal forms */
	{"e\xCC\x81", "é"},
	{"a -- e\xCC\x81", "a – é"},
	{"\xE1\x84\x92\xE1\x85\xA1\xE1\x86\xAB", "한"},
	{"\xD0\xB8\xCC\x86", "й"},
	{"\xE3\x81\x8B\xE3\x82\x99", "が"},
	{"plain text", "plain text"},
	{"\\xspace", "\\xspace"},
	{"", ""},
};

static void test_texts(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++)
		assert_string_equal(plain_text(arena, ROWS[i][0]), ROWS[i][1]);
}

static void test_a_plain_text_is_not_copied(void **state)
{
	static const char TEXT[] = "Low-rank adaptation, été (2021)";
	(void)state;
	assert_ptr_equal(plain_text(arena, TEXT), TEXT);
	assert_string_equal(plain_text(arena, plain_text(arena, "\\'e")), "é");
}

/* Every beginning of a text and every deep nesting is converted in bounds. */
static void test_cut_and_deep_texts(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++)
		for (size_t length = 0; length < strlen(ROWS[i][0]); length++)
			assert_non_null(
				plain_text(arena,
			                   arena_strdup(arena,
			                                arena_strndup(arena, ROWS[i][0], length))));
	static const char *const OPEN[] = {"{",    "\\emph{", "$\\sqrt{", "$x^{",
	                                   "\\'{", "``",      "\\",       "$"};
	for (size_t i = 0; i < ARRAY_LEN(OPEN); i++) {
		struct buf text = {.arena = arena};
		for (int k = 0; k < 3000; k++)
			buf_puts(&text, OPEN[i]);
		assert_non_null(plain_text(arena, text.data));
		for (int k = 0; k < 3000; k++)
			buf_puts(&text, "}");
		assert_non_null(plain_text(arena, text.data));
	}
}

static void test_rows_keep_their_source(void **state)
{
	static const char ROW[] = "{\"title\": \"$\\\\alpha$\", \"abstract\": \"b\","
				  "\"authors\": [\"A\", \"Jos\\\\'e\"]}";
	(void)state;
	yyjson_val *parsed;
	yyjson_mut_doc *doc = json_doc_new(arena);
	assert_int_equal(json_parse(arena, ROW, strlen(ROW), &parsed, NULL), ERR_NONE);
	yyjson_mut_val *row = yyjson_val_mut_copy(doc, parsed);
	plain_row(arena, doc, row);
	assert_string_equal(json_write_mut(arena, row, NULL),
	                    "{\"title\":\"α\",\"abstract\":\"b\",\"authors\":[\"A\",\"José\"],"
	                    "\"source_title\":\"$\\\\alpha$\",\"source_abstract\":null,"
	                    "\"source_authors\":[\"A\",\"Jos\\\\'e\"]}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ARENA_TEST(test_texts),
		ARENA_TEST(test_a_plain_text_is_not_copied),
		ARENA_TEST(test_cut_and_deep_texts),
		ARENA_TEST(test_rows_keep_their_source),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
