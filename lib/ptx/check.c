/* check.c: checks that need to know what is live, and messages about symbols with notes that
 * explain them. An extern function that nothing calls may be undefined or have another prototype
 * (measured).
 *
 * Look-ups for notes are made only for messages that are shown, and for all of these at once: one
 * pass over the program, and one child that demangles all names. */
#include "ptx/internal.h"

#include "diag/symbol_names.h"
#include "input/member.h"
#include "options/consensus.h"

/* To nvlink, signed, unsigned and untyped bits of one size are the same type; floats are not. */
static unsigned type_class(enum ptx_type type)
{
    bool is_float = type == PTX_F16 || type == PTX_F16X2 || type == PTX_F32 || type == PTX_F64;

    return is_float ? 64 + type : ptx_type_size(type);
}

static bool same_parameter(const struct ptx_parameter *a, const struct ptx_parameter *b)
{
    return type_class(a->type) == type_class(b->type) && a->size == b->size &&
           a->is_array == b->is_array && a->is_return == b->is_return;
}

static bool same_prototype(const struct ptx_item *a, const struct ptx_item *b)
{
    if (a->function.parameter_count != b->function.parameter_count ||
        a->function.return_count != b->function.return_count)
        return false;
    for (uint32_t i = 0; i < a->function.parameter_count; i++)
        if (!same_parameter(&a->function.parameters[i], &b->function.parameters[i]))
            return false;
    return true;
}

/* True unless the module uses or defines the function and its first prototype differs from the
 * definition's. */
static bool is_prototype_known(const struct program *program, const struct program_entry *entry)
{
    const struct program_symbol *symbol = &program->symbols[entry->symbol];

    return entry->item->kind != PTX_FUNCTION || !symbol->is_function || symbol->is_entry ||
           entry->item == symbol->item || (!entry->is_used && !entry->item->is_definition) ||
           same_prototype(entry->item, symbol->item);
}

/* The names were measured one by one on nvlink, which rejects any other undefined function. */
bool program_driver_provides(struct text function)
{
    static const char *const names[] = {
        "__assertfail", "__profile", "free", "malloc", "vfprintf", "vprintf",
        /* dynamic parallelism: what libcudadevrt itself calls */
        "cnpCtxSynchronize", "cnpDeviceGetAttribute", "cnpDeviceGetName", "cnpDeviceGetTotalMem",
        "cnpEventCreate", "cnpEventDestroy", "cnpEventRecord", "cnpFuncGetAttribute",
        "cnpGetCacheConfig", "cnpGetDevice", "cnpGetDeviceCount", "cnpGetLastError", "cnpGetLimit",
        "cnpGetParameterBuffer", "cnpGetParameterBufferV2", "cnpGetSharedMemConfig",
        "cnpLaunchDevice", "cnpLaunchDeviceV2", "cnpSetLastError", "cnpStreamCreate",
        "cnpStreamDestroy", "cnpStreamWaitEvent",
        /* graphs that device code launches and changes */
        "cudaGraphKernelNodeSetEnabled", "cudaGraphKernelNodeSetGridDim",
        "cudaGraphKernelNodeSetParam", "cudaGraphKernelNodeUpdatesApply", "cudaGraphLaunch",
        "cudaGraphSetConditional"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (text_equal(function, text_of(names[i])))
            return true;
    return text_starts(function, TEXT("__cuda_syscall"));
}

static bool may_be_undefined(const struct program_symbol *symbol,
                             const struct program_request *request)
{
    const struct ptx_item *item = symbol->item;

    if (symbol->is_defined || request->allow_undefined ||
        (request->provided && table_find(request->provided, symbol->own_name) != TABLE_NONE))
        return true;
    if (symbol->is_function)
        return program_driver_provides(symbol->own_name);
    /* Textures, samplers and surfaces are bound by the host; nothing defines them. */
    if (ptx_type_is_opaque(item->variable.type))
        return true;
    /* Dynamic shared memory: its size comes with the launch. */
    return item->variable.space == PTX_SPACE_SHARED && item->variable.size == 0 &&
           item->variable.is_array;
}

bool check_lacks_symbols(const struct program *program, const struct program_request *request)
{
    for (size_t i = 0; i < program->symbol_count; i++)
        if (!may_be_undefined(&program->symbols[i], request))
            return true;
    return false;
}

/* Whether anything of that name, or that a pattern matches, is defined; with `is_kernel`, as one.
 */
static bool defines(const struct program *program, struct text name,
                    const struct entry_pattern *pattern, bool is_kernel)
{
    for (size_t i = 0; i < program->symbol_count; i++) {
        const struct program_symbol *symbol = &program->symbols[i];

        if (symbol->is_defined && (symbol->is_entry || !is_kernel) &&
            (pattern ? entries_pattern_matches(pattern, symbol->own_name)
                     : text_equal(symbol->own_name, name)))
            return true;
    }
    return false;
}

/* Checks what -Xptxas -e and --entry-pattern name. The first two messages are ptxas's. */
static bool check_entries(const struct program *program, const struct program_request *request)
{
    static const struct entry_selection none = {0};
    const struct entry_selection *entries = request->entries ? request->entries : &none;
    bool is_good = true, selects = request->selects_entries;

    for (size_t i = 0; i < entries->count; i++) {
        struct text name = entries->names[i];

        if (!defines(program, name, NULL, false))
            is_good =
                diag_error("Unknown function %.*s: -Xptxas -e names it, and no PTX defines it",
                           TEXT_ARG(name));
        else if (selects && !defines(program, name, NULL, true))
            is_good =
                diag_error("Entry function '%.*s' not found: what -Xptxas -e names is no kernel",
                           TEXT_ARG(name));
    }
    for (size_t i = 0; selects && i < entries->pattern_count; i++)
        if (!defines(program, entries->patterns[i].text, &entries->patterns[i], true))
            is_good =
                diag_error("No entry function matches '%.*s', which -Xptxas --entry-pattern gives",
                           TEXT_ARG(entries->patterns[i].text));
    return is_good;
}

/* Most bytes of a prototype that are shown. */
#define LONGEST_HEAD 400u

/* Of a symbol that a module refers to. */
struct fault {
    bool is_undefined; /* else its prototype differs from the definition's */
    uint32_t module;   /* which refers to the symbol */
    const struct program_entry *entry;
};

struct explainer {
    const struct program *program;
    const struct fault *faults;
    const struct fault *fault; /* that is explained */
    struct missing missing;    /* names of live symbols and definitions, by symbol */
};

/* Finds what refers to the symbols that are missing in some of the faults, and what is defined. */
static void find_names(struct explainer *explainer, size_t count)
{
    const struct program *program = explainer->program;

    missing_begin(&explainer->missing, program->symbol_count);
    for (size_t i = 0; i < count; i++)
        explainer->missing.is_missing[explainer->faults[i].entry->symbol] =
            explainer->faults[i].is_undefined;
    for (uint32_t i = 0; i < program->symbol_count; i++) {
        const struct program_symbol *symbol = &program->symbols[i];

        if (symbol->is_defined)
            missing_define(&explainer->missing, i, symbol->own_name);
        for (uint32_t j = 0; symbol->is_live && j < symbol->reference_count; j++)
            missing_refer(&explainer->missing,
                          &(struct missing_reference){symbol->references[j], symbol->module, i});
    }
}

static void note_reference(void *argument, const struct missing_reference *reference)
{
    struct explainer *explainer = argument;
    struct text wanted = explainer->fault->entry->name;
    const struct program_symbol *by = &explainer->program->symbols[reference->by];
    struct diag_place place =
        source_place(explainer->program->modules[by->module], by->item,
                     source_find(by->item, wanted), &explainer->missing.arena);
    const char *name = missing_say(&explainer->missing, by->own_name);
    const char *meaning = missing_say(&explainer->missing, wanted);

    missing_note(&explainer->missing, &place, "%s refers to %s", name, meaning);
}

/* Mangled names of static functions have an L: _ZL6helperi is static, _Z6helperi is not. */
static bool is_static_of(struct text name, struct text other)
{
    return name.size + 1 == other.size && other.size > 2 && other.data[2] == 'L' &&
           text_starts(other, TEXT("_Z")) && text_starts(name, TEXT("_Z")) &&
           text_equal((struct text){name.data + 2, name.size - 2},
                      (struct text){other.data + 3, other.size - 3});
}

static const char *difference_of_names(struct text name, struct text other)
{
    struct text part = symbol_names_part(other);

    if (text_equal(name, part) && other.size == part.size)
        return "but not .visible";
    if (text_equal(name, part) || is_static_of(name, part))
        return "but static";
    return missing_difference(name, other);
}

static bool note_similar(void *argument, uint32_t symbol, uint32_t definition)
{
    struct explainer *explainer = argument;
    const struct program *program = explainer->program;
    const struct program_symbol *other = &program->symbols[definition];
    const struct ptx_module *module = program->modules[other->module];
    struct diag_place place;

    if (other->is_function != program->symbols[symbol].is_function)
        return false;
    place = source_place(module, other->item, NULL, &explainer->missing.arena);
    missing_note(&explainer->missing, &place, "%s is defined in '%s', %s",
                 missing_say(&explainer->missing, other->own_name), module->file,
                 difference_of_names(explainer->fault->entry->name, other->own_name));
    return true;
}

/* The function's head on one line, as in ".func (.param .b32 r) f (.param .b32 a)". */
static const char *head_text(const struct ptx_item *item, struct arena *arena)
{
    struct text head = item->function.head;
    bool is_cut = head.size > LONGEST_HEAD;
    char *text;
    size_t size = 0;

    if (is_cut)
        head.size = LONGEST_HEAD;
    text = arena_alloc(arena, head.size, 1);
    for (size_t i = 0; i < head.size; i++) {
        bool is_blank = strchr(" \t\r\n", head.data[i]) != NULL;

        if (!is_blank)
            text[size++] = head.data[i];
        else if (size > 0 && text[size - 1] != ' ')
            text[size++] = ' ';
    }
    while (size > 0 && text[size - 1] == ' ')
        size--;
    return arena_printf(arena, "%.*s%s", (int)size, text, is_cut ? "..." : "");
}

static void explain_prototype(struct explainer *explainer, const struct ptx_item *item,
                              uint32_t module)
{
    const struct diag_place place = {.file = explainer->program->modules[module]->file,
                                     .line = item->line};

    missing_note(
        &explainer->missing, &place, "%s is %s as %s", missing_say(&explainer->missing, item->name),
        item->is_definition ? "defined" : "declared", head_text(item, &explainer->missing.arena));
}

static void report_fault(void *argument, size_t i)
{
    struct explainer *explainer = argument;
    const struct program *program = explainer->program;
    const struct fault *fault = &explainer->faults[i];
    uint32_t module = program->symbols[fault->entry->symbol].module;
    uint32_t first = module < fault->module ? module : fault->module;
    uint32_t second = module < fault->module ? fault->module : module;

    if (fault->is_undefined)
        diag_refusal("Undefined reference to '%.*s' in '%s'", TEXT_ARG(fault->entry->name),
                     program->modules[fault->module]->file);
    else
        diag_error("Prototype doesn't match for '%.*s' in '%s', first defined in '%s'",
                   TEXT_ARG(fault->entry->name), program->modules[second]->file,
                   program->modules[first]->file);
}

static void explain_fault(void *argument, size_t i)
{
    struct explainer *explainer = argument;
    const struct fault *fault = &explainer->faults[i];
    const struct program_symbol *symbol = &explainer->program->symbols[fault->entry->symbol];

    explainer->fault = fault;
    if (fault->is_undefined) {
        missing_explain(&explainer->missing, fault->entry->symbol, fault->module,
                        fault->entry->name);
    } else {
        explain_prototype(explainer, fault->entry->item, fault->module);
        explain_prototype(explainer, symbol->item, symbol->module);
    }
}

/* For each fault: the unused host object that defines the missing symbol, or NULL. */
static const char **find_elsewhere(struct explainer *explainer, size_t count,
                                   const struct members *members)
{
    struct arena *arena = &explainer->missing.arena;
    struct text *names = arena_alloc(arena, count, sizeof *names);
    const char **elsewhere = arena_zalloc(arena, count, sizeof *elsewhere);
    const char **notes;
    size_t missing = 0;

    for (size_t i = 0; i < count; i++)
        if (explainer->faults[i].is_undefined)
            names[missing++] = explainer->faults[i].entry->name;
    notes = members_explain_undefined(members, names, missing, arena);
    for (size_t i = 0; i < count; i++)
        if (explainer->faults[i].is_undefined)
            elsewhere[i] = *notes++;
    return elsewhere;
}

/* Reports the faults in nvlink's words and in this order, each with its notes, while there is
 * diag_room(): which symbols refer to a missing one and where, which definitions have a similar
 * name, and what both prototypes are. */
static void report_faults(const struct program *program, const struct fault *faults, size_t count,
                          const struct members *members)
{
    struct explainer explainer = {.program = program, .faults = faults};
    size_t explained = diag_room() < count ? diag_room() : count;

    if (count == 0)
        return;
    explainer.missing.words = (struct missing_words){&explainer, report_fault, explain_fault,
                                                     note_reference, note_similar};
    CONTEXT_DEFER(arena_cleanup, &explainer.missing.arena);
    find_names(&explainer, explained);
    missing_report(&explainer.missing, count, explained,
                   find_elsewhere(&explainer, explained, members));
}

void check_report_again(const struct program *program, const struct ptx_item *first,
                        uint32_t first_module, const struct ptx_item *second,
                        uint32_t second_module)
{
    bool explains = diag_room() > 0;
    LOCAL_ARENA(arena);
    struct diag_place here, there;
    const char *name;

    diag_error("Multiple definition of '%.*s' in '%s', first defined in '%s'",
               TEXT_ARG(second->name), program->modules[second_module]->file,
               program->modules[first_module]->file);
    if (!explains)
        return;
    name = symbol_names_shown(&second->name, 1, &arena)[0];
    here = source_place(program->modules[second_module], second, NULL, &arena);
    there = source_place(program->modules[first_module], first, NULL, &arena);
    if (here.line == there.line && strcmp(here.file, there.file) == 0) {
        diag_at(DIAG_NOTE, &here, "%s is defined here, and '%s' is linked twice", name,
                program->modules[first_module]->file);
    } else {
        diag_at(DIAG_NOTE, &here, "%s is defined here", name);
        diag_at(DIAG_NOTE, &there, "and first here, in '%s'", program->modules[first_module]->file);
        if (text_equal(first->text, second->text))
            diag_note("both are the same text: link one of the two files only; what a header "
                      "defines must be inline or static, or extern and defined in one file");
    }
}

static void note_kind(const struct program *program, const struct ptx_item *item, uint32_t module)
{
    const struct diag_place place = {.file = program->modules[module]->file, .line = item->line};

    diag_at(DIAG_NOTE, &place, "'%.*s' is %s here (%s)", TEXT_ARG(item->name),
            item->function.is_entry ? "__global__" : "__device__",
            item->function.is_entry ? ".entry" : ".func");
}

void check_report_kernel(const struct program *program, const struct ptx_item *first,
                         uint32_t first_module, const struct ptx_item *second,
                         uint32_t second_module)
{
    LOCAL_ARENA(arena);

    diag_error("Function %s not declared __global__ in all source files",
               symbol_names_quoted(second->name, &arena));
    note_kind(program, second, second_module);
    note_kind(program, first, first_module);
}

bool check_program(const struct program *program, const struct program_request *request)
{
    bool is_good = check_entries(program, request);
    struct fault *faults = NULL;
    size_t count = 0, capacity = 0;

    CONTEXT_DEFER(memory_cleanup, &faults);
    for (uint32_t i = 0; i < program->module_count; i++) {
        const struct program_module *details = &program->details[i];

        for (size_t j = 0; j < details->entry_count; j++) {
            const struct program_entry *entry = &details->entries[j];

            if (entry->symbol == NO_SYMBOL)
                continue;
            if (!is_prototype_known(program, entry))
                ARRAY_PUSH(faults, count, capacity) = (struct fault){false, i, entry};
            if (entry->is_used && !may_be_undefined(&program->symbols[entry->symbol], request))
                ARRAY_PUSH(faults, count, capacity) = (struct fault){true, i, entry};
        }
    }
    report_faults(program, faults, count, request->members);
    return is_good && count == 0;
}
