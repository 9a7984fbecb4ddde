#include "engine/text/stopword.h"

#include <string.h>

/* By first letter, separated and surrounded by spaces. Articles, pronouns, prepositions,
 * conjunctions and auxiliaries; no nouns, and no adverb that could be a subject. */
static const char *const words[26] = {
	['a' - 'a'] =
		(" a about above after again against all also although am among an and any are"
                 " as at "),
	['b' - 'a'] = " be because been before being below between both but by ",
	['c' - 'a'] = " can cannot could ",
	['d' - 'a'] = " did do does doing don done down during ",
	['e' - 'a'] = " each either etc ",
	['f' - 'a'] = " few for from further ",
	['h' - 'a'] = " had has have having he her here hers herself him himself his how however ",
	['i' - 'a'] = " i if in into is it its itself ",
	['j' - 'a'] = " just ",
	['l' - 'a'] = " let ",
	['m' - 'a'] = " may me might more most much must my myself ",
	['n' - 'a'] = " nor not ",
	['o' - 'a'] = (" of off on once only onto or other otherwise ought our ours ourselves out"
                       " over own "),
	['p' - 'a'] = " per ",
	['r' - 'a'] = " rather ",
	['s' - 'a'] = " same shall she should since so some such ",
	['t' - 'a'] = (" than that the their theirs them themselves then there therefore these they"
                       " this those though through thus to too toward towards "),
	['u' - 'a'] = " under until up upon us ",
	['v' - 'a'] = " very via ",
	['w' - 'a'] = (" was we were what when where whereas whether which while who whom whose why"
                       " will with within without would "),
	['y' - 'a'] = " yet you your yours yourself ",
};

/* Bytes of the longest stop word, with the two spaces around it and a terminator. */
#define ROOM 16

bool stopword_is(const char *text, size_t length)
{
	if (length == 0 || length > ROOM - 3 || text[0] < 'a' || text[0] > 'z')
		return false;
	if (!words[text[0] - 'a'] || memchr(text, ' ', length))
		return false;
	char word[ROOM];
	word[0] = ' ';
	memcpy(word + 1, text, length);
	word[length + 1] = ' ';
	word[length + 2] = '\0';
	return strstr(words[text[0] - 'a'], word) != NULL;
}
