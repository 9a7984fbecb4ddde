#include "interest/language.h"

#include "base/base.h"

#include <string.h>

/* Function words that a text must have. One or two prove nothing: "die" is English, too. */
#define WORDS_MIN 3

/* The longest function word with a space on each side and the NUL. */
#define WORD_BUFFER 16

struct language {
	const char *function_words; /* lower case, each with a space before and after */
};

static const struct language english = {
	" a an and are as at be but by can for from has have how i if in into is it its not of on "
	"or our so that the their them these they this to us was we what when which while who why "
	"will with without "};

static const struct language others[] = {
	/* German */
	{" aber als am an auch auf aus bei beim bis da damit das dass dem den denen der deren des "
         "die dies diese diesem diesen dieser dieses doch durch ein eine einem einen einer eines "
         "er es für fuer haben hat ich ihr ihre im in ins ist kann können koennen man mit nach "
         "nicht noch nur ob oder ohne sehr sein sich sie sind so sowie um und uns unser unsere "
         "unter vom von vor wenn werden wie wir wird zu zum zur zwischen über ueber "},
	/* French */
	{" au aux avec ce ces cette comme comment d dans de des donc du elle en est et eux ils je "
         "l la le les leur leurs lui mais même ne nos notre nous on ont ou où par pas plus pour qu "
         "que quels quelles qui sa sans se ses si son sont sous sur très un une vers vos votre "
         "vous y à être "},
	/* Spanish */
	{" a al como con cuando de del donde e el ella en entre era es esta este esto estos está "
         "están ha hay la las le les lo los más muy no nos nuestra nuestro o para pero por porque "
         "que qué se ser si sin sobre son su sus también un una unos y ya "},
	/* Italian */
	{" a ai al alla alle anche che chi ci come con cui da dal dalla degli dei del della delle "
         "dello di e ed gli ha hanno i il in la le lo ma nei nel nella nelle noi non nostra "
         "nostro o per perché più quando questa questo se senza si sono su sua sul sulla sulle "
         "suo tra un una uno è "},
	/* Portuguese */
	{" a ao aos as com como da das de do dos e ela em entre era essa este está há mais mas na "
         "nas no nos nossa nosso não o os ou para pela pelo por quando que quem se sem ser seu "
         "sobre sua são também um uma às à é "},
	/* Dutch */
	{" aan al als bij dan dat de deze die dit door een en er het hoe ik in is kan maar met "
         "naar niet nog of om onder ons onze ook op over te tot tussen uit van veel voor waar wat "
         "we wij wordt worden zich zijn zonder zoals "},
	/* Swedish */
	{" att av de den det du efter eller en ett från för gör har hur i inte kan man med mellan "
         "men mot när och om på samt sig som så till under ut utan vad var vi vid vill vår våra "
         "är över "},
};

size_t language_word_length(const char *text)
{
	size_t length = 0;
	for (; text[length]; length++) {
		unsigned char c = (unsigned char)text[length];
		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c >= 0x80))
			break;
	}
	return length;
}

bool language_has_function_word(const struct language *language, const char *word, size_t length)
{
	char framed[WORD_BUFFER];
	if (!language || length == 0 || length > WORD_BUFFER - 3)
		return false;
	framed[0] = ' ';
	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)word[i];
		/* The second byte of a Latin-1 letter (after 0xc3) has the case in the same bit as
		 * ASCII. */
		bool is_latin = i > 0 && (unsigned char)word[i - 1] == 0xc3 && c < 0xa0;
		framed[i + 1] = (char)(((c >= 'A' && c <= 'Z') || is_latin) ? c + 0x20 : c);
	}
	framed[length + 1] = ' ';
	framed[length + 2] = '\0';
	return strstr(language->function_words, framed) != NULL;
}

static size_t count_function_words(const struct language *language, const char *text)
{
	size_t count = 0;
	while (*text) {
		size_t length = language_word_length(text);
		count += language_has_function_word(language, text, length);
		text += length ? length : 1;
	}
	return count;
}

const struct language *language_detect(const char *text)
{
	const struct language *found = NULL;
	size_t most = MAX_OF(count_function_words(&english, text), (size_t)WORDS_MIN - 1);
	for (size_t i = 0; i < ARRAY_LEN(others); i++) {
		size_t count = count_function_words(&others[i], text);
		if (count <= most)
			continue;
		most = count;
		found = &others[i];
	}
	return found;
}
