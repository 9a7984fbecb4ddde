#include "interest/interest_text.h"

#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* Replaces each run of white space by one space and trims the ends. */
static const char *squeeze(struct arena *arena, const char *text)
{
	struct buf out = {.arena = arena};
	buf_puts(&out, "");
	while (*(text += strspn(text, " \n"))) {
		size_t length = strcspn(text, " \n");
		buf_printf(&out, "%s%.*s", out.length ? " " : "", (int)length, text);
		text += length;
	}
	return out.data;
}

static const struct {
	const char *text;
	const char *topic; /* each run of white space is one space */
} rows[] = {
	{"Sparse attention, IO-aware.", "Sparse attention, IO-aware."},
	{"See https://arxiv.org/abs/2205.14135 for tiles", "See for tiles"},
	{"https://github.com/Dao-AILab/flash-attention/tree/main/hopper", "flash attention hopper"},
	{"https://github.com/Dao-AILab", "Dao AILab"},
	{"(https://example.org/blog/2026/05/speculative_decoding.html?id=7#top), and more",
         "( speculative decoding ), and more"},
	{"www.example.org/kv-cache and arXiv:2205.14135v2, arxiv.org/pdf/2205.14135 too",
         "kv cache and , too"},
	{"https://arxiv.org/abs/2205.14135", "https://arxiv.org/abs/2205.14135"},
	{"https://example.org https://", "https://example.org https://"},
	{"Quantisation. We do not want pruning or distillation. Int8, 1.5 bits.",
         "Quantisation. . Int8, 1.5 bits."},
	{"Not interested in GANs but in diffusion", "but in diffusion"},
	{"Agents; not looking for chat bots v1.5 or games; planning", "Agents; ; planning"},
	{"Users who do not want to wait", "Users who do not want to wait"},
	{"Renot interested in", "Renot interested in"},
	{"We don\xe2\x80\x99t want X", "We don\xe2\x80\x99t want X"},
	{"Wir suchen Verfahren für die Erkennung von Fehlern mit RAG und LLMs",
         "suchen Verfahren Erkennung Fehlern RAG LLMs"},
	{"Buscamos modelos de segmentación para el diagnóstico con U-Net",
         "Buscamos modelos segmentación diagnóstico U-Net"},
	{"Nous cherchons des méthodes pour la robotique avec peu de données",
         "cherchons méthodes robotique peu données"},
	{"Cerchiamo metodi per la sintesi di immagini con modelli di diffusione",
         "Cerchiamo metodi sintesi immagini modelli diffusione"},
	{"Procuramos métodos para a tradução de línguas com poucos dados",
         "Procuramos métodos tradução línguas poucos dados"},
	{"我们研究大语言模型的量化和LoRA微调", "研究大语言模型 量化 LoRA微调"},
	{"深度学习的不确定性估计", "深度学习 不确定性估计"},
	{"我們研究大型語言模型與RAG", "研究大型語言模型 RAG"},
	{"低資源言語の音声認識とTransformerについての論文を探しています",
         "低資源言語 音声認識 Transformer 論文 探"},
	{"的 和", "的 和"},
	{"", ""},
	{"\xff\xfe", "\xff\xfe"},
};

static void test_only_topic_words_are_kept(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_string_equal(squeeze(arena, interest_text_clean(arena, rows[i].text)),
		                    rows[i].topic);
	arena_free(arena);
}

/* It would take an hour if each address were looked for in all that follows it. */
static void test_many_addresses_are_read_in_one_pass(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	struct buf text = {.arena = arena};
	for (size_t i = 0; i < 1000000; i++)
		buf_puts(&text, "www. ");
	buf_puts(&text, "x");
	assert_string_equal(squeeze(arena, interest_text_clean(arena, text.data)), "x");
	arena_free(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_only_topic_words_are_kept),
		cmocka_unit_test(test_many_addresses_are_read_in_one_pass),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
