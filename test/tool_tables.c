/* tool_tables.c: prints what the tables say, over all that may be asked of them, for a golden. */
#include <stdio.h>

#include "facts/targets.h"
#include "base/memory.h"
#include "cubin/format.h"
#include "diag/escape.h"
#include "input/file.h"
#include "input/hostobj.h"
#include "ptx/lexer.h"
#include "language/syntax.h"
#include "toy/internal.h"

static void print_targets(void)
{
    static const char suffixes[] = {0, 'a', 'f'};
    char name[ARCH_NAME_SIZE];

    puts("== targets: number, first PTX, known as a target of links, compiled for");
    for (unsigned sm = 1; sm < 1000; sm++)
        for (size_t i = 0; i < sizeof suffixes; i++) {
            struct arch arch = {sm, suffixes[i]};
            const struct target_name *row = targets_find_name(arch);
            unsigned first = row ? row->first_ptx : 0;

            if (row || targets_know(arch, NULL))
                printf("%s %u.%u%s\n", arch_name(arch, name), first / 10, first % 10,
                       targets_know(arch, NULL) ? " known compiled" : "");
        }
    puts("== targets in their order");
    for (struct arch arch = {0}; targets_next(&arch, NULL);)
        puts(arch_name(arch, name));
    puts("== PTX versions");
    for (unsigned major = 0; major < 20; major++)
        for (unsigned minor = 0; minor < 20; minor++)
            if (toolkits_ptx_is_known(major, minor))
                printf("%u.%u\n", major, minor);
}

static void print_format(void)
{
    puts("== section types: number, name, no bytes, constants");
    for (uint64_t type = 0; type <= UINT32_MAX; type += type == 0xff ? 0x6fffff01 : 1) {
        const char *name = sections_type_name((uint32_t)type);

        if (type == 0x70000100)
            break;
        if (name || format_is_nobits((uint32_t)type) || format_is_constant((uint32_t)type))
            printf("%#x %s%s%s\n", (unsigned)type, name ? name : "-",
                   format_is_nobits((uint32_t)type) ? " no bytes" : "",
                   format_is_constant((uint32_t)type) ? " constants" : "");
    }
    puts("== records");
    for (unsigned attribute = 0; attribute < 256; attribute++)
        if (attributes_find((uint8_t)attribute))
            printf("%#x %s\n", attribute, attributes_find((uint8_t)attribute)->name);
    puts("== relocations: number, name, bytes, the merge's rule");
    for (uint32_t type = 0; type < 0x20000; type++) {
        const struct relocation_facts *facts = relocation_types_find(type);

        if (facts->name || facts->action)
            printf("%#x %s %u: %u %u %u %u %u %u, in an executable %#x\n", type,
                   facts->name ? facts->name : "-", facts->bytes, facts->action, facts->uses,
                   facts->first, facts->width, facts->shift, facts->bank, facts->plain);
    }
}

static void print_words(const char *title, const struct words *words)
{
    printf("== %s\n", title);
    for (uint16_t i = 0; i < words->count; i++)
        printf("%u %s\n", i, words_name(words, i));
}

static void print_language(void)
{
    static const unsigned sizes[] = {8, 16, 32, 64, 128};

    puts("== instructions: flags, first PTX, first target");
    for (uint16_t i = 0; i < opcode_words.count; i++) {
        const struct opcode *opcode = opcode_get(i);

        printf("%u %s %#x %u %s\n", i, opcode->name, opcode->flags, opcode->need.ptx,
               opcode->need.target);
    }
    print_words("modifiers", &modifier_words);
    print_words("special registers", &special_words);
    puts("== special registers: moves that they fit");
    for (uint16_t i = 1; i < special_words.count; i++) {
        printf("%s:", words_name(&special_words, i));
        for (const char *class = "busp"; *class; class ++)
            for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
                if (special_fits(i, *class, sizes[k]))
                    printf(" %c%u", *class, sizes[k]);
        puts("");
    }
    puts("== phases");
    for (size_t i = 0; i < DRIVER_PHASES; i++)
        printf("%u %s%s\n", driver_phases[i].number, driver_phases[i].name,
               driver_phases[i].failure == LINK_OK ? " (always)" : "");
}

/* The bytes by which words go on, and the characters that are shown as they are. */
static void print_characters(void)
{
    uint32_t shown = UINT32_MAX;

    puts("== characters that continue a word of PTX");
    for (unsigned c = 0; c < 256; c++)
        if (lexer_continues[c])
            printf(" %#x", c);
    puts("\n== characters that are shown, from and to");
    for (uint32_t point = 0; point <= 0x110000; point++) {
        char bytes[] = {(char)(0xf0 | point >> 18), (char)(0x80 | (point >> 12 & 0x3f)),
                        (char)(0x80 | (point >> 6 & 0x3f)), (char)(0x80 | (point & 0x3f))};
        struct text text = {bytes, 4};

        if (point < 0x80) {
            bytes[3] = (char)point;
            text = (struct text){bytes + 3, 1};
        } else if (point < 0x800) {
            bytes[2] = (char)(0xc0 | point >> 6);
            text = (struct text){bytes + 2, 2};
        } else if (point < 0x10000) {
            bytes[1] = (char)(0xe0 | point >> 12);
            text = (struct text){bytes + 1, 3};
        }
        if (escape_is_plain(text) == (shown != UINT32_MAX))
            continue;
        if (shown == UINT32_MAX)
            shown = point;
        else
            printf("%#x %#x\n", shown, point - 1), shown = UINT32_MAX;
    }
}

static void print_kinds(void)
{
    puts("== kinds of images in offload binaries, and of inputs");
    for (uint16_t kind = 0; kind < 9; kind++)
        printf("%u %s\n", kind, offload_kind_name(kind));
    for (int kind = FILE_EMPTY; kind <= FILE_UNKNOWN; kind++)
        printf("%d %s\n", kind, file_kind_name((enum file_kind)kind));
}

int main(void)
{
    print_targets();
    print_format();
    print_language();
    print_characters();
    print_kinds();
    return 0;
}
