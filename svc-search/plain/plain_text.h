/** svc-search/plain/: what people write in LaTeX and HTML, in plain Unicode. Papers are stored and
 * indexed in this form beside their source, and queries are converted to it. */
#pragma once

#include "base/arena.h"

/** Rises when plain_text() changes. Stored papers of an older version are converted again. */
#define PLAIN_TEXT_VERSION 1

/** `text` as it is shown, in Unicode's normal form C:
 *
 *     Jos\'e Garc\'{\i}a, {\v Z}eljko, \O rsted       José García, Željko, Ørsted
 *     $\alpha$-divergence, $O(n^2 \log n)$, CO$_2$    α-divergence, O(n² log n), CO₂
 *     \emph{very} \textbf{deep}, ``{BERT}''           very deep, “BERT”
 *     Fig.~2, 3--5, AT\&T, R&amp;D, caf&eacute;       Fig. 2, 3–5, AT&T, R&D, café
 *
 * What cannot be said so, such as `$\int_0^1 f$` or `\cite{x}`, stays as it is, a formula as a
 * whole; so do dollar signs that are prices, and addresses. Spaces that the conversion leaves are
 * collapsed. `text` itself when there is nothing to convert or nothing would be left, else in the
 * arena. */
const char *plain_text(struct arena *arena, const char *text);
