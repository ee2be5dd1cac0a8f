/* report.c: --report=FILE.json: all facts as one JSON object; and --report=FILE.html: the page in
 * page/, with its style, its script and that object in it.
 *
 * minilink-report(5) describes the object. Members, chunks, functions and rows are identified by
 * their index in the arrays here; unknown values are omitted. */
#include <string.h>

#include "diag/symbol_names.h"
#include "diag/json_tree.h"
#include "observe/internal.h"
#include "options/consensus.h"

/* Increase this when something is removed or changes its meaning. */
#define REPORT_FORMAT 1u

static void set_index(json_t *object, const char *key, uint32_t index)
{
    if (index != FACT_NONE)
        json_tree_set_number(object, key, index);
}

static void put_link(const struct observation *seen, json_t *root)
{
    json_t *output = json_tree_set(root, "output", json_object());
    char arch[ARCH_NAME_SIZE];

    json_tree_set_string(output, "path", seen->link.output);
    json_tree_set_string(output, "target", arch_name(seen->arch, arch));
    if (seen->places) {
        json_tree_set_string(output, "kind", facts_output_kind(seen));
        json_tree_set_number(output, "bytes", seen->places->file_size);
    }
    if (seen->assembler) {
        json_t *assembler = json_tree_set(root, "assembler", json_object());

        json_tree_set_string(assembler, "name", seen->assembler);
        json_tree_set_string(assembler, "version", seen->assembler_version);
        json_tree_set_number(assembler, "threads", seen->threads);
    }
}

static void put_stages(const struct observation *seen, json_t *root)
{
    json_t *list = json_tree_set(root, "stages", json_array());

    for (size_t i = 0; i < seen->timing.count; i++) {
        const struct timing_row *row = &seen->timing.rows[i];
        json_t *stage = json_tree_push(list, json_object());

        json_tree_set_string(stage, "name", row->stage);
        json_tree_set_milliseconds(stage, "start", row->start - seen->start);
        json_tree_set_milliseconds(stage, "ms", row->nanoseconds);
        if (row->work.unit) {
            json_tree_set_number(stage, "items", row->work.items);
            json_tree_set_string(stage, "unit", row->work.unit);
        }
        if (row->work.bytes)
            json_tree_set_number(stage, "bytes", row->work.bytes);
        json_tree_set_number(stage, "peak_memory", row->peak_memory);
    }
}

static const char *member_kind_name(uint32_t kind)
{
    switch (kind) {
    case FATBIN_PTX:
        return "PTX";
    case FATBIN_ELF:
        return "cubin";
    case FATBIN_NVVM:
        return "LTO-IR";
    case FATBIN_BITCODE:
        return "LLVM bitcode";
    default:
        return "unknown";
    }
}

static void put_report_members(const struct observation *seen, json_t *root)
{
    json_t *list = json_tree_set(root, "members", json_array());

    for (size_t i = 0; i < seen->member_count; i++) {
        const struct fact_member *fact = &seen->members[i];
        const struct member *of = fact->of;
        json_t *member = json_tree_push(list, json_object());
        char arch[ARCH_NAME_SIZE];

        json_tree_set_string(member, "name", of->name);
        json_tree_set_string(member, "kind", member_kind_name(of->entry.kind));
        json_tree_set_string(member, "target",
                             fact->is_made ? "" : arch_name(of->entry.arch, arch));
        json_tree_set_string(member, "used_as", member_role_name(of->role));
        json_tree_set(member, "is_used", json_boolean(of->role != MEMBER_UNUSED));
        json_tree_set_string(member, "reason", of->reason);
        if (!fact->is_made)
            json_tree_set_number(member, "bytes", of->entry.payload.size);
        if (seen->places && of->role != MEMBER_UNUSED) {
            json_t *sizes = json_tree_set(member, "output_bytes", json_object());

            for (size_t class = 0; class < FACT_CLASSES; class ++)
                if (fact->sizes[class])
                    json_tree_set_number(sizes, facts_class_names[class], fact->sizes[class]);
        }
    }
}

static void put_option(const struct observation *seen, json_t *list, size_t option)
{
    static const char *const states[] = {"none", "absent", "present", "mixed", "conflict"};
    const struct consensus *fact = &seen->agreement->embedded[option];
    json_t *object = json_tree_push(list, json_object()), *values;

    json_tree_set_string(object, "name", embedded_table[option].name);
    json_tree_set_string(object, "state", states[fact->state]);
    if (fact->state >= CONSENSUS_PRESENT)
        json_tree_set(object, "value", json_integer(fact->value));
    values = json_tree_set(object, "members", json_array());
    for (uint32_t i = 0; i < seen->member_count; i++) {
        const struct fact_member *member = &seen->members[i];
        json_t *value;
        int32_t number;

        if (!consensus_has(member->of))
            continue;
        value = json_tree_push(values, json_object());
        json_tree_set_number(value, "member", i);
        if (embedded_find(member->of->entry.options, (enum embedded_option)option, &number))
            json_tree_set(value, "value", json_integer(number));
    }
}

static void put_options(const struct observation *seen, json_t *root)
{
    json_t *list = json_tree_set(root, "options", json_array()), *force;
    const struct agreement *agreement = seen->agreement;

    if (!agreement)
        return;
    for (size_t option = 0; option < EMBEDDED_COUNT; option++)
        put_option(seen, list, option);
    force = json_tree_set(root, "in_force", json_object());
    json_tree_set(force, "-split-compile", json_integer(agreement->split_compile));
    json_tree_set(force, "-split-compile-extended",
                  json_integer(agreement->split_compile_extended));
    json_tree_set(force, "-maxrregcount", json_integer(agreement->maxrregcount));
    json_tree_set(force, "-lineinfo", json_boolean(agreement->line_info));
    json_tree_set(force, "-g", json_boolean(agreement->debug));
}

static uint32_t *functions_of_symbols(struct observation *seen)
{
    uint32_t *functions = arena_alloc(&seen->arena, seen->symbol_count, sizeof *functions);

    memset(functions, 0xff, seen->symbol_count * sizeof *functions);
    for (uint32_t i = 0; i < seen->function_count; i++)
        if (seen->functions[i].symbol != FACT_NONE)
            functions[seen->functions[i].symbol] = i;
    return functions;
}

static void report_chunks(struct observation *seen, json_t *root)
{
    json_t *list = json_tree_set(root, "chunks", json_array());
    const uint32_t *functions = functions_of_symbols(seen);

    if (seen->single_reason)
        json_tree_set_string(root, "single_chunk_reason", seen->single_reason);
    for (size_t i = 0; i < seen->chunk_count; i++) {
        const struct fact_chunk *fact = &seen->chunks[i];
        json_t *chunk = json_tree_push(list, json_object()), *kernels;

        json_tree_set_number(chunk, "functions", fact->function_count);
        json_tree_set_number(chunk, "replicas", fact->replica_count);
        json_tree_set_number(chunk, "weight", fact->weight);
        json_tree_set_number(chunk, "ptx_bytes", fact->ptx_bytes);
        if (seen->assembler) {
            json_tree_set_number(chunk, "cubin_bytes", fact->cubin_bytes);
            json_tree_set_milliseconds(chunk, "estimate", fact->estimate);
            json_tree_set_milliseconds(chunk, "ms", fact->nanoseconds);
        }
        if (fact->options && *fact->options) {
            json_t *options = json_tree_set(chunk, "options", json_array());

            for (const char *const *option = fact->options; *option; option++)
                json_tree_push(options, json_tree_text(text_of(*option)));
        }
        kernels = json_tree_set(chunk, "kernels", json_array());
        for (uint32_t k = fact->first_kernel; k != FACT_NONE; k = seen->symbols[k].next_kernel)
            if (functions[k] != FACT_NONE)
                json_tree_push(kernels, json_integer(functions[k]));
    }
}

/* Adds a function's calls. Calls are sorted by caller; *at is the next. */
static void put_report_calls(const struct observation *seen, json_t *function, uint32_t from,
                             size_t *at)
{
    json_t *calls = json_tree_set(function, "calls", json_array()), *may_call = NULL;

    for (; *at < seen->places->call_count && seen->places->calls[*at].from == from; (*at)++) {
        const struct merge_call *call = &seen->places->calls[*at];

        if (call->is_indirect && !may_call)
            may_call = json_tree_set(function, "may_call", json_array());
        json_tree_push(call->is_indirect ? may_call : calls, json_integer(call->to));
    }
}

static const struct text *readable_names(struct observation *seen)
{
    struct text *names = arena_alloc(&seen->arena, seen->function_count, sizeof *names);

    for (size_t i = 0; i < seen->function_count; i++)
        names[i] = seen->functions[i].name;
    symbol_names_demangle(names, seen->function_count, &seen->arena);
    return names;
}

static void report_functions(struct observation *seen, json_t *root)
{
    json_t *list = json_tree_set(root, "functions", json_array());
    const struct text *readable = readable_names(seen);
    size_t call = 0;

    for (uint32_t i = 0; i < seen->function_count; i++) {
        const struct fact_function *fact = &seen->functions[i];
        const struct kernel_report *report = &fact->report;
        json_t *function = json_tree_push(list, json_object());

        json_tree_set_text(function, "name", fact->name);
        if (!text_equal(fact->name, readable[i]))
            json_tree_set_text(function, "readable", readable[i]);
        json_tree_set(function, "is_kernel", json_boolean(report->is_kernel));
        set_index(function, "member", fact->member);
        set_index(function, "chunk", fact->chunk);
        json_tree_set_number(function, "registers", report->registers);
        json_tree_set_number(function, "barriers", report->barriers);
        if (report->stack != UINT32_MAX)
            json_tree_set_number(function, "stack", report->stack);
        if (report->is_kernel) {
            json_tree_set_number(function, "shared", report->shared);
            json_tree_set_number(function, "constants", report->constant0);
        }
        json_tree_set_number(function, "code", report->code);
        if (fact->symbol != FACT_NONE && seen->symbols[fact->symbol].nanoseconds)
            json_tree_set_milliseconds(function, "ms", seen->symbols[fact->symbol].nanoseconds);
        put_report_calls(seen, function, i, &call);
    }
}

static void report_sections(const struct observation *seen, json_t *root)
{
    json_t *list = json_tree_set(root, "sections", json_array());
    size_t piece = 0;

    for (uint32_t i = 1; seen->places && i < seen->places->section_count; i++) {
        const struct merge_section *fact = &seen->places->sections[i];
        json_t *section = json_tree_push(list, json_object());
        json_t *pieces = NULL;

        json_tree_set_text(section, "name", fact->name);
        json_tree_set_string(section, "for", facts_class_names[facts_class(fact->name)]);
        if (!fact->has_no_bytes)
            json_tree_set_number(section, "offset", fact->offset);
        json_tree_set_number(section, "bytes", fact->size);
        for (; piece < seen->piece_count && seen->pieces[piece].section == i; piece++) {
            const struct fact_piece *from = &seen->pieces[piece];
            json_t *object;

            if (from->member == FACT_NONE)
                continue;
            if (!pieces)
                pieces = json_tree_set(section, "pieces", json_array());
            object = json_tree_push(pieces, json_object());
            json_tree_set_number(object, "member", from->member);
            json_tree_set_number(object, "bytes", from->size);
        }
    }
}

static void put_drops(const struct observation *seen, json_t *root)
{
    json_t *list = json_tree_set(root, "left_out", json_array());

    for (size_t i = 0; i < seen->drop_count; i++) {
        const struct fact_drop *fact = &seen->drops[i];
        json_t *drop = json_tree_push(list, json_object());

        json_tree_set_string(drop, "what", fact->what);
        json_tree_set_text(drop, "name", fact->name);
        json_tree_set_string(drop, "member", fact->member);
        json_tree_set_string(drop, "why", fact->why);
    }
}

static void put_slice(const struct observation *seen, json_t *list,
                      const struct logged_event *logged)
{
    const struct event *event = &logged->event;
    json_t *slice = json_tree_push(list, json_object());

    json_tree_set_number(slice, "row", logged->row);
    json_tree_set_string(slice, "kind", event->kind);
    json_tree_set_text(slice, "name", facts_name(seen, event->name));
    json_tree_set_milliseconds(slice, "start", event->start - seen->start);
    json_tree_set_milliseconds(slice, "ms", event->end - event->start);
    if (event->chunk)
        json_tree_set_number(slice, "chunk", event->chunk - 1);
    if (event->bytes)
        json_tree_set_number(slice, "bytes", event->bytes);
    if (event->peak)
        json_tree_set_number(slice, "peak", event->peak);
    json_tree_set_string(slice, "state", event->state);
}

static void put_time_line(struct observation *seen, json_t *root)
{
    json_t *line = json_tree_set(root, "time_line", json_object());
    json_t *rows = json_tree_set(line, "rows", json_array());
    json_t *slices = json_tree_set(line, "slices", json_array());
    json_t *memory = json_tree_set(line, "memory", json_array());
    const struct events *events = facts_events(seen);

    for (size_t i = 0; i < events->row_count; i++)
        json_tree_push(rows, json_tree_text(text_of(events->rows[i].name)));
    for (size_t i = 0; i < events->count; i++) {
        const struct event *event = &events->list[i].event;

        if (strcmp(event->kind, EVENT_COUNTER) != 0) {
            put_slice(seen, slices, &events->list[i]);
        } else if (text_equal(event->name, TEXT("memory"))) {
            json_t *sample = json_tree_push(memory, json_object());

            json_tree_set_milliseconds(sample, "at", event->start - seen->start);
            json_tree_set_number(sample, "bytes", event->bytes);
        }
    }
}

static void put_all(struct observation *seen, json_t *root)
{
    facts_events(seen);
    json_tree_set_number(root, "format", REPORT_FORMAT);
    json_tree_set_string(root, "minilink", seen->link.version);
    put_link(seen, root);
    put_stages(seen, root);
    put_report_members(seen, root);
    put_options(seen, root);
    report_chunks(seen, root);
    report_functions(seen, root);
    report_sections(seen, root);
    put_drops(seen, root);
    put_time_line(seen, root);
}

void report_print_data(struct observation *seen, struct buffer *out)
{
    json_t *root = json_tree_begin();

    CONTEXT_DEFER(json_tree_end, root);
    put_all(seen, root);
    json_tree_print(root, JSON_TREE_LINES, out);
}

/* Appends the page up to the marker; returns the rest after it. */
static const char *put_until(const char *page, const char *marker, struct buffer *out)
{
    const char *found = strstr(page, marker);

    if (!found)
        return page;
    buffer_append(out, page, (size_t)(found - page));
    return found + strlen(marker);
}

/* Replaces each marker in the page with its part. The data is JSON in a script element that
 * browsers do not run; it contains no "<", so that no name can end the element. The page's script
 * inserts names as text, never as HTML. */
void report_print_page(struct observation *seen, struct buffer *out)
{
    const char *rest = page_html;
    json_t *data = json_tree_begin();

    CONTEXT_DEFER(json_tree_end, data);
    put_all(seen, data);
    rest = put_until(rest, "@STYLE@", out);
    buffer_string(out, page_css);
    rest = put_until(rest, "@DATA@", out);
    json_tree_print(data, JSON_TREE_IN_PAGE, out);
    rest = put_until(rest, "@SCRIPT@", out);
    buffer_string(out, page_js);
    buffer_string(out, rest);
}
