/* front.c: the stages up to the program.
 *
 * Members are chosen, LTO-IR becomes PTX, machine code is read, PTX is linked. Whether
 * libcudadevrt takes part is decided last: only then is it known whether anything calls it. */
#include "base/context.h"
#include "base/diag.h"
#include "link/keep.h"
#include "link/paths.h"
#include "link/read_cubins.h"
#include "link/report.h"
#include "link/reproduce.h"
#include "link/stages.h"
#include "link/system.h"
#include "lto/lto.h"
#include "merge/unified.h"

/* Only -lto asks for optimisation across modules. */
static bool find_lto(struct link *link)
{
    const struct link_request *request = link->request;
    const struct toolkit_request toolkit = {
        .nvjitlink = request->nvjitlink,
        .cuda_path = request->assembler.cuda_path,
        .nvvm_path = request->assembler.nvvm_path,
    };

    return !request->options.lto || !members_have_lto(&link->members) ||
           lto_find(&link->lto_library, request->lto_source, &toolkit) ||
           state_environment_failed(link);
}

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

static bool select_members(struct link *link)
{
    const struct link_request *request = link->request;
    const struct option_request *options = &request->options;
    struct used_request used = {.kernels = request->kernels_used,
                                .variables = request->variables_used,
                                .ignore_host_info = request->ignore_host_info};
    struct member_request wanted = {
        .arch = request->arch,
        .is_virtual = request->is_virtual,
        .prefer_ptx = options->lto || request->chunk_count > 1 ||
                      (options->has_split_compile_extended && options->split_compile_extended != 1),
        .suppress_arch_warning = request->suppress_arch_warning,
    };

    if (!members_collect(&link->members, &link->inputs) || !find_lto(link))
        return false;
    wanted.link_lto = link->lto_library != NULL;
    wanted.prefer_ptx &= !wanted.link_lto; /* as nvlink: machine code stays what it is */
    if (!members_select(&link->members, &wanted))
        return false;
    if (request->is_virtual)
        return true;
    if (options->lto)
        lto_warn_useless(&link->members);
    used.is_lto = state_is_program(link);
    if (selects_entries(link)) {
        used.entries = link->entries.names;
        used.entry_count = link->entries.count;
        used.matches = link->entries.pattern_count ? matches_entry : NULL;
        used.match_argument = &link->entries;
    }
    link->ptx_inflation = inflation_of(link, MEMBER_PTX);
    link->cubin_inflation = inflation_of(link, MEMBER_CUBIN);
    return lto_refuse_alone(&link->members) && used_collect(&link->used, &link->inputs, &used);
}

static bool compile_lto(struct link *link)
{
    const struct link_request *request = link->request;
    const struct lto_request wanted = {
        .library = link->lto_library,
        .members = &link->members,
        .agreement = &link->agreement,
        .options = &request->options,
        .nvvm_options = request->nvvm_options,
        .used = &link->used,
        .jobs = request->lto_jobs,
        .is_split = state_is_split(link),
        .threads = state_is_split(link) ? (uint32_t)link->agreement.split_compile_extended : 0,
        .thread_limit = request->concurrency == CONCURRENCY_OFF ? 1 : request->thread_limit,
        .stack_bytes = request->worker_stack,
        .stop = request->stop,
        .jobserver = request->jobserver,
        .timeout = request->lto_timeout,
        .memory_limit = request->memory_limit,
        .inflation_limit = link->ptx_inflation.limit,
        .relocatable = request->relocatable,
        .distribution = request->distribution.program ? &request->distribution : NULL,
        .cache = state_find_library(link) ? link->cache : NULL,
        .library_key = &link->library_key,
    };
    enum link_code code;

    code = lto_compile(&link->lto, &link->sources_arena, &wanted);
    if (code == LINK_NVVM_ERROR)
        *link->failure = code;
    if (code != LINK_OK && context_get()->verbose)
        diag_error("%s: the LTO-IR could not be compiled (code %d)", assembler_code_text((int)code),
                   (int)code);
    return code == LINK_OK &&
           (keep_lto(request->keep, &link->lto) || state_environment_failed(link));
}

/* Measured: nvlink assembles all that libnvvm left, and drops the dead when it merges that with
 * other cubins, which shows in .debug_frame. */
static bool is_left_as_is(const struct link *link)
{
    return link->members.lto_count > 0 && link->members.ptx_count == 0 && !state_is_split(link);
}

static bool link_program(struct link *link)
{
    const struct member *member = link->members.list;
    struct program_source *sources =
        arena_zalloc(&link->sources_arena, link->members.ptx_count + 1, sizeof *sources);
    struct program_request wanted = {
        .arch = link->members.arch,
        .keep_dead = link->agreement.debug || link->request->relocatable ||
                     link->entries.is_patch || is_left_as_is(link),
        .keep_exported = state_keeps_exported(link),
        .drop_variables = state_is_program(link) && link->members.lto_count == 0,
        .allow_undefined = state_has_user_cubins(link) || link->request->relocatable,
        .used = &link->used,
        .entries = &link->entries,
        .selects_entries = selects_entries(link),
        .wants_marks = state_is_split(link) && state_split_policy(link) == SPLIT_STABLE,
        .provided = &link->system_names,
    };
    size_t count = 0;

    if (link->lto.ptx.size)
        sources[count++] = (struct program_source){
            .name = state_made_name(link, "lto.ptx", false, &link->members.arena),
            .text = link->lto.ptx};
    for (size_t i = 0; i < link->members.count; i++, member++) {
        struct bytes code;

        if (member->role != MEMBER_PTX)
            continue;
        if (!member_code(member, &link->ptx_inflation, &link->sources_arena, &code))
            return false;
        sources[count++] = (struct program_source){.name = member->name,
                                                   .text = {(const char *)code.data, code.size}};
    }
    return program_link(&link->program, sources, count, &wanted);
}

/* Drops libcudadevrt when nothing calls it. */
static void drop_system(struct link *link)
{
    size_t kept = 0, at = 0;

    if (!link->has_system || system_is_called_by_program(&link->system_names, &link->program))
        return;
    for (size_t i = 0; i < link->member_cubin_count; i++)
        if (system_is_called_by_cubin(&link->system_names, &link->member_cubins[i]))
            return;
    for (size_t i = 0; i < link->members.count; i++) {
        struct member *member = &link->members.list[i];
        struct cubin *cubin = &link->member_cubins[at];

        if (member->role != MEMBER_CUBIN)
            continue;
        at++;
        if (member->is_system) {
            diag_verbose("member %s is left out: nothing calls it", member->name);
            cubin_free(cubin);
            member->role = MEMBER_UNUSED;
            member->reason = "nothing calls it";
            link->members.cubin_count--;
        } else {
            link->member_cubins[kept++] = *cubin;
        }
    }
    link->member_cubin_count = kept;
    link->is_system_unused = true;
}

/* Before anything is written. */
static bool check_paths(struct link *link)
{
    if (paths_check(link->request, &link->inputs))
        return true;
    *link->failure = LINK_USAGE;
    return false;
}

static uint64_t input_bytes(const struct inputs *inputs)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < inputs->count; i++)
        bytes += inputs->files[i].data.size;
    return bytes;
}

static uint64_t member_bytes(const struct members *members)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < members->count; i++)
        if (members->list[i].role != MEMBER_UNUSED)
            bytes += members->list[i].entry.payload.size;
    return bytes;
}

static bool read_entries(struct link *link)
{
    if (entries_read(&link->entries, &link->entries_arena, link->request->assembler_options))
        return true;
    *link->failure = LINK_USAGE;
    return false;
}

bool front_open(struct link *link)
{
    const struct link_request *request = link->request;
    const struct library_search libraries = {
        .paths = request->library_paths,
        .count = request->library_path_count,
        .from_compiler = request->from_compiler,
    };
    bool ok;

    link->inputs.are_read = request->reads_files;
    ok = read_entries(link) && unified_check_index(request->index_file) &&
         inputs_open(&link->inputs, request->operands, request->operand_count, &libraries) &&
         check_paths(link) &&
         (reproduce_write(request, &link->inputs) || state_environment_failed(link));
    observe_inputs(link->observation, &link->inputs);
    observe_stage(link->observation, "open",
                  (struct observe_work){link->inputs.count, "files", input_bytes(&link->inputs)});
    return ok;
}

bool front_select(struct link *link)
{
    bool ok = select_members(link);

    report_members(&link->members);
    observe_members(link->observation, &link->members);
    observe_stage(
        link->observation, "select",
        (struct observe_work){link->members.count, "members", member_bytes(&link->members)});
    return ok;
}

bool front_agree(struct link *link)
{
    bool ok = consensus_reach(&link->agreement, &link->members, &link->request->options);

    if (ok)
        report_agreement(&link->agreement);
    if (ok)
        observe_agreement(link->observation, &link->agreement, &link->members);
    observe_stage(link->observation, "agree", (struct observe_work){0});
    return ok;
}

bool front_compile_lto(struct link *link)
{
    bool ok = link->members.lto_count == 0 || compile_lto(link);

    if (link->members.lto_count)
        observe_stage(link->observation, "lto",
                      (struct observe_work){link->members.lto_count, "members", 0});
    return ok;
}

bool front_link(struct link *link)
{
    bool ok = read_cubins(link) && (!state_has_ptx(link) || link_program(link));

    if (ok)
        drop_system(link);
    if (ok)
        observe_program(link->observation, &link->program, &link->members);
    observe_stage(link->observation, "link",
                  (struct observe_work){link->program.symbol_count, "symbols", 0});
    return ok;
}

/* What the PTX came from is not looked at any more; cubins are, so that where there are no others
 * their pages would only be asked for again. */
void front_release(struct link *link)
{
    program_free(&link->program);
    arena_free(&link->sources_arena);
    if (state_has_ptx(link))
        inputs_release(&link->inputs);
}
