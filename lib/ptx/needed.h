/* needed.h: which PTX texts of archives take part in a link, as linkers of other machines decide
 * it.
 *
 * A text that is a member of an archive takes part when it defines something that is undefined: in
 * the other texts, in what takes part already, or in the cubins of the link. Of several archives
 * that define a name the first counts, wherever it stands among the inputs (as if all archives were
 * between --start-group and --end-group). A text with a kernel always takes part: the host starts
 * it, and no code names it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

struct needed_text {
    struct text text;
    bool is_member; /* of an archive; else it takes part */
    bool is_needed; /* set by needed_choose() */
};

/* Sets is_needed of each text, in order of the inputs. `undefined` are names that the rest of the
 * link needs. The texts are read at their top level only, and errors in them are passed over: they
 * are found when the text is linked. */
void needed_choose(struct needed_text *texts, size_t count, const struct text *undefined,
                   size_t undefined_count);
