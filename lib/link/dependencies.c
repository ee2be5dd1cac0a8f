/* dependencies.c: the files that a link read, in the order in which it read them.
 *
 * Names are quoted for make and ninja. Measured with GNU make 4.3 and ninja 1.11. Both read a
 * blank, `#` and `:` after a backslash (after 2n + 1 of them if the name itself has n), and two
 * dollar signs as one. Only make reads tabs, `|`, quotes, `<`, `&`, control characters, and, after
 * a backslash, a bracket that would match another file. make cannot read line ends and semicolons,
 * after which it would run the rest as a command, wildcards, `~` at the beginning, and blanks and
 * backslashes at the end; nor a target with `=` or `%`. */
#include "link/internal.h"

#include <glob.h>

#include "diag/diag.h"

/* Whether make would also match another file: "a[b].ptx" also matches "ab.ptx", if that exists. */
static bool matches_another(const char *name)
{
    glob_t found = {0};
    bool is_other = false;

    if (!strchr(name, '['))
        return false;
    if (glob(name, GLOB_NOSORT, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc; i++)
            is_other |= strcmp(found.gl_pathv[i], name) != 0;
    globfree(&found);
    return is_other;
}

/* The reason why make cannot read the name, or NULL. */
static const char *fault_for_make(const char *name)
{
    size_t size = strlen(name);

    if (strchr(name, '\n') || strchr(name, '\r'))
        return "a line's end";
    if (strchr(name, ';'))
        return "a semicolon";
    if (strpbrk(name, "*?"))
        return "a wildcard";
    if (*name == '~')
        return "a tilde at its beginning";
    if (strstr(name, "\\="))
        return "a backslash before an equals sign";
    if (size > 0 && name[size - 1] == '\\')
        return "a backslash at its end";
    if (size > 0 && strchr(" \t\v\f", name[size - 1]))
        return "a blank at its end";
    if (strchr(name, '\\') && matches_another(name))
        return "brackets and backslashes that match another file";
    /* "lib(member)" is a member of an archive for make. */
    return size > 0 && name[size - 1] == ')' && strchr(name, '(')
               ? "a part in parentheses at its end"
               : NULL;
}

/* The reason why make cannot read the name as a target, or NULL: patterns, variables and groups of
 * targets begin like rules. */
static const char *fault_as_target(const char *name)
{
    size_t size = strlen(name);

    if (strchr(name, '='))
        return "an equals sign";
    if (strchr(name, '%'))
        return "a percent sign";
    return size > 0 && name[size - 1] == '&' ? "an ampersand at its end" : NULL;
}

static bool check_name(const char *name, const char *fault)
{
    return !fault ||
           diag_fatal("'%s' cannot be named in a dependency file: make reads no name with %s", name,
                      fault);
}

/* Checks that make takes neither the target nor the first file for a variable. */
static bool check_rule_names(const char *target, const char *const *files, size_t count)
{
    const char *fault =
        fault_for_make(target) ?: fault_as_target(target)
            ?: matches_another(target) ? "brackets that match another file" : NULL;
    bool ok = check_name(target, fault);
    size_t variables = 0;

    for (size_t i = 0; i < count; i++) {
        ok &= check_name(files[i], fault_for_make(files[i]));
        variables += strchr(files[i], '=') != NULL;
    }
    return ok && (variables == 0 || variables < count || check_name(files[0], "an equals sign"));
}

static void put_make_name(struct buffer *out, const char *name)
{
    const char *protected = matches_another(name) ? " \t#:|[" : " \t#:|";
    size_t backslashes = 0;

    if (strchr("=+!:", *name)) /* "word =" would be an assignment to the word before it */
        buffer_string(out, "./");
    for (; *name; name++) {
        if (strchr(protected, *name))
            for (size_t i = 0; i <= backslashes; i++)
                buffer_char(out, '\\');
        if (*name == '$')
            buffer_char(out, '$');
        buffer_char(out, *name);
        backslashes = *name == '\\' ? backslashes + 1 : 0;
    }
}

static void put_files(struct buffer *out, const char *const *files, size_t count, bool with_equals)
{
    for (size_t i = 0; i < count; i++) {
        if ((strchr(files[i], '=') != NULL) != with_equals)
            continue;
        buffer_string(out, " \\\n ");
        put_make_name(out, files[i]);
    }
}

/* Appends "TARGET: FILES", and a rule for each file, so that a missing file is no error. False, and
 * a fatal diagnostic, when make cannot read a name. */
static bool write_rule(struct buffer *out, const char *target, const char *const *files,
                       size_t count)
{
    if (!check_rule_names(target, files, count))
        return false;
    put_make_name(out, target);
    buffer_char(out, ':');
    put_files(out, files, count, false);
    put_files(out, files, count,
              true); /* "target: name=value" would set a variable of the target */
    buffer_char(out, '\n');
    for (size_t i = 0; i < count; i++) {
        if (fault_as_target(files[i]))
            continue;
        buffer_char(out, '\n');
        put_make_name(out, files[i]);
        buffer_string(out, ":\n");
    }
    return true;
}

/* The files so far, each named once. */
struct dependencies {
    struct arena arena;
    struct table seen;
    const char **list;
    size_t count, capacity;
};

static void add_dependency(struct dependencies *files, const char *path)
{
    uint32_t number = (uint32_t)files->count;

    /* nvcc's temporary files are gone when it ends: a target would be older than a missing file. */
    if (path && *path && strncmp(basename(path), "tmpxft_", 7) != 0 &&
        table_add(&files->seen, text_of(path), number) == number)
        ARENA_PUSH(&files->arena, files->list, files->count, files->capacity) = path;
}

static void collect_dependencies(struct dependencies *files, const struct link *link)
{
    const struct link_request *request = link->request;

    for (size_t i = 0; i < request->response_file_count; i++)
        add_dependency(files, request->response_files[i]);
    for (size_t i = 0; i < link->inputs.count; i++)
        add_dependency(files, link->inputs.files[i].path);
    for (size_t i = 0; i < link->inputs.thin_files.count; i++)
        add_dependency(files, link->inputs.thin_files.list[i]);
    add_dependency(files, request->index_file);
    add_dependency(files, assembler_file(&link->assembled.assembler, &request->assembler));
    add_dependency(files, link->nvjitlink.path);
    add_dependency(files, link->llvm.path);
}

const char *dependencies_path(const struct link *link, struct arena *arena)
{
    const char *path = link->request->dependency_file;
    char target[ARCH_NAME_SIZE];
    LOCAL_BUFFER(name);

    if (!path)
        return NULL;
    arch_name(link->members.arch, target);
    for (const char *mark; (mark = strstr(path, "%a")); path = mark + 2)
        buffer_printf(&name, "%.*s%s", (int)(mark - path), path, target);
    buffer_string(&name, path);
    return arena_string(arena, buffer_view(&name));
}

bool dependencies_rule(const struct link *link, struct buffer *rule)
{
    const char *target = link->request->dependency_target;
    struct dependencies files = {0};

    CONTEXT_DEFER(arena_cleanup, &files.arena);
    CONTEXT_DEFER(table_cleanup, &files.seen);
    collect_dependencies(&files, link);
    return write_rule(rule, target ? target : link->request->output, files.list, files.count);
}
