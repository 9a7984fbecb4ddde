#include "interest/language.h"

#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* A text, a function word of its language, and a word that is no function word of it. */
static const struct {
	const char *text;
	const char *function_word; /* NULL: English or an unknown language */
	const char *other;
} rows[] = {
	{"Wir suchen Verfahren, mit denen Sprachmodelle für die Analyse von Texten taugen", "von",
         "suchen"},
	{"Nous cherchons des méthodes pour les grands modèles de langue dans la santé", "les",
         "langue"},
	{"Buscamos métodos para los modelos de lenguaje con los que se resumen textos", "los",
         "textos"},
	{"Cerchiamo metodi per la sintesi di testi che non sono scritti in italiano", "che",
         "testi"},
	{"Procuramos métodos para os modelos de linguagem que não são do inglês", "não", "modelos"},
	{"Wij zoeken methoden voor het samenvatten van teksten die niet te lang zijn", "het",
         "teksten"},
	{"Vi söker metoder för att sammanfatta texter som är skrivna på svenska", "är", "texter"},
	{"Die casting and the van of the die: it is not German, and not Dutch", NULL, "die"},
	{"Retrieval von Texten", NULL, "von"},
	{"検索の方法", NULL, "von"},
	{"", NULL, "von"},
};

static void test_language_and_its_function_words(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct language *language = language_detect(rows[i].text);
		const char *word = rows[i].function_word, *other = rows[i].other;
		assert_int_equal(language != NULL, word != NULL);
		assert_false(language_has_function_word(language, other, strlen(other)));
		if (word)
			assert_true(language_has_function_word(language, word, strlen(word)));
	}
}

static void test_case_is_ignored(void **state)
{
	(void)state;
	const struct language *german = language_detect(rows[0].text);
	assert_true(language_has_function_word(german, "FÜR", strlen("FÜR")));
	assert_true(language_has_function_word(german, "Über", strlen("Über")));
	assert_false(language_has_function_word(german, "", 0));
	assert_false(language_has_function_word(german, "der die", strlen("der die")));
	const char *longer = "derdiedasderdiedasderdiedas";
	assert_false(language_has_function_word(german, longer, strlen(longer)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_language_and_its_function_words),
		cmocka_unit_test(test_case_is_ignored),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
