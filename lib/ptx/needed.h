/* needed.h: which PTX texts of archives take part in a link, as linkers of other machines decide
 * it.
 *
 * A text that is a member of an archive takes part when it defines something that is undefined: in
 * the other texts, in what takes part already, or in the cubins of the link. Of several archives
 * that define a name the first counts, wherever it stands among the inputs (as if all archives were
 * between --start-group and --end-group). A text with a kernel always takes part: the host starts
 * it, and no code names it.
 *
 * GCC 15 and 16 compile constructors of C++ and Fortran to functions _GLOBAL__I_PPPPP_... (priority
 * P), and destructors to _GLOBAL__D_PPPPP_.... A text of libgcc, gbl-ctors.o, has the kernels that
 * run them, from the arrays __CTOR_LIST__ and __DTOR_LIST__, which the linker makes: the number of
 * functions, the functions from the last to the first that runs, and 0; destructors in the order in
 * which they run. That text defines __trigger_gbl_ctors, and takes part when there is such a
 * function (measured on nvptx-tools 0.20260402). */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/memory.h"
#include "base/text.h"

struct needed_text {
    struct text text; /* of gbl-ctors.o: needed_choose() adds the arrays */
    const char *name; /* for the caller */
    bool is_member;   /* of an archive; else it takes part */
    bool is_needed;   /* set by needed_choose() */
};

/* Sets is_needed of each text, in order of the inputs. `undefined` are names that the rest of the
 * link needs. The texts are read at their top level only. Errors there are found when the text is
 * linked; one with errors and ".entry" takes part. What is added to texts is in `arena`. */
void needed_choose(struct needed_text *texts, size_t count, const struct text *undefined,
                   size_t undefined_count, struct arena *arena);
