/* fuzz_embedded.c: the first byte picks the option, the rest is a member's option string. */
#include <stdlib.h>

#include "options/embedded.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct text options;
    int32_t value = 0, again = 0;
    bool found;

    if (size == 0)
        return 0;
    options = (struct text){(const char *)data + 1, size - 1};
    found = embedded_find(options, (enum embedded_option)(data[0] % EMBEDDED_COUNT), &value);
    if (found != embedded_find(options, (enum embedded_option)(data[0] % EMBEDDED_COUNT), &again) ||
        value != again)
        abort();
    return 0;
}
