/* forward.h: the options agreed on as words for libnvJitLink and ptxas.
 *
 * minilink-internals(7), Option forwarding. The spellings are those of libnvJitLink, which hands
 * them to libnvvm, and of ptxas; members carry cicc's (options/consensus.h). */
#pragma once

#include "base/memory.h"
#include "options/consensus.h"

/* Appends "name=value"; nothing when the value is NULL or empty. */
void forward_value(struct word_list *words, const char *name, const char *value);

/* These three append options for libnvJitLink, each only if it changes a default. -split-compile:
 * the value of -split-compile-extended, which wins, or that of -split-compile; libnvvm may use up
 * to `most_threads`. */
void forward_split(struct word_list *words, const struct agreement *agreement,
                   int32_t most_threads);

/* -nvvm-latest. */
void forward_latest(struct word_list *words, const struct option_request *request);

/* -g, -lineinfo, -maxrregcount, -Ofc and -nvvm-latest. */
void forward_agreed(struct word_list *words, const struct agreement *agreement,
                    const struct option_request *request);

/* -ftz, -prec-div, -prec-sqrt and -fma, if the members that have them agree. Measured: nvlink
 * leaves the arithmetic to what the LTO-IR says, unless -Xnvvm changes anything. */
void forward_arithmetic(struct word_list *words, const struct agreement *agreement);

/* The options of ptxas besides those that every assembler gets: -Ofc and, for a whole program
 * (several chunks are parallel enough), -split-compile, as nvlink gives them; then the words of
 * `given` (-Xptxas; ends with NULL, or is NULL). In `arena`; ends with NULL. */
const char *const *forward_to_ptxas(struct arena *arena, const struct agreement *agreement,
                                    const struct option_request *request, const char *const *given,
                                    bool is_whole);
