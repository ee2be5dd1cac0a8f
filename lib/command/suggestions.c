/* suggestions.c: finds options near to what was typed, by the number of letters that differ. */
#include "command/option_table.h"

#include <stdio.h>

#include "base/search.h"

/* The most equally near names that are suggested. */
#define MOST_HINTS 3u

static void put_alternatives(struct buffer *out, const char *words)
{
    words += *words == '[';
    for (; *words && *words != ']'; words++) {
        if (*words != '|')
            buffer_char(out, *words);
        else
            buffer_string(out, strchr(words + 1, '|') ? ", " : " or ");
    }
}

static void put_value_name(struct buffer *out, const struct option_row *row)
{
    if (row->effect.kind == OPTION_NUMBER)
        buffer_printf(out, "a number from 0 to %d", row->effect.most);
    else if (strcmp(row->name, "arch") == 0)
        buffer_string(out, "a target such as sm_90; --list-targets prints all");
    else
        put_alternatives(out, row->argument);
}

void suggestions_value(const struct option_row *row)
{
    LOCAL_BUFFER(value);

    /* Other options' own messages say what a value may be. */
    if (!row->argument || (row->effect.kind == OPTION_SPECIAL && !strchr(row->argument, '|') &&
                           strcmp(row->name, "arch") != 0))
        return;
    put_value_name(&value, row);
    diag_note("%s%s takes %.*s", option_dashes(row->group), row->name,
              TEXT_ARG(buffer_view(&value)));
}

/* 0 for a name that begins with the word; SIZE_MAX for one that is too far away. */
static size_t farness(const char *word, const char *name)
{
    size_t size = strlen(word);

    if (size >= 3 && strncmp(word, name, size) == 0)
        return 0;
    return edit_distance(text_of(word), text_of(name), (size + 1) / 3);
}

static size_t farness_of_row(const char *word, const struct option_row *row)
{
    size_t far = farness(word, row->name);
    size_t other = row->short_name ? farness(word, row->short_name) : SIZE_MAX;

    return other < far ? other : far;
}

/* Options of linkers for host code (GNU ld, lld, mold) and of nvcc, and why a device link has no
 * use for them, or what it has instead. */
static const struct {
    const char *names; /* between blanks */
    const char *why;
} foreign[] = {
    {" strip-all s discard-all x discard-locals X ",
     "the driver finds kernels and variables by the symbols; --strip-debug leaves out what only "
     "debuggers and profilers read"},
    {" unresolved-symbols ignore-unresolved-symbol warn-unresolved-symbols allow-shlib-undefined "
     "z ",
     "no driver loads a cubin with undefined symbols; -r leaves them to a later link"},
    {" build-id ", "nvlink crashes on cubins for sm_100 with a note that it does not know; the "
                   "same inputs give the same bytes: a hash of the file is an id"},
    {" no-gc-sections ", "what no kernel reaches stays with -r or -preserve-relocs only"},
    {" dynamic-linker rpath soname pie no-pie static Bstatic Bdynamic export-dynamic E fPIC "
     "as-needed no-as-needed push-state pop-state hash-style eh-frame-hdr version-script "
     "dynamic-list no-undefined-version exclude-libs no-dynamic-linker nostdlib ",
     "device code is neither a program of its own nor a shared library"},
    {" T script Ttext Tdata Tbss section-start image-base sort-section N n omagic nmagic ",
     "the driver decides where code and data lie; --map shows the sections"},
    {" e entry init fini ",
     "every kernel is an entry; -kernels-used=NAME keeps only some, --undefined=NAME keeps more"},
    {" O O0 O1 O2 O3 Os ",
     "the level is -Xptxas=-O3 for the assembler, and --lto-O=3 for LLVM bitcode"},
    {" save-temps plugin-opt ", "--keep=DIR keeps the linked PTX, the chunks and their cubins"},
    {" perf print-stats ", "--stats prints the stages' times and memory, -time=FILE a table"},
    {" why-extract ", "every object of an archive that has code for the target takes part; "
                      "--trace lists them, --why-live=NAME tells what keeps a symbol"},
    {" cref print-dependencies ", "--trace-symbol=NAME tells who defines and who uses a symbol, "
                                  "-dump-callgraph who calls whom"},
    {" wrap defsym ",
     "a reference means the symbol of that name; -DNAME=OTHER, where the object is "
     "compiled, makes it another"},
    {" emit-relocs ", "-preserve-relocs lists the relocations that the link resolved"},
    {" gencode generate-code code dc rdc relocatable-device-code G c I D ",
     "it is nvcc's, for compiling; -arch=sm_NN names the target of a link, and -g keeps what "
     "a debugger needs"},
};

/* True, with a note, when `word` is one of them. */
static bool explain_foreign(const char *word)
{
    char wanted[64];

    snprintf(wanted, sizeof wanted, " %s ", word);
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        if (strstr(foreign[i].names, wanted)) {
            diag_note("a device linker has no such option: %s", foreign[i].why);
            return true;
        }
    return false;
}

static void suggest_names(const char *name)
{
    const char *word = name + (*name == '-');
    LOCAL_BUFFER(names);
    size_t nearest = SIZE_MAX, count = 0;

    if (explain_foreign(word))
        return;
    for (size_t i = 0; i < option_table_size; i++) {
        const struct option_row *row = &option_table[i];
        size_t far = row->help ? farness_of_row(word, row) : SIZE_MAX;

        if (far < nearest) {
            nearest = far;
            names.size = count = 0;
        }
        if (far == nearest && far != SIZE_MAX && count < MOST_HINTS)
            buffer_printf(&names, "%s%s%s", count++ ? ", " : "", option_dashes(row->group),
                          row->name);
    }
    if (count)
        diag_note("did you mean %.*s?", TEXT_ARG(buffer_view(&names)));
}

/* nvlink's message has neither the first dash nor the value. */
bool suggestions_unknown(const char *word)
{
    LOCAL_ARENA(arena);
    const char *name;

    name = arena_string(&arena, (struct text){word + 1, strcspn(word + 1, "=")});
    diag_fatal("Unknown option '%s'", name);
    suggest_names(name);
    return false;
}

bool suggestions_missing(const char *word, const struct option_row *row)
{
    diag_fatal("argument expected after '%s'", word);
    suggestions_value(row);
    return false;
}

bool suggestions_unwanted(const char *word)
{
    return diag_fatal("no argument expected after '%.*s'", (int)strcspn(word, "="), word);
}
