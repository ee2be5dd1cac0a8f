/* front.c: the stages up to the program.
 *
 * Members are chosen, LTO-IR becomes PTX, machine code is read, PTX is linked. Whether
 * libcudadevrt takes part is decided last: only then is it known whether anything calls it. */
#include <stdlib.h>

#include "base/context.h"
#include "diag/diag.h"
#include "diag/diag_state.h"
#include "link/changes.h"
#include "link/cudadevrt.h"
#include "link/other_names.h"
#include "link/overwrite_check.h"
#include "link/read_cubins.h"
#include "link/verbose.h"
#include "link/reproduce.h"
#include "link/save_temps.h"
#include "link/stages.h"
#include "lto/bitcode.h"
#include "lto/lto.h"
#include "merge/merge.h"
#include "ptx/symbol.h"

/* Only -lto asks for optimisation across modules. */
static bool find_lto(struct link *link)
{
    const struct link_request *request = link->request;
    const struct toolkit_request toolkit = {
        .file = request->nvjitlink,
        .cuda_path = request->assembler.cuda_path,
        .nvvm_path = request->assembler.nvvm_path,
    };

    if (!request->options.lto || !members_have(&link->members, FATBIN_NVVM))
        return true;
    if (!lto_find(&link->nvjitlink.path, request->lto_source, &toolkit))
        return diag_blame(LINK_ENVIRONMENT);
    changes_watch_library(link);
    return true;
}

/* Whether it is needed is known once members have been selected. */
static void find_llvm(struct link *link)
{
    if (members_have(&link->members, FATBIN_BITCODE))
        bitcode_find_library(&link->llvm.path, link->request->llvm);
}

/* Bitcode that takes part needs its library; else the link does not depend on it. */
static bool check_llvm(struct link *link)
{
    if (link->members.bitcode_count == 0) {
        free(link->llvm.path);
        link->llvm.path = NULL;
        return true;
    }
    if (!link->llvm.path) {
        bitcode_report_missing(&link->members, link->request->llvm);
        return diag_blame(LINK_ENVIRONMENT);
    }
    changes_watch_library(link);
    return true;
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

/* libnvvm and LLVM have resolved the names of what they link before it is PTX. */
static bool check_renames(const struct link *link)
{
    if (!link->request->renames || (link->members.lto_count == 0 &&
                                    !(link->request->options.lto && link->members.bitcode_count)))
        return true;
    diag_fatal("--wrap and --defsym cannot be kept to where -lto compiles LTO-IR or LLVM bitcode, "
               "which has its calls resolved by then; --lto-source=ptx links the PTX beside it");
    return diag_blame(LINK_USAGE);
}

static bool select_members(struct link *link)
{
    const struct link_request *request = link->request;
    const struct option_request *options = &request->options;
    struct used_request used = {.kernels = request->kernels_used,
                                .variables = request->variables_used,
                                .wanted = request->undefined,
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
    find_llvm(link);
    wanted.link_lto = link->nvjitlink.path != NULL;
    wanted.link_bitcode = options->lto && link->llvm.path;
    wanted.prefer_ptx &= !wanted.link_lto; /* as nvlink: machine code stays what it is */
    if (!members_select(&link->members, &wanted) || !check_llvm(link) || !check_renames(link))
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

/* How compilations run, by the library that has this name in messages. */
static struct lto_request lto_request_of(const struct link *link, struct compiler *compiler,
                                         const char *name)
{
    const struct link_request *request = link->request;
    bool is_identified = state_identify(link, compiler, name);

    return (struct lto_request){
        .library = compiler->path,
        .library_key = &compiler->key,
        .cache = is_identified ? link->cache : NULL,
        .members = &link->members,
        .agreement = &link->agreement,
        .options = &request->options,
        .nvvm_options = request->nvvm_options,
        .used = &link->used,
        .jobs = request->lto_jobs,
        .is_split = state_is_split(link),
        .threads = state_is_split(link) ? (uint32_t)link->agreement.split_compile_extended : 0,
        .thread_limit = request->thread_limit,
        .stop = request->stop,
        .jobserver = request->jobserver,
        .timeout = request->assembler.timeout,
        .memory_limit = request->memory_limit,
        .inflation_limit = link->ptx_inflation.limit,
        .relocatable = request->relocatable,
        .distribution = request->distribution.program ? &request->distribution : NULL,
        .watch = link->watch,
    };
}

/* What the failed stage leaves. */
static bool lto_ended(enum link_code code, const char *what)
{
    if (code == LINK_NVVM_ERROR)
        diag_blame(code);
    if (code != LINK_OK && code != LINK_ENVIRONMENT && diag_state_get()->verbose)
        diag_error("%s: the %s could not be compiled (code %d)", assembler_code_text((int)code),
                   what, (int)code);
    return code == LINK_OK;
}

static bool compile_lto(struct link *link)
{
    const struct lto_request wanted = lto_request_of(link, &link->nvjitlink, "libnvJitLink");
    enum link_code code = lto_compile(&link->lto, &link->sources_arena, &wanted);

    return lto_ended(code, "LTO-IR") &&
           (save_temps_lto(link->request->keep, &link->lto) || diag_blame(LINK_ENVIRONMENT));
}

static bool compile_bitcode(struct link *link)
{
    struct lto_request how = lto_request_of(link, &link->llvm, "libLLVM");
    struct other_names others = {0};
    struct bitcode_request wanted = {
        .link = &how,
        .words = link->request->llvm_options,
        .passes = link->request->llvm_passes,
        .level = link->request->llvm_level,
        .is_linked = link->request->options.lto,
    };
    enum link_code code;

    CONTEXT_DEFER(other_names_free, &others);
    how.distribution = NULL;
    wanted.is_open = wanted.is_linked && (how.relocatable || !other_names_collect(&others, link));
    wanted.named = others.list;
    wanted.named_count = wanted.is_open ? 0 : others.count;
    code = bitcode_compile(&link->bitcode, &link->sources_arena, &link->members.arena, &wanted);
    return lto_ended(code, "LLVM bitcode") &&
           (save_temps_bitcode(link->request->keep, &link->bitcode) ||
            diag_blame(LINK_ENVIRONMENT));
}

/* Measured: nvlink assembles all that libnvvm left, and drops the dead when it merges that with
 * other cubins, which shows in .debug_frame. What only the dead refer to need not be defined. */
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
        .keep_dead = link->agreement.debug || link->request->relocatable || link->entries.is_patch,
        .keep_whole = is_left_as_is(link),
        .keep_exported = state_keeps_exported(link),
        .takes_first = link->request->takes_first,
        .drop_variables = state_is_program(link) && link->members.lto_count == 0,
        .allow_undefined = state_has_user_cubins(link) || link->request->relocatable,
        .used = &link->used,
        .entries = &link->entries,
        .selects_entries = selects_entries(link),
        .wants_marks = (state_is_split(link) || state_may_be_exact(link)) &&
                       state_split_policy(link) == SPLIT_STABLE,
        .renames = link->request->renames,
        .provided = &link->system_names,
        .members = &link->members,
    };
    size_t count = 0, made = 0;

    if (link->lto.ptx.size)
        sources[count++] = (struct program_source){
            .name = state_made_name(link, "lto.ptx", false, &link->members.arena),
            .text = link->lto.ptx};
    for (size_t i = 0; i < link->members.count; i++, member++) {
        struct bytes code;

        if (made < link->bitcode.count && link->bitcode.modules[made].first_member == i) {
            sources[count++] = (struct program_source){.name = link->bitcode.modules[made].name,
                                                       .text = link->bitcode.modules[made].ptx};
            made++;
        }
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

    if (!link->has_system || cudadevrt_is_called_by_program(&link->system_names, &link->program))
        return;
    for (size_t i = 0; i < link->member_cubin_count; i++)
        if (cudadevrt_is_called_by_cubin(&link->system_names, &link->member_cubins[i]))
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
    if (overwrite_check(link->request, &link->inputs))
        return true;
    return diag_blame(LINK_USAGE);
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
    return diag_blame(LINK_USAGE);
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
    link->inputs.watch = link->watch;
    watch_add_all(link->watch, request->response_watch);
    ok = read_entries(link) && merge_check_index(request->index_file) &&
         inputs_open(&link->inputs, request->operands, request->operand_count, &libraries) &&
         check_paths(link) &&
         (reproduce_write(request, &link->inputs) || diag_blame(LINK_ENVIRONMENT));
    observe_inputs(link->observation, &link->inputs);
    observe_stage(link->observation, "open",
                  (struct observe_work){link->inputs.count, "files", input_bytes(&link->inputs)});
    return ok;
}

bool front_select(struct link *link)
{
    bool ok = select_members(link);

    verbose_members(&link->members);
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
        verbose_agreement(&link->agreement);
    if (ok)
        observe_agreement(link->observation, &link->agreement, &link->members);
    observe_stage(link->observation, "agree", (struct observe_work){0});
    return ok;
}

bool front_compile_lto(struct link *link)
{
    size_t count = link->members.lto_count + link->members.bitcode_count;
    bool ok = (link->members.lto_count == 0 || compile_lto(link)) &&
              (link->members.bitcode_count == 0 || (read_cubins(link) && compile_bitcode(link)));

    if (count)
        observe_stage(link->observation, "lto", (struct observe_work){count, "members", 0});
    return ok;
}

/* Sets the numbers of those of `names` that something defines to `found`. */
static void mark_defined(struct table *names, const struct link *link, uint32_t found)
{
    for (size_t i = 0; i < link->program.symbol_count; i++) {
        const struct program_symbol *symbol = &link->program.symbols[i];

        if (symbol->is_defined && table_find(names, symbol->own_name) != TABLE_NONE)
            table_set(names, symbol->own_name, found);
    }
    for (size_t i = 0; i < link->member_cubin_count; i++)
        for (size_t k = 1; k < link->member_cubins[i].symbol_count; k++) {
            const struct cubin_symbol *symbol = &link->member_cubins[i].symbols[k];

            if (symbol->section != SHN_UNDEF && table_find(names, symbol->name) != TABLE_NONE)
                table_set(names, symbol->name, found);
        }
}

/* Linkers for host code say nothing; but here most names are mangled, and easily wrong. */
static void warn_of_unknown(const struct link *link)
{
    const char *const *undefined = link->request->undefined;
    struct table names = {0};
    uint32_t count = 0;

    if (!undefined || !*undefined)
        return;
    CONTEXT_DEFER(table_cleanup, &names);
    for (; undefined[count]; count++)
        table_add(&names, text_of(undefined[count]), count);
    mark_defined(&names, link, count);
    for (uint32_t i = 0; i < count; i++)
        if (table_find(&names, text_of(undefined[i])) == i)
            diag_warning("--undefined: nothing that is linked defines '%s'", undefined[i]);
}

bool front_link(struct link *link)
{
    bool is_read = link->members.bitcode_count > 0;
    bool ok = (is_read || read_cubins(link)) && (!state_has_ptx(link) || link_program(link));

    if (ok)
        drop_system(link);
    if (ok)
        warn_of_unknown(link);
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
