/* fuzz_fatbin.c: any bytes as a raw input file, through collection, selection and inflating. */
#include "input/member.h"
#include "fuzz.h"

static void select_for(struct members *members, struct arch arch, bool prefer_ptx)
{
    struct member_request request = {
        .arch = arch, .toolkit = toolkits_newest(), .prefer_ptx = prefer_ptx};

    members_select(members, &request);
}

static void fuzz(struct bytes rest)
{
    struct input_file file = {.path = "x.fatbin", .data = rest};
    struct inputs inputs = {.files = &file, .count = 1};
    struct members members = {0};
    struct arena arena = {0};

    file.kind = file_classify(file.data);
    if (members_collect(&members, &inputs)) {
        struct inflation inflation = {0};

        select_for(&members, (struct arch){0}, false);
        select_for(&members, (struct arch){90, 0}, false);
        select_for(&members, (struct arch){100, 'a'}, true);
        for (size_t i = 0; i < members.count && i < 4; i++) {
            struct bytes code;

            if (members.list[i].entry.uncompressed_size < 1 << 20)
                member_code(&members.list[i], &inflation, &arena, &code);
        }
    }
    arena_free(&arena);
    members_free(&members);
}
