/* stage_split.c: from the program to its chunks. Whether chunks of an exact split can be joined is
 * found before any is assembled, so that a program that must be assembled in one piece is not
 * assembled twice: the ptxas of a toolkit that is not known joins a small program first. */
#include <inttypes.h>

#include "assemble/assemble.h"
#include "diag/diag.h"
#include "facts/targets.h"
#include "join/join.h"
#include "link/internal.h"
#include "output/output.h"
#include "pool/pool.h"
#include "ptx/program.h"

/* Most chunks of a program. Fixed, so that the output does not depend on the number of threads, and
 * high enough to keep a large machine busy. */
#define MOST_CHUNKS 128u

/* A probe is three runs of ptxas on small programs, and takes 3 % of the processor time that ptxas
 * 13.0 takes for as many bytes of functions (test/bench/fallback.sh). */
#define LEAST_PROBED (1u << 20)

/* Weak kernels and functions, static and other variables, shared memory, jump tables and functions
 * of the driver: what the order in the file depends on. */
static const char probe_body[] =
    ".address_size 64\n"
    ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
    ".global .align 4 .u32 s = 5;\n"
    ".visible .global .align 8 .u64 g[2] = {s, 3};\n"
    ".weak .global .align 4 .u32 w;\n"
    ".const .align 4 .u32 c = 9;\n"
    ".weak .func (.param .b32 r) f(.param .b32 q)\n"
    "{\n.reg .b32 a;\n.reg .pred p;\nld.param.u32 a, [q];\n"
    "L: add.u32 a, a, 7;\nst.volatile.global.u32 [w], a;\nsetp.lt.u32 p, a, 99;\n@p bra L;\n"
    "st.param.b32 [r], a;\nret;\n}\n"
    ".visible .entry k0(.param .u64 p, .param .u32 q)\n"
    "{\n.reg .b32 a;\n.reg .b64 d;\n.shared .align 16 .b8 m[64];\n"
    "ld.param.u64 d, [p];\nld.param.u32 a, [q];\nst.shared.u32 [m], a;\nbar.sync 0;\n"
    "ld.shared.u32 a, [m+4];\nst.global.u32 [d], a;\n"
    "{ .param .b64 x; .param .b64 y; .param .b32 z; st.param.b64 [x], d; st.param.b64 [y], d;\n"
    "call.uni (z), vprintf, (x, y); }\nret;\n}\n"
    ".weak .entry k1(.param .u64 p, .param .u32 q)\n"
    "{\n.reg .b32 a;\n.reg .b64 d;\n.reg .pred e;\nld.param.u64 d, [p];\nld.param.u32 a, [q];\n"
    "setp.gt.u32 e, a, 3;\n@e bra E;\nT: .branchtargets C0, C1, C2, C3;\nbrx.idx a, T;\n"
    "C0: st.global.u32 [d], 7;\nbra E;\nC1: st.global.u32 [d+4], 77;\nbra E;\n"
    "C2: st.global.u32 [d+8], 777;\nbra E;\nC3: st.global.u32 [d+12], 7777;\n"
    "E: { .param .b32 x; .param .b32 y; st.param.b32 [x], a; call.uni (y), f, (x);\n"
    "ld.param.b32 a, [y]; }\nst.global.u32 [d], a;\nret;\n}\n"
    ".weak .entry k2(.param .u64 p)\n"
    "{\n.reg .f32 a, b;\n.reg .b64 d;\n.shared .align 4 .b8 m[16];\nld.param.u64 d, [p];\n"
    "ld.global.f32 a, [d];\nld.const.f32 b, [c];\ndiv.rn.f32 a, a, b;\nst.shared.f32 [m], a;\n"
    "ld.shared.f32 b, [m+4];\nst.global.f32 [d], b;\nret;\n}\n";

static uint64_t code_size(const struct link *link)
{
    uint64_t size = 0;

    for (size_t i = 0; i < link->group_count; i++) {
        const struct program *program = &link->groups[i].program;

        for (size_t s = 0; s < program->symbol_count; s++)
            if (program->symbols[s].is_live && program->symbols[s].is_function)
                size += program->symbols[s].item->text.size;
    }
    return size;
}

/* Why the program must be assembled in one piece, as far as options and target tell; or NULL.
 * Measured on ptxas: these options change the order in which it compiles kernels, or the data that
 * it makes for all of them; the contents of an options file are not known here. */
static const char *find_option_obstacle(const struct link *link)
{
    static const char *const parts[] = {
        "Ofc",  "fast-compile", "sanitize", "errors-visible", "preserve-relocs",
        "optf", "options-file",
    };
    const char *fast = link->request->options.ofast_compile;
    bool is_changed = fast && strcmp(fast, "0") != 0;

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        is_changed |= groups_tell_assembler(link, parts[i]);
    if (targets_have(link->members.arch.sm, TARGET_RESERVES_VARIABLE) &&
        toolkit_does(link->toolkit, TOOLKIT_LEAVES_RESERVED_UNSET))
        return "this ptxas leaves a part of the file unset on this target";
    return is_changed ? "an option for ptxas changes what kernels share, or their order" : NULL;
}

/* Whether a probe must tell, and is worth its time. Else link->cut.obstacle is what ptxas's version
 * tells, for which ptxas may be run. */
static bool needs_probe(struct link *link)
{
    struct toolkit_version version;
    char *path;
    int age;

    if (!state_assembles_by(link, "ptxas"))
        return false;
    path = ptxas_find(&link->request->assembler, NULL);
    CONTEXT_DEFER(memory_cleanup, &path);
    if (!path)
        return false;
    version = state_version_of(path);
    age = exact_join_compare(version.number);
    /* Of a small program, the first chunk tells soon enough (stage_assemble.c). */
    if (age == 0)
        return !version.is_listed && code_size(link) >= LEAST_PROBED;
    if (version.number > 0 && age < 0)
        link->cut.obstacle = "ptxas before CUDA 13 writes whole programs in another form";
    else if (link->request->chunk_count <= 1 && code_size(link) < LEAST_PROBED)
        link->cut.obstacle = "it is small, and this ptxas is of a toolkit that is not known";
    return !link->cut.obstacle;
}

/* A small program that has something of each kind, in chunks and in one piece. */
struct probe {
    struct program program;
    struct chunks chunks, whole;
    struct cubins chunk_cubins, whole_cubin;
    struct buffer image;
};

static void free_probe(void *argument)
{
    struct probe *probe = argument;

    buffer_free(&probe->image);
    cubins_free(&probe->chunk_cubins);
    cubins_free(&probe->whole_cubin);
    chunks_free(&probe->chunks);
    chunks_free(&probe->whole);
    program_free(&probe->program);
}

static bool split_probe(struct probe *probe, struct arch arch)
{
    const struct target_name *target = targets_find_name(arch);
    struct split_request wanted = {.wanted = 2, .is_exact = true, .minimum_bytes = 1, .arch = arch};
    struct program_source source = {.name = "probe"};
    char name[ARCH_NAME_SIZE];
    unsigned version = target ? target->first_ptx : 0;

    source.text =
        text_of(arena_printf(&probe->program.arena, ".version %u.%u\n.target %s\n%s", version / 10,
                             version % 10, arch_name(arch, name), probe_body));
    if (!program_link(&probe->program, &source, 1, &(struct program_request){.arch = arch}))
        return false;
    split_program(&probe->chunks, &probe->program, &wanted);
    wanted.wanted = 1;
    split_program(&probe->whole, &probe->program, &wanted);
    return probe->chunks.is_exact;
}

static bool assemble_both(struct probe *probe, const struct assemble_request *request,
                          struct arena *arena)
{
    const char *why;

    DIAG_SILENCE();
    return assemble_chunks(&probe->chunk_cubins, &probe->chunks, request) == LINK_OK &&
           joined_program_make(&probe->image, &probe->chunks, &probe->chunk_cubins, arena, &why) &&
           assemble_chunks(&probe->whole_cubin, &probe->whole, request) == LINK_OK &&
           probe->image.size == probe->whole_cubin.list->size &&
           memcmp(probe->image.data, probe->whole_cubin.list->data, probe->image.size) == 0;
}

/* Sets link->cut.obstacle to the same, as far as ptxas's version tells, or a small program that it
 * is given, in chunks and in one piece. */
static bool find_probe_obstacle(struct link *link)
{
    struct probe probe = {0};
    struct assemble_request request;

    if (!needs_probe(link))
        return true;
    if (!stage_open_assembler(link))
        return false;
    CONTEXT_DEFER(free_probe, &probe);
    if (!split_probe(&probe, link->members.arch))
        return diag_error("The program that tries ptxas is not split");
    request = stage_assemble_request(link, &probe.chunks);
    diag_state_get()->phase = PHASE_CHUNKS;
    if (!assemble_both(&probe, &request, &link->arena))
        link->cut.obstacle = "this ptxas writes whole programs in a form that is not known";
    diag_state_get()->phase = PHASE_PROGRAM;
    return true;
}

static void release_inputs(const void *inputs)
{
    inputs_release(inputs);
}

/* Assembled one after the other, chunks of an exact split save nothing but with a cache. */
static bool wants_exact_chunks(const struct link *link)
{
    const struct link_request *request = link->request;

    if (!state_is_exact(link))
        return false;
    if (request->chunk_count || request->cache.folder || state_distribution(link))
        return true;
    return pool_threads(0, request->limits.threads, SIZE_MAX) > 1 &&
           !(request->options.has_split_compile_extended && !state_is_split(link));
}

static void split_group(struct link *link, size_t group, const struct table *edited)
{
    enum split_policy policy = state_split_policy(link);
    bool is_exact = wants_exact_chunks(link);
    bool is_whole =
        link->request->emit_ptx || !(state_is_exact(link) ? is_exact : state_is_split(link));
    struct split_request wanted = {
        .wanted = is_whole                   ? 1
                  : policy == SPLIT_BALANCED ? MOST_CHUNKS
                                             : SPLIT_MOST_CHUNKS,
        .is_exact = is_exact,
        .options = link->groups[group].options.words,
        .exact_obstacle = link->cut.obstacle ?: find_option_obstacle(link),
        .has_lines = (link->agreement.line_info && !link->request->merge.strip_debug) ||
                     groups_tell_assembler(link, "lineinfo") ||
                     groups_tell_assembler(link, "line-info"),
        .has_threads =
            link->agreement.split_compile != 1 || groups_tell_assembler(link, "split-compile"),
        .policy = policy,
        .edited = edited,
        .minimum_bytes = link->request->minimum_chunk,
        .threads = is_exact ? pool_threads(0, link->request->limits.threads, SIZE_MAX) : 0,
        .arch = link->members.arch,
        .release = release_inputs,
        .release_argument = &link->inputs,
        .explanation = link->request->explain_split ? &link->cut.explanation : NULL,
    };

    if (link->request->chunk_count && !link->request->emit_ptx)
        wanted.wanted = link->request->chunk_count;
    split_program(&link->cut.chunks, &link->groups[group].program, &wanted);
}

static void split_groups(struct link *link, const struct table *edited)
{
    struct cut *cut = &link->cut;

    for (size_t i = 0; i < link->group_count; i++) {
        if (link->request->explain_split && link->group_count > 1)
            buffer_printf(&cut->explanation, "group %zu, whose chunk 0 is chunk %zu of the link:\n",
                          i, cut->chunks.count);
        split_group(link, i, edited);
    }
}

/* Replaces the chunks. */
static void split_again(struct link *link, const struct table *edited)
{
    struct cut *cut = &link->cut;

    cut->replaced = cut->chunks;
    cut->chunks = (struct chunks){0};
    buffer_free(&cut->explanation);
    split_groups(link, edited);
    chunks_free(&cut->replaced);
}

static bool keep_program(const struct link *link, size_t group)
{
    const struct split_request whole = {.wanted = 1, .arch = link->members.arch};
    struct chunks chunks = {0};

    CONTEXT_DEFER(chunks_cleanup, &chunks);
    split_program(&chunks, &link->groups[group].program, &whole);
    return save_temps(link, "linked", link->group_count > 1 ? group : SIZE_MAX, "ptx",
                      text_bytes(chunks.list[0].text));
}

static bool keep_texts(const struct link *link, const struct chunks *chunks)
{
    bool ok = true;

    for (size_t i = 0; i < chunks->count && ok; i++)
        ok = save_temps(link, "chunk", i, "ptx", text_bytes(chunks->list[i].text));
    for (size_t i = 0; i < link->group_count && ok; i++)
        ok = keep_program(link, i);
    return ok;
}

/* Cuts chunks of an exact split that the cache does not have once more. No byte of the result
 * depends on the cuts. All threads then have a share of the edited code, and after the next edit of
 * the same kernel the cache has everything except the piece that contains it. */
static bool cut_edited_chunks(struct link *link)
{
    struct cut *cut = &link->cut;
    struct assemble_request request;
    LOCAL_TABLE(edited);

    if (!link->cache || !cut->chunks.is_exact || link->request->dry_run)
        return true;
    if (!stage_open_assembler(link))
        return false;
    request = stage_assemble_request(link, &cut->chunks);
    if (request.cache)
        chunk_cache_find_edited(&edited, &cut->chunks, &request, &link->arena);
    if (edited.count)
        split_again(link, &edited);
    return true;
}

/* Makes one chunk of several that cannot be joined. */
static bool unite_chunks(struct link *link)
{
    struct cut *cut = &link->cut;

    if (!cut->chunks.is_exact || cut->chunks.count == 1 || state_distribution(link) ||
        link->request->dry_run)
        return true;
    if (!find_probe_obstacle(link))
        return false;
    if (cut->obstacle)
        split_again(link, NULL);
    return true;
}

static void tell_chunks(const struct chunks *chunks)
{
    const char *sequential_reason = pool_sequential_reason();

    if (chunks->count == 0)
        return;
    if (chunks->count > 1 && sequential_reason)
        diag_verbose("Phase II, Concurrent=No: %s", sequential_reason);
    else
        diag_verbose("Phase II, Concurrent=%s%s%s", chunks->count > 1 ? "Yes" : "No",
                     chunks->single_reason ? ": " : "", chunks->single_reason ?: "");
    for (size_t i = 0; i < chunks->count; i++) {
        const struct chunk *chunk = &chunks->list[i];

        diag_verbose("chunk %zu: %" PRIu32 " functions (%" PRIu32 " replicas), %zu bytes, first %s",
                     i, chunk->function_count, chunk->replica_count, chunk->text.size,
                     chunk->first_function ? chunk->first_function : "(none)");
    }
}

bool stage_split(struct link *link)
{
    struct cut *cut = &link->cut;
    bool ok;

    if (state_has_ptx(link))
        split_groups(link, NULL);
    ok = !state_has_ptx(link) || (unite_chunks(link) && cut_edited_chunks(link) &&
                                  (!link->request->keep || keep_texts(link, &cut->chunks)));
    for (size_t i = 0; i < link->group_count && cut->chunks.count; i++) {
        const struct program *program = &link->groups[i].program;

        diag_verbose("Phase I: %zu modules, %zu symbols, %zu functions removed, PTX ISA %u.%u",
                     program->module_count, program->symbol_count, program->dropped_functions,
                     program->version_major, program->version_minor);
    }
    tell_chunks(&cut->chunks);
    ok = ok && (cut->explanation.size == 0 || std_streams_print(buffer_view(&cut->explanation)) ||
                diag_blame(LINK_ENVIRONMENT));
    observe_chunks(link->observation, &cut->chunks);
    observe_stage(link->observation, "split", state_chunk_work(&cut->chunks));
    return ok;
}
