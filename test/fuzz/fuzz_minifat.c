/* fuzz_minifat.c: any bytes as PTX, cubin and LTO-IR; what is accepted is packed. Link it with
 * cmd/minifat's inspect.c, pack.c and reduce.c. */
#include <stdlib.h>

#include "../../cmd/minifat/inspect.h"
#include "../../cmd/minifat/pack.h"
#include "diag/diag.h"
#include "diag/diag_state.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void pack_as(enum fatbin_kind kind, struct bytes data)
{
    struct input_file file = {.path = "input", .data = data};
    struct inspect_request request = {.kind = kind};
    struct pack_request pack = {.compression = (enum pack_compression)(data.size % 4)};
    struct image image = {0};
    struct buffer container = {0};

    if (kind == FATBIN_NVVM)
        request.arch.sm = 90;
    if (inspect_file(&file, &request, &image)) {
        pack_begin(&container);
        if (!pack_entry(&container, &image, TEXT("-O1"), &pack, "input") || container.size % 8)
            abort();
        pack_end(&container);
    }
    buffer_free(&container);
    inspect_free(&image);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct diag_sink sink = {0};

    diag_state_get()->sink = &sink;
    pack_as(FATBIN_PTX, (struct bytes){data, size});
    pack_as(FATBIN_ELF, (struct bytes){data, size});
    pack_as(FATBIN_NVVM, (struct bytes){data, size});
    diag_sink_free(&sink);
    return 0;
}
