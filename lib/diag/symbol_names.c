/* symbol_names.c: the demangler of the C++ runtime (Itanium C++ ABI, __cxa_demangle), which any
 * system with a C++ program has, and which is only loaded when a name is asked for; and the base of
 * mangled names, as far as comparing two of them needs it; and messages about missing symbols.
 *
 * A name of a few hundred bytes can stand for gigabytes, since each part may repeat all before it,
 * and the demangler knows no bounds: it runs in a child with limited memory and time. If a name
 * ends the child, the name stays mangled and another child goes on after it. */
#include "diag/symbol_names.h"

#include <dlfcn.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include "os/file.h"
#include "base/search.h"
#include "os/exec.h"
#include "os/machine.h"

#define LONGEST       65536u /* bytes of a name, mangled or demangled */
#define MOST_OUTPUT   (64u << 20)
#define MOST_MEMORY   (UINT64_C(256) << 20) /* that the child may allocate */
#define MOST_CHILDREN 4u
#define MICROSECONDS  300000 /* a name of 64 KiB takes one thousandth of that */
#define WALL_SECONDS  60u

typedef char *demangler(const char *name, char *buffer, size_t *size, int *status);

/* One child's work: names of the list from `next` on. */
struct work {
    demangler *function;
    const struct text *names;
    size_t count;
    size_t next;
};

/* EDG's spacing: "int *", "char **". */
static void put_spaced(const char *text, struct buffer *out)
{
    for (size_t i = 0; text[i]; i++) {
        bool is_mark = text[i] == '*' || text[i] == '&';

        if (is_mark && i && text[i - 1] != '*' && text[i - 1] != '&' && text[i - 1] != ' ' &&
            text[i - 1] != '(')
            buffer_char(out, ' ');
        buffer_char(out, text[i]);
    }
}

/* __nv_static_25__8eaaec0a_4_u_cu_8e450714__Z1fv: the number is the size of the module's name after
 * the next underscore; that name may contain mangled names itself. */
struct text symbol_names_part(struct text name)
{
    struct text rest = name;
    uint64_t size = 0;
    const char *part;

    if (!text_skip(&rest, TEXT("__nv_static_")))
        return name;
    text_scan_number(&rest, &size);
    if (size < rest.size && rest.size - size > 2 && rest.data[1 + size] == '_')
        return text_drop(rest, 1 + size + 1);
    part = memmem(name.data, name.size, "__Z", 3); /* a name that was shortened */
    return part ? text_drop(name, (size_t)(part + 1 - name.data)) : name;
}

static bool is_mangled(struct text name)
{
    struct text part = symbol_names_part(name);

    return text_starts(part, TEXT("_Z")) && part.size < LONGEST;
}

/* Appends the demangled name; nothing for a name that stays as it is. */
static void demangle_name(const struct work *work, struct text name, struct buffer *out)
{
    struct text part = symbol_names_part(name);
    struct buffer plain = {0};
    char *result;
    int status = -1;

    buffer_text(&plain, part);
    buffer_char(&plain, '\0');
    result = work->function(plain.data, NULL, NULL, &status);
    buffer_free(&plain);
    if (result && strlen(result) < LONGEST) {
        put_spaced(result, out);
        /* A deleting destructor demangles like the plain one; only its encoding differs: D0Ev at
         * the end, as destructors have no parameters (except a virtual base's VTT). */
        if (text_ends(part, TEXT("D0Ev")))
            buffer_string(out, " [deleting]");
    }
    free(result);
}

static void limit_memory(void)
{
    const struct rlimit no_core = {0};
    rlim_t used = heap_use().mapped;
    struct rlimit limit;

    setrlimit(RLIMIT_CORE, &no_core);
    if (used && getrlimit(RLIMIT_AS, &limit) == 0 && used + MOST_MEMORY < limit.rlim_cur) {
        limit.rlim_cur = used + MOST_MEMORY;
        setrlimit(RLIMIT_AS, &limit);
    }
}

/* The child: writes each demangled name, and a NUL. The next name may take so much CPU time; after
 * that SIGPROF ends the child. */
static enum link_code answer_names(void *argument)
{
    const struct itimerval limit = {.it_value = {.tv_usec = MICROSECONDS}};
    const struct work *work = argument;
    struct buffer out = {0};

    for (size_t i = work->next; i < work->count; i++) {
        setitimer(ITIMER_PROF, &limit, NULL);
        out.size = 0;
        if (is_mangled(work->names[i]))
            demangle_name(work, work->names[i], &out);
        buffer_char(&out, '\0');
        if (!descriptor_write(STDOUT_FILENO, out.data, out.size))
            break;
    }
    buffer_free(&out);
    return LINK_OK;
}

/* Loads the library in the child: without memory the loader ends the process. */
static int run_child(void *argument)
{
    struct work *work = argument;
    void *library = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);

    if (library)
        *(void **)&work->function = dlsym(library, "__cxa_demangle");
    limit_memory();
    return work->function ? (int)context_run(answer_names, work) : LINK_OK;
}

static void take_answers(struct work *work, struct text *names, struct text answers,
                         struct arena *arena)
{
    const char *end;

    while (work->next < work->count && answers.size > 0 &&
           (end = memchr(answers.data, '\0', answers.size)) != NULL) {
        struct text answer = {answers.data, (size_t)(end - answers.data)};

        if (answer.size > 0)
            names[work->next] = arena_text(arena, answer);
        work->next++;
        answers = text_drop(answers, answer.size + 1);
    }
}

void symbol_names_demangle(struct text *names, size_t count, struct arena *arena)
{
    struct work work = {.names = names, .count = count};
    bool is_wanted = false;

    for (size_t i = 0; i < count && !is_wanted; i++)
        is_wanted = is_mangled(names[i]);
    for (unsigned i = 0; i < MOST_CHILDREN && is_wanted && work.next < count; i++) {
        const struct exec_request request = {.call = run_child,
                                             .argument = &work,
                                             .output_limit = MOST_OUTPUT,
                                             .timeout = WALL_SECONDS};
        struct exec_result result = {0};

        exec_run(&request, &result);
        CONTEXT_DEFER(memory_cleanup, &result.output);
        take_answers(&work, names, (struct text){result.output, result.output_size}, arena);
        work.next++; /* after the name that ended it */
    }
}

const char **symbol_names_shown(const struct text *names, size_t count, struct arena *arena)
{
    const char **shown = arena_alloc(arena, count, sizeof *shown);
    struct text *plain = arena_alloc(arena, count, sizeof *plain);

    for (size_t i = 0; i < count; i++)
        plain[i] = names[i];
    if (!diag_state_get()->keeps_mangled)
        symbol_names_demangle(plain, count, arena);
    for (size_t i = 0; i < count; i++)
        shown[i] = text_equal(plain[i], names[i])
                       ? arena_printf(arena, "'%.*s'", TEXT_ARG(names[i]))
                       : arena_string(arena, plain[i]);
    return shown;
}

const char *symbol_names_quoted(struct text name, struct arena *arena)
{
    const char *shown = symbol_names_shown(&name, 1, arena)[0];

    return *shown == '\'' ? shown : arena_printf(arena, "'%s'", shown);
}

/* Takes "6helper", or for a static symbol "L6helper", off the rest of a mangled name. */
static bool take_component(struct text *rest, struct text *component)
{
    struct text behind = *rest;
    uint64_t size;

    text_skip(&behind, TEXT("L"));
    if (!text_scan_number(&behind, &size) || size == 0 || size > behind.size)
        return false;
    *component = (struct text){behind.data, size};
    *rest = text_drop(behind, size);
    return true;
}

/* The components up to the E; false when there is anything else between them. */
static bool take_nested(struct text rest, struct buffer *base)
{
    struct text component;

    while (rest.size > 0 && strchr("rVK", rest.data[0]))
        rest = text_drop(rest, 1);
    while (take_component(&rest, &component)) {
        if (base->size > 0)
            buffer_string(base, "::");
        buffer_text(base, component);
    }
    return base->size > 0 && rest.size > 0 && rest.data[0] == 'E';
}

static bool take_plain(struct text rest, struct buffer *base)
{
    struct text component;

    if (!take_component(&rest, &component) || (rest.size > 0 && rest.data[0] == 'I'))
        return false;
    buffer_text(base, component);
    return true;
}

struct text symbol_names_base(struct text name, struct arena *arena)
{
    struct text part = symbol_names_part(name), rest;
    LOCAL_BUFFER(base);
    bool is_known;

    if (!text_starts(part, TEXT("_Z")))
        return name;
    rest = text_drop(part, 2);
    if (rest.size > 0 && rest.data[0] == 'N')
        is_known = take_nested(text_drop(rest, 1), &base);
    else
        is_known = take_plain(rest, &base);
    return is_known ? arena_text(arena, buffer_view(&base)) : (struct text){0};
}

/* Most notes of each kind under one message. */
#define MOST_NOTES 3u

COMPARISON(compare_references, struct missing_reference,
           COMPARE(a->symbol, b->symbol) ?: COMPARE(a->file, b->file) ?: COMPARE(a->by, b->by));

void missing_begin(struct missing *missing, size_t count)
{
    missing->is_missing = arena_zalloc(&missing->arena, count, sizeof *missing->is_missing);
    missing->bases = arena_zalloc(&missing->arena, count, sizeof *missing->bases);
    missing->symbol_count = count;
}

void missing_define(struct missing *missing, uint32_t symbol, struct text name)
{
    missing->bases[symbol] = symbol_names_base(name, &missing->arena);
}

void missing_refer(struct missing *missing, const struct missing_reference *reference)
{
    size_t count = missing->reference_count;

    /* References to a symbol from one place are often adjacent. */
    if (missing->is_missing[reference->symbol] &&
        (count == 0 || compare_references(&missing->references[count - 1], reference) != 0))
        ARENA_PUSH(&missing->arena, missing->references, missing->reference_count,
                   missing->reference_capacity) = *reference;
}

static void sort_references(struct missing *missing)
{
    struct missing_reference *list = missing->references;
    size_t kept = 0;

    SORT(list, missing->reference_count, compare_references);
    for (size_t i = 0; i < missing->reference_count; i++)
        if (kept == 0 || compare_references(&list[kept - 1], &list[i]) != 0)
            list[kept++] = list[i];
    missing->reference_count = kept;
}

void missing_report(struct missing *missing, size_t count, size_t explained,
                    const char *const *elsewhere)
{
    sort_references(missing);
    for (size_t i = 0; i < explained; i++)
        missing->words.explain(missing->words.argument, i);
    missing->shown = symbol_names_shown(missing->names, missing->name_count, &missing->arena);
    for (size_t i = 0; i < count; i++) {
        missing->words.report(missing->words.argument, i);
        if (i >= explained)
            continue;
        missing->words.explain(missing->words.argument, i);
        if (elsewhere[i])
            diag_note("%s", elsewhere[i]);
    }
}

void missing_explain(struct missing *missing, uint32_t symbol, uint32_t file, struct text name)
{
    const struct missing_reference key = {symbol, file == MISSING_NONE ? 0 : file, 0};
    const struct missing_reference *list = missing->references;
    struct text base = symbol_names_base(name, &missing->arena);
    size_t first =
        SEARCH_FIRST_NOT(missing->reference_count, at, compare_references(&list[at], &key) < 0);
    size_t count = 0, nears = 0;

    for (size_t i = first; i < missing->reference_count && list[i].symbol == symbol &&
                           (file == MISSING_NONE || list[i].file == file);
         i++)
        if (++count <= MOST_NOTES)
            missing->words.refer(missing->words.argument, &list[i]);
    if (count > MOST_NOTES)
        missing_note(missing, NULL, "so do %zu more", count - MOST_NOTES);
    for (uint32_t i = 0; base.size > 0 && i < missing->symbol_count && nears < MOST_NOTES; i++)
        nears += i != symbol && text_equal(missing->bases[i], base) &&
                 missing->words.resemble(missing->words.argument, symbol, i);
}

const char *missing_say(struct missing *missing, struct text name)
{
    if (missing->shown)
        return missing->shown[missing->said++];
    ARENA_PUSH(&missing->arena, missing->names, missing->name_count, missing->name_capacity) = name;
    return "";
}

void missing_note(struct missing *missing, const struct diag_place *place, const char *format, ...)
{
    va_list arguments;

    if (!missing->shown)
        return;
    va_start(arguments, format);
    diag_at(DIAG_NOTE, place, "%s", arena_vprintf(&missing->arena, format, arguments));
    va_end(arguments);
}

const char *missing_difference(struct text missing, struct text defined)
{
    bool is_c = !text_starts(missing, TEXT("_Z"));
    bool is_other_c = !text_starts(symbol_names_part(defined), TEXT("_Z"));

    if (is_c == is_other_c)
        return "with other parameters";
    return is_c ? "as C++ does: is an extern \"C\" missing?" : "as C does (extern \"C\")";
}
