/* dump_cubin.c: a cubin's sections, symbols, relocations, records, call graph and code. */
#include "dump.h"

#include <inttypes.h>

#include "base/search.h"
#include "cubin/cubin.h"
#include "input/rawcode.h"
#include "toy/encode.h"

static const char *lookup_name(const char *name, uint32_t number, char text[16])
{
    if (name)
        return name;
    snprintf(text, 16, "0x%" PRIx32, number);
    return text;
}

static struct text section_name(const struct cubin *cubin, uint32_t index)
{
    if (index == SHN_UNDEF)
        return TEXT("UNDEF");
    if (index == SECTION_ABSOLUTE)
        return TEXT("ABS");
    if (index == SECTION_COMMON)
        return TEXT("COMMON");
    return index < cubin->section_count ? cubin->sections[index].name : TEXT("?");
}

static struct text symbol_name(const struct cubin *cubin, uint32_t index)
{
    if (index >= cubin->symbol_count)
        return TEXT("?");
    if (cubin->symbols[index].name.size == 0)
        return index ? TEXT("(unnamed)") : TEXT("(none)");
    return cubin->symbols[index].name;
}

static void print_header(const struct dump *dump, const struct cubin *cubin, const char *name,
                         struct bytes data)
{
    struct arch arch = {.sm = CUBIN_FLAGS_SM(cubin->flags)};
    char target[ARCH_NAME_SIZE];

    rawcode_cubin_arch(data, &arch);
    dump_print(dump, "cubin %s: %s, %s, flags 0x%06" PRIx32 ", %zu sections, %zu symbols\n", name,
               cubin->type == ET_REL ? "relocatable" : "executable", arch_name(arch, target),
               cubin->flags & CUBIN_FLAGS_MERGEABLE, cubin->section_count - 1,
               cubin->symbol_count ? cubin->symbol_count - 1 : 0);
    if (cubin->toolkit)
        fprintf(dump->out, "form: ABI version 7, CUDA %" PRIu32 ".%" PRIu32 "\n",
                cubin->toolkit / 10, cubin->toolkit % 10);
}

static void print_sections(const struct dump *dump, const struct cubin *cubin)
{
    dump_print(dump, "sections:\n");
    for (size_t i = 1; i < cubin->section_count; i++) {
        const struct cubin_section *section = &cubin->sections[i];
        char text[16];

        dump_print(dump, "  %.*s: %s, flags 0x%" PRIx64 ", size %" PRIu64 ", align %" PRIu32 "\n",
                   TEXT_ARG(section->name),
                   lookup_name(sections_type_name(section->type), section->type, text),
                   section->flags, section->size, section->alignment);
    }
}

static void print_symbols(const struct dump *dump, const struct cubin *cubin)
{
    static const char *const bindings[] = {"LOCAL", "GLOBAL", "WEAK"};
    static const char *const types[] = {
        [STT_NOTYPE] = "NOTYPE",
        [STT_OBJECT] = "OBJECT",
        [STT_FUNC] = "FUNC",
        [STT_CUDA_TEXTURE] = "TEXTURE",
        [STT_CUDA_SAMPLER] = "SAMPLER",
        [STT_CUDA_SURFACE] = "SURFACE",
        [STT_CUDA_OBJECT] = "CUDA_OBJECT",
    };

    dump_print(dump, "symbols:\n");
    for (uint32_t i = 1; i < cubin->symbol_count; i++) {
        const struct cubin_symbol *symbol = &cubin->symbols[i];
        char text[16];

        if (symbol->type == STT_SECTION)
            continue;
        dump_print(
            dump, "  %.*s: %s %s, other 0x%02x, in %.*s, value %" PRIu64 ", size %" PRIu64 "\n",
            TEXT_ARG(symbol_name(cubin, i)), symbol->binding < 3 ? bindings[symbol->binding] : "?",
            lookup_name(symbol->type < sizeof types / sizeof *types ? types[symbol->type] : NULL,
                        symbol->type, text),
            symbol->other, TEXT_ARG(section_name(cubin, symbol->section)), symbol->value,
            symbol->size);
    }
}

static void print_relocation(const struct dump *dump, const struct cubin *cubin,
                             const struct cubin_section *section,
                             const struct cubin_relocation *relocation)
{
    char text[16];

    dump_print(dump, "  %.*s+0x%" PRIx64 ": %s %.*s", TEXT_ARG(section_name(cubin, section->info)),
               relocation->offset,
               lookup_name(relocation_types_find(relocation->type)->name, relocation->type, text),
               TEXT_ARG(symbol_name(cubin, relocation->symbol)));
    if (section->type != SHT_REL)
        dump_print(dump, " %+" PRId64, relocation->addend);
    dump_print(dump, "\n");
}

/* Number of relocations, but none of Mercury's. */
static size_t plain_count(const struct cubin_section *list)
{
    return list->type == SHT_CUDA_MERC_RELA ? 0 : list->relocation_count;
}

static void print_relocations(const struct dump *dump, const struct cubin *cubin)
{
    dump_print(dump, "relocations:\n");
    for (size_t i = 1; i < cubin->section_count; i++)
        for (size_t r = 0; r < plain_count(&cubin->sections[i]); r++)
            print_relocation(dump, cubin, &cubin->sections[i], &cubin->sections[i].relocations[r]);
}

/* Prints the relocations that the link resolved (-preserve-relocs). Nothing has checked them. */
static void print_resolved_relocations(const struct dump *dump, const struct cubin *cubin)
{
    const char *heading = "resolved relocations:\n";

    for (size_t i = 1; i < cubin->section_count; i++) {
        const struct cubin_section *section = &cubin->sections[i];
        Elf64_Rela record;

        if (section->type != SHT_CUDA_RESOLVED_RELA && section->type != SHT_CUDA_MERC_RESOLVED_RELA)
            continue;
        fputs(heading, dump->out);
        heading = "";
        for (uint64_t at = 0; section->data.size - at >= sizeof record; at += sizeof record) {
            memcpy(&record, section->data.data + at, sizeof record);
            print_relocation(
                dump, cubin, section,
                &(struct cubin_relocation){.offset = record.r_offset,
                                           .addend = record.r_addend,
                                           .symbol = (uint32_t)ELF64_R_SYM(record.r_info),
                                           .type = (uint32_t)ELF64_R_TYPE(record.r_info)});
        }
    }
}

static void print_record(const struct dump *dump, const struct cubin *cubin,
                         const struct info_record *record, bool is_compat)
{
    size_t words = record->payload.size / 4;
    size_t symbols = is_compat ? 0 : info_symbol_words(record);
    const struct attribute_facts *facts = is_compat ? NULL : attributes_find(record->attribute);
    char text[16];

    /* cuobjdump 13.5: "unknown Attribute", without its number. */
    dump_print(dump, "    %s%s", facts || is_compat ? "" : "unknown ",
               lookup_name(facts ? facts->name : NULL, record->attribute, text));
    if (record->format != EIFMT_SVAL) {
        if (record->format != EIFMT_NVAL)
            dump_print(dump, " 0x%x", record->value);
        dump_print(dump, "\n");
        return;
    }
    for (size_t i = 0; i < words; i++) {
        uint32_t word = info_word(record->payload, i);

        if (i < symbols)
            dump_print(dump, " <%.*s>", TEXT_ARG(symbol_name(cubin, word)));
        else
            dump_print(dump, " 0x%" PRIx32, word);
    }
    for (size_t i = words * 4; i < record->payload.size; i++)
        dump_print(dump, " %02x", record->payload.data[i]);
    dump_print(dump, "\n");
}

static void print_info(const struct dump *dump, const struct cubin *cubin)
{
    for (size_t i = 1; i < cubin->section_count; i++) {
        const struct cubin_section *section = &cubin->sections[i];
        struct bytes rest = section->data;
        struct info_record record;

        if (section->type != SHT_CUDA_INFO && section->type != SHT_CUDA_COMPAT)
            continue;
        dump_print(dump, "info %.*s:\n", TEXT_ARG(section->name));
        while (info_next(&rest, &record))
            print_record(dump, cubin, &record, section->type == SHT_CUDA_COMPAT);
    }
}

static void print_prototypes(const struct dump *dump, const struct cubin *cubin)
{
    for (size_t i = 1; i < cubin->section_count; i++) {
        const struct cubin_section *section = &cubin->sections[i];

        for (size_t at = 0; section->type == SHT_CUDA_PROTOTYPE && at + 8 <= section->data.size;
             at += 8)
            dump_print(dump, "  prototype %.*s: %.*s\n",
                       TEXT_ARG(symbol_name(cubin, info_word(section->data, at / 4))),
                       TEXT_ARG(cubin_string(cubin, info_word(section->data, at / 4 + 1))));
    }
}

static void print_callgraph(const struct dump *dump, const struct cubin *cubin)
{
    uint32_t index = cubin_section_find(cubin, TEXT(".nv.callgraph"));
    struct bytes rest = index ? cubin->sections[index].data : (struct bytes){0};
    struct callgraph_entry entry = {.part = CALLGRAPH_DIRECT};

    dump_print(dump, "callgraph:\n");
    while (callgraph_next(&rest, &entry)) {
        dump_print(dump, "  %s %.*s",
                   entry.part == CALLGRAPH_DIRECT     ? "call"
                   : entry.part == CALLGRAPH_ADDRESS  ? "address of"
                   : entry.part == CALLGRAPH_INDIRECT ? "indirect call in"
                                                      : "address in",
                   TEXT_ARG(symbol_name(cubin, entry.first)));
        if (entry.part == CALLGRAPH_DIRECT || entry.part == CALLGRAPH_CANDIDATE)
            dump_print(dump, " -> %.*s\n", TEXT_ARG(symbol_name(cubin, entry.second)));
        else
            dump_print(dump, ": %.*s\n", TEXT_ARG(cubin_string(cubin, entry.second)));
    }
}

/* What a relocation of a section refers to. */
struct target {
    uint32_t section, symbol;
    uint64_t offset;
};

/* All relocations, by section and rising offset. */
struct targets {
    const struct cubin *cubin;
    struct target *list;
    size_t count;
    uint32_t section; /* whose code is printed */
    char name[256];   /* of the last target found */
};

COMPARISON(compare_targets, struct target,
           COMPARE(a->section, b->section) ?: COMPARE(a->offset, b->offset));

static const char *find_target(void *argument, uint64_t offset)
{
    struct targets *targets = argument;
    const struct target key = {.section = targets->section, .offset = offset}, *found;

    found = targets->count
                ? bsearch(&key, targets->list, targets->count, sizeof key, compare_targets)
                : NULL;
    if (!found)
        return NULL;
    snprintf(targets->name, sizeof targets->name, "%.*s",
             TEXT_ARG(targets->cubin->symbols[found->symbol].name));
    return targets->name;
}

static void collect_targets(struct targets *targets, struct arena *arena)
{
    const struct cubin *cubin = targets->cubin;
    size_t capacity = 0;

    for (size_t i = 1; i < cubin->section_count; i++)
        for (size_t r = 0; r < plain_count(&cubin->sections[i]); r++) {
            const struct cubin_relocation *from = &cubin->sections[i].relocations[r];

            ARENA_PUSH(arena, targets->list, targets->count, capacity) =
                (struct target){cubin->sections[i].info, from->symbol, from->offset};
        }
    SORT(targets->list, targets->count, compare_targets);
}

static void print_function(const struct dump *dump, const struct cubin_section *section,
                           struct targets *targets)
{
    LOCAL_BUFFER(line);

    dump_print(dump, "code %.*s:\n", TEXT_ARG(section->name));
    for (size_t offset = 0; offset < section->data.size;) {
        size_t size;

        line.size = 0;
        size = encode_print(section->data, offset, &line, find_target, targets);
        if (size == 0) {
            dump_print(dump, "  %04zx: (no instruction)\n", offset);
            break;
        }
        dump_print(dump, "  %04zx: %.*s\n", offset, TEXT_ARG(buffer_view(&line)));
        offset += size;
    }
}

/* Prints the code of every function, if it is built-in code; of NVIDIA's only the size. */
static void print_code(const struct dump *dump, const struct cubin *cubin)
{
    bool is_builtin = cubin_find_kind(cubin, KIND_BUILTIN) != 0;
    struct targets targets = {.cubin = cubin};
    LOCAL_ARENA(arena);

    collect_targets(&targets, &arena);
    for (uint32_t i = 1; i < cubin->section_count; i++) {
        const struct cubin_section *section = &cubin->sections[i];

        if (!text_starts(section->name, TEXT(".text.")))
            continue;
        targets.section = i;
        if (is_builtin)
            print_function(dump, section, &targets);
        else
            dump_print(dump, "code %.*s: %zu bytes for a GPU, not decoded\n",
                       TEXT_ARG(section->name), section->data.size);
    }
}

bool dump_cubin(const struct dump *dump, const char *name, struct bytes data)
{
    static const struct {
        unsigned part; /* enum dump_part */
        void (*print)(const struct dump *dump, const struct cubin *cubin);
    } parts[] = {{DUMP_SECTIONS, print_sections},
                 {DUMP_SYMBOLS, print_symbols},
                 {DUMP_RELOCATIONS, print_relocations},
                 {DUMP_RELOCATIONS, print_resolved_relocations},
                 {DUMP_INFO, print_info},
                 {DUMP_CALLGRAPH, print_callgraph},
                 {DUMP_CALLGRAPH, print_prototypes},
                 {DUMP_DISASSEMBLY, print_code}};
    struct cubin cubin = {0};

    CONTEXT_DEFER(arena_cleanup, &cubin.arena);
    if (!cubin_read(&cubin, name, data))
        return false;
    print_header(dump, &cubin, name, data);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (dump->parts & parts[i].part)
            parts[i].print(dump, &cubin);
    return true;
}
