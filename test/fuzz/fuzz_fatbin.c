/* fuzz_fatbin.c: any bytes as a raw input file, through collection, selection and inflating. */
#include <stddef.h>
#include <stdint.h>

#include "diag/diag.h"
#include "input/member.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void select_for(struct members *members, struct arch arch, bool prefer_ptx)
{
    struct member_request request = {.arch = arch, .prefer_ptx = prefer_ptx};

    members_select(members, &request);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct diag_sink sink = {0};
    struct input_file file = {.path = "x.fatbin", .data = {data, size}};
    struct inputs inputs = {.files = &file, .count = 1};
    struct members members = {0};
    struct arena arena = {0};

    file.kind = file_classify(file.data);
    diag_state_get()->sink = &sink;
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
    diag_state_get()->sink = NULL;
    arena_free(&arena);
    members_free(&members);
    diag_sink_free(&sink);
    return 0;
}
