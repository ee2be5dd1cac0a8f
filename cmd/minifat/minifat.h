/* minifat.h: the parts of the program: inputs are inspected, and packed into a fatbin or offload
 * binaries, bare or in a host object. */
#pragma once

#include <stdio.h>

#include "facts/targets.h"
#include "input/fatbin.h"
#include "input/file.h"
#include "input/hostobj.h"

/* inspect.c: what an input is, and what its fatbin entry says about it. */

/* What the command line says about an input; zeros leave it to the content. */
struct inspect_request {
    struct arch arch;
    enum fatbin_kind kind;
    bool is_32bit;
};

/* An input, ready to be packed. Start with {0}; free with inspect_free. */
struct inspected {
    enum fatbin_kind kind;
    struct arch arch;
    uint16_t major, minor; /* of the PTX ISA, the ELF ABI or the LTO-IR */
    struct bytes code;     /* a view of the input, or of `text` */
    struct bytes compat;   /* contents of the cubin's .nv.compat, from sm_100 on; else empty */
    struct buffer text;    /* PTX, reduced, with one NUL */
};

/* Inspects `file`. False, and errors, when its kind or architecture cannot be told, contradicts the
 * request, or the file is damaged. */
bool inspect_file(const struct input_file *file, const struct inspect_request *request,
                  struct inspected *image);

void inspect_free(struct inspected *image);

/* pack.c: writing fatbins and offload binaries, the counterpart of input/fatbin.h and hostobj.h. */

enum pack_compression {
    PACK_DEFAULT, /* PTX, and cubins with debug information, by zstd; the rest stored */
    PACK_STORED,
    PACK_LZ4,
    PACK_ZSTD,
};

/* What all entries of a container have in common. */
struct pack_request {
    enum pack_compression compression;
    struct text identity; /* source file name; empty = none */
    bool debug;
    bool is_32bit;
    bool concatenates; /* PACK_DEFAULT means zstd for all but LTO-IR */
};

/* Cubins that become one entry. Start with {0}. */
struct pack_parts {
    struct buffer records, payload;
    unsigned count;
};

/* Appends the container's header; pack_end() fills in the size. */
void pack_begin(struct buffer *container);

/* Appends one entry with the option string `options` (cubins have none). LTO-IR is always stored.
 * False, and an error that names `name`, when the code cannot be compressed. */
bool pack_entry(struct buffer *container, const struct inspected *image, struct text options,
                const struct pack_request *request, const char *name);

/* Adds a cubin to `parts`. False, and an error that names `name`, where they become too large. */
bool pack_part(struct pack_parts *parts, const struct inspected *image,
               const struct pack_request *request, const char *name);

/* Appends `parts` as one entry, compressed. False, and an error, when that cannot be. */
bool pack_concatenated(struct buffer *container, const struct pack_parts *parts,
                       const struct pack_request *request);

void pack_end(struct buffer *container);

/* Appends an offload binary of version 1, which every LLVM reads, for CUDA, with `contents`, the
 * unchanged input, as its image. False, and an error that names `name`, when it is LTO-IR. */
bool pack_offload(struct buffer *binaries, const struct inspected *image, struct bytes contents,
                  const char *name);

/* A host object that carries a fatbin or offload binaries, without a compiler. */

/* Machines whose linker takes the object; the first is that of this program. */
enum hostobj_machine { HOSTOBJ_OWN, HOSTOBJ_X86_64, HOSTOBJ_AARCH64 };

/* Puts into `object` an ELF relocatable for `machine` with `fatbin` in `section`, which is
 * HOSTOBJ_RELOCATABLE, HOSTOBJ_WHOLE_PROGRAM, or for offload binaries OFFLOAD_SECTION, which is
 * then alone. In a relocatable one, symbols carry a module id made of the base name of `source` and
 * a hash of the fatbin, so that equal inputs give equal objects. `object` must be empty. */
void hostobj_build(struct buffer *object, struct bytes fatbin, enum hostobj_machine machine,
                   const char *section, const char *source);

/* options.c: the command line: each input with the options before it, and the output. */

enum options_action {
    OPTIONS_PACK,    /* go on and pack */
    OPTIONS_HELP,    /* print the help and end */
    OPTIONS_VERSION, /* print the version and end */
    OPTIONS_WRONG,   /* a usage error has been reported */
};

enum options_format { FORMAT_BY_SUFFIX, FORMAT_FATBIN, FORMAT_OBJECT, FORMAT_OFFLOAD };

/* One input, with the options that stood before it. */
struct options_input {
    const char *path;
    struct inspect_request request;
    struct text options;    /* the entry's option string */
    struct inspected image; /* empty until it is inspected */
};

/* What the command line says. Start with {0}; free with options_free. Strings are argv's. */
struct options {
    const char *output;
    enum options_format format;   /* settled: not FORMAT_BY_SUFFIX */
    const char *section;          /* of the host object */
    bool is_offload;              /* the inputs become offload binaries, else a fatbin */
    enum hostobj_machine machine; /* of the host object */
    struct pack_request pack;
    struct options_input next; /* for inputs still to come */
    struct options_input *inputs;
    size_t input_count, input_capacity;
};

/* Reads the command line; usage errors are reported. */
enum options_action options_read(struct options *options, int argc, char **argv);

/* Writes the help, made from the option table. */
void options_help(FILE *out);

void options_free(struct options *options);
