/* program.c: the steps of linking PTX, each on the whole program before the next begins; and which
 * symbols are live, from the used kernels along calls, addresses and initial values.
 *
 * Variables are never dropped (measured on ptxas and nvlink: not even unreferenced internal ones),
 * so the symbols in their initial values are live too. Under -lto, where libnvvm drops variables
 * that host code does not name, liveness of variables follows the same rules as that of functions.
 * Dead text is not scanned. */

#include "input/used.h"
#include "ptx/internal.h"

/* Parses all modules of the sources. Goes on with the next source at a module with errors: what
 * follows in the same one would only repeat them. */
static bool parse_sources(struct program *program, const struct program_source *sources,
                          size_t count)
{
    size_t capacity = 0;
    bool is_good = true;

    for (size_t i = 0; i < count; i++) {
        struct module_cursor cursor = {0};

        for (bool goes_on = true; goes_on && !module_at_end(sources[i].text, cursor.offset);) {
            struct ptx_module *module = arena_alloc(&program->arena, 1, sizeof *module);

            goes_on =
                module_parse(module, &program->arena, sources[i].name, sources[i].text, &cursor);
            is_good &= goes_on;
            ARENA_PUSH(&program->arena, program->modules, program->module_count, capacity) = module;
        }
    }
    program->details =
        arena_zalloc(&program->arena, program->module_count, sizeof *program->details);
    return is_good;
}

/* ptxas's rules (measured): code for an `a` target runs on that chip only, for an `f` target on its
 * family, for others on any newer chip. */
static bool check_module_target(const struct ptx_module *module, struct arch arch)
{
    char wanted[ARCH_NAME_SIZE], given[ARCH_NAME_SIZE];

    arch_name(arch, wanted);
    arch_name(module->target, given);
    if (runs_on_ptx(arch, module->target, toolkits_newest()))
        return true;
    if (module->target.suffix == 'a')
        return diag_error("PTX with .target '%s' cannot be compiled for architecture '%s' in '%s'",
                          given, wanted, module->file);
    if (module->target.sm > arch.sm)
        return diag_error("PTX with .target '%s' is newer than architecture '%s' in '%s'", given,
                          wanted, module->file);
    return diag_error("Program with .target '%s' cannot be compiled to different SM-family "
                      "architecture '%s' in '%s'",
                      given, wanted, module->file);
}

/* The program's target is the most demanding of its modules'; a suffix adds features to the number.
 * All modules fit the link's architecture, so at most one chip has an `a`. */
static void raise_target(struct arch *target, struct arch module)
{
    if (module.sm > target->sm)
        target->sm = module.sm;
    if (module.suffix == 'a' || target->suffix == 0)
        target->suffix = module.suffix;
}

static void caution_of_newer(const struct program *program, const struct ptx_module *newest)
{
    unsigned known = toolkits_newest()->ptx;

    if (toolkits_ptx_is_newer(program->version_major, program->version_minor))
        diag_caution("'%s' is PTX %u.%u, newer than %u.%u, the newest known: what is new in it is "
                     "left as it is for the assembler to judge",
                     newest->file, program->version_major, program->version_minor, known / 10,
                     known % 10);
}

static bool check_modules(struct program *program, struct arch arch)
{
    const struct ptx_module *first = program->module_count ? program->modules[0] : NULL;
    const struct ptx_module *newest = first, *neediest = first;
    struct arch before = {0};
    bool is_good = true;

    if (!first) { /* a text for the link's architecture all the same */
        program->version_major = (uint16_t)(targets_ptx(arch) / 10);
        program->version_minor = (uint16_t)(targets_ptx(arch) % 10);
        program->target = arch;
        return true;
    }
    for (size_t i = 0; i < program->module_count; i++) {
        const struct ptx_module *module = program->modules[i];
        bool is_newer = module->version_major > program->version_major ||
                        (module->version_major == program->version_major &&
                         module->version_minor > program->version_minor);

        if (is_newer) {
            program->version_major = module->version_major;
            program->version_minor = module->version_minor;
            newest = module;
        }
        raise_target(&program->target, module->target);
        if (arch_equal(program->target, module->target) && !arch_equal(program->target, before))
            neediest = module;
        before = program->target;
        is_good &= check_module_target(module, arch);
        if (module->address_size != first->address_size)
            is_good = diag_error("Address size doesn't match in '%s', first specified in '%s'",
                                 module->file, first->file);
        if (module->texmode_independent != first->texmode_independent)
            is_good = diag_error("Texturing mode doesn't match in '%s', first specified in '%s'",
                                 module->file, first->file);
    }
    program->version_from = (struct program_line){newest->file, newest->version_line};
    program->target_from = (struct program_line){neediest->file, neediest->target_line};
    caution_of_newer(program, newest);
    return is_good;
}

struct marker {
    struct program *program;
    struct scan scan;
    struct table taken; /* names of all symbols */
    uint32_t *work;     /* live symbols whose text has not been scanned */
    size_t work_count;
};

static void mark_live(struct marker *marker, uint32_t symbol)
{
    struct program_symbol *entry = &marker->program->symbols[symbol];

    if (entry->is_live)
        return;
    entry->is_live = true;
    marker->work[marker->work_count++] = symbol;
}

/* The texts to be scanned are the owner's. */
static void begin_scan(struct marker *marker, struct program_symbol *owner, uint32_t module)
{
    struct scan *scan = &marker->scan;

    scan->owner = owner;
    scan->module = module;
    scan->reference_capacity = scan->edit_capacity = scan->mark_capacity = 0;
}

static void mark_references(struct marker *marker, const struct program_symbol *owner)
{
    for (uint32_t i = 0; i < owner->reference_count; i++)
        mark_live(marker, owner->references[i]);
}

static void scan_symbol(struct marker *marker, uint32_t index)
{
    struct program_symbol *symbol = &marker->program->symbols[index];

    begin_scan(marker, symbol, symbol->module);
    scan_item(&marker->scan, symbol->item);
    mark_references(marker, symbol);
    if (symbol->alias_target != NO_SYMBOL) {
        marker->program->symbols[symbol->alias_target].is_address_taken = true;
        mark_live(marker, symbol->alias_target);
    }
}

/* Variables that -lto may drop. Shared variables take no space unless a kernel reaches them, and
 * the host binds textures, samplers and surfaces. */
static bool is_variable_symbol(const struct program_symbol *symbol)
{
    const struct ptx_variable *variable = &symbol->item->variable;

    return (variable->space == PTX_SPACE_GLOBAL || variable->space == PTX_SPACE_CONST) &&
           !ptx_type_is_opaque((enum ptx_type)variable->type);
}

static bool is_live_root(const struct program_symbol *symbol, const struct program_request *request)
{
    if (!symbol->is_defined)
        return false;
    if (request->keep_dead)
        return true;
    if (!symbol->is_function)
        return !request->drop_variables || !is_variable_symbol(symbol) || !request->used ||
               used_has_variable(request->used, symbol->own_name);
    if (symbol->is_entry)
        return !request->used || used_has_kernel(request->used, symbol->own_name);
    /* In a whole program only kernels, and --undefined, keep functions. */
    if (request->used && !request->selects_entries && used_wants(request->used, symbol->own_name))
        return true;
    /* A cubin that is merged later, or a later link, may call it. */
    return (request->allow_undefined || request->keep_exported) && symbol->linkage != PTX_INTERNAL;
}

/* Finds the edits of a module that stays whole, or of a module's sections. A module that stays
 * whole is entirely live. */
static void scan_module(struct marker *marker, uint32_t index)
{
    struct program *program = marker->program;
    const struct ptx_module *module = program->modules[index];
    struct program_module *details = &program->details[index];
    struct program_symbol none = {0};

    begin_scan(marker, &none, index);
    for (size_t i = 0; i < module->item_count; i++)
        if (module->has_full_debug || module->items[i].kind == PTX_SECTION)
            scan_item(&marker->scan, &module->items[i]);
    mark_references(marker, &none);
    details->edits = none.edits;
    details->edit_count = none.edit_count;
    for (size_t i = 0; module->has_full_debug && i < details->entry_count; i++) {
        const struct program_entry *entry = &details->entries[i];

        if (entry->symbol != NO_SYMBOL && program->symbols[entry->symbol].module == index)
            mark_live(marker, entry->symbol);
    }
}

static void report_dropped(struct program *program)
{
    for (size_t i = 0; i < program->symbol_count; i++) {
        const struct program_symbol *symbol = &program->symbols[i];

        if (symbol->is_live || !symbol->is_defined)
            continue;
        program->dropped_functions += symbol->is_function;
        diag_verbose("%s '%.*s' of '%s' is not %s: dropped",
                     !symbol->is_function ? "Variable"
                     : symbol->is_entry   ? "Kernel"
                                          : "Function",
                     TEXT_ARG(symbol->own_name), program->modules[symbol->module]->file,
                     symbol->is_function && !symbol->is_entry ? "reachable" : "used");
    }
}

/* From here on, every scanned text is a symbol's own. */
static void start_marks(struct marker *marker, const struct program_request *request)
{
    const struct program *program = marker->program;

    marker->scan.wants_marks = request->wants_marks;
    for (size_t i = 0; i < program->symbol_count && request->wants_marks; i++)
        marker->scan.keeps_counters |= scan_is_counted(program->symbols[i].name);
}

static void find_live(struct program *program, const struct program_request *request)
{
    struct marker marker = {.program = program, .scan = {.program = program}};

    CONTEXT_DEFER(table_cleanup, &marker.scan.counters);
    CONTEXT_DEFER(table_cleanup, &marker.taken);
    for (size_t i = 0; i < program->symbol_count; i++)
        table_add(&marker.taken, program->symbols[i].name, 0);
    marker.scan.taken = program->module_count > 1 ? &marker.taken : NULL;
    marker.scan.stamps =
        arena_zalloc(&program->arena, program->symbol_count, sizeof *marker.scan.stamps);
    marker.work = arena_alloc(&program->arena, program->symbol_count, sizeof *marker.work);
    for (uint32_t i = 0; i < program->module_count; i++)
        scan_module(&marker, i);
    start_marks(&marker, request);
    for (uint32_t i = 0; i < program->symbol_count; i++)
        if (is_live_root(&program->symbols[i], request))
            mark_live(&marker, i);
    while (marker.work_count > 0)
        scan_symbol(&marker, marker.work[--marker.work_count]);
    report_dropped(program);
}

bool program_link(struct program *program, const struct program_source *sources, size_t count,
                  const struct program_request *request)
{
    struct program_request alive = *request;
    bool is_good;

    if (!parse_sources(program, sources, count))
        return false;
    /* All modules could be read, so one run can report every error between them. */
    is_good = check_modules(program, request->arch);
    is_good &= symbols_resolve(program, request);
    names_make_unique(program);
    alive.keep_dead |= request->keep_whole && !check_lacks_symbols(program, request);
    find_live(program, &alive);
    return check_program(program, request) && is_good;
}

void program_free(struct program *program)
{
    for (size_t i = 0; i < program->module_count && program->details; i++)
        table_free(&program->details[i].names);
    arena_free(&program->arena);
    *program = (struct program){0};
}
