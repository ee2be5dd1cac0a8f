/* Tests of the option table: every row has a field of its own, and what is given reaches it. */

#include "command/option_table.h"
#include "options_fixture.h"

/* What a command line of these words asks for. */
static enum options_action read_arguments(const char *const *words)
{
    options_begin(&options);
    return read_words(words) ? options_end(&options) : OPTIONS_WRONG;
}

static bool has_field(enum option_kind kind)
{
    return kind != OPTION_LIBRARIES && kind != OPTION_IGNORED && kind != OPTION_FILES &&
           kind != OPTION_SPECIAL;
}

/* The sizes that a field of this kind may have. */
static bool is_size_of(enum option_kind kind, size_t size)
{
    switch (kind) {
    case OPTION_SETS:
    case OPTION_CHOICE:
        return size == sizeof(bool) || size == sizeof(int);
    case OPTION_NUMBER:
        return size == sizeof(int32_t) || size == sizeof(size_t);
    case OPTION_LEVEL:
        return size == sizeof(uint8_t);
    case OPTION_STRING:
    case OPTION_WORDS:
        return size == sizeof(char *);
    default:
        return false;
    }
}

/* A word on the heap ends where a sanitizer sees it. */
TEST(a_dash_alone_is_an_operand)
{
    char *words[] = {(char[]){"minilink"}, strdup("-"), strdup("-o"), strdup("x"), NULL};

    options_begin(&options);
    ck_assert(arguments_read(&options, &(struct arguments){4, words}));
    ck_assert_int_eq(options_end(&options), OPTIONS_LINK);
    ck_assert_uint_eq(options.link.operand_count, 1);
    ck_assert_str_eq(options.link.operands[0].name, "-");
    for (int i = 1; i < 4; i++)
        free(words[i]);
}

TEST_LOOP(every_row_says_where_its_value_goes, (int)option_table_size)
{
    const struct option_row *row = &option_table[_i];
    const struct option_effect *effect = &row->effect;

    ck_assert_msg(!has_field(effect->kind) || effect->field > 0, "%s has no field", row->name);
    ck_assert_msg(!has_field(effect->kind) || is_size_of(effect->kind, effect->size),
                  "%s writes a field of %zu bytes", row->name, effect->size);
    ck_assert(effect->field + effect->size <= sizeof(struct options));
    ck_assert((effect->kind == OPTION_SPECIAL) == (effect->take != NULL));
    ck_assert((effect->kind == OPTION_CHOICE) == (effect->choices != NULL));
    ck_assert(effect->kind != OPTION_NUMBER || (effect->number > 0 && effect->most > 0));
    ck_assert(row->argument || effect->kind == OPTION_SETS || effect->kind == OPTION_LEVEL ||
              effect->kind == OPTION_IGNORED);
}

/* Options that say the same, the opposite, or two forms of one thing. */
static bool may_share(const struct option_row *row, const struct option_row *other)
{
    static const char *const pairs[][2] = {{"link-time-opt", "dlto"},
                                           {"use-host-info", "ignore-host-info"},
                                           {"verbose", "vv"},
                                           {"verbose", "verbose2"},
                                           {"verbose2", "vv"},
                                           {"list-arch", "list-targets"},
                                           {"warning-as-error", "fatal-warnings"},
                                           {"dump-callgraph", "dump-callgraph-no-demangle"}};

    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (strcmp(row->name, pairs[i][0]) == 0 && strcmp(other->name, pairs[i][1]) == 0)
            return true;
    return false;
}

TEST_LOOP(no_two_rows_write_one_field, (int)option_table_size)
{
    const struct option_row *row = &option_table[_i];

    for (const struct option_row *other = row + 1; other < option_table + option_table_size;
         other++) {
        ck_assert_str_ne(row->name, other->name);
        ck_assert(!row->short_name || !other->short_name ||
                  strcmp(row->short_name, other->short_name) != 0);
        if (!has_field(row->effect.kind) || !has_field(other->effect.kind) || may_share(row, other))
            continue;
        ck_assert_msg(row->effect.field >= other->effect.field + other->effect.size ||
                          other->effect.field >= row->effect.field + row->effect.size,
                      "%s and %s write one field", row->name, other->name);
        ck_assert(!row->effect.given || row->effect.given != other->effect.given);
    }
}

static void *field_of(const struct option_row *row)
{
    return (char *)&options + row->effect.field;
}

static size_t number_in(const struct option_row *row)
{
    const void *field = field_of(row);
    size_t number = 0;
    uint32_t half;

    if (row->effect.size == sizeof(bool))
        return *(const bool *)field;
    if (row->effect.size == sizeof number) {
        memcpy(&number, field, sizeof number);
        return number;
    }
    memcpy(&half, field, sizeof half);
    return half;
}

static void clear(size_t field, size_t size)
{
    memset((char *)&options + field, 0, size);
}

/* Nothing but the row's field has been written, the flag beside it, and the arena that holds
 * words. */
static void check_rest(const struct option_row *row)
{
    static const struct options untouched;

    clear(row->effect.field, row->effect.size);
    if (row->effect.given) {
        ck_assert(*((bool *)&options + row->effect.given));
        clear(row->effect.given, sizeof(bool));
    }
    arena_free(&options.arena);
    memset(&options.arena, 0, sizeof options.arena);
    options.states = NULL;
    options.given = NULL;
    options.given_count = options.given_capacity = 0;
    ck_assert_msg(memcmp(&options, &untouched, sizeof options) == 0,
                  "%s writes more than its field", row->name);
}

static void take(const struct option_row *row, const char *value)
{
    ck_assert_msg(options_add(&options, row, value), "%s does not take '%s'", row->name, value);
}

static void check_set(const struct option_row *row)
{
    memset(field_of(row), !row->effect.number, row->effect.size);
    take(row, row->argument ? "any" : NULL);
    ck_assert_uint_eq(number_in(row), row->effect.number);
    check_rest(row);
}

static void check_string(const struct option_row *row)
{
    const char *given = "this, and that";
    const char *got;

    take(row, given);
    memcpy(&got, field_of(row), sizeof got);
    ck_assert_ptr_eq(got, given);
    check_rest(row);
}

static void check_number(const struct option_row *row)
{
    char text[16];

    take(row, "0x1f");
    ck_assert_uint_eq(number_in(row), 31 * row->effect.number);
    snprintf(text, sizeof text, "%d", row->effect.most);
    take(row, text);
    ck_assert_uint_eq(number_in(row), (size_t)row->effect.most * row->effect.number);
    check_rest(row);
    snprintf(text, sizeof text, "%lld", (long long)row->effect.most + 1);
    ck_assert_msg(!options_add(&options, row, text), "%s takes %s", row->name, text);
    ck_assert(!options_add(&options, row, "-1"));
    ck_assert(!options_add(&options, row, "1x"));
}

static void check_choice(const struct option_row *row)
{
    const struct option_choice *choice = row->effect.choices;

    for (; choice->word; choice++) {
        memset(field_of(row), choice->number == 0, row->effect.size);
        take(row, choice->word);
        ck_assert_uint_eq(number_in(row), (size_t)choice->number);
        check_rest(row);
    }
    ck_assert_msg(!options_add(&options, row, "none-of-these"), "%s takes any word", row->name);
}

static void check_level(const struct option_row *row)
{
    static const char *const levels[] = {"0", "1", "2", "1"};
    static const size_t reached[] = {0, 1, 2, 2};

    if (row->argument)
        for (size_t i = 0; i < sizeof reached / sizeof *reached; i++) {
            take(row, levels[i]);
            ck_assert_uint_eq(*(uint8_t *)field_of(row), reached[i]);
        }
    else
        take(row, NULL);
    ck_assert_uint_eq(*(uint8_t *)field_of(row), 2);
    check_rest(row);
    ck_assert(!options_add(&options, row, "3"));
    ck_assert(!options_add(&options, row, "-1"));
    ck_assert(!options_add(&options, row, "10"));
}

static void check_list(const struct option_row *row, const char *given, size_t count,
                       const char *const *expected)
{
    const char *const *words;

    take(row, given);
    take(row, given);
    memcpy(&words, field_of(row), sizeof words);
    ck_assert_uint_eq(string_list_count(words), 2 * count);
    for (size_t i = 0; i < 2 * count; i++)
        ck_assert_str_eq(words[i], expected[i % count]);
    check_rest(row);
}

static void check_libraries(const struct option_row *row)
{
    take(row, "a,b");
    ck_assert_uint_eq(options.link.operand_count, 2);
    ck_assert(options.link.operands[0].is_library && options.link.operands[1].is_library);
    ck_assert_str_eq(options.link.operands[0].name, "a");
    ck_assert_str_eq(options.link.operands[1].name, "b");
}

TEST_LOOP(what_is_given_reaches_the_field_and_no_other, (int)option_table_size)
{
    const struct option_row *row = &option_table[_i];

    switch (row->effect.kind) {
    case OPTION_SETS:
        check_set(row);
        break;
    case OPTION_STRING:
        check_string(row);
        break;
    case OPTION_NUMBER:
        check_number(row);
        break;
    case OPTION_CHOICE:
        check_choice(row);
        break;
    case OPTION_LEVEL:
        check_level(row);
        break;
    case OPTION_WORDS:
        if (!*row->effect.separators)
            check_list(row, " a,, b", 1, (const char *[]){" a,, b"});
        else if (row->effect.number)
            check_list(row, "a,,b", 3, (const char *[]){"a", "", "b"});
        else
            check_list(row, " a, b\t,", 2, (const char *[]){"a", "b"});
        break;
    case OPTION_LIBRARIES:
        check_libraries(row);
        break;
    case OPTION_IGNORED:
        take(row, NULL);
        check_rest(row);
        break;
    case OPTION_SPECIAL:
        ck_assert_msg(!options_add(&options, row, "none-of-these"), "%s takes any", row->name);
        break;
    case OPTION_FILES: /* its words have come instead: see below */
        break;
    }
}

/* Reads a command line, which says what is to be linked. */
static void read_line(const char *const *words)
{
    ck_assert(read_arguments(words) == OPTIONS_LINK);
    ck_assert_str_eq(options.link.operands[0].name, "a.o");
}
#define READ_LINE(...) read_line((const char *const[]){"a.o", "--dry-run", __VA_ARGS__, NULL})

/* The names on the left and on the right are what the table puts together. */
TEST(strings_go_where_their_names_say)
{
    const struct link_request *link = &options.link;

    READ_LINE("-o", "output", "--keep=keep", "-time=time", "-uidx=index", "-nvvmpath=nvvm",
              "--ptxas=ptxas", "--cuda-path=cuda", "--nvjitlink=nvjitlink", "--cache-dir=cache",
              "-register-link-binaries=modules", "--assembler=ptxas", "-arch=sm_90a", "-Ofc=mid",
              "-m64", "--distributor=program", "--distributor-tool=tool");
    ck_assert_str_eq(link->output, "output");
    ck_assert_str_eq(link->keep, "keep");
    ck_assert_str_eq(link->cache.folder, "cache");
    ck_assert_str_eq(link->observe.times, "time");
    ck_assert_str_eq(link->index_file, "index");
    ck_assert_str_eq(link->assembler.nvvm_path, "nvvm");
    ck_assert_str_eq(link->assembler.ptxas_path, "ptxas");
    ck_assert_str_eq(link->assembler.cuda_path, "cuda");
    ck_assert_str_eq(link->assembler.name, "ptxas");
    ck_assert_str_eq(link->nvjitlink, "nvjitlink");
    ck_assert_str_eq(link->distribution.program, "program");
    ck_assert_str_eq(link->distribution.tool, "tool");
    ck_assert_str_eq(link->distribution.output, "output");
    ck_assert_str_eq(link->modules_file, "modules");
    ck_assert_str_eq(link->options.ofast_compile, "mid");
    ck_assert_uint_eq(link->arch.sm, 90);
    ck_assert_str_eq(options.arch_text, "sm_90a");
}

TEST(numbers_go_where_their_names_say)
{
    const struct link_request *link = &options.link;

    READ_LINE("-split-compile=2", "-split-compile-extended=3", "-maxrregcount=4", "--chunks=5",
              "--minimum-chunk=6", "-j7", "--decompression-limit=9", "--timeout=10");
    ck_assert_int_eq(link->options.split_compile, 2);
    ck_assert_int_eq(link->options.split_compile_extended, 3);
    ck_assert_int_eq(link->options.maxrregcount, 4);
    ck_assert(link->options.has_split_compile && link->options.has_split_compile_extended &&
              link->options.has_maxrregcount && link->has_inflation_limit);
    ck_assert_uint_eq(link->chunk_count, 5);
    ck_assert_uint_eq(link->minimum_chunk, 6);
    ck_assert_uint_eq(link->limits.threads, 7);
    ck_assert_uint_eq(link->inflation_limit, 9 << 20);
    ck_assert_uint_eq(link->assembler.timeout, 10);
}

/* The largest with each unit, and the next. */
TEST(a_memory_limit_has_64_bits)
{
    static const char *const taken[] = {"--memory-limit=18446744073709551615",
                                        "--memory-limit=18014398509481983k",
                                        "--memory-limit=17592186044415M",
                                        "--memory-limit=17179869183g", "--memory-limit=16777215T"};
    static const char *const refused[] = {
        "--memory-limit=18446744073709551616", "--memory-limit=18014398509481984k",
        "--memory-limit=17592186044416M", "--memory-limit=17179869184g",
        "--memory-limit=16777216T"};

    for (int i = 0; i < (int)COUNT(taken); i++) {
        READ_LINE(taken[i]);
        ck_assert_uint_eq(options.link.limits.memory, UINT64_MAX >> 10 * i << 10 * i);
        forget_options();
        options_begin(&options);
        ck_assert(!read_words((const char *const[]){"a.o", refused[i], NULL}));
        forget_options();
    }
}

TEST(choices_and_lists_go_where_their_names_say)
{
    const struct link_request *link = &options.link;

    READ_LINE("--lto-source=ltoir", "--output-abi=7", "--jobserver=off", "--diagnostics-format=gnu",
              "--split-policy=stable", "-dump-callgraph", "-lb", "-L.", "-Xptxas=-O1",
              "-Xnvvm=-a -b", "-kernels-used=k", "-variables-used=v");
    ck_assert(link->lto_source == LTO_SOURCE_LTOIR && link->merge.abi == MERGE_ABI_7);
    ck_assert(link->limits.jobserver == JOBSERVER_OFF &&
              options.diagnostics_format == DIAG_FORM_GNU);
    ck_assert(link->split_policy == SPLIT_STABLE && link->merge.callgraph == CALLGRAPH_TEXT);
    ck_assert(link->operand_count == 2 && link->operands[1].is_library);
    ck_assert_str_eq(link->library_paths[0], ".");
    ck_assert_str_eq(link->assembler_options[0], "-O1");
    ck_assert_ptr_null(link->assembler_options[1]);
    ck_assert_str_eq(link->nvvm_options[1], "-b");
    ck_assert_str_eq(link->kernels_used[0], "k");
    ck_assert_str_eq(link->variables_used[0], "v");
}

TEST(flags_go_where_their_names_say)
{
    const struct link_request *link = &options.link;

    READ_LINE("-lto", "-g", "-lineinfo", "-r", "-v", "-w", "-disable-infos", "-Werror",
              "-report-arch", "-suppress-arch-warning", "-suppress-stack-size-warning",
              "-preserve-relocs", "-ignore-host-info", "-emit-ptx", "-keep-system-libraries",
              "--keep-going", "--explain-split", "--cache-stats", "-host-ccbin=gcc", "-extrawarn");
    ck_assert(link->options.lto && link->options.debug && link->options.line_info);
    ck_assert(link->merge.relocatable && link->suppress_arch_warning &&
              link->merge.suppress_stack_warning);
    ck_assert(link->merge.preserve_relocations && link->ignore_host_info && link->emit_ptx);
    ck_assert(link->keep_system_libraries && link->keep_going && link->explain_split);
    ck_assert(link->dry_run && link->from_compiler && link->cache.statistics);
    ck_assert(options.verbose && options.disable_warnings && options.disable_infos);
    ck_assert(options.warnings_are_errors && options.report_arch);
    ck_assert(!options.show_help && !options.show_version);
}

/* The folder is the option's, else the environment's; --no-cache wins wherever it stands. */
TEST(the_cache_is_off_until_a_folder_is_given)
{
    const struct cache_request *cache = &options.link.cache;

    unsetenv("MINILINK_CACHE_DIR");
    READ_LINE("--cache-stats");
    ck_assert_ptr_null(cache->folder);
    ck_assert_uint_eq(cache->policy.percent, 75);
    forget_options();
    setenv("MINILINK_CACHE_DIR", "", 1);
    READ_LINE("--cache-policy=cache_size=5%");
    ck_assert_ptr_null(cache->folder);
    ck_assert_uint_eq(cache->policy.percent, 5);
    forget_options();
    setenv("MINILINK_CACHE_DIR", "there", 1);
    READ_LINE("-v");
    ck_assert_str_eq(cache->folder, "there");
    forget_options();
    READ_LINE("--cache-dir=here");
    ck_assert_str_eq(cache->folder, "here");
    forget_options();
    READ_LINE("--no-cache", "--cache-dir=here");
    ck_assert_ptr_null(cache->folder);
    unsetenv("MINILINK_CACHE_DIR");
}

/* The list that options add up to is no redefinition, and minilink's own options may be replaced;
 * another value of one field of nvlink's is. */
TEST(redefinitions_are_those_of_single_values)
{
    READ_LINE("-Xptxas=-a", "-Xptxas=-b", "-lx", "-ly", "-L.", "-L..", "-kernels-used=a",
              "-kernels-used=b", "--keep=a", "--keep=b", "--assembler=ptxas",
              "--assembler=builtin");
    messages_expect("");
    messages_catch();
    forget_options();
    READ_LINE("-nvvmpath=a", "-nvvmpath=b");
    messages_expect("minilink warning : incompatible redefinition for option 'nvvmpath', "
                    "the last value of this option was used\n");
}
