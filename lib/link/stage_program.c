/* stage_program.c: the stages up to the program, except compile.c.
 *
 * Selects members, has LTO-IR compiled, reads machine code, and links PTX. Whether libcudadevrt
 * takes part is decided last: only then is it known whether anything calls it. */
#include <inttypes.h>

#include "diag/diag.h"
#include "link/internal.h"
#include "ptx/program.h"

static bool selects_entries(const struct link *link)
{
    return state_is_program(link) && !link->entries.is_compile_only;
}

static bool matches_entry(const void *entries, struct text kernel)
{
    return entries_match(entries, kernel);
}

static struct inflation inflation_of(const struct link *link, enum member_role role)
{
    const struct link_request *request = link->request;

    return (struct inflation){.limit = request->has_inflation_limit
                                           ? request->inflation_limit
                                           : members_inflation_limit(&link->members, role),
                              .option = "--decompression-limit"};
}

static bool find_used(struct link *link)
{
    const struct link_request *request = link->request;
    struct used_request wanted = {
        .kernels = request->kernels_used,
        .variables = request->variables_used,
        .wanted = request->undefined,
        .ignore_host_info = request->ignore_host_info ||
                            (lto_has_others(&link->members) &&
                             toolkit_does(link->toolkit, TOOLKIT_KEEPS_UNUSED_BESIDE_LTO)),
        .is_lto = state_is_program(link),
    };

    if (selects_entries(link)) {
        wanted.entries = link->entries.names;
        wanted.entry_count = link->entries.count;
        wanted.matches = link->entries.pattern_count ? matches_entry : NULL;
        wanted.match_argument = &link->entries;
    }
    return used_collect(&link->used, &link->inputs, &wanted);
}

/* nvlink has no such target. Rules that come close are those of a toolkit that has it. */
static void follow_toolkit(struct link *link)
{
    const struct toolkit_facts *followed = link->members.toolkit, *wanted = link->toolkit;
    char name[ARCH_NAME_SIZE];

    if (followed != wanted)
        diag_caution("nvlink of CUDA %u.%u does not know '%s': the link follows that of CUDA %u.%u",
                     wanted->version / 10u, wanted->version % 10u,
                     arch_name(link->members.arch, name), followed->version / 10u,
                     followed->version % 10u);
    link->toolkit = followed;
}

static bool select_from_inputs(struct link *link)
{
    const struct link_request *request = link->request;
    const struct option_request *options = &request->options;
    struct member_request wanted = {
        .arch = request->arch,
        .toolkit = link->toolkit,
        .is_virtual = request->is_virtual,
        .prefer_ptx = options->lto || request->chunk_count > 1 ||
                      (options->has_split_compile_extended && options->split_compile_extended != 1),
        .suppress_arch_warning = request->suppress_arch_warning,
    };

    if (!members_collect(&link->members, &link->inputs) || !compile_find_libraries(link))
        return false;
    wanted.link_lto = link->nvjitlink.path != NULL;
    wanted.link_bitcode = options->lto && link->llvm.path;
    wanted.prefer_ptx &= !wanted.link_lto; /* as in nvlink, machine code is used as it is */
    if (!members_select(&link->members, &wanted))
        return false;
    follow_toolkit(link);
    if (!compile_check(link))
        return false;
    if (request->is_virtual)
        return true;
    if (link->members.count == 0 && !request->modules_file && !request->product)
        diag_warning("No input has device code: the output has none either");
    groups_make(link);
    if (options->lto)
        lto_warn_useless(&link->members);
    link->ptx_inflation = inflation_of(link, MEMBER_PTX);
    link->cubin_inflation = inflation_of(link, MEMBER_CUBIN);
    return lto_refuse_alone(&link->members) && find_used(link);
}

/* What cubins leave undefined, and --undefined names. */
static const struct text *find_undefined(struct link *link, size_t *count)
{
    const char *const *wanted = link->request->undefined;
    struct text *names = NULL;
    size_t capacity = 0;

    for (size_t i = 0; i < link->cubin_count; i++) {
        const struct cubin *cubin = &link->cubins[i].cubin;

        for (size_t k = 1; k < cubin->symbol_count; k++)
            if (cubin->symbols[k].section == SHN_UNDEF && cubin->symbols[k].name.size)
                ARENA_PUSH(&link->sources_arena, names, *count, capacity) = cubin->symbols[k].name;
    }
    for (; wanted && *wanted; wanted++)
        if (**wanted)
            ARENA_PUSH(&link->sources_arena, names, *count, capacity) = text_of(*wanted);
    return names;
}

/* The name in messages of the PTX that LTO-IR of these members became: "lto.ptx(a.o(2)+b.o(2))". */
static const char *lto_name(struct link *link)
{
    const struct name_list list = groups_names(link, &(struct group){.has_lto = true});

    return name_list_text("lto.ptx", &list, &link->members.arena);
}

/* Fills link->texts. *is_lazy tells whether any of them takes part only if it is needed. */
static bool read_all_texts(struct link *link, bool *is_lazy)
{
    const size_t count = link->members.count;
    struct needed_text *texts = arena_zalloc(&link->sources_arena, count + 1, sizeof *texts);

    link->texts = texts;
    for (size_t i = 0; i < link->bitcode.count; i++) {
        const struct bitcode_module *module = &link->bitcode.modules[i];

        texts[module->first_member] =
            (struct needed_text){.text = module->ptx, .name = module->name};
    }
    for (size_t i = 0; i < count; i++) {
        const struct member *member = &link->members.list[i];
        struct bytes code;

        if (member->role != MEMBER_PTX)
            continue;
        if (!member_code(member, &link->ptx_inflation, &link->sources_arena, &code))
            return false;
        texts[i] = (struct needed_text){.text = {(const char *)code.data, code.size},
                                        .name = member->name,
                                        .is_member = member->is_lazy,
                                        .is_needed = true};
        *is_lazy |= member->is_lazy;
    }
    if (link->lto.ptx.size)
        texts[count] = (struct needed_text){.text = link->lto.ptx, .name = lto_name(link)};
    return true;
}

static void drop_texts(struct link *link, const struct needed_text *texts)
{
    for (size_t i = 0; i < link->members.count; i++) {
        struct member *member = &link->members.list[i];

        if (member->role != MEMBER_PTX || texts[i].is_needed)
            continue;
        member->role = MEMBER_UNUSED;
        member->reason = "nothing needs what this member of an archive defines";
        link->members.ptx_count--;
        diag_verbose("member %s: not used: %s", member->name, member->reason);
    }
}

/* A link needs at least one group, of which its cubin is made when it has nothing else. */
static void drop_groups(struct link *link)
{
    size_t kept = 0;

    for (size_t i = 0; i < link->group_count; i++)
        if (groups_names(link, &link->groups[i]).count > 0 ||
            (kept == 0 && i + 1 == link->group_count && link->cubin_count == 0))
            link->groups[kept++] = link->groups[i];
    link->group_count = kept;
}

/* Reads the texts, when LTO-IR and bitcode have been compiled, and cubins read. Members of archives
 * that nothing needs lose their role, and groups without any other code are removed. */
static bool read_texts(struct link *link)
{
    const struct text *undefined;
    size_t undefined_count = 0;
    bool is_lazy = false;

    if (!read_all_texts(link, &is_lazy))
        return false;
    if (!is_lazy)
        return true;
    undefined = find_undefined(link, &undefined_count);
    needed_choose(link->texts, link->members.count + 1, undefined, undefined_count,
                  &link->sources_arena);
    drop_texts(link, link->texts);
    drop_groups(link);
    if (link->members.ptx_count + link->members.lto_count + link->cubin_count == 0)
        diag_warning("Nothing of the archives is linked: they have no kernel, and no other input "
                     "needs what they define");
    return true;
}

/* Finds the group's PTX. */
static size_t find_sources(const struct link *link, const struct group *group,
                           struct program_source *sources)
{
    const struct needed_text *texts = link->texts, *lto = &texts[link->members.count];
    size_t count = 0;

    if (group->has_lto && lto->name)
        sources[count++] = (struct program_source){lto->name, lto->text};
    for (size_t i = group->first; i < group->end; i++)
        if (texts[i].name && groups_have(group, link->members.list, i))
            sources[count++] = (struct program_source){texts[i].name, texts[i].text};
    return count;
}

/* About keep_whole, measured: nvlink assembles everything that libnvvm left, and drops dead code
 * when it merges the result with other cubins, which shows in .debug_frame. Symbols that only dead
 * code refers to need not be defined. Another group's program is like a cubin here: what it defines
 * and calls is known when all are merged. */
static bool link_group(struct link *link, struct group *group)
{
    bool is_lto = group->has_lto && (link->group_count > 1 || link->members.ptx_count == 0);
    struct program_source *sources =
        arena_alloc(&link->sources_arena, group->end - group->first + 1, sizeof *sources);
    struct program_request wanted = {
        .arch = link->members.arch,
        .keep_dead =
            link->agreement.debug || link->request->merge.relocatable || link->entries.is_patch,
        .keep_whole = is_lto && !state_is_split(link),
        .keep_exported = state_keeps_exported(link),
        .takes_first = link->request->merge.takes_first,
        .drop_variables = state_is_program(link) && link->members.lto_count == 0,
        .allow_undefined = state_has_user_cubins(link) || link->request->merge.relocatable ||
                           link->group_count > 1,
        .used = &link->used,
        .entries = &link->entries,
        .selects_entries = selects_entries(link),
        .wants_marks = (state_is_split(link) || state_may_be_exact(link)) &&
                       state_split_policy(link) == SPLIT_STABLE,
        .provided = &link->system_names,
        .members = &link->members,
    };

    return program_link(&group->program, sources, find_sources(link, group, sources), &wanted);
}

static bool link_groups(struct link *link)
{
    bool ok = true;

    if (!read_texts(link))
        return false;
    for (size_t i = 0; i < link->group_count; i++)
        ok &= link_group(link, &link->groups[i]);
    return ok;
}

static void choose_toolkit(struct link *link)
{
    LOCAL_BUFFER(why);

    link->toolkit = state_find_toolkit(link->request, &why);
    diag_verbose("like nvlink %u.%u: %.*s", link->toolkit->version / 10,
                 link->toolkit->version % 10, TEXT_ARG(buffer_view(&why)));
}

bool stage_open(struct link *link)
{
    const struct link_request *request = link->request;
    const struct library_search libraries = {
        .paths = request->library_paths,
        .count = string_list_count(request->library_paths),
        .from_compiler = request->from_compiler,
    };
    struct observe_work work;
    bool ok;

    choose_toolkit(link);
    link->inputs.are_read = request->reads_files;
    link->inputs.watch = link->watch;
    watch_add_all(link->watch, request->response_watch);
    ok = (entries_read(&link->entries, &link->arena, request->assembler_options) ||
          diag_blame(LINK_USAGE)) &&
         merge_check_index(request->index_file) &&
         inputs_open(&link->inputs, request->operands, request->operand_count, &libraries) &&
         (overwrite_check(request, &link->inputs, request->dependency_file) ||
          diag_blame(LINK_USAGE)) &&
         (reproduce_write(link) || diag_blame(LINK_ENVIRONMENT));
    work = (struct observe_work){link->inputs.count, "files", 0};
    for (size_t i = 0; i < link->inputs.count; i++)
        work.bytes += link->inputs.files[i].data.size;
    observe_stage(link->observation, "open", work);
    return ok;
}

static const char *kind_name(uint32_t kind)
{
    return kind == FATBIN_PTX       ? "PTX"
           : kind == FATBIN_ELF     ? "ELF"
           : kind == FATBIN_NVVM    ? "LTO-IR"
           : kind == FATBIN_BITCODE ? "LLVM bitcode"
                                    : "unknown kind";
}

/* The target, and every candidate with its role. */
static void tell_members(const struct members *members)
{
    char arch[ARCH_NAME_SIZE];

    if (members->arch.sm)
        diag_verbose("target %s", arch_name(members->arch, arch));
    for (size_t i = 0; i < members->count; i++) {
        const struct member *member = &members->list[i];

        diag_verbose("member %s: %s for %s, %s%s%s", member->name, kind_name(member->entry.kind),
                     arch_name(member->entry.arch, arch), member_role_name(member->role),
                     member->reason ? ": " : "", member->reason ? member->reason : "");
    }
}

bool stage_select(struct link *link)
{
    bool ok = select_from_inputs(link);
    struct observe_work work = {link->members.count, "members", 0};

    tell_members(&link->members);
    groups_tell(link);
    observe_members(link->observation, &link->members);
    for (size_t i = 0; i < link->members.count; i++)
        if (link->members.list[i].role != MEMBER_UNUSED)
            work.bytes += link->members.list[i].entry.payload.size;
    observe_stage(link->observation, "select", work);
    return ok;
}

/* The state of each embedded option, and the values in force. */
static void tell_agreement(const struct agreement *agreement)
{
    static const char *const states[] = {"none", "absent", "present", "mixed", "conflict"};

    for (size_t i = 0; i < EMBEDDED_COUNT; i++) {
        const struct consensus *consensus = &agreement->embedded[i];
        const char *name = embedded_table[i].name;

        if (consensus->state >= CONSENSUS_PRESENT)
            diag_verbose("option %s: %s, value %" PRId32, name, states[consensus->state],
                         consensus->value);
        else if (consensus->state == CONSENSUS_ABSENT)
            diag_verbose("option %s: %s", name, states[consensus->state]);
    }
    if (agreement->split_compile != 1)
        diag_verbose("in force: -split-compile=%" PRId32, agreement->split_compile);
    if (agreement->split_compile_extended != 1)
        diag_verbose("in force: -split-compile-extended=%" PRId32,
                     agreement->split_compile_extended);
    if (agreement->maxrregcount)
        diag_verbose("in force: -maxrregcount=%" PRId32, agreement->maxrregcount);
}

bool stage_agree(struct link *link)
{
    bool ok = consensus_reach(&link->agreement, &link->members, &link->request->options);

    if (ok) {
        tell_agreement(&link->agreement);
        observe_agreement(link->observation, &link->agreement);
    }
    observe_stage(link->observation, "agree", (struct observe_work){0});
    return ok;
}

/* Host linkers do not warn here; but names of device code are mangled and easily mistyped. */
static void warn_of_unknown(const struct link *link)
{
    const char *const *undefined = link->request->undefined;
    LOCAL_TABLE(names); /* to their numbers, or behind these, if something defines them */
    uint32_t count = 0;

    if (!undefined || !*undefined)
        return;
    for (; undefined[count]; count++)
        table_add(&names, text_of(undefined[count]), count);
    for (size_t i = 0; i < link->group_count; i++)
        for (size_t k = 0; k < link->groups[i].program.symbol_count; k++)
            if (link->groups[i].program.symbols[k].is_defined)
                table_set(&names, link->groups[i].program.symbols[k].own_name, count);
    for (size_t i = 0; i < link->cubin_count; i++)
        for (size_t k = 1; k < link->cubins[i].cubin.symbol_count; k++)
            if (link->cubins[i].cubin.symbols[k].section != SHN_UNDEF)
                table_set(&names, link->cubins[i].cubin.symbols[k].name, count);
    for (uint32_t i = 0; i < count; i++)
        if (table_find(&names, text_of(undefined[i])) == i)
            diag_warning("--undefined: nothing that is linked defines '%s'", undefined[i]);
}

bool stage_link(struct link *link)
{
    bool is_read = link->members.bitcode_count > 0; /* to compile that, they were needed earlier */
    bool ok = (is_read || member_cubins_read(link)) && link_groups(link);
    size_t symbols = 0;

    if (ok) {
        member_cubins_drop_unused(link);
        member_cubins_tell_of_refused(link);
        warn_of_unknown(link);
        observe_roles(link->observation, &link->members);
    }
    for (size_t i = 0; i < link->group_count; i++) {
        symbols += link->groups[i].program.symbol_count;
        if (ok)
            observe_program(link->observation, &link->groups[i].program);
    }
    observe_stage(link->observation, "link", (struct observe_work){symbols, "symbols", 0});
    return ok;
}

/* The inputs' PTX is not read again, so its pages can be released. Cubins are read again: a link of
 * cubins alone keeps its pages. */
void stage_release(struct link *link)
{
    state_free_programs(link);
    arena_free(&link->sources_arena);
    if (state_has_ptx(link))
        inputs_release(&link->inputs);
}
