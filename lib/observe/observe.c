/* observe.c: records the facts of the stages up to the chunks. */
#include "observe/observe.h"

#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/search.h"
#include "diag/escape.h"
#include "observe/internal.h"
#include "os/exec.h"
#include "output/output.h"
#include "ptx/module.h"

/* Whether events are needed. The table of stages needs none. */
static bool wants_events(const struct observe_request *request)
{
    return request->times || request->trace || request->report_page || request->report_data;
}

bool observe_wants_places(const struct observation *seen)
{
    const struct observe_request *request = seen ? &seen->request : NULL;

    return request && (request->map || request->report_page || request->report_data ||
                       request->print_drops || request->why_live);
}

struct observation *observe_open(const struct observe_request *request,
                                 const struct observe_link *link)
{
    struct observation *seen;

    if (!wants_events(request) && !request->map && !request->stats && !request->trace_inputs &&
        !request->print_drops && !request->trace_symbols && !request->why_live)
        return NULL;
    seen = memory_zalloc(1, sizeof *seen);
    seen->request = *request;
    seen->link = *link;
    seen->cross = cross_reference_open(request, &seen->arena);
    seen->times_fd = -1;
    for (size_t i = 0; i < sizeof seen->outputs / sizeof *seen->outputs; i++)
        seen->outputs[i] = (struct output){.fd = -1, .slot = -1};
    seen->start = seen->timing.started = clock_now();
    if (wants_events(request))
        seen->log = events_open();
    return seen;
}

/* Peak memory of this process, or of the largest child that has ended; Linux counts KiB. */
static uint64_t peak_memory(void)
{
    struct rusage own, children;

    exec_reap_all();
    if (getrusage(RUSAGE_SELF, &own) || getrusage(RUSAGE_CHILDREN, &children))
        return 0;
    RAISE(own.ru_maxrss, children.ru_maxrss);
    return (uint64_t)own.ru_maxrss * 1024;
}

void observe_stage(struct observation *seen, const char *stage, struct observe_work work)
{
    struct timing *timing;
    uint64_t ended;

    if (!seen)
        return;
    timing = &seen->timing;
    ended = clock_now();
    if (timing->count < TIMING_STAGES)
        timing->rows[timing->count++] = (struct timing_row){.stage = stage,
                                                            .start = timing->started,
                                                            .nanoseconds = ended - timing->started,
                                                            .work = work,
                                                            .peak_memory = peak_memory()};
    events_record(&(struct event){.kind = EVENT_STAGE,
                                  .name = text_of(stage),
                                  .start = timing->started,
                                  .end = ended,
                                  .bytes = work.bytes});
    events_count_memory();
    timing->started = ended;
}

void facts_drop(struct observation *seen, const char *what, struct text name, const char *member,
                const char *why)
{
    ARENA_PUSH(&seen->arena, seen->drops, seen->drop_count, seen->drop_capacity) =
        (struct fact_drop){what, arena_text(&seen->arena, name), member, why};
}

/* --trace: prints each object once, and early, so that a link that fails later can be examined. */
static void print_inputs(const struct members *members)
{
    LOCAL_BUFFER(text);
    const char *last = NULL;

    for (size_t i = 0; i < members->count; i++) {
        const struct member *member = &members->list[i];

        if (member->role == MEMBER_UNUSED || member->object_name == last)
            continue;
        last = member->object_name;
        escape_text(text_of(last), &text);
        buffer_char(&text, '\n');
    }
    std_streams_print(buffer_view(&text));
}

void observe_members(struct observation *seen, const struct members *members)
{
    if (!seen)
        return;
    seen->arch = members->arch;
    seen->members = arena_zalloc(&seen->arena, members->count, sizeof *seen->members);
    seen->member_capacity = members->count;
    for (size_t i = 0; i < members->count; i++) {
        seen->members[i].of = &members->list[i];
        table_add(&seen->member_names, text_of(members->list[i].name), (uint32_t)i);
    }
    seen->member_count = members->count;
    if (seen->request.trace_inputs)
        print_inputs(members);
}

/* The member of that name, or the only member that LTO-IR's PTX was made of ("lto.ptx(a.o)"). */
static uint32_t find_member(const struct observation *seen, const char *name)
{
    uint32_t found = table_find(&seen->member_names, text_of(name));
    const char *made_of = strchr(name, '(');
    size_t size = made_of ? strlen(made_of) : 0;

    return found == TABLE_NONE && size > 2
               ? table_find(&seen->member_names, (struct text){made_of + 1, size - 2})
               : found;
}

/* The number of the member with that name; adds the member if it is missing. */
static uint32_t add_observed_member(struct observation *seen, const char *name)
{
    uint32_t found = find_member(seen, name);
    uint32_t number = (uint32_t)seen->member_count;
    struct text short_name = {name, strcspn(name, "(")}; /* its members say what it was made of */
    const struct member made = {.name = arena_string(&seen->arena, short_name),
                                .entry.kind = FATBIN_PTX,
                                .role = MEMBER_PTX,
                                .reason = text_starts(short_name, TEXT("bitcode"))
                                              ? "made of the link's LLVM bitcode"
                                              : "made of the link's LTO-IR"};

    if (found != TABLE_NONE)
        return found;
    ARENA_PUSH(&seen->arena, seen->members, seen->member_count, seen->member_capacity) =
        (struct fact_member){.of = arena_copy(&seen->arena, &made, 1, sizeof made),
                             .is_made = true};
    table_add(&seen->member_names, arena_text(&seen->arena, text_of(name)), number);
    return number;
}

void observe_agreement(struct observation *seen, const struct agreement *agreement)
{
    if (seen)
        seen->agreement = agreement;
}

/* libcudadevrt has been dropped by now if nothing calls it. */
void observe_roles(struct observation *seen, const struct members *members)
{
    for (size_t i = 0; seen && i < members->count; i++) {
        const struct member *member = &members->list[i];

        if (member->role == MEMBER_UNUSED)
            facts_drop(seen, "member", text_of(member->name), NULL,
                       member->reason ? member->reason : "nothing calls it");
    }
}

static const char *what_is(const struct ptx_item *item)
{
    if (item->kind != PTX_FUNCTION)
        return "variable";
    return item->function.is_entry ? "kernel" : "function";
}

/* Records the functions of a module that lost to another module's definition. */
static void drop_losers(struct observation *seen, const struct program *program, uint32_t module,
                        const char *const *files)
{
    const struct program_module *details = &program->details[module];

    for (size_t i = 0; i < details->entry_count; i++) {
        const struct program_entry *entry = &details->entries[i];
        const struct program_symbol *symbol =
            entry->symbol == NO_SYMBOL ? NULL : &program->symbols[entry->symbol];

        if (symbol && symbol->item != entry->item && entry->item->kind == PTX_FUNCTION &&
            entry->item->is_definition)
            facts_drop(
                seen, what_is(entry->item), symbol->own_name, files[module],
                arena_printf(&seen->arena, "the definition of '%s' counts", files[symbol->module]));
    }
}

void observe_program(struct observation *seen, const struct program *program)
{
    const char **files;

    if (!seen)
        return;
    if (seen->cross)
        cross_reference_add_program(seen, program);
    files = arena_alloc(&seen->arena, program->module_count, sizeof *files);
    for (uint32_t i = 0; i < program->module_count; i++)
        files[i] = arena_string(&seen->arena, text_of(program->modules[i]->file));
    for (size_t i = 0; i < program->symbol_count; i++) {
        const struct program_symbol *symbol = &program->symbols[i];

        if (!symbol->is_live && symbol->is_defined)
            facts_drop(seen, what_is(symbol->item), symbol->own_name, files[symbol->module],
                       symbol->is_entry      ? "neither host code nor the options ask for it"
                       : symbol->is_function ? "no kernel reaches it"
                                             : "nothing that stays names it");
    }
    for (uint32_t i = 0; i < program->module_count; i++)
        drop_losers(seen, program, i, files);
}

static void take_symbols(struct observation *seen, const struct chunks *chunks)
{
    size_t count = chunks->symbol_count;

    seen->symbols = arena_zalloc(&seen->arena, count, sizeof *seen->symbols);
    seen->symbol_count = count;
    table_reserve(&seen->symbol_names, count);
    table_reserve(&seen->own_names, count);
    /* Backwards, so that the lists begin with the first. */
    for (size_t i = count; i-- > 0;) {
        const struct chunk_symbol *symbol = &chunks->symbols[i];
        const struct chunk_source *source = &chunks->sources[i];
        struct fact_symbol *fact = &seen->symbols[i];
        uint32_t next = table_find(&seen->own_names, symbol->own_name);

        *fact = (struct fact_symbol){
            .name = symbol->name,
            .own_name = symbol->own_name,
            .chunk = source->chunk,
            .member = add_observed_member(seen, source->member),
            .next = next,
            .is_kernel = source->is_kernel,
        };
        if (fact->is_kernel && fact->chunk < seen->chunk_count) {
            fact->next_kernel = seen->chunks[fact->chunk].first_kernel;
            seen->chunks[fact->chunk].first_kernel = (uint32_t)i;
        }
        table_set(&seen->own_names, fact->own_name, (uint32_t)i);
        table_add(&seen->symbol_names, fact->name, (uint32_t)i);
    }
    for (uint32_t i = 0; i < chunks->program_count; i++)
        for (size_t k = 0; k < chunks->programs[i].symbol_count; k++)
            seen->symbols[chunks->programs[i].first_symbol + k].program = i;
}

void observe_chunks(struct observation *seen, const struct chunks *chunks)
{
    if (!seen || chunks->count == 0)
        return;
    seen->chunks = arena_zalloc(&seen->arena, chunks->count, sizeof *seen->chunks);
    seen->chunk_count = chunks->count;
    seen->single_reason = chunks->single_reason;
    for (size_t i = 0; i < chunks->count; i++)
        seen->chunks[i] = (struct fact_chunk){
            .function_count = chunks->list[i].function_count,
            .replica_count = chunks->list[i].replica_count,
            .weight = chunks->list[i].weight,
            .ptx_bytes = chunks->list[i].text.size,
            .first_kernel = FACT_NONE,
            .options = chunks->list[i].options,
        };
    take_symbols(seen, chunks);
}

void observe_cubins(struct observation *seen, const struct cubins *cubins, const char *assembler,
                    const char *version)
{
    double weight = 0, time = 0;

    if (!seen || cubins->count == 0)
        return;
    seen->assembler = assembler;
    seen->assembler_version = version;
    seen->threads = cubins->threads;
    for (size_t i = 0; i < cubins->count && i < seen->chunk_count; i++) {
        seen->chunks[i].cubin_bytes = cubins->list[i].size;
        seen->chunks[i].nanoseconds = cubins->list[i].nanoseconds;
    }
    for (size_t i = 0; i < seen->chunk_count; i++) {
        weight += (double)seen->chunks[i].weight;
        time += (double)seen->chunks[i].nanoseconds;
    }
    for (size_t i = 0; i < seen->chunk_count && weight > 0; i++)
        seen->chunks[i].estimate = (uint64_t)(time * (double)seen->chunks[i].weight / weight);
}

struct text facts_name(const struct observation *seen, struct text name)
{
    uint32_t found = table_find(&seen->symbol_names, name);

    return found == TABLE_NONE ? name : seen->symbols[found].own_name;
}

const struct events *facts_events(struct observation *seen)
{
    struct events *events = &seen->events;

    if (seen->is_read || !seen->log)
        return events;
    events_read(seen->log, &seen->arena, events);
    seen->is_read = true;
    for (size_t i = 0; i < events->count; i++) {
        const struct event *event = &events->list[i].event;
        uint32_t symbol = strcmp(event->kind, EVENT_FUNCTION) == 0
                              ? table_find(&seen->symbol_names, event->name)
                              : TABLE_NONE;

        if (symbol != TABLE_NONE)
            seen->symbols[symbol].nanoseconds += event->cpu;
    }
    return events;
}

void observe_close(struct observation *seen)
{
    if (!seen)
        return;
    for (size_t i = 0; i < sizeof seen->outputs / sizeof *seen->outputs; i++)
        output_abort(&seen->outputs[i]);
    if (seen->times_fd >= 0)
        close(seen->times_fd);
    events_close(seen->log);
    cross_reference_free(seen->cross);
    table_free(&seen->member_names);
    table_free(&seen->symbol_names);
    table_free(&seen->own_names);
    arena_free(&seen->arena);
    free(seen);
}
