/* fatbin.h: reading the fatbin container, and decompressing payloads.
 *
 * Layout (little endian; measured on CUDA's fatbinary and nvcc): a 16-byte outer header {u32 magic
 * 0xBA55ED50, u16 version 1, u16 header size 16, u64 size of everything after it}, then entries,
 * each a header of at least 64 bytes and a payload, both multiples of 8 long. No terminator: the
 * outer size ends the list. See struct fatbin_entry for an entry's fields.
 *
 * An entry of kind 256 (measured on 13.4's and 13.5's fatbinary -concat) holds several cubins,
 * which are compressed together. Its option descriptor is {u32 count, u32 size of the descriptor
 * and what follows it}, then a record for each cubin: an entry's header with its strings, in which
 * the header size is the offset of the cubin in the uncompressed payload.
 *
 * An entry of kind 64 is what nvFatbinAddReloc makes of an entry with PTX in a host object
 * (measured on nvFatbin 13.5), for each object and target one; the object is the entry's identity.
 * libnvJitLink links it; nvlink finds no code in it, and says so in a warning.
 *
 * Not supported: outer versions but 1. Unknown entry kinds are passed on with their number. */
#pragma once

#include "facts/targets.h"
#include "base/memory.h"

#define FATBIN_MAGIC         0xBA55ED50u
#define FATBIN_ENTRY_VERSION 0x0101u

struct fatbin_header {
    uint32_t magic;
    uint16_t version, size;
    uint64_t follows;
};

#define FATBIN_HEADER_SIZE sizeof(struct fatbin_header)

/* A string behind an entry's header, by its offset from there. */
struct fatbin_string {
    uint32_t offset, size;
};

/* The header of an entry. Of a part's record, `size` is the offset of the part in the payload, and
 * `payload_size` its size there. */
struct fatbin_entry_header {
    uint16_t kind, version;
    uint32_t size; /* with the strings */
    uint64_t payload_size;
    uint32_t compressed_size;
    uint32_t options; /* offset of the descriptor, a struct fatbin_string, or fatbin_parts; or 0 */
    uint16_t minor, major;
    uint32_t sm;
    struct fatbin_string identity;
    uint64_t flags;
    uint64_t key; /* of scrambled LTO-IR */
    uint64_t uncompressed_size;
};

/* In front of the parts' records. */
struct fatbin_parts {
    uint32_t count;
    uint32_t size; /* with this */
};

enum fatbin_kind {
    FATBIN_PTX = 1,
    FATBIN_ELF = 2,
    FATBIN_NVVM = 8,             /* LTO-IR */
    FATBIN_RELOCATABLE_PTX = 64, /* as it is stored; read as FATBIN_PTX */
    FATBIN_TILE = 128,           /* Tile IR, which no device linker reads */
    FATBIN_CONCATENATED = 256,
    FATBIN_BITCODE = 0x10000, /* LLVM's; in no fatbin, where kinds have 16 bits */
};

enum fatbin_flag {
    FATBIN_64BIT = 0x1,
    FATBIN_DEBUG = 0x2,
    FATBIN_LINUX = 0x10,
    FATBIN_LZ4 = 0x2000,
    FATBIN_ZSTD = 0x8000,
    FATBIN_SCRAMBLED = 0x10000, /* NVVM payload that only NVIDIA's libraries read */
    FATBIN_SUFFIX_A = 0x100000,
    FATBIN_SUFFIX_F = 0x200000,
    FATBIN_BLOB = 0x1000000, /* the option descriptor holds a binary blob, not text */
};

/* One entry, checked: every view lies inside the container. */
struct fatbin_entry {
    uint32_t kind;    /* enum fatbin_kind, or an unknown number */
    uint16_t version; /* FATBIN_ENTRY_VERSION */
    uint16_t major;   /* of the PTX ISA, the ELF ABI or the LTO-IR */
    uint16_t minor;
    struct arch arch;           /* with the suffix from the flags */
    uint64_t flags;             /* enum fatbin_flag */
    unsigned number;            /* of the entry in the container, from 1 */
    unsigned part;              /* of a concatenated entry, from 1; 0 = it is no part of one */
    size_t part_offset;         /* of a part in the uncompressed payload, ... */
    size_t part_size;           /* ... 0 if that is stored: `payload` is the part */
    struct bytes payload;       /* as stored; compressed ones without their padding */
    struct bytes whole;         /* header and payload with their padding, as stored */
    uint64_t uncompressed_size; /* bytes; 0 when stored */
    struct text options;        /* option string without its final NUL; empty = none */
    struct text identity;       /* source file name, with -g or -lineinfo; empty = none */
    bool is_relocatable;        /* it was FATBIN_RELOCATABLE_PTX */
};

/* A position in one container. */
struct fatbin {
    const char *name;   /* of the file or archive member, for messages */
    struct bytes bytes; /* this container: header and entries */
    size_t next;        /* offset of the next entry */
    unsigned number;    /* of the entry last read */
    unsigned parts;     /* of that entry that are still to come */
    struct {
        struct fatbin_entry whole; /* that entry, with the number of the last part */
        size_t at, end;            /* offsets of the next part's record, and of the end of all */
    } concatenated;
};

enum fatbin_result {
    FATBIN_ENTRY, /* *entry is filled in */
    FATBIN_END,
    FATBIN_DAMAGED, /* reported */
};

/* Opens the container that begins at data[0]. Sets *size to its whole size in bytes, rounded up to
 * 8 where data has that much: where the next container begins when several stand back to back.
 * False, and an error that names offset, expected and found values, when the header is wrong. */
bool fatbin_open(struct fatbin *fatbin, const char *name, struct bytes data, size_t *size);

/* Reads the next entry. Of a concatenated one, which is none by itself, each part is an entry. */
enum fatbin_result fatbin_next(struct fatbin *fatbin, struct fatbin_entry *entry);

/* Decompressing payloads, with limits against hostile ones (inflate.c). */
/* No real payload comes near: guards against decompression bombs. */
#define INFLATE_MAXIMUM (UINT64_C(1) << 30)

/* A limit for several entries together: thousands of small ones can fill memory, too. */
struct inflation {
    uint64_t limit;     /* bytes; 0 = none */
    uint64_t used;      /* bytes that the entries so far have decompressed to */
    const char *option; /* that sets the limit, for messages */
};

/* Sets *code to the entry's payload, or its part of one, as it was before compression: a view of
 * the container when it is stored, else bytes in `arena`. The whole payload's are counted in
 * `inflation`. `name` is the member, for messages. False, and an error, when the stated size
 * exceeds INFLATE_MAXIMUM or the limit, or the payload is damaged, scrambled or of another size. */
bool inflate_entry(const struct fatbin_entry *entry, const char *name, struct inflation *inflation,
                   struct arena *arena, struct bytes *code);

/* The first bytes of an entry's code, at most `size` of them, without inflating what follows.
 * Returns how many were written to `head`; 0 when the payload is opaque or damaged, or the entry a
 * part that is further into a payload than real ones are, which is not reported. */
size_t inflate_head(const struct fatbin_entry *entry, uint8_t *head, size_t size);
