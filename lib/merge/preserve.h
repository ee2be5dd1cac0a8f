/* preserve.h: -preserve-relocs: the relocations that a link resolves are listed in its output too,
 * in a section .nv.resolvedrela.X for each section X that had some.
 *
 * As measured on nvlink 13.0: their types are those of the input, always with addends, which are 0
 * where the field has it. Against shared variables, constants and, in debug sections, sections up
 * to sm_90; from sm_100 on against shared variables in code only, there and in Mercury's twin. Not
 * listed: what is resolved to nothing (ranges of dead functions), words of texture references, and,
 * but under -g, `.extern .shared` arrays. */
#pragma once

#include "merge/merging.h"

/* Warns where nvlink does, when the option is given. */
void preserve_warn(const struct merging *m);

/* Comes when all sections are there that relocations may be in. */
void preserve_begin(struct merging *m);

/* Lists a relocation of merged section `target` that was resolved, if that is asked for; its `list`
 * need not be set. */
void preserve_relocation(struct merging *m, uint32_t target,
                         const struct merged_relocation *relocation);

/* Names and places the symbols that are only kept for such relocations. Comes before
 * symtab_assign. */
void preserve_symbols(struct merging *m);

/* Whether a section is such a list. */
bool preserve_is_list(const struct merged_section *section);
