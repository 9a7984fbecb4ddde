#include "interest/east_asian.h"

#include "base/base.h"

#include <stdbool.h>
#include <string.h>

/* Bytes of a hiragana or Han character of the basic plane. */
#define CHAR_BYTES ((size_t)3)

/* Simplified and traditional. Longer words before those that they begin with. */
static const char *const chinese_words[] = {
	"我们", "我們", "你们", "你們", "他们", "他們", "它们", "它們", "这些", "這些", "那些",
	"这个", "這個", "那个", "那個", "一个", "一個", "一种", "一種", "以及", "或者", "但是",
	"因为", "因為", "所以", "关于", "關於", "对于", "對於", "如何", "什么", "什麼", "可以",
	"能够", "能夠", "并且", "並且", "为了", "為了", "哪些", "没有", "沒有", "希望", "需要",
	"想要", "的",   "了",   "和",   "与",   "與",   "及",   "是",   "我",   "这",   "這",
	"那",   "吗",   "嗎",   "呢",   "请",   "請",   "也",
};

/* Whether a hiragana character stands at `text`: U+3041 to U+309F. */
static bool is_hiragana(const char *text)
{
	const unsigned char *c = (const unsigned char *)text;
	return c[0] == 0xe3 && ((c[1] == 0x81 && c[2] >= 0x81) || (c[1] == 0x82 && c[2] <= 0x9f)) &&
	       c[2] >= 0x80;
}

static bool has_hiragana(const char *text)
{
	for (; *text; text++)
		if (is_hiragana(text))
			return true;
	return false;
}

/* Length in bytes of the Chinese function word at `text`; 0: there is none. */
static size_t chinese_word_length(const char *text)
{
	if ((unsigned char)*text < 0x80)
		return 0;
	for (size_t i = 0; i < ARRAY_LEN(chinese_words); i++) {
		size_t length = strlen(chinese_words[i]);
		if (strncmp(text, chinese_words[i], length) == 0)
			return length;
	}
	return 0;
}

static size_t function_word_length(const char *text, bool is_japanese)
{
	if (is_japanese)
		return is_hiragana(text) ? CHAR_BYTES : 0;
	return chinese_word_length(text);
}

const char *without_east_asian_function_words(struct arena *arena, const char *text)
{
	struct buf out = {.arena = arena};
	bool is_japanese = has_hiragana(text);
	bool has_some = false;
	buf_puts(&out, "");
	for (const char *at = text; *at;) {
		size_t length = function_word_length(at, is_japanese);
		has_some |= length > 0;
		buf_add(&out, length ? " " : at, 1);
		at += length ? length : 1;
	}
	return has_some ? out.data : text;
}
