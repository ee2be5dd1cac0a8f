/* dependencies.h: a rule for make with the files that the output depends on (also for ninja's
 * depfile).
 *
 * The form is that of GCC's -MD -MP, which make and ninja read: "output: \" and one file a line;
 * then a rule without a recipe for each file, so that a missing file is no error. */
#pragma once

#include "base/buffer.h"
#include "link/state.h"

/* Path of the file for this link's rule: --dependency-file's name, with each "%a" replaced by the
 * target's name. In `arena`; NULL when not requested. */
const char *dependencies_path(const struct link *link, struct arena *arena);

/* Appends the rule. The target is --dependency-target's, or else the output. The files are response
 * files, the index file, inputs (including those found for -l and the members of thin archives),
 * the assembler's program or plug-in, and libnvJitLink, each once. False, and a fatal diagnostic,
 * when make cannot read one of the names. */
bool dependencies_rule(const struct link *link, const struct assembler *assembler,
                       struct buffer *rule);
