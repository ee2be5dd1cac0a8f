/* file.h: opening operands and classifying them by their content; archives; and whether files have
 * changed since.
 *
 * Regular files are mapped read-only until inputs_close(), and later stages use views into them.
 * Read into memory instead are pipes, files written to within the last two seconds, since another
 * write might not change their times, and files beyond the mappings that a process may have. */
#pragma once

#include "base/memory.h"
#include "os/file.h"

enum file_kind {
    FILE_EMPTY,         /* no bytes */
    FILE_HOST_OBJECT,   /* ELF for a CPU: ET_REL or an executable (PIE too); may carry fatbins */
    FILE_SHARED_OBJECT, /* ELF ET_DYN that is no executable */
    FILE_SCRIPT,        /* for the host's linker, in the place of a library */
    FILE_ARCHIVE,       /* !<arch> */
    FILE_FATBIN,        /* begins with the fatbin magic 0xBA55ED50 */
    FILE_CUBIN,         /* ELF with e_machine EM_CUDA */
    FILE_PTX,           /* text with a .version directive before any other */
    FILE_LTOIR,         /* raw LTO-IR, magic 0x7F4E43ED */
    FILE_BITCODE,       /* LLVM bitcode (input/rawcode.h), for whatever target */
    FILE_OFFLOAD,       /* offload binaries (input/hostobj.h) */
    FILE_TILE,          /* Tile IR, which is compiled by other tools than device linkers */
    FILE_TEXT,          /* other text */
    FILE_UNKNOWN,
};

struct input_file {
    const char *path;            /* as the user gave it, or as -l found it */
    const char *library;         /* "cudart" for -lcudart, else NULL */
    const char *thin;            /* the thin archive that names it, for messages; else NULL */
    struct bytes data;           /* whole contents */
    bool is_mapped;              /* `data` is; else it is in: */
    struct buffer contents;      /* of a thin archive, an ordinary one with its members */
    struct file_identity place;  /* which file it is */
    struct file_version version; /* before it was read */
    enum file_kind kind;
};

/* An input, as a word of the command line names it or as a caller has it. */
struct input_operand {
    const char *name;
    bool is_library; /* -lNAME: see struct library_search */
    bool is_memory;  /* `data` has the contents; it belongs to the caller, and must live as long as
                        the inputs */
    struct bytes data;
};

/* Paths of the files that thin archives name, and that were read. */
struct thin_files {
    const char **list;
    size_t count, capacity;
};

/* Where libraries (-lNAME) are looked for. Measured on nvlink: it looks for lib<NAME>.so in every
 * path, then for lib<NAME>.a in every path; it ignores a shared object, which has no code to link,
 * and a library that is not found: nvcc passes it all libraries of the program, and the host's are
 * in folders that only the host's linker knows. minilink does the same if nvcc made the command
 * line; otherwise a missing library is an error. -l:FILE, which nvlink does not know, is the exact
 * file, as in GNU ld. */
struct library_search {
    const char *const *paths; /* folders: -L, then LIBRARY_PATH */
    size_t count;
    bool from_compiler; /* nvcc made the command line, which names libraries of the host, too */
};

/* Opened files, in command-line order. Start with {0}. */
struct inputs {
    struct arena arena;
    struct input_file *files;
    size_t count;
    size_t capacity;
    size_t mapping_count;
    struct thin_files thin_files;
    bool from_compiler;  /* see struct library_search */
    bool are_read;       /* set by the caller: read all files, map none */
    struct watch *watch; /* set by the caller: each file is added to it; or NULL */
};

/* Opens every operand; libraries are looked for as `search` says (NULL = nowhere). Each one that
 * cannot be opened is reported ("Could not open input file 'X'"; for a library with the paths
 * tried); false when there was one. An archive that is named again, by whatever path, is ignored,
 * as in nvlink; any other file that is named twice is listed twice. */
bool inputs_open(struct inputs *inputs, const struct input_operand *operands, size_t count,
                 const struct library_search *search);

/* Has a crash blamed on a mapped file of these inputs that has changed since, until they are closed
 * or others are opened (os/cleanup.h). inputs_open() does so; in the link thread. */
void inputs_blame(const struct inputs *inputs);

/* Releases the memory of mapped files until they are read again: for when most of their contents
 * have been copied. Views into them stay valid. */
void inputs_release(const struct inputs *inputs);

/* Unmaps everything. Accepts {0} and half-opened inputs. */
void inputs_close(struct inputs *inputs);

/* The kind of `data`, by its content only. Never reads beyond data.size. */
enum file_kind file_classify(struct bytes data);

/* The kind of a fatbin's entry with the code of such a file (enum fatbin_kind); 0 for files that
 * are no code by themselves. */
uint32_t file_code_kind(enum file_kind kind);

/* "archive", "PTX text", ...: for messages. */
const char *file_kind_name(enum file_kind kind);

/* The members of an ar archive; and thin archives, which have only the names of their members (ar's
 * option T), as Meson makes them (archive.c).
 *
 * A thin archive is "!<thin>\n" and then the headers of an ordinary one, with every name in the
 * table of long names, and without data except that table's and the symbol table's. A name is a
 * path from the archive's folder, as in GNU ar and ld; nvlink was measured to take it from the
 * working folder, and to fail elsewhere. */

/* A position in an archive. */
struct archive {
    const char *name; /* for messages */
    struct bytes data;
    bool is_thin;      /* only tables have data */
    bool is_file;      /* no archive: the file is itself what is in it */
    bool is_damaged;   /* reported */
    size_t offset;     /* of the next header */
    struct text table; /* of long names */
};

/* Opens the archive `data`. Thin ones are refused with an error: is_damaged. */
void archive_open(struct archive *archive, const char *name, struct bytes data);

/* The same for a file; one that is no archive is itself the only member, without a name. */
void archive_open_file(struct archive *archive, const struct input_file *file);

/* Reads the next member that is no symbol or name table; `data` is inside the archive's bytes.
 * False at the end, or with an error that names the offset when the archive is damaged. */
bool archive_next(struct archive *archive, struct text *name, struct bytes *data);

/* "lib.a(b.o)", in the arena; the file's name for a member without one. */
const char *archive_object_name(const struct archive *archive, struct text member,
                                struct arena *arena);

/* True when `data` begins as a thin archive. */
bool archive_is_thin(struct bytes data);

/* The files that a link's result depends on, and whether they have changed (watch.c).
 *
 * Each is noted when it is opened, before it is read, and checked before any result made from it
 * gets its name or is cached. Properties. A link that finds all files unchanged has used one
 * version of each, whoever wrote to them before or afterwards, unless a file that was written to
 * just before was written to again in the same tick of the file system's clock. Safety. The link
 * thread adds files while no other thread checks them; any thread may check. */

/* Start with {0}. */
struct watch {
    struct arena arena;
    struct watched *list;
    size_t count, capacity;
    bool has_told; /* the changes have been reported */
};

/* Adds an input file, whose version was taken before it was read; one that is not settled
 * (file_version_is_settled) must not be mapped. `path` is copied. A `watch` of NULL is ignored. */
void watch_add(struct watch *watch, const char *path, const struct file_version *version);

/* Adds the files of another list. `from` may be NULL. */
void watch_add_all(struct watch *watch, const struct watch *from);

/* Adds a tool, an assembler or a library that compiles, as it is now. A missing one, or one that is
 * no regular file, is ignored: the code that runs it reports that. */
void watch_add_tool(struct watch *watch, const char *path);

/* True when nothing has changed. Each file that has is reported as a fatal error, the first time.
 * Only for the link thread. Accepts NULL. */
bool watch_check(struct watch *watch);

/* Whether no tool has changed, for any thread and without messages: results made of bytes in memory
 * depend on tools only. */
bool watch_holds(const struct watch *watch);

/* For CONTEXT_DEFER, too. */
void watch_free(void *watch);
