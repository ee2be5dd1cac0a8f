/* fuzz.h: what fuzzers share: taking an input apart, strings that end where a sanitizer sees it,
 * host objects around bytes, messages that nobody reads. */
#ifndef MINILINK_TEST_FUZZ_H
#define MINILINK_TEST_FUZZ_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/context.h"
#include "base/diag.h"
#include "base/text.h"

/* The fuzzer: called by libFuzzer, or by standalone.c. Always returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Takes the first byte off `rest`; 0 when there is none. */
static inline uint8_t fuzz_byte(struct bytes *rest)
{
    if (rest->size == 0)
        return 0;
    rest->size--;
    return *rest->data++;
}

/* Takes the next part off `rest`: four bytes, little-endian, say how long it is; one that would be
 * longer than the rest is the rest. */
static inline struct bytes fuzz_part(struct bytes *rest)
{
    struct bytes part = {rest->data, 0};
    uint32_t size = 0;

    for (unsigned i = 0; i < 4; i++)
        size |= (uint32_t)fuzz_byte(rest) << (8 * i);
    part = (struct bytes){rest->data, size < rest->size ? size : rest->size};
    rest->data += part.size;
    rest->size -= part.size;
    return part;
}

/* A malloc'ed copy of exactly those bytes, so that a sanitizer sees every byte read beyond them. */
static inline uint8_t *fuzz_copy(struct bytes part)
{
    uint8_t *copy = malloc(part.size ? part.size : 1);

    if (!copy)
        abort();
    if (part.size)
        memcpy(copy, part.data, part.size);
    return copy;
}

/* The same with a NUL behind. */
static inline char *fuzz_string(struct bytes part)
{
    char *copy = malloc(part.size + 1);

    if (!copy)
        abort();
    if (part.size)
        memcpy(copy, part.data, part.size);
    copy[part.size] = '\0';
    return copy;
}

/* Takes the next line off `rest`, without its end. False at the end. */
static inline bool fuzz_line(struct bytes *rest, struct text *line)
{
    const uint8_t *end = rest->size ? memchr(rest->data, '\n', rest->size) : NULL;

    if (rest->size == 0)
        return false;
    *line = (struct text){(const char *)rest->data, end ? (size_t)(end - rest->data) : rest->size};
    rest->data += line->size + (end != NULL);
    rest->size -= line->size + (end != NULL);
    return true;
}

/* From now on messages are collected in `sink`, which is emptied, and not printed. */
static inline void fuzz_catch(struct diag_sink *sink)
{
    *sink = (struct diag_sink){0};
    context_get()->sink = sink;
}

/* Ends collecting. Returns how many errors were reported. */
static inline uint64_t fuzz_caught(struct diag_sink *sink)
{
    uint64_t errors = sink->errors;

    context_get()->sink = NULL;
    diag_sink_free(sink);
    return errors;
}

/* One section of a host object. */
struct fuzz_section {
    const char *name;
    struct bytes data;
};

/* Appends a host object (ELF for x86-64, relocatable) with these sections to `object`, which is
 * empty. */
static inline void fuzz_object(struct buffer *object, const struct fuzz_section *list, size_t count)
{
    Elf64_Ehdr header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                         .e_type = ET_REL,
                         .e_machine = EM_X86_64,
                         .e_version = EV_CURRENT,
                         .e_ehsize = sizeof header,
                         .e_shentsize = sizeof(Elf64_Shdr),
                         .e_shnum = (uint16_t)(count + 2),
                         .e_shstrndx = (uint16_t)(count + 1)};
    Elf64_Shdr none = {0}, names = {.sh_name = 1, .sh_type = SHT_STRTAB, .sh_addralign = 1};
    uint64_t data_at = sizeof header + (count + 2) * sizeof(Elf64_Shdr);

    header.e_shoff = sizeof header;
    buffer_append(object, &header, sizeof header);
    buffer_append(object, &none, sizeof none);
    names.sh_size = sizeof "\0.shstrtab";
    for (size_t i = 0; i < count; i++) {
        Elf64_Shdr section = {.sh_name = (uint32_t)names.sh_size,
                              .sh_type = SHT_PROGBITS,
                              .sh_flags = SHF_ALLOC,
                              .sh_offset = data_at,
                              .sh_size = list[i].data.size,
                              .sh_addralign = 1};

        buffer_append(object, &section, sizeof section);
        names.sh_size += strlen(list[i].name) + 1;
        data_at += list[i].data.size;
    }
    names.sh_offset = data_at;
    buffer_append(object, &names, sizeof names);
    for (size_t i = 0; i < count; i++)
        if (list[i].data.size)
            buffer_append(object, list[i].data.data, list[i].data.size);
    buffer_append(object, "\0.shstrtab", sizeof "\0.shstrtab");
    for (size_t i = 0; i < count; i++)
        buffer_append(object, list[i].name, strlen(list[i].name) + 1);
}

#endif
