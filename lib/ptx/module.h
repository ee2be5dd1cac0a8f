/* module.h: one PTX module as items: the parts of a translation unit that a linker needs.
 *
 * A module begins with .version and ends before the next one. Its items (functions, variables, file
 * table, sections, aliases, pragmas) are views into the text (item.h). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "facts/targets.h"
#include "base/memory.h"
#include "base/text.h"
#include "ptx/item.h"

struct ptx_module {
    const char *file;  /* for messages; NULL: errors are passed over */
    struct text whole; /* the text that the module is part of */
    struct text text;  /* the module: from .version on */
    uint16_t version_major;
    uint16_t version_minor;
    uint32_t version_line; /* of .version, from 1, in the whole text */
    uint32_t target_line;  /* of the first .target */
    struct arch target;    /* of .target */
    struct text
        target_options; /* what follows the architecture: ", texmode_unified, debug"; or empty */
    bool texmode_independent;
    bool map_f64_to_f32;
    uint8_t address_size;   /* 32 or 64; 64 when not given */
    bool has_full_debug;    /* it has a section besides a .debug_str of nothing but strings */
    bool debug_names_code;  /* and one of those refers to more than sections and its own labels */
    struct ptx_item *items; /* in order of the text */
    size_t item_count;
};

/* Where the next module of a text begins. Start with {0}. */
struct module_cursor {
    size_t offset;
    uint32_t lines; /* line ends before `offset` */
};

/* Parses the module that begins at or after cursor->offset of `whole` (blanks, comments and NULs
 * may come first) and moves the cursor to its end; at the text's end offset == whole.size. The
 * results live in `arena` or are views into `whole`, which must outlive the module. Errors are
 * reported with their place; after one, parsing goes on after the next `;` or `}` to find more, up
 * to a limit, and returns false at the end. */
bool module_parse(struct ptx_module *module, struct arena *arena, const char *file,
                  struct text whole, struct module_cursor *cursor);

/* True when nothing but blanks, comments and NULs is left in `whole` from `offset` on. */
bool module_at_end(struct text whole, size_t offset);
