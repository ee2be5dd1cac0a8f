/* program.c: the steps of linking PTX. Each runs on the whole program before the next begins. */
#include "ptx/program.h"

#include "diag/diag.h"
#include "facts/targets.h"
#include "ptx/link.h"
#include "ptx/module.h"

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
    live_mark(program, &alive);
    return check_program(program, request) && is_good;
}

void program_free(struct program *program)
{
    for (size_t i = 0; i < program->module_count && program->details; i++)
        table_free(&program->details[i].names);
    arena_free(&program->arena);
    *program = (struct program){0};
}
