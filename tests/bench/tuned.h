/** The search engine's constants as variables, for search_left_out.c: the engine's own files are
 * compiled with this header before all others, so that its names stand in the place of the
 * constants. */
#pragma once

struct tuned {
	float k1, b;        /* bm25.h */
	float pair_weight;  /* proximity.h */
	float dense_weight; /* fusion.h */
	float feedback;     /* fusion.h */
};

/** Belongs to the program; k1 and b take effect in indexes that are made afterwards. */
extern struct tuned tuned;

#ifdef ENGINE_IS_TUNED
#define BM25_K1               tuned.k1
#define BM25_B                tuned.b
#define PROXIMITY_PAIR_WEIGHT tuned.pair_weight
#define FUSION_DENSE_WEIGHT   tuned.dense_weight
#define FUSION_FEEDBACK       tuned.feedback
#endif
