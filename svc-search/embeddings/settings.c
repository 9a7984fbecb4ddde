#include "embeddings/settings.h"

#include "embeddings/embedding_answer.h"

struct search_settings search_settings;

const struct setting SEARCH_SETTINGS[] = {
	SETTING_TEXT(&search_settings.indexer.data_dir, "DATA_DIR", "",
                     "Folder of this replica alone where the index is kept between starts; empty: "
                     "built anew each time."),
	SETTING_TEXT(&search_settings.llm_url, "LLM_URL", "",
                     "Base address of an OpenAI-compatible interface, such as "
                     "https://api.example.com/v1; empty: none."),
	SETTING_TEXT(&search_settings.llm_model, "LLM_MODEL", "",
                     "Model that widens a query when use_llm is asked."),
	SETTING_SECRET(&search_settings.llm_key, "LLM_KEY", "", "Bearer key of LLM_URL."),
	SETTING_MS(&search_settings.llm_timeout_ms, "LLM_TIMEOUT", "5s", 100, 60000,
                   "How long a search waits for the model."),
	SETTING_TEXT(&search_settings.embeddings.url, "EMBEDDINGS_URL", "",
                     "Base address of an OpenAI-compatible interface that embeds papers and "
                     "queries, such as https://api.example.com/v1; empty: they are embedded by "
                     "what the index learns from the papers themselves."),
	SETTING_TEXT(&search_settings.embeddings.model, "EMBEDDINGS_MODEL", "",
                     "Model of EMBEDDINGS_URL; another name means that all papers are embedded "
                     "anew."),
	SETTING_SECRET(&search_settings.embeddings.key, "EMBEDDINGS_KEY", "",
                       "Bearer key of EMBEDDINGS_URL."),
	SETTING_INT(&search_settings.embeddings.dimension, "EMBEDDINGS_DIMENSION", "0", 0,
                    EMBEDDING_MAX_DIMENSION,
                    "Elements of a vector that are asked of a model that can shorten its own; 0: "
                    "not asked."),
	SETTING_MS(&search_settings.embeddings.timeout_ms, "EMBEDDINGS_TIMEOUT", "3s", 100, 60000,
                   "How long a search waits for its vector before it goes by words alone; a batch "
                   "of papers may take ten times as long."),
	SETTING_INT(&search_settings.embeddings.batch, "EMBEDDINGS_BATCH", "64", 1, 512,
                    "Papers that are embedded in one call, at most."),
	SETTING_BYTES(&search_settings.embeddings.text_max_bytes, "EMBEDDINGS_MAX_TEXT", "8KiB",
                      256, 65536,
                      "Of a longer text only so much is embedded; four bytes are about a token."),
	SETTING_TEXT(&search_settings.oai_url, "OAI_URL", "https://oaipmh.arxiv.org/oai",
                     "OAI-PMH address that harvest asks."),
	SETTING_MS(&search_settings.harvest_delay_ms, "HARVEST_DELAY", "3s", 0, 600000,
                   "Pause between two requests of harvest; arXiv asks for 3 s."),
	SETTING_END,
};
