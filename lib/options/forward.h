/* forward.h: the options that libnvvm is told, from the options agreed on.
 *
 * minilink-internals(7), Option forwarding; the spellings were measured on nvlink 13.0. */
#ifndef MINILINK_OPTIONS_FORWARD_H
#define MINILINK_OPTIONS_FORWARD_H

#include "options/consensus.h"

/* Fills in agreement->forwarded from the agreement's values in force: -split-compile-extended=N or
 * -split-compile=N unless N is 1, -g, -generate-line-info, -maxreg=N, -Ofast-compile=X; the
 * arithmetic options only when the request has some -Xnvvm. The strings live in agreement->arena.
 */
void forward_options(struct agreement *agreement, const struct option_request *request);

/* The options of ptxas beside those that every assembler gets: -Ofc and, for a whole program, as
 * several chunks are split enough, -split-compile, as nvlink gives them; then the words of `given`
 * (-Xptxas; ends with NULL, or is NULL). In agreement->arena; ends with NULL. */
const char *const *forward_to_ptxas(struct agreement *agreement,
                                    const struct option_request *request, const char *const *given,
                                    bool is_whole);

#endif
