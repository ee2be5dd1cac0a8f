/* entries.h: the kernels that -Xptxas -e names.
 *
 * ptxas looks for them in the one module that it is given. A chunk has some of them only, so that
 * the link selects them. Measured on nvlink 13.0: under -lto, where all code comes from LTO-IR,
 * kernels that are not named are dropped, split or not; nothing is dropped where the code is
 * relocatable. */
#ifndef MINILINK_OPTIONS_ENTRIES_H
#define MINILINK_OPTIONS_ENTRIES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/text.h"

struct entry_selection {
    struct text *names; /* each once or several times, as given */
    size_t count;
    const char *const *others; /* the words that are not about entries; ends with NULL */
    bool is_compile_only;      /* -c is among them */
};

/* Reads the assembler's options `words` (ends with NULL, or is NULL): --entry, and -e, with a list
 * of names behind `=` or in the next word. The result refers to the words, and to `arena`. */
void entries_read(struct entry_selection *selection, struct arena *arena, const char *const *words);

#endif
