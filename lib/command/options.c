/* options.c: stores options in the fields that their rows name; and the rules between options. */
#include "command/options.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "command/option_table.h"

static void *field_at(struct options *options, size_t offset)
{
    return (char *)options + offset;
}

/* The option table has fields of type bool, size_t, enumerations and int32_t only. */
static void store_option_number(struct options *options, const struct option_effect *effect,
                                size_t number)
{
    void *field = field_at(options, effect->field);

    if (effect->size == sizeof(bool))
        *(bool *)field = number != 0;
    else if (effect->size == sizeof(uint32_t))
        memcpy(field, &(uint32_t){(uint32_t)number}, sizeof(uint32_t));
    else if (effect->size == sizeof(size_t))
        memcpy(field, &number, sizeof number);
}

/* nvlink reads decimal, octal and hexadecimal numbers, and an empty text as 0. */
static bool read_option_number(const char *text, int32_t *number)
{
    char *end;
    intmax_t value;

    errno = 0;
    value = strtoimax(text, &end, 0);
    if (*end)
        return diag_fatal("'%s': expected a number", text);
    if (errno || value > INT32_MAX || value < INT32_MIN)
        return diag_fatal("32-bit integer value (%s) out of range", text);
    *number = (int32_t)value;
    return true;
}

static bool take_number(struct options *options, const struct option_row *row, const char *value)
{
    int32_t number = 0;

    if (!read_option_number(value, &number))
        return false;
    if (number < 0 || number > row->effect.most)
        return diag_fatal("Invalid argument for option '%s%s'", option_dashes(row->group),
                          row->name);
    store_option_number(options, &row->effect, (size_t)number * row->effect.number);
    return true;
}

static bool take_choice(struct options *options, const struct option_row *row, const char *value)
{
    const struct option_choice *choice = option_table_choice(row, value);

    if (!choice)
        return option_table_undefined(row, value);
    store_option_number(options, &row->effect, (size_t)choice->number);
    return true;
}

void options_add_operand(struct options *options, const char *name, bool is_library)
{
    ARENA_PUSH(&options->arena, options->link.operands, options->link.operand_count,
               options->operand_capacity) =
        (struct input_operand){.name = name, .is_library = is_library};
}

/* What was said so far in options of that row. */
static struct option_state *state_of(struct options *options, const struct option_row *row)
{
    if (!options->states)
        options->states = arena_zalloc(&options->arena, option_table_size, sizeof *options->states);
    return &options->states[row - option_table];
}

/* Appends the pieces of `value` between separators, with empty ones or without, to the list that is
 * the row's field; if that has none, they are libraries among the operands. */
static void take_words(struct options *options, const struct option_row *row, const char *value,
                       const char *separators, bool keeps_empty)
{
    struct word_list *words = &state_of(options, row)->words;
    bool more = true;

    words->arena = &options->arena;
    for (; more; value++) {
        size_t length = strcspn(value, separators);
        const char *word = arena_string(&options->arena, (struct text){value, length});

        if (row->effect.kind == OPTION_LIBRARIES)
            options_add_operand(options, word, true);
        else if (length || keeps_empty)
            word_list_add(words, word);
        value += length;
        more = *value != '\0';
    }
    if (row->effect.kind == OPTION_WORDS)
        *(const char *const **)field_at(options, row->effect.field) = word_list_end(words);
}

void options_add_library_paths(struct options *options, const char *value, const char *separators)
{
    const char *none;

    take_words(options, option_table_find("-L", &none), value, separators, !*separators);
}

/* The highest level that was asked for counts. */
static bool take_level(uint8_t *field, const struct option_row *row, const char *value)
{
    size_t level = row->effect.number;

    if (value && (value[0] < '0' || value[0] > '0' + row->effect.most || value[1] != '\0'))
        return option_table_undefined(row, value);
    if (value)
        level = (size_t)(value[0] - '0');
    if (level > *field)
        *field = (uint8_t)level;
    return true;
}

static bool take_value(struct options *options, const struct option_row *row, const char *value)
{
    const struct option_effect *effect = &row->effect;
    void *field = field_at(options, effect->field);

    if (effect->given)
        *(bool *)field_at(options, effect->given) = true;
    switch (effect->kind) {
    case OPTION_SETS:
        store_option_number(options, effect, effect->number);
        return true;
    case OPTION_STRING:
        *(const char **)field = value;
        return true;
    case OPTION_NUMBER:
        return take_number(options, row, value);
    case OPTION_LEVEL:
        return take_level(field, row, value);
    case OPTION_CHOICE:
        return take_choice(options, row, value);
    case OPTION_WORDS:
    case OPTION_LIBRARIES:
        take_words(options, row, value, effect->separators, effect->number != 0);
        return true;
    case OPTION_IGNORED:
    case OPTION_FILES:
        return true;
    case OPTION_SPECIAL:
        return effect->take(options, row, value);
    }
    return false;
}

/* How many errors are shown by default. */
#define ERROR_LIMIT 20

static bool adds_up(enum option_kind kind)
{
    return kind == OPTION_WORDS || kind == OPTION_LIBRARIES || kind == OPTION_IGNORED ||
           kind == OPTION_LEVEL;
}

/* nvlink's warning when a single-valued option of its comes again with another value. Of minilink's
 * own the last counts, silently, as in other linkers: minilink-shim's come before the user's. */
static void warn_repeated(struct options *options, const struct option_row *row, const char *value)
{
    const char **last = &state_of(options, row)->last;

    if (!value || adds_up(row->effect.kind) || row->group >= GROUP_ASSEMBLER)
        return;
    if (*last && strcmp(*last, value) != 0)
        diag_warning("incompatible redefinition for option '%s', the last value of this option was "
                     "used",
                     row->name);
    *last = value;
}

/* The value of an option whose optional argument is missing: the first of its words, or empty. */
static const char *missing_value(struct options *options, const struct option_row *row)
{
    const char *first = row->argument + 1;
    size_t length = row->effect.kind == OPTION_STRING ? 0 : strcspn(first, "|");

    return arena_string(&options->arena, (struct text){first, length});
}

bool options_add(struct options *options, const struct option_row *row, const char *value)
{
    if (!value && row->argument)
        value = missing_value(options, row);
    warn_repeated(options, row, value);
    ARENA_PUSH(&options->arena, options->given, options->given_count, options->given_capacity) =
        (struct given_option){row, value};
    if (take_value(options, row, value))
        return true;
    suggestions_value(row);
    return false;
}

bool options_add_word(struct options *options, const char *word)
{
    const struct option_row *row;
    const char *value;

    word = arena_string(&options->arena, text_of(word));
    if (word[0] != '-' || word[1] == '\0') {
        options_add_operand(options, word, false);
        return true;
    }
    row = option_table_find(word, &value);
    if (!row)
        return suggestions_unknown(word);
    if (row->effect.kind == OPTION_FILES)
        return diag_fatal(
            "Option '-%s' cannot be used here: a program hands its options over itself",
            row->short_name);
    if (!value && option_takes_argument(row))
        return suggestions_missing(word, row);
    if (value && !row->argument)
        return suggestions_unwanted(word);
    return options_add(options, row, value);
}

/* A report's suffix selects its format; a trace without a name goes beside the output. */
static bool name_files(struct options *options)
{
    struct observe_request *observe = &options->link.observe;

    for (const char *const *report = options->reports; report && *report; report++) {
        const char *path = *report;

        if (string_has_suffix(path, ".html") || string_has_suffix(path, ".htm"))
            observe->report_page = path;
        else if (string_has_suffix(path, ".json"))
            observe->report_data = path;
        else
            return diag_fatal(
                "Invalid argument for option '--report': '%s' ends neither in .html nor "
                "in .json",
                path);
    }
    if (observe->print_map && !observe->map)
        observe->map = "-";
    if (observe->trace && !*observe->trace) {
        bool has_name = options->link.output && strcmp(options->link.output, "-") != 0;

        observe->trace = arena_printf(&options->arena, "%s.time-trace",
                                      has_name ? options->link.output : "minilink");
    }
    return true;
}

/* Takes what concerns the link, too, from the assembler's options. nvlink passes ptxas's
 * --jobserver to the pool of its built-in ptxas; here that pool is the link's, which gives the
 * option to a ptxas with threads (pool/jobserver.h). An assembler that marks its messages
 * (-annotate) has the link mark its own. */
static void take_assembler_options(struct options *options)
{
    struct word_list kept = {.arena = &options->arena};

    for (const char *const *at = options->link.assembler_options; at && *at; at++) {
        const char *word = *at, *name = word + strspn(word, "-");

        if (name - word >= 1 && name - word <= 2 && strcmp(name, "jobserver") == 0) {
            if (options->link.limits.jobserver == JOBSERVER_AUTO)
                options->link.limits.jobserver = JOBSERVER_ON;
            continue;
        }
        word_list_add(&kept, word);
        if (name > word &&
            (strcmp(name, "compiler-annotations") == 0 || strcmp(name, "annotate") == 0))
            options->annotates = true;
    }
    if (options->link.merge.strip_debug)
        word_list_add(&kept, "--suppress-debug-info");
    options->link.assembler_options = word_list_end(&kept);
}

static enum options_action finish_chunk(struct options *options)
{
    const struct link_request *link = &options->link;
    struct single_chunk_request *single = &options->single_chunk;

    if (link->operand_count != 1 || !link->output || !link->arch.sm) {
        diag_fatal("--assemble-chunk needs one input file, -o and -arch=sm_NN");
        return OPTIONS_WRONG;
    }
    single->input = link->operands[0].name;
    single->output = link->output;
    single->assembler = link->assembler;
    single->arch = link->arch;
    single->mode =
        options->chunk_use == ASSEMBLE_WHOLE ? MINILINK_MODE_WHOLE : MINILINK_MODE_RELOCATABLE;
    single->debug = link->options.debug;
    single->line_info = link->options.line_info;
    single->maxrregcount = (uint32_t)link->options.maxrregcount;
    single->options = link->assembler_options;
    return OPTIONS_CHUNK;
}

void options_add_environment_paths(struct options *options)
{
    const char *folders = getenv("LIBRARY_PATH");

    /* Measured: nvlink looks there after all of -L; an empty piece is ignored. */
    if (folders)
        options_add_library_paths(options, folders, ":");
}

/* Rules between options, and where the lists go. */
static enum options_action finish_options(struct options *options)
{
    struct link_request *link = &options->link;

    take_assembler_options(options);
    if (link->emit_ltoir) {
        link->options.lto = true;
        link->lto_source = LTO_SOURCE_LTOIR;
    }
    link->response_files = options->response.files;
    link->response_file_count = options->response.file_count;
    link->response_watch = &options->response.watch;
    link->distribution.output = link->output;
    if (!options->is_in_memory)
        options_add_environment_paths(options);
    if (options->no_cache || (link->cache.folder && !*link->cache.folder))
        link->cache.folder = NULL;
    link->from_compiler |= link->is_virtual; /* for which nvcc does not say --host-ccbin */
    /* Measured (13.0, 13.5): LTO-IR, and with -emit-ptx, is compiled as for the real target. */
    link->is_virtual &= !link->options.lto && !link->emit_ptx;
    if (!name_files(options))
        return OPTIONS_WRONG;
    if (options->show_help)
        return OPTIONS_HELP;
    if (options->show_version)
        return OPTIONS_VERSION;
    if (options->list_targets)
        return OPTIONS_TARGETS;
    if (options->host_script && link->operand_count)
        diag_fatal("Input files are not allowed with -ghls option; use --help for more "
                   "information");
    else if (options->host_script)
        return OPTIONS_HOST_SCRIPT;
    else if (options->chunk_use)
        return finish_chunk(options);
    else if (link->options.nvvm_latest && !link->options.lto)
        diag_fatal("Conflicting options '-nvvm-latest' and 'no -dlto'");
    else if (link->operand_count == 0 && !options->is_in_memory)
        diag_fatal("No input files specified; use option --help for more information");
    else if (!link->output && !link->dry_run && !link->is_virtual && !options->is_in_memory)
        diag_fatal("Must specify output file with -o option");
    else if (link->dependency_file && !link->dependency_target &&
             (!link->output || strcmp(link->output, "-") == 0))
        diag_fatal("--dependency-file needs --dependency-target where the output has no name");
    else if ((link->distribution.program != NULL) + (link->distribution.emit_plan != NULL) +
                 (link->distribution.resume_plan != NULL) >
             1)
        diag_fatal("Only one of --distributor, --emit-plan and --resume-plan may be given");
    else
        return OPTIONS_LINK;
    return OPTIONS_WRONG;
}

void options_begin(struct options *options)
{
    options->link.observe.granularity = 500;
    options->link.options.split_compile = 1;
    options->link.options.split_compile_extended = 1;
    options->link.llvm_level = 3;
    options->link.limits.jobserver = options->is_in_memory ? JOBSERVER_OFF : JOBSERVER_AUTO;
    options->error_limit = ERROR_LIMIT;
    options->link.assembler.name = getenv("MINILINK_ASSEMBLER");
    /* What is no version counts as none: what a link follows is in --version. */
    options->link.behave_like = toolkit_version_read(text_of(getenv("MINILINK_BEHAVE_LIKE")));
    options->link.cache.folder = getenv("MINILINK_CACHE_DIR");
    options->link.cache.policy = cache_policy_default;
}

static void add_reproduce_word(struct options *options, const char *text, const char *path)
{
    ARENA_PUSH(&options->arena, options->link.reproduce_words, options->link.reproduce_word_count,
               options->reproduce_capacity) = (struct reproduce_word){text, path};
}

/* True when the value is a path of this machine, or the option does not say what to link. */
static bool is_of_this_machine(const struct option_row *row)
{
    static const char *const kinds[] = {"FILE", "DIR", "PROGRAM"};
    const char *argument = row->argument ? row->argument : "";

    argument += *argument == '[';
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strncmp(argument, kinds[i], strlen(kinds[i])) == 0)
            return true;
    return row->effect.kind == OPTION_LIBRARIES || row->group == GROUP_CACHE ||
           row->group == GROUP_BUILDING;
}

static void add_reproduced(struct options *options, const struct option_row *row, const char *value)
{
    static const char plugin[] = "plugin:";

    if (strcmp(row->name, "output-file") == 0)
        add_reproduce_word(options,
                           arena_printf(&options->arena, "--output-file=%s",
                                        strcmp(value, "-") == 0 ? "out.cubin" : basename(value)),
                           NULL);
    else if (strcmp(row->name, "uidx-file") == 0)
        add_reproduce_word(options, "--uidx-file=", value);
    else if (strcmp(row->name, "assembler") == 0 && strncmp(value, plugin, strlen(plugin)) == 0)
        add_reproduce_word(options, "--assembler=plugin:", value + strlen(plugin));
    else if (!is_of_this_machine(row))
        add_reproduce_word(options,
                           arena_printf(&options->arena, "--%s%s%s", row->name, value ? "=" : "",
                                        value ? value : ""),
                           NULL);
}

/* Makes the request's reproduce_words, for a link that is run again elsewhere, from the options
 * that were given, except those that name this machine's programs and folders or ask for other
 * files than the output. */
static void make_reproduce_words(struct options *options)
{
    const char *assembler = options->link.assembler.name, *value;
    const struct option_row *of_assembler = option_table_find("--assembler", &value);

    /* It may come from the environment, too. */
    if (assembler)
        add_reproduced(options, of_assembler, assembler);
    for (size_t i = 0; i < options->given_count; i++)
        if (options->given[i].row != of_assembler)
            add_reproduced(options, options->given[i].row, options->given[i].value);
}

enum options_action options_end(struct options *options)
{
    if (options->link.reproduce)
        make_reproduce_words(options);
    return finish_options(options);
}

void options_free(struct options *options)
{
    watch_free(&options->response.watch);
    arena_free(&options->arena);
}
