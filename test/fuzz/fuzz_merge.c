/* fuzz_merge.c: any bytes as cubins, merged. The first byte chooses -r, -g, -preserve-relocs,
 * -dump-callgraph and which kernels live, the second -uidx and the toolkit that is followed,
 * the third what is kept and what is left out; up to eight parts follow, each a cubin (fuzz_part).
 * One that cannot be read is left out. */
#include "cubin/cubin.h"
#include "cubin/format.h"
#include "input/used.h"
#include "merge/merge.h"
#include "fuzz.h"

#define MOST_CUBINS    8
#define OLDEST_TOOLKIT 118u

static void merge(const struct cubin *const *cubins, size_t count, uint8_t flags, uint8_t more,
                  uint8_t rules)
{
    static const enum callgraph_form forms[] = {CALLGRAPH_NONE, CALLGRAPH_TEXT, CALLGRAPH_TEXT,
                                                CALLGRAPH_MANGLED};
    struct text kept = TEXT("k1");
    struct used_names used = {0};
    struct merge_request request = {
        .arch = {.sm = CUBIN_FLAGS_SM(cubins[0]->flags)},
        .relocatable = flags & 1,
        .debug = flags & 2,
        .preserve_relocations = flags & 4,
        .callgraph = forms[flags >> 3 & 3],
        .used = flags & 32 ? &used : NULL,
        .suppress_stack_warning = flags & 64,
        .has_index = more & 1,
        .takes_first = flags & 128,
        .toolkit = toolkits_find(OLDEST_TOOLKIT + (more >> 2)),
        .keep_exported = rules & 1,
        .tools_patch = rules & 2,
        .strip_debug = rules & 4,
        .sass_only = rules & 8,
        .has_extended_shared = rules & 16,
        .has_no_reserved_shared = rules & 32,
        .wants_places = rules & 64,
        .output_name = "out.cubin",
        .version = "fuzz",
    };
    struct image image = {0};
    struct merge_report report = {0};
    struct buffer bytes = {0};
    struct cubin again = {0};

    table_set(&used.selected, kept, 0);
    used.is_selection = true;
    /* What was merged must be a cubin that others can read. */
    if (merge_cubins(&image, cubins, count, &request, &report)) {
        image_bytes(&image, &bytes);
        if (!cubin_read(&again, "merged", buffer_bytes(&bytes)))
            __builtin_trap();
    }
    cubin_free(&again);
    buffer_free(&bytes);
    merge_report_free(&report);
    image_free(&image);
    used_free(&used);
}

static void fuzz(struct bytes rest)
{
    static const char *const names[MOST_CUBINS] = {"a.o", "b.o", "c.o", "d.o",
                                                   "e.o", "f.o", "g.o", "h.o"};
    uint8_t flags = fuzz_byte(&rest), more = fuzz_byte(&rest), rules = fuzz_byte(&rest);
    struct cubin cubins[MOST_CUBINS] = {0};
    const struct cubin *list[MOST_CUBINS];
    size_t count = 0;

    for (size_t i = 0; i < MOST_CUBINS && rest.size; i++)
        if (cubin_read(&cubins[i], names[i], fuzz_part(&rest)))
            list[count++] = &cubins[i];
    if (count)
        merge(list, count, flags, more, rules);
    for (size_t i = 0; i < MOST_CUBINS; i++)
        cubin_free(&cubins[i]);
}
