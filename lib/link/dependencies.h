/* dependencies.h: what the output was made from, in a rule for make (also for ninja's depfile).
 *
 * The form is that of GCC's -MD -MP, which make and ninja read: "output: \" and one file a line;
 * then a rule without a recipe for each file, so that one that is gone is no error.
 */
#pragma once

#include "base/buffer.h"
#include "link/state.h"

/* Where the rule of this link goes: --dependency-file's name, with the target's in the place of
 * every "%a". In `arena`; NULL when it was not asked for. */
const char *dependencies_path(const struct link *link, struct arena *arena);

/* Appends the rule: the target is --dependency-target's, or else the output; the files are response
 * files, the index file, inputs with those that were found for -l and the members of thin archives,
 * the assembler's program or plug-in, and libnvJitLink, each once. False, and a fatal
 * diagnostic, when one of them is nothing that make reads. */
bool dependencies_rule(const struct link *link, const struct assembler *assembler,
                       struct buffer *rule);
