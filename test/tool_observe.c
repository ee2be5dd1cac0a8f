/* tool_observe.c: what is printed of a link that never was, whose times and sizes are known.
 *
 *     tool_observe stats|times|trace|map|report [GRANULARITY] */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "observe/internal.h"

#define MS           UINT64_C(1000000) /* nanoseconds */
#define START        (1000 * MS)
#define COUNT(table) (sizeof(table) / sizeof *(table))

/* Of every unit, and where the next one begins. */
static const struct timing_row stages[] = {
    {"open", START, 1 * MS, {2, "files", 812}, 1023},
    {"select", START + 1 * MS, 2 * MS + 250000, {1, "members", 1024}, 1024},
    {"agree", START + 3 * MS, MS / 10, {0, NULL, 0}, 1536},
    {"lto", START + 4 * MS, 40 * MS, {0, "parts", 1048575}, 1 << 20},
    {"link", START + 44 * MS, 5 * MS, {3, "symbols", UINT64_C(5) << 29}, UINT64_C(3) << 40},
    {"split", START + 49 * MS, 6 * MS, {2, "chunks", 1}, UINT64_C(1) << 54},
    {"assemble", START + 55 * MS, 30 * MS, {2, "chunks", 4096}, 1},
    {"merge", START + 85 * MS, 7 * MS, {2, "cubins", 10239}, 10240},
    {"write", START + 92 * MS, 0, {0, NULL, 77}, 99999},
};

#define MEMBER(what, kind_of, sm, suffix, role_of, why, bytes, words)                              \
    {                                                                                              \
        .name = what,                                                                              \
        .entry = {.kind = kind_of,                                                                 \
                  .arch = {sm, suffix},                                                            \
                  .payload = {NULL, bytes},                                                        \
                  .options = words},                                                               \
        .role = role_of, .reason = why,                                                            \
    }
static const struct member inputs_of[] = {
    MEMBER("a.o(1)", FATBIN_PTX, 90, 0, MEMBER_PTX, "the PTX for the target", 500, {0}),
    MEMBER("b c,d.o", FATBIN_ELF, 90, 'a', MEMBER_CUBIN, "the SASS", 4000, {0}),
    MEMBER("e.o(2)", FATBIN_NVVM, 90, 0, MEMBER_LTO, "compiled", 700, TEXT("-maxreg 64 -ftz=-1")),
    MEMBER("f.o", FATBIN_NVVM, 80, 0, MEMBER_OPTIONS, "another target", 800, TEXT("-maxreg 32")),
    MEMBER("lto.ptx", FATBIN_PTX, 90, 0, MEMBER_PTX, "made", 900, {0}),
    MEMBER("g.o(3)", FATBIN_PTX, 75, 0, MEMBER_UNUSED, "another target", 1, {0}),
};

static struct fact_member members[] = {
    {&inputs_of[0], .sizes = {100, 0, 20, 0, 0, 7}},
    {&inputs_of[1], .sizes = {0, 30, 0, 4, 5, 0}},
    {.of = &inputs_of[2]},
    {.of = &inputs_of[3]},
    {.of = &inputs_of[4], .is_made = true},
    {.of = &inputs_of[5]},
};

static const struct agreement agreed = {
    .embedded = {[EMBEDDED_LINE_INFO] = {CONSENSUS_ABSENT, 0},
                 [EMBEDDED_MAXREG] = {CONSENSUS_CONFLICT, 64},
                 [EMBEDDED_FTZ] = {CONSENSUS_MIXED, -1},
                 [EMBEDDED_FMAD] = {CONSENSUS_PRESENT, 1}},
    .split_compile = 1,
    .split_compile_extended = 8,
    .maxrregcount = 32,
    .line_info = true,
};

static struct fact_chunk chunks[] = {
    {3, 1, 1000, 5000, 3000, 20 * MS, 25 * MS + 1, 0, NULL},
    {1, 0, 500, 2500, 1500, 15 * MS + 499, 12 * MS, 3, NULL},
};

static struct fact_symbol symbols[] = {
    {TEXT("_Z1kv"), TEXT("_Z1kv"), 0, 0, 0, FACT_NONE, true, 2, 0},
    {TEXT("f$p"), TEXT("f"), 0, 0, 0, FACT_NONE, false, FACT_NONE, 3 * MS},
    {TEXT("k2"), TEXT("k2"), 0, 0, 4, FACT_NONE, true, FACT_NONE, 4 * MS + 1},
    {TEXT("k3"), TEXT("k 3"), 0, 1, 4, FACT_NONE, true, FACT_NONE, 0},
};

static struct fact_drop drops[] = {
    {"member", TEXT("g.o(3)"), NULL, "another target"},
    {"kernel", TEXT("dead"), "a.o(1)", "host code does not name it"},
    {"function", TEXT("twin"), "b c,d.o", "it is f"},
};

static struct merge_section sections[] = {
    {{0}, 0, 0, 0, false, MERGE_NO_FILE},
    {TEXT(".text.k2"), 0x200, 0x180, 128, false, MERGE_NO_FILE},
    {TEXT(".nv.global"), 0x380, 0x40, 16, true, MERGE_NO_FILE},
    {TEXT(".nv.constant3"), 0x380, 0x30, 8, false, MERGE_NO_FILE},
    {TEXT(".debug_line"), 0x3b0, 9, 1, false, MERGE_NO_FILE},
    {TEXT(".nv.info"), 0x3bc, 0, 4, false, MERGE_NO_FILE},
};

static struct fact_piece pieces[] = {
    {1, 4, 0, 0x100, TEXT(".text.k2")},  {1, FACT_NONE, 0x100, 0x80, TEXT(".text.k2")},
    {2, 1, 0, 0x10, TEXT(".nv.global")}, {2, 0, 0x10, 0x30, TEXT(".nv\n.global")},
    {4, 0, 0, 9, TEXT(".debug_line")},
};

static struct merge_name names[] = {
    {{0}, 0, 0, 0, 0, 0, STT_NOTYPE, 0},
    {TEXT("vprintf"), 0, 0, 0, 0, 0, STT_FUNC, 0},
    {TEXT("malloc"), 0, 0, 0, 0, 0, STT_FUNC, 0},
    {TEXT("k2"), 0, 0x100, 1, 0, 0, STT_FUNC, 0},
    {TEXT("f"), 0x100, 0x80, 1, 0, 0, STT_FUNC, 0},
    {TEXT("counter"), 0, 4, 2, 0, 0, STT_OBJECT, 0},
    {TEXT("end"), 0x40, 0, 2, 0, 0, STT_OBJECT, 0},
    {TEXT("table"), 8, 0x20, 3, 0, 0, STT_OBJECT, 0},
};

static struct fact_function functions[] = {
    {TEXT("_Z1kv"),
     {.is_kernel = true,
      .registers = 10,
      .barriers = 1,
      .stack = 16,
      .shared = 1040,
      .constant0 = 0x210,
      .code = 0x100},
     0,
     0,
     0},
    {TEXT("f"), {.registers = 24, .stack = UINT32_MAX, .shared = 5, .code = 0x80}, FACT_NONE, 0, 1},
    {TEXT("k2"), {.is_kernel = true, .registers = 255, .code = 0x180}, 4, FACT_NONE, FACT_NONE},
    {TEXT("k 3"), {.is_kernel = true, .registers = 8, .code = 8}, 4, 1, 3},
};

static struct merge_call calls[] = {
    {0, 1, false}, {0, 2, true}, {0, 3, true}, {2, 1, false}, {2, 3, false}};

static struct event_row rows[] = {
    {"link", false}, {"worker 1", true}, {"worker 2", true}, {"part 1", false}};

/* By start; two chunks meet at 70 ms. */
static struct logged_event events[] = {
    {{EVENT_STAGE, TEXT("open"), START, START + MS, .bytes = 812}, 0},
    {{EVENT_COUNTER, TEXT("memory"), START + 500000, 0, .bytes = 123456}, 0},
    {{EVENT_PART, TEXT("part 2"), START + 4 * MS, START + 24 * MS, .peak = 3 << 19}, 3},
    {{EVENT_PART, TEXT("part 10"), START + 5 * MS, START + 7 * MS, .state = "hit"}, 3},
    {{EVENT_PART, TEXT("part 1"), START + 24 * MS, START + 44 * MS + 123456, .peak = 1 << 20,
      .phase = 2},
     3},
    {{EVENT_STAGE, TEXT("assemble"), START + 55 * MS, START + 85 * MS, .chunk = 0}, 0},
    {{EVENT_CHUNK, TEXT("chunk 0"), START + 55 * MS, START + 70 * MS, .chunk = 1, .bytes = 5000},
     2},
    {{EVENT_FUNCTION, TEXT("f$p"), START + 56 * MS, START + 56 * MS + 1999, .chunk = 1}, 2},
    {{EVENT_FUNCTION, TEXT("k2"), START + 57 * MS, START + 57 * MS + 2000, .chunk = 1}, 2},
    {{EVENT_COUNTER, TEXT("waiting"), START + 58 * MS, 0, .bytes = 1}, 0},
    {{EVENT_CHUNK, TEXT("chunk 1"), START + 60 * MS, START + 65 * MS, .chunk = 2}, 1},
    {{EVENT_FUNCTION, TEXT("k3"), START + 61 * MS, START + 64 * MS, .chunk = 2}, 1},
    {{EVENT_CHUNK, TEXT("chunk 1"), START + 70 * MS, START + 80 * MS, .chunk = 2,
      .state = "failed"},
     1},
    {{EVENT_CHUNK, TEXT("chunk 9"), START + 81 * MS, START + 82 * MS, .chunk = 3}, 0},
    {{EVENT_JOBS, TEXT("slurm"), START + 90 * MS, START + 91 * MS, .chunk = 1}, 0},
};

static void fill(struct observation *observation)
{
    static struct input_file files[] = {
        {.path = "a.o"}, {.path = "b c,d.o"}, {.path = "lib\xc3\xa9.a"}};
    static const struct inputs inputs = {.files = files, .count = COUNT(files)};
    static struct merge_places places = {.type = ET_REL,
                                         .file_size = 4711,
                                         .sections = sections,
                                         .section_count = COUNT(sections),
                                         .names = names,
                                         .name_count = COUNT(names),
                                         .calls = calls,
                                         .call_count = COUNT(calls)};

    *observation = (struct observation){
        .link = {.output = "out put.cubin", .version = "1.2.3", .inputs = &inputs},
        .arch = {90, 'a'},
        .start = START,
        .events = {events, COUNT(events), rows, COUNT(rows), START, 0},
        .members = members,
        .member_count = COUNT(members),
        .agreement = &agreed,
        .chunks = chunks,
        .chunk_count = COUNT(chunks),
        .single_reason = "a reason",
        .symbols = symbols,
        .symbol_count = COUNT(symbols),
        .assembler = "builtin",
        .assembler_version = "7",
        .threads = 1,
        .drops = drops,
        .drop_count = COUNT(drops),
        .places = &places,
        .pieces = pieces,
        .piece_count = COUNT(pieces),
        .functions = functions,
        .function_count = COUNT(functions),
    };
    memcpy(observation->timing.rows, stages, sizeof stages);
    observation->timing.count = COUNT(stages);
    for (uint32_t i = 0; i < COUNT(symbols); i++)
        table_add(&observation->symbol_names, symbols[i].name, i);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    struct observation observation;
    struct buffer out = {0};

    fill(&observation);
    observation.request.granularity = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
    if (strcmp(what, "stats") == 0)
        stats_print(&observation, &out);
    else if (strcmp(what, "times") == 0)
        times_print(&observation, false, &out);
    else if (strcmp(what, "trace") == 0)
        trace_print(&observation, &out);
    else if (strcmp(what, "map") == 0)
        map_print(&observation, &out);
    else if (strcmp(what, "report") == 0)
        report_print_data(&observation, &out);
    fwrite(out.data, 1, out.size, stdout);
    table_free(&observation.symbol_names);
    arena_free(&observation.arena);
    buffer_free(&out);
    return out.size > 0 ? 0 : 2;
}
