/* fuzz_embedded.c: the first byte picks the option, the rest is a member's option string. */
#include "options/consensus.h"
#include "fuzz.h"

static void fuzz(struct bytes rest)
{
    enum embedded_option option = (enum embedded_option)(fuzz_byte(&rest) % EMBEDDED_COUNT);
    struct text options = {(const char *)rest.data, rest.size};
    int32_t value = 0, again = 0;
    bool found = embedded_find(options, option, &value);

    if (found != embedded_find(options, option, &again) || value != again)
        abort();
}
