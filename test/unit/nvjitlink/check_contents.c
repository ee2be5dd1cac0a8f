/* What nvJitLink's inputs are, by their first bytes, and what the heads in fatbins say. */

#include "library/nvjitlink/internal.h"
#include "suite.h"

#define FATBIN "\x50\xed\x55\xba"
#define LTOIR  "\xed\x43\x4e\x7f"
#define ELF_TO_MACHINE                                                                             \
    "\177ELF"                                                                                      \
    "\2\1\1\0\0\0\0\0\0\0\0\0\1\0"

/* Bytes that begin with some and are zeros else. */
static const struct {
    char bytes[64];
    size_t size;
    nvJitLinkInputType type;
} inputs[] = {
    {ELF_TO_MACHINE "\276", 64, NVJITLINK_INPUT_CUBIN},
    {ELF_TO_MACHINE "\76", 64, NVJITLINK_INPUT_OBJECT},
    {"!<arch>\n", 8, NVJITLINK_INPUT_LIBRARY},
    {"!<thin>\n", 8, NVJITLINK_INPUT_LIBRARY},
    {"!<arch>\n", 7, NVJITLINK_INPUT_NONE},
    {FATBIN "\1", 16, NVJITLINK_INPUT_FATBIN},
    {FATBIN "\1", 15, NVJITLINK_INPUT_NONE},
    {FATBIN "\2", 16, NVJITLINK_INPUT_NONE},
    {"\x51\xed\x55\xba\1", 16, NVJITLINK_INPUT_NONE},
    {LTOIR, 4, NVJITLINK_INPUT_LTOIR},
    {LTOIR, 3, NVJITLINK_INPUT_NONE},
    {"// a\n.version", 13, NVJITLINK_INPUT_PTX},
    {"// a\n.version", 12, NVJITLINK_INPUT_NONE},
    {"// a\n\0.version", 14, NVJITLINK_INPUT_NONE},
    {"", 0, NVJITLINK_INPUT_NONE},
};

TEST_LOOP(inputs_are_what_they_begin_with, COUNT(inputs))
{
    ck_assert_int_eq(
        contents_type((struct bytes){(const uint8_t *)inputs[_i].bytes, inputs[_i].size}),
        inputs[_i].type);
}

TEST(types_have_names)
{
    ck_assert_str_eq(contents_type_name(NVJITLINK_INPUT_NONE), "nothing known");
    ck_assert_str_eq(contents_type_name(NVJITLINK_INPUT_LIBRARY), "a host library");
    ck_assert_str_eq(contents_type_name(NVJITLINK_INPUT_INDEX), "an index file");
    ck_assert_str_eq(contents_type_name(NVJITLINK_INPUT_ANY), "device code");
    ck_assert_str_eq(contents_type_name(NVJITLINK_INPUT_INDEX + 1), "device code");
}

enum { PTX = 1, CUBIN = 2, LTO = 8 };

/* A fatbin of up to two entries, with `junk` bytes in front of it and `less` of its end cut off. */
struct fatbin {
    uint8_t kinds[2], targets[2];
    uint16_t header_size;       /* 0: 16, which is right */
    uint32_t entry_header_size; /* of the first one; 0: 64, which is right */
    int payload_more;           /* than the first entry has */
    size_t junk, less;
};

/* Valid until the next call. */
static const struct contents_target *target_for(unsigned sm, char suffix, unsigned toolkit)
{
    static struct contents_target target;

    target = (struct contents_target){{sm, suffix}, toolkits_find(toolkit)};
    return &target;
}

static size_t write_fatbin(uint8_t *bytes, const struct fatbin *fatbin)
{
    uint8_t *head = bytes + fatbin->junk, *at = head + 16;

    memset(bytes, 0, 512);
    for (size_t i = 0; i < 2 && fatbin->kinds[i]; i++) {
        at[0] = fatbin->kinds[i];
        at[2] = at[3] = 1;
        at[4] = (uint8_t)(i == 0 && fatbin->entry_header_size ? fatbin->entry_header_size : 64);
        at[8] = (uint8_t)(8 + (i == 0 ? fatbin->payload_more : 0));
        at[0x1c] = fatbin->targets[i];
        at += 72;
    }
    memcpy(head, FATBIN "\1", 5);
    head[6] = (uint8_t)(fatbin->header_size ? fatbin->header_size : 16);
    head[8] = (uint8_t)(at - head - 16);
    return (size_t)(at - bytes) - fatbin->less;
}

static const struct {
    struct fatbin fatbin;
    unsigned sm;
    bool has_ptx, has_cubin, has_ltoir, is_cut;
} fatbins[] = {
    {{.kinds = ""}, 90, false, false, false, false},
    {{.kinds = {PTX}, .targets = {90}}, 90, true, false, false, false},
    {{.kinds = {CUBIN}, .targets = {90}}, 90, false, true, false, false},
    {{.kinds = {LTO}, .targets = {90}}, 90, false, false, true, false},
    {{.kinds = {PTX, CUBIN}, .targets = {75, 90}}, 90, true, true, false, false},
    /* Older targets' code; newer ones'; machine code of the same family and of another one. */
    {{.kinds = {PTX, LTO}, .targets = {75, 75}}, 90, true, false, true, false},
    {{.kinds = {PTX, LTO}, .targets = {91, 91}}, 90, false, false, false, false},
    {{.kinds = {CUBIN, CUBIN}, .targets = {80, 87}}, 86, false, true, false, false},
    {{.kinds = {CUBIN, CUBIN}, .targets = {80, 91}}, 90, false, false, false, false},
    /* Wrong heads, and ends that are not there. */
    {{.kinds = {PTX}, .targets = {90}, .header_size = 17}, 90, false, false, false, true},
    {{.kinds = {PTX, CUBIN}, .targets = {90, 90}, .entry_header_size = 63},
     90,
     false,
     false,
     false,
     true},
    {{.kinds = {PTX}, .targets = {90}, .payload_more = 8}, 90, false, false, false, true},
    {{.kinds = {PTX, CUBIN}, .targets = {90, 90}, .payload_more = 8}, 90, true, false, false, true},
    {{.kinds = {PTX}, .targets = {90}, .less = 1}, 90, false, false, false, true},
};

TEST_LOOP(entries_say_what_code_is_there, COUNT(fatbins))
{
    for (size_t junk = 0; junk < 6; junk += 5) {
        struct fatbin fatbin = fatbins[_i].fatbin;
        uint8_t bytes[512];
        struct contents contents;
        size_t size;

        fatbin.junk = junk;
        size = write_fatbin(bytes, &fatbin);
        contents = contents_look((struct bytes){bytes, size}, target_for(fatbins[_i].sm, 0, 130));
        ck_assert_uint_eq(contents.fatbin_count, 1);
        ck_assert_int_eq(contents.has_ptx, fatbins[_i].has_ptx);
        ck_assert_int_eq(contents.has_cubin, fatbins[_i].has_cubin);
        ck_assert_int_eq(contents.has_ltoir, fatbins[_i].has_ltoir);
        ck_assert_int_eq(contents.is_cut, fatbins[_i].is_cut);
    }
}

/* An entry with a record for a cubin, and what is not there of it. */
TEST(parts_of_a_concatenated_entry_count)
{
    uint8_t bytes[16 + 64 + 8 + 64 + 8] = FATBIN "\1";
    uint8_t *entry = bytes + 16, *record = entry + 72;
    struct contents contents;

    bytes[6] = 16;
    bytes[8] = 64 + 8 + 64 + 8;
    entry[1] = entry[2] = entry[3] = 1;
    entry[4] = 64 + 8 + 64;
    entry[8] = 8;
    entry[0x14] = 64;
    entry[0x18] = 1;
    entry[64] = 1;
    entry[68] = 8 + 64;
    record[0] = CUBIN;
    record[2] = record[3] = 1;
    record[8] = 8;
    record[0x1c] = 80;
    for (unsigned sm = 75; sm < 100; sm += 11) {
        contents = contents_look((struct bytes){bytes, sizeof bytes}, target_for(sm, 0, 130));
        ck_assert(contents.has_cubin == (sm == 86) && !contents.has_ptx && !contents.is_cut);
    }
    contents = contents_look((struct bytes){bytes, sizeof bytes - 1}, target_for(86, 0, 130));
    ck_assert(!contents.has_cubin && contents.is_cut);
}

/* What the real library of each toolkit does with one entry for one target (1 = takes it). */
static const struct {
    unsigned toolkit, sm;
    char suffix;
    uint8_t kind, made;
    char made_suffix;
    bool is_taken;
} single[] = {
    {130, 90, 0, CUBIN, 90, 'a', false},  {131, 90, 0, CUBIN, 90, 'a', false},
    {130, 90, 'a', CUBIN, 90, 0, true},   {130, 90, 'a', CUBIN, 90, 'a', true},
    {130, 100, 0, CUBIN, 100, 'a', true}, {131, 100, 0, CUBIN, 100, 'a', false},
    {131, 100, 'f', CUBIN, 100, 0, true}, {130, 87, 0, CUBIN, 80, 0, false},
    {132, 87, 0, CUBIN, 80, 0, true},     {135, 103, 0, CUBIN, 100, 'f', true},
    {135, 107, 0, CUBIN, 103, 0, false},  {135, 107, 'a', CUBIN, 107, 'f', true},
    {131, 110, 0, CUBIN, 101, 0, false},  {135, 110, 0, CUBIN, 101, 0, true},
    {130, 100, 0, PTX, 90, 'a', false},   {130, 90, 'a', PTX, 90, 'a', true},
    {130, 103, 0, PTX, 100, 'f', true},   {130, 110, 0, PTX, 100, 'f', false},
    {135, 107, 0, PTX, 103, 0, true},     {130, 90, 0, LTO, 90, 'a', false},
};

TEST_LOOP(suffixes_and_toolkits_count, COUNT(single))
{
    const struct contents_target *target =
        target_for(single[_i].sm, single[_i].suffix, single[_i].toolkit);
    const struct fatbin fatbin = {.kinds = {single[_i].kind}, .targets = {single[_i].made}};
    uint8_t bytes[512];
    size_t size = write_fatbin(bytes, &fatbin);
    struct contents contents;

    bytes[16 + 0x2a] = single[_i].made_suffix == 'a'   ? 0x10
                       : single[_i].made_suffix == 'f' ? 0x20
                                                       : 0;
    contents = contents_look((struct bytes){bytes, size}, target);
    ck_assert_int_eq(contents.has_ptx || contents.has_cubin || contents.has_ltoir,
                     single[_i].is_taken);
}

/* One behind the other; of a head that is cut off nothing is read. */
TEST(all_fatbins_of_an_input_count)
{
    uint8_t bytes[1024];
    const struct fatbin first = {.kinds = {PTX}, .targets = {90}};
    const struct fatbin second = {.kinds = {CUBIN}, .targets = {90}};
    size_t size = write_fatbin(bytes, &first), end = size + write_fatbin(bytes + size, &second);
    struct contents contents = contents_look((struct bytes){bytes, end}, target_for(90, 0, 130));

    ck_assert_uint_eq(contents.fatbin_count, 2);
    ck_assert(contents.has_ptx && contents.has_cubin && !contents.is_cut);
    contents = contents_look((struct bytes){bytes, size + 16}, target_for(90, 0, 130));
    ck_assert_uint_eq(contents.fatbin_count, 2);
    ck_assert(contents.has_ptx && !contents.has_cubin && contents.is_cut);
    contents = contents_look((struct bytes){bytes, size + 15}, target_for(90, 0, 130));
    ck_assert_uint_eq(contents.fatbin_count, 1);
    ck_assert(contents.has_ptx && !contents.has_cubin && !contents.is_cut);
}

/* Ten times the number, and nothing else. */
TEST(ltoir_says_its_target)
{
    uint8_t bytes[28] = LTOIR;

    bytes[0x1a] = 0xee;
    bytes[0x1b] = 0x02;
    ck_assert_uint_eq(contents_ltoir_target((struct bytes){bytes, 28}), 75);
    ck_assert_uint_eq(contents_ltoir_target((struct bytes){bytes, 27}), 0);
    bytes[0x1a]++;
    ck_assert_uint_eq(contents_ltoir_target((struct bytes){bytes, 28}), 0);
}
