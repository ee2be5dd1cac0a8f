/* reproduce.c: each file gets a place in the tar's folder, and the words name it by that place. */
#include "link/internal.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/utsname.h>

#include "distribute/files.h"
#include "output/output.h"

struct reproduction {
    const struct link *link;
    struct arena arena;
    struct tar *tar;
    const char *folder;    /* the tar's folder, without a final slash */
    struct table places;   /* places of the files in the tar */
    struct buffer words;   /* response.txt */
    struct buffer version; /* version.txt */
    struct assembler assembler;
};

static void free_reproduction(void *argument)
{
    struct reproduction *reproduction = argument;

    tar_close(reproduction->tar);
    table_free(&reproduction->places);
    buffer_free(&reproduction->words);
    buffer_free(&reproduction->version);
    assembler_close(&reproduction->assembler);
    arena_free(&reproduction->arena);
}

/* The file's name without folders and ".tar". */
static const char *folder_name(struct arena *arena, const char *path)
{
    struct text name = text_of(basename(path));

    if (name.size > 4 && text_ends(name, TEXT(".tar")))
        name.size -= 4;
    return arena_string(arena, name);
}

/* True for a path that does not leave its starting folder. */
static bool stays_below(const char *path)
{
    for (const char *at = path; (at = strstr(at, "..")); at++)
        if ((at == path || at[-1] == '/') && (!at[2] || at[2] == '/'))
            return false;
    return *path != '/';
}

/* The place of the file `path` in the folder: below "inputs" if the path does not leave its
 * starting folder, else its real path below "root". */
static const char *place_in_tar(struct reproduction *reproduction, const char *path)
{
    char whole[PATH_MAX];

    while (strncmp(path, "./", 2) == 0)
        path += 2;
    if (stays_below(path))
        return arena_printf(&reproduction->arena, "inputs/%s", path);
    if (realpath(path, whole))
        path = whole;
    return arena_printf(&reproduction->arena, "root/%s", path + strspn(path, "/."));
}

static bool add_to_tar(struct reproduction *reproduction, const char *place, struct bytes data)
{
    struct text key = text_of(place);

    if (table_find(&reproduction->places, key) != TABLE_NONE)
        return true;
    table_add(&reproduction->places, key, 0);
    return tar_add(reproduction->tar,
                   arena_printf(&reproduction->arena, "%s/%s", reproduction->folder, place), data);
}

/* Adds a word and a line end, quoted for response files. */
static void put_response_word(struct buffer *words, const char *prefix, const char *rest)
{
    buffer_char(words, '\'');
    for (int part = 0; part < 2; part++)
        for (const char *at = part ? rest : prefix; *at; at++)
            if (*at == '\'')
                buffer_string(words, "'\\''");
            else
                buffer_char(words, *at);
    buffer_string(words, "'\n");
}

static bool add_input_files(struct reproduction *reproduction)
{
    const struct inputs *inputs = &reproduction->link->inputs;

    for (size_t i = 0; i < inputs->count; i++) {
        const struct input_file *file = &inputs->files[i];
        const char *place = place_in_tar(reproduction, file->path);

        /* A shared library has no device code, and can be huge. */
        if (file->library && (file->kind == FILE_SHARED_OBJECT || file->kind == FILE_SCRIPT))
            continue;
        if (!add_to_tar(reproduction, place, file->data))
            return false;
        put_response_word(&reproduction->words, "", place);
    }
    return true;
}

/* Adds a file that is no input: an index, a plug-in. The link reports one that cannot be read. */
static bool add_file_to_tar(struct reproduction *reproduction, const char *path, const char *place)
{
    struct file_contents file = {0};

    CONTEXT_DEFER(files_cleanup, &file);
    return !files_read(&file, path, SIZE_MAX) ||
           add_to_tar(reproduction, place, files_bytes(&file));
}

static bool add_option_words(struct reproduction *reproduction)
{
    const struct link_request *request = reproduction->link->request;

    for (size_t i = 0; i < request->reproduce_word_count; i++) {
        const struct reproduce_word *word = &request->reproduce_words[i];
        const char *place = word->path ? place_in_tar(reproduction, word->path) : "";

        if (word->path && !add_file_to_tar(reproduction, word->path, place))
            return false;
        put_response_word(&reproduction->words, word->text, place);
    }
    return true;
}

/* version.txt: the versions of the linker and its tools; nothing that could identify the user. */
static void describe_tools(struct reproduction *reproduction)
{
    const struct assembler_request *request = &reproduction->link->request->assembler;
    static const char *const variables[] = {"MAKEFLAGS", "LIBNVVM_DISABLE_CONCURRENT_API"};
    struct buffer *version = &reproduction->version;
    struct utsname system;
    const char *assembler = NULL;

    buffer_string(version, "minilink " MINILINK_VERSION "\n");
    if (assembler_try(&reproduction->assembler, request))
        assembler = assembler_try_version(&reproduction->assembler);
    if (assembler)
        buffer_printf(version, "assembler: %s, %s\n", reproduction->assembler.table.name,
                      assembler);
    else
        buffer_printf(version, "assembler: %s, which could not be opened\n",
                      request->name ? request->name : "builtin");
    if (uname(&system) == 0)
        buffer_printf(version, "system: %s %s\n", system.sysname, system.machine);
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        if (getenv(variables[i]))
            buffer_printf(version, "%s is set\n", variables[i]);
    buffer_string(version, "\nTo link again, in this folder: minilink @response.txt\n");
}

bool reproduce_write(const struct link *link)
{
    const unsigned version = link->toolkit->version;
    struct reproduction reproduction = {.link = link};

    if (!link->request->reproduce)
        return true;
    CONTEXT_DEFER(free_reproduction, &reproduction);
    reproduction.folder = folder_name(&reproduction.arena, link->request->reproduce);
    reproduction.tar = tar_open(link->request->reproduce);
    if (!reproduction.tar)
        return false;
    describe_tools(&reproduction);
    /* First, so that a --behave-like of the link's own comes after it. */
    put_response_word(&reproduction.words, "--behave-like=",
                      arena_printf(&reproduction.arena, "%u.%u", version / 10, version % 10));
    return add_option_words(&reproduction) && add_input_files(&reproduction) &&
           add_to_tar(&reproduction, "response.txt", buffer_bytes(&reproduction.words)) &&
           add_to_tar(&reproduction, "version.txt", buffer_bytes(&reproduction.version)) &&
           tar_commit(reproduction.tar);
}
