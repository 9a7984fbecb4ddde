#include "settings.h"

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
	SETTING_TEXT(&search_settings.oai_url, "OAI_URL", "https://oaipmh.arxiv.org/oai",
                     "OAI-PMH address that harvest asks."),
	SETTING_MS(&search_settings.harvest_delay_ms, "HARVEST_DELAY", "3s", 0, 600000,
                   "Pause between two requests of harvest; arXiv asks for 3 s."),
	SETTING_END,
};
