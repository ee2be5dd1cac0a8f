/* options_key.c: the options whose rows say that they count. */
#include "command/options_key.h"

#include "command/option_table.h"

bool options_key(struct cache_key *result, const struct given_option *given, size_t count)
{
    struct key key;
    bool ok = true;

    key_begin(&key, "command");
    for (size_t i = 0; i < count && ok; i++) {
        ok = given[i].row->key != KEY_REFUSES;
        if (given[i].row->key == KEY_COUNTS) {
            key_string(&key, given[i].row->name);
            key_string(&key, given[i].value);
        }
    }
    *result = key_end(&key);
    return ok;
}
