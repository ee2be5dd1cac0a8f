/* notes.c: .note.nv.tkinfo lists the tools, the linker first; .note.minilink is the
 * first cubin's; .nv.compat has all cubins' records (measured). */
#include "merge/internal.h"

#include "cubin/contents.h"
#include "diag/diag.h"

static void add_note_section(struct merging *m, const struct section_facts *row, uint64_t flags,
                             struct bytes contents)
{
    uint32_t added = layout_make_row(m, row, row->name, MERGE_NONE);

    m->out->sections[added].flags = flags;
    layout_set(m, added, contents);
    table_add(&m->out->section_names, row->name, added);
}

/* Appends the linker's own record. */
static void put_own_record(struct merging *m, struct buffer *out)
{
    const struct merge_request *request = m->request;
    char arch[ARCH_NAME_SIZE];
    const struct text version = text_of(request->version ? request->version : "");
    const struct tool_note note = {
        .output = text_of(request->debug && request->output_name ? request->output_name : ""),
        .tool = TEXT("minilink"),
        .release = version,
        .build = version,
        .command = text_of(arena_printf(&m->arena, "-arch %s %s", arch_name(request->arch, arch),
                                        request->debug ? "-g " : "")),
        .version = merging_is_first_mercury(m) ? request->toolkit->version : 0,
    };

    tool_note_put(out, &note);
}

/* Appends the records of one cubin. Those of the chunks' assembler lose the files' names: chunks
 * are in memory, or in a distributor's folder. */
static void put_tool_records(struct buffer *out, const struct cubin_section *section, bool is_made)
{
    struct bytes rest = section->data;
    struct tool_note note;
    LOCAL_BUFFER(command);

    while (is_made && tool_note_next(&rest, &note)) {
        command.size = 0;
        tool_note_forget_files(&note, &command);
        tool_note_put(out, &note);
    }
    buffer_append(out, rest.data, rest.size);
}

/* Measured on nvlink 13.0 and 13.5: .note.nv.cuinfo has the lowest target of the inputs' PTX. */
static unsigned lowest_target(const struct merging *m)
{
    unsigned lowest = m->request->arch.sm;

    for (size_t file = 0; file < m->count; file++) {
        unsigned sm = cubin_virtual_sm(m->cubins[file]);

        lowest = sm < lowest ? sm : lowest;
    }
    return lowest;
}

/* The tools, and the version of the linker's own toolkit (measured). */
static void add_tool_notes(struct merging *m, struct buffer *contents)
{
    const struct section_facts *tools = sections_of_kind(KIND_TOOLS, false);
    const struct section_facts *target = notes_target(m);
    bool is_first = merging_is_first_mercury(m);
    uint64_t link = targets_have(m->request->arch.sm, TARGET_HAS_COMPAT) ? SHF_INFO_LINK : 0;

    put_own_record(m, contents);
    for (size_t file = 0; file < m->count; file++) {
        uint32_t note = cubin_find_kind(m->cubins[file], KIND_TOOLS);

        if (note)
            put_tool_records(contents, &m->cubins[file]->sections[note], merging_is_made(m, file));
    }
    add_note_section(m, tools, tools->flags, buffer_bytes(contents));
    contents->size = 0;
    tool_note_put_target(contents, lowest_target(m), is_first ? 0 : m->request->toolkit->version);
    add_note_section(m, target, target->flags | link, buffer_bytes(contents));
    contents->size = 0;
}

/* By cubin: it has a function that is kept. */
static bool *find_live_cubins(struct merging *m)
{
    bool *live = arena_zalloc(&m->arena, m->count, sizeof *live);

    for (size_t i = 0; i < m->symbol_count; i++) {
        const struct merged_symbol *symbol = &m->symbols[i];

        if (symbol->type == STT_FUNC && m->is_live[i] && symbol->file != MERGE_NONE)
            live[symbol->file] = true;
    }
    return live;
}

/* A cubin without the record counts as one for this number alone (nvlink's words). */
static void tell_of_class(const struct merging *m, size_t file, struct bytes records)
{
    bool has_class = false;
    struct info_record record;

    while (info_next(&records, &record))
        has_class |= record.attribute == COMPAT_ISA_CLASS;
    if (!has_class && !merging_is_made(m, file))
        diag_warning("Output is limited to run on SM Arch '%u' only, due to missing attribute "
                     "'ISA_CLASS' in input file '%s'",
                     m->request->arch.sm, m->cubins[file]->name);
}

/* Measured: cubins without the section (CUDA 12, sm_90) do not count. */
static void add_compat(struct merging *m, struct buffer *out)
{
    struct compat compat = {.is_mercury = merging_is_mercury(m)};
    const bool *live = find_live_cubins(m);
    const struct section_facts *row = sections_of_class(CLASS_COMPAT);

    if (!targets_have(m->request->arch.sm, TARGET_HAS_COMPAT))
        return;
    for (size_t file = 0; file < m->count; file++) {
        uint32_t index = cubin_find_class(m->cubins[file], CLASS_COMPAT);
        struct bytes records = m->cubins[file]->sections[index].data;

        if (!index)
            continue;
        tell_of_class(m, file, records);
        compat_add(&compat, records, live[file]);
    }
    compat_put(&compat, m->request->arch, m->request->toolkit, out);
    add_note_section(m, row, row->flags, buffer_bytes(out));
}

void notes_add(struct merging *m)
{
    LOCAL_BUFFER(contents);

    if (m->abi == CUBIN_ABI_VERSION) {
        add_tool_notes(m, &contents);
        add_compat(m, &contents);
    }
    for (struct merging_walk at = {0}; merging_next_of(m, &at, INPUT_NOTE);)
        if (cubin_is_kind(at.section, KIND_BUILTIN)) {
            add_note_section(m, at.section->facts, at.section->flags, at.section->data);
            return;
        }
}
