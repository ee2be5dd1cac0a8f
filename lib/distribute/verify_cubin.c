/* verify_cubin.c: checks a cubin from another machine, which may have died while writing.
 * cubin_read checks all of it, as the merge will. */
#include "distribute/distribute.h"

#include <elf.h>
#include <string.h>

#include "base/text.h"
#include "cubin/cubin.h"
#include "diag/diag.h"
#include "input/rawcode.h"
#include "minilink/assembler.h"

/* The cubin's name for cubin_read. */
#define NAME "result"

/* The text of an error of cubin_read, without the prefix of the message. */
static const char *message_of(struct arena *arena, const struct diag_sink *sink)
{
    struct text text = buffer_view(&sink->text);
    const char *end = text.size ? memchr(text.data, '\n', text.size) : NULL;
    const char *start = end ? memmem(text.data, (size_t)(end - text.data), ": ", 2) : NULL;
    const struct text name = TEXT("'" NAME "'");
    struct text said;

    if (!start)
        return "it is no cubin";
    said = (struct text){start + 2, (size_t)(end - start - 2)};
    if (!text_starts(said, name))
        return arena_string(arena, said);
    return arena_printf(arena, "it%.*s", (int)(said.size - name.size), said.data + name.size);
}

/* A cubin that cubin_read accepts has all its parts inside the file. */
static const char *find_damage(struct arena *arena, struct cubin *cubin, struct bytes data)
{
    struct diag_sink sink = {0};
    struct diag_diversion heard;

    CONTEXT_DEFER(diag_sink_free, &sink);
    diag_divert(&heard, &sink);
    CONTEXT_DEFER(diag_divert_end, &heard);
    return cubin_read(cubin, NAME, data) ? NULL : message_of(arena, &sink);
}

/* The first kernel that the cubin does not define, or NULL. */
static const char *find_lost(struct arena *arena, const struct cubin *cubin,
                             const struct distribute_job *job)
{
    struct table names = {0};

    CONTEXT_DEFER(table_cleanup, &names);
    for (size_t i = 1; i < cubin->symbol_count; i++)
        if (cubin->symbols[i].type == STT_FUNC && cubin->symbols[i].section != SHN_UNDEF)
            table_add(&names, cubin->symbols[i].name, 1);
    for (size_t i = 0; i < job->kernel_count; i++)
        if (table_find(&names, job->kernels[i]) == TABLE_NONE)
            return arena_printf(arena, "it lacks kernel '%.*s'", TEXT_ARG(job->kernels[i]));
    return NULL;
}

/* Smaller files are simply read. */
#define SMALL (UINT64_C(1) << 20)

bool verify_cubin_begins(struct bytes head, uint64_t size)
{
    Elf64_Ehdr header;
    uint64_t table;

    if (size <= SMALL)
        return true;
    if (head.size < sizeof header)
        return false;
    memcpy(&header, head.data, sizeof header);
    table = (uint64_t)header.e_shnum * sizeof(Elf64_Shdr);
    return memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == ELFCLASS64 &&
           header.e_machine == EM_CUDA && header.e_shoff <= size && table <= size - header.e_shoff;
}

const char *verify_cubin(void *argument, struct arena *arena, const struct distribute_job *job,
                         struct bytes data)
{
    const struct verify_cubin_expectation *expected = argument;
    struct cubin cubin = {0};
    char wanted[ARCH_NAME_SIZE], found[ARCH_NAME_SIZE];
    struct arch arch;
    const char *why;

    if (data.size < sizeof(Elf64_Ehdr) || memcmp(data.data, ELFMAG, SELFMAG) != 0)
        return arena_printf(arena, "its %zu bytes are no ELF file", data.size);
    CONTEXT_DEFER(arena_cleanup, &cubin.arena);
    why = find_damage(arena, &cubin, data);
    if (!why && cubin.type == ET_EXEC && expected->mode != MINILINK_MODE_WHOLE)
        why = "it is an executable, where a relocatable cubin was asked for";
    if (!why && (!rawcode_cubin_arch(data, &arch) || arch.sm != expected->arch.sm ||
                 (arch.suffix == 'a') != (expected->arch.suffix == 'a')))
        why = arena_printf(arena, "it is for %s, where code for %s was asked for",
                           arch_name(arch, found), arch_name(expected->arch, wanted));
    if (!why && !expected->is_vouched_for)
        why = find_lost(arena, &cubin, job);
    return why;
}
