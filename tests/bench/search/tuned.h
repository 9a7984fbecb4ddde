/** The constants of the search engine as variables, for search_left_out.c. The files of the engine
 * are compiled with this header included first, so that its macros replace the constants. */
#pragma once

struct tuned {
	float k1, b;                              /* bm25.h */
	float pair_weight;                        /* proximity.h */
	float dense_weight, dense_weight_covered; /* fusion.h */
	float feedback;                           /* fusion.h */
};

/** Defined by the program. Changes of k1 and b affect only indexes built afterwards. */
extern struct tuned tuned;

#ifdef ENGINE_IS_TUNED
#define BM25_K1                     tuned.k1
#define BM25_B                      tuned.b
#define PROXIMITY_PAIR_WEIGHT       tuned.pair_weight
#define FUSION_DENSE_WEIGHT         tuned.dense_weight
#define FUSION_DENSE_WEIGHT_COVERED tuned.dense_weight_covered
#define FUSION_FEEDBACK             tuned.feedback
#endif
