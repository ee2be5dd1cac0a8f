/* compile.c: compiles LTO-IR (by libnvJitLink) and LLVM bitcode (by libLLVM) to PTX. */
#include <elf.h>
#include <limits.h>
#include <stdlib.h>

#include "diag/diag.h"
#include "link/internal.h"
#include "options/consensus.h"
#include "os/program.h"
#include "pool/pool.h"
#include "ptx/module.h"

/* Watches the library and the program that runs it in a child. A program finds itself even when its
 * file has been replaced; a library runs the program that it finds. */
static void watch_library(const struct link *link, const char *library)
{
    char path[PATH_MAX];

    watch_add_tool(link->watch, library);
    if (!self_exec_is_program())
        watch_add_tool(link->watch, self_exec_path(path));
}

bool compile_find_libraries(struct link *link)
{
    const struct link_request *request = link->request;
    const struct toolkit_request toolkit = {
        .file = request->nvjitlink,
        .ptxas = request->assembler.ptxas_path,
        .cuda_path = request->assembler.cuda_path,
        .nvvm_path = request->assembler.nvvm_path,
    };

    /* Whether it is needed is known only after members have been selected. */
    if (members_have(&link->members, FATBIN_BITCODE))
        link->llvm.path = bitcode_find_library(request->llvm);
    /* Only -lto asks for optimisation across modules. */
    if (!request->options.lto || !members_have(&link->members, FATBIN_NVVM))
        return true;
    if (!lto_find(&link->nvjitlink.path, request->lto_source, &toolkit))
        return diag_blame(LINK_ENVIRONMENT);
    watch_library(link, link->nvjitlink.path);
    return true;
}

/* Bitcode that takes part needs libLLVM; without bitcode the link does not depend on it. */
bool compile_check(struct link *link)
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
    watch_library(link, link->llvm.path);
    return true;
}

/* Names that code other than LLVM bitcode exports or refers to, each once, in the order of the
 * link: for the passes that make all other symbols internal. */
struct other_names {
    struct arena arena;
    struct table known;
    struct text *list;
    size_t count, capacity;
};

static void add_other_name(struct other_names *names, struct text name)
{
    size_t count = names->count;

    if (table_add(&names->known, name, (uint32_t)count) == count)
        ARENA_PUSH(&names->arena, names->list, names->count, names->capacity) = name;
}

static bool add_ptx(struct other_names *names, const char *file, struct text text)
{
    struct module_cursor cursor = {0};
    struct ptx_module module;

    while (cursor.offset < text.size) {
        if (!module_parse(&module, &names->arena, file, text, &cursor))
            return false;
        for (size_t i = 0; i < module.item_count; i++)
            if ((module.items[i].kind == PTX_FUNCTION || module.items[i].kind == PTX_VARIABLE) &&
                module.items[i].linkage != PTX_INTERNAL)
                add_other_name(names, module.items[i].name);
    }
    return true;
}

/* Collects the names of PTX, cubins (which have been read) and the PTX of LTO-IR. False at
 * unreadable PTX, which linking it will report. */
static bool collect_names(struct other_names *names, const struct link *link)
{
    struct inflation inflation = link->ptx_inflation;

    DIAG_SILENCE();

    for (size_t i = 0; i < link->members.count; i++) {
        const struct member *member = &link->members.list[i];
        struct bytes code;

        if (member->role == MEMBER_PTX &&
            !(member_code(member, &inflation, &names->arena, &code) &&
              add_ptx(names, member->name, (struct text){(const char *)code.data, code.size})))
            return false;
    }
    for (size_t i = 0; i < link->cubin_count; i++)
        for (size_t k = 1; k < link->cubins[i].cubin.symbol_count; k++)
            if (link->cubins[i].cubin.symbols[k].binding != STB_LOCAL)
                add_other_name(names, link->cubins[i].cubin.symbols[k].name);
    return link->lto.ptx.size == 0 || add_ptx(names, "lto.ptx", link->lto.ptx);
}

/* The settings of compilations by the library with this name in messages. */
static struct lto_request lto_request_of(const struct link *link, struct compiler *compiler,
                                         const char *name)
{
    const struct link_request *request = link->request;
    bool is_identified =
        link->cache && lto_identify(&compiler->key, name, compiler->path, link->cache);

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
        .limits = request->limits,
        .timeout = request->assembler.timeout,
        .inflation_limit = link->ptx_inflation.limit,
        .relocatable = request->merge.relocatable,
        .emit_ltoir = request->emit_ltoir,
        .distribution = request->distribution.program ? &request->distribution : NULL,
        .watch = link->watch,
    };
}

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
    const struct lto_result *lto = &link->lto;
    bool ok = lto_ended(lto_compile(&link->lto, &link->sources_arena, &wanted), "LTO-IR");

    for (size_t i = 0; ok && i < lto->part_count && lto->part_count > 1; i++)
        ok = save_temps(link, "lto", i, "ptx", text_bytes(lto->parts[i]));
    return ok && save_temps(link, "lto", SIZE_MAX, "ptx", text_bytes(lto->ptx));
}

/* To PTX, or to one module of bitcode, in which everything stays visible. */
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
    bool ok;

    CONTEXT_DEFER(arena_cleanup, &others.arena);
    CONTEXT_DEFER(table_cleanup, &others.known);
    how.distribution = NULL;
    wanted.is_open =
        wanted.is_linked && (how.relocatable || how.emit_ltoir || !collect_names(&others, link));
    wanted.named = others.list;
    wanted.named_count = wanted.is_open ? 0 : others.count;
    ok = lto_ended(
        bitcode_compile(&link->bitcode, &link->sources_arena, &link->members.arena, &wanted),
        "LLVM bitcode");
    for (size_t i = 0; ok && !how.emit_ltoir && i < link->bitcode.count; i++)
        ok = save_temps(link, "bitcode", link->bitcode.count > 1 ? i : SIZE_MAX, "ptx",
                        text_bytes(link->bitcode.modules[i].ptx));
    return ok;
}

/* Warns of members that are not part of the result. */
static void warn_of_others(const struct members *members)
{
    bool is_bitcode = members->lto_count == 0 && members->bitcode_count > 0;

    for (size_t i = 0; i < members->count; i++) {
        const struct member *member = &members->list[i];

        if (lto_is_other(member) && !(is_bitcode && member->role == MEMBER_BITCODE))
            diag_warning("'%s' has no %s, and is left out of the output (--emit-ltoir)",
                         member->name, is_bitcode ? "bitcode" : "LTO-IR");
    }
}

bool compile_to_ltoir(struct link *link)
{
    warn_of_others(&link->members);
    if (link->members.lto_count + link->members.bitcode_count == 0)
        return diag_fatal("--emit-ltoir: no input has LTO-IR for the target");
    if (link->members.lto_count)
        return compile_lto(link);
    if (!compile_bitcode(link))
        return false;
    link->lto.ptx = link->bitcode.modules->ptx;
    return true;
}

/* Whether a CPU is free while another compiles LTO-IR. (A library would wait for its start.) */
static bool has_free_cpu(const struct link *link)
{
    const struct link_request *request = link->request;

    return self_exec_is_program() && !jobserver_counts(request->limits.jobserver) &&
           pool_threads(0, request->limits.threads, SIZE_MAX) > 1;
}

/* Whether only LTO-IR is linked, and ptxas is certain to assemble the program on this machine,
 * without a cache that could have it. Cubins may be libcudadevrt's, which may be dropped. */
static bool is_ptxas_certain(const struct link *link)
{
    const struct link_request *request = link->request;

    return link->members.lto_count > 0 && link->members.ptx_count == 0 && state_is_program(link) &&
           !state_is_split(link) && !state_is_sass(link) && !link->agreement.debug &&
           state_assembles_by(link, "ptxas") && !link->cache && !state_distribution(link) &&
           !request->dry_run && !request->emit_ptx && !request->merge.strip_debug &&
           (request->limits.memory == 0 || request->limits.memory == MEMORY_BUDGET_UNLIMITED);
}

static void start_ptxas_ahead(struct link *link)
{
    struct assembler *assembler = &link->assembled.assembler;
    const struct link_request *request = link->request;
    char arch[ARCH_NAME_SIZE];
    struct minilink_job job = {
        .size = sizeof job,
        .arch = arch_name(link->members.arch, arch),
        .mode = MINILINK_MODE_WHOLE,
        .maxrregcount = (uint32_t)link->agreement.maxrregcount,
    };

    /* A fault of the assembler is reported when it is needed. */
    if (!is_ptxas_certain(link) || !has_free_cpu(link) ||
        !assembler_try(assembler, &request->assembler))
        return;
    job.options = forward_to_ptxas(&link->arena, &link->agreement, &request->options,
                                   request->assembler_options,
                                   state_gives_threads(link, assembler->ptxas.path));
    ptxas_start_ahead(&assembler->ptxas, &job);
}

bool compile_to_ptx(struct link *link)
{
    size_t count = link->members.lto_count + link->members.bitcode_count;
    bool ok;

    start_ptxas_ahead(link);
    ok = (link->members.lto_count == 0 || compile_lto(link)) &&
         (link->members.bitcode_count == 0 || (member_cubins_read(link) && compile_bitcode(link)));

    if (count)
        observe_stage(link->observation, "lto", (struct observe_work){count, "members", 0});
    return ok;
}
