/* internal.h: the steps of parts_join, in order, and their results. Private to parts/.
 *
 *     texts -> parts with their names -> one symbol for each name -> versions of its text -> order
 *
 * A symbol is a variable or function of the program, with an entry for each part that has it. The
 * library may generate different code for an internal function in different parts, for example when
 * all callers in a part pass the same argument; the symbol then has versions, each with a name. */
#pragma once

#include <stdbool.h>

#include "parts/parts.h"
#include "ptx/module.h"

/* A name of one part. */
struct part_entry {
    struct text name;
    const struct ptx_item *item; /* the definition, else a declaration */
    uint32_t part;
    struct joined_symbol *symbol;   /* NULL: a label in a section */
    struct symbol_version *version; /* after the part's text of it has been compared */
    struct part_entry *next;        /* the symbol's entry in a later part */
    bool is_address_taken;          /* the part names it other than as a call's target */
    struct text replacement;        /* new name of a label */
};

/* A part's file number, and the program's. */
struct part_file {
    uint64_t own;
    uint32_t number;
};

struct joined_part {
    struct ptx_module module;
    struct ptx_module lifted; /* variables that were declared in bodies */
    struct table names;       /* to indexes of `entries` */
    struct part_file *files;  /* rising `own` */
    size_t file_count;
};

struct joined_symbol {
    struct text name;
    struct part_entry *first_entry, *last_entry; /* sorted by part */
    struct symbol_version *first_version;        /* of a variable: the only one */
    struct symbol_version *address;              /* the version that address references mean */
    uint32_t stamps[2]; /* the renderings that saw it last, named, and called */
    uint8_t linkage;    /* enum ptx_linkage, the strongest of the definitions */
    bool is_function;
    bool is_entry;
    bool is_defined;
    bool is_split;          /* it has several versions */
    struct caller *callers; /* while versions are compared: the first, */
    bool is_waiting;        /* and whether they are to be looked at */
};

struct joined_reference {
    struct joined_symbol *symbol;
    bool is_call;
};

/* A text of a symbol, after its linkage, with the names of the joined program. */
struct symbol_version {
    struct joined_symbol *symbol;
    struct part_entry *entry; /* the first entry that has it */
    struct symbol_version *next;
    struct text name;
    struct text text;
    struct joined_reference *references; /* each symbol once for calls, and once for addresses */
    uint32_t reference_count;
    uint64_t hash;    /* of the original `text` */
    size_t head_size; /* of a function: bytes of `text` up to the parameters' end */
    bool has_shared;  /* its body declares .shared variables */
    bool is_reached;
    bool is_declared;  /* something before it refers to it */
    uint32_t position; /* in `reached` */
    uint32_t line;     /* index of its definition in `sequence` */
};

/* An item of the text. */
struct joined_place {
    struct symbol_version *version;
    bool is_declaration; /* declaration of a function that is defined later */
};

struct joined_string {
    struct text name; /* name of its label */
    struct text content;
};

/* A text that is being rendered; its memory is reused from text to text. */
struct rendering {
    struct buffer text;
    size_t head_size; /* of a function: bytes of the text before its directives */
    bool has_shared;  /* the body declares .shared variables */
    struct joined_reference *references;
    size_t reference_count, reference_capacity;
    uint32_t stamp;        /* its number */
    struct table numbered; /* words with numbers, to their numbers in the current body */
    struct table counters; /* such words without numbers, to how many there are */
};

struct joining {
    const struct parts_request *request;
    struct arena arena; /* freed when the result has been written */
    struct joined_part *parts;
    size_t part_count;
    struct table lifted; /* names of variables that are moved out of bodies */

    struct part_entry **entries;
    size_t entry_count, entry_capacity;
    struct joined_symbol **symbols;
    size_t symbol_count, symbol_capacity;
    struct symbol_version **versions;
    size_t version_count, version_capacity;

    struct text *files; /* the text after `.file N`; the program's number is index + 1 */
    size_t file_count, file_capacity;
    struct joined_string *strings; /* of .debug_str, sorted by name; may have duplicates */
    size_t string_count, string_capacity;

    struct symbol_version **reached; /* versions in the text, each after the ones that it needs */
    size_t reached_count;
    struct joined_place *sequence; /* the order of the text */
    size_t sequence_count;

    struct rendering rendering;
    struct parts_result *result;
    struct arena *result_arena;
};

/* Records what the parts disagree about. Returns false. */
static inline bool parts_differ(struct joining *joining, const char *what, struct text name)
{
    joining->result->difference =
        name.size ? arena_printf(joining->result_arena, "%s'%.*s'", what, TEXT_ARG(name))
                  : arena_string(joining->result_arena, text_of(what));
    return false;
}

/* The entry of a part's name, or NULL. */
static inline struct part_entry *parts_entry(const struct joining *joining, uint32_t part,
                                             struct text name)
{
    uint32_t at = table_find(&joining->parts[part].names, name);

    return at == TABLE_NONE ? NULL : joining->entries[at];
}

/* parts_read.c: parses the texts (PARTS_JOINED when there is no error yet); makes one symbol for
 * each name, one number for each file and string. */
enum parts_answer parts_read(struct joining *joining);
bool parts_name(struct joining *joining);

/* The comment before a variable that is in the body of the only function that uses it. */
#define PARTS_DEMOTED "// demoted variable"

/* Finds the declaration of a .shared variable that begins at or after `at` of a body, up to its
 * semicolon, and the variable's name. False when there is none. */
bool parts_demoted(struct text body, size_t at, struct text *name, struct text *statement);

/* parts_text.c: renders an entry's item into `rendering` with the program's names, from after its
 * linkage. Records whose address is taken. */
void parts_render(struct joining *joining, const struct part_entry *entry);

/* parts_versions.c: compares the parts' texts of each symbol. */
bool parts_agree(struct joining *joining);

/* The version that a reference in a version means, or NULL. */
struct symbol_version *parts_meant(const struct joining *joining,
                                   const struct symbol_version *version,
                                   struct joined_reference reference);

/* Renames all versions of each symbol except one, renders again the texts that name them, and
 * counts the functions that stay in several. */
void parts_name_versions(struct joining *joining);

/* parts_order.c: decides which versions come into the text, and their order. */
void parts_arrange(struct joining *joining);

/* Whether the symbol is a variable that host code does not name. */
bool parts_is_hidden(const struct joining *joining, const struct joined_symbol *symbol);
