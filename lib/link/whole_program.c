/* whole_program.c: the executable that an assembler makes of a whole program: what it is, and the
 * report and names of one that becomes the link's result. */
#include <elf.h>
#include <string.h>

#include "base/context.h"
#include "cubin/cubin.h"
#include "link/internal.h"

bool whole_program_is(struct bytes data)
{
    Elf64_Ehdr header;

    if (data.size < sizeof header)
        return false;
    memcpy(&header, data.data, sizeof header);
    return memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_type == ET_EXEC;
}

bool whole_program_has_abi(struct bytes data, enum merge_abi wanted)
{
    bool is_old = data.size > EI_OSABI && data.data[EI_OSABI] == CUBIN_OLD_OSABI;

    return wanted == MERGE_ABI_AUTO || is_old == (wanted == MERGE_ABI_7);
}

/* How much longer than the original one the name is that `name` ends with, of those with a suffix
 * ("f$ml0123abcd"): it may be a copy's name, "$<kernel>$<function>", with further `$` in both. */
static size_t added_size(const struct chunks *chunks, struct text name)
{
    for (size_t i = 0; i < name.size; i++) {
        struct text part = text_drop(name, i), own;

        if (i > 0 && name.data[i - 1] != '$')
            continue;
        own = chunk_own_name(chunks, part);
        if (own.size < part.size && text_starts(part, own))
            return part.size - own.size;
    }
    return 0;
}

/* Ending a string earlier restores the original one: a changed name begins with it. */
static void restore_symbol_names(char *data, const struct cubin *cubin, const struct chunks *chunks)
{
    for (size_t i = 1; chunks->changed.count && i < cubin->symbol_count; i++) {
        struct text name = cubin->symbols[i].name;
        size_t added = 0;

        /* Names of section symbols are in .shstrtab, and are not changed. */
        if (cubin->symbols[i].type != STT_SECTION)
            added = added_size(chunks, name);
        if (added)
            data[(size_t)(name.data - data) + name.size - added] = '\0';
    }
}

/* Maps symbols to reports. Nothing was merged: -v's facts are those of the attribute records. */
struct reporter {
    const struct cubin *cubin;
    struct merge_report *report;
    uint32_t *report_of; /* symbol -> its report + 1; 0 = none */
};

static struct kernel_report *report_for(const struct reporter *reporter, uint32_t symbol)
{
    uint32_t at = symbol < reporter->cubin->symbol_count ? reporter->report_of[symbol] : 0;

    return at ? &reporter->report->kernels[at - 1] : NULL;
}

static void take_record(const struct reporter *reporter, const struct info_record *record,
                        struct kernel_report *owner)
{
    struct kernel_report *kernel;

    if (record->attribute == EIATTR_NUM_BARRIERS && owner)
        owner->barriers = record->value;
    if (record->format != EIFMT_SVAL || record->payload.size < 8)
        return;
    kernel = report_for(reporter, info_word(record->payload, 0));
    if (kernel && record->attribute == EIATTR_REGCOUNT)
        kernel->registers = info_word(record->payload, 1);
    else if (kernel && record->attribute == EIATTR_MIN_STACK_SIZE)
        kernel->stack = info_word(record->payload, 1);
    else if (kernel && record->attribute == EIATTR_FRAME_SIZE)
        kernel->frame = info_word(record->payload, 1);
}

static void report_section(const struct reporter *reporter, uint32_t index)
{
    const struct cubin_section *section = &reporter->cubin->sections[index];
    struct kernel_report *owner =
        report_for(reporter, cubin_section_function(reporter->cubin, index));
    const struct section_facts *facts = sections_named(section->name);
    enum section_class class = facts ? facts->class : CLASS_NONE;
    struct bytes rest = section->data;
    struct info_record record;

    if (section->type == SHT_CUDA_INFO)
        while (info_next(&rest, &record))
            take_record(reporter, &record, owner);
    else if (class == CLASS_GLOBAL || class == CLASS_GLOBAL_INIT)
        reporter->report->global_bytes += section->size;
    else if (text_equal(section->name, TEXT(".nv.constant3")))
        reporter->report->constant3_bytes += section->size;
    else if (owner && class == CLASS_SHARED)
        owner->shared = (uint32_t)section->size;
    else if (owner && text_starts(section->name, TEXT(".nv.constant0.")))
        owner->constant0 = (uint32_t)section->size;
}

/* Fills in the places of symbols and sections; all code is in one cubin. */
static void fill_symbol_places(const struct cubin *cubin, struct bytes file,
                               const struct reporter *reporter)
{
    struct merge_report *report = reporter->report;
    struct merge_places *places = &report->places;

    places->type = cubin->type;
    places->file_size = file.size;
    places->section_count = cubin->section_count;
    places->sections = arena_zalloc(&report->arena, cubin->section_count, sizeof *places->sections);
    for (uint32_t i = 1; i < cubin->section_count; i++) {
        const struct cubin_section *section = &cubin->sections[i];
        uint32_t owner = cubin_section_function(cubin, i);
        uint32_t at = owner < cubin->symbol_count ? reporter->report_of[owner] : 0;

        places->sections[i] = (struct merge_section){
            .name = arena_text(&report->arena, section->name),
            .offset = section->data.size ? (uint64_t)(section->data.data - file.data) : 0,
            .size = section->size,
            .alignment = section->alignment,
            .has_no_bytes = section->has_no_bytes,
            .kernel = at ? at - 1 : MERGE_NO_FILE,
        };
    }
    places->names = arena_alloc(&report->arena, cubin->symbol_count, sizeof *places->names);
    for (uint32_t i = 1; i < cubin->symbol_count; i++) {
        const struct cubin_symbol *symbol = &cubin->symbols[i];

        if (symbol->type != STT_SECTION && symbol->name.size)
            places->names[places->name_count++] = (struct merge_name){
                .name = arena_text(&report->arena, symbol->name),
                .value = symbol->value,
                .size = symbol->size,
                .section = symbol->section < cubin->section_count ? symbol->section : 0,
                .input = i,
                .type = symbol->type,
                .binding = symbol->binding,
            };
    }
}

static void fill_report(const struct cubin *cubin, struct bytes file, struct merge_report *report)
{
    struct reporter reporter = {cubin, report, NULL};

    reporter.report_of =
        arena_zalloc(&report->arena, cubin->symbol_count, sizeof *reporter.report_of);
    report->kernels = arena_zalloc(&report->arena, cubin->symbol_count, sizeof *report->kernels);
    for (size_t i = 1; i < cubin->symbol_count; i++) {
        const struct cubin_symbol *symbol = &cubin->symbols[i];

        if (symbol->type != STT_FUNC || !(symbol->other & STO_CUDA_ENTRY))
            continue;
        report->kernels[report->kernel_count++] =
            (struct kernel_report){.name = arena_text(&report->arena, symbol->name),
                                   .is_kernel = true,
                                   .code = symbol->size,
                                   .input = (uint32_t)i};
        reporter.report_of[i] = (uint32_t)report->kernel_count;
    }
    for (uint32_t i = 1; i < cubin->section_count; i++)
        report_section(&reporter, i);
    fill_symbol_places(cubin, file, &reporter);
}

bool whole_program_take(void *data, size_t size, const char *name, const struct chunks *chunks,
                        struct merge_report *report)
{
    const struct bytes file = {data, size};
    struct cubin cubin = {0};

    CONTEXT_DEFER(arena_cleanup, &cubin.arena);
    if (!cubin_read(&cubin, name, file))
        return false;
    if (report)
        fill_report(&cubin, file, report);
    restore_symbol_names(data, &cubin, chunks);
    return true;
}
