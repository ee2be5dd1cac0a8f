/* diag_tally.c: the counts, and the notes about them at the end. */
#include "diag/diag_parts.h"

#include <stdlib.h>
#include <xxhash.h>

/* Appends the text without quoted parts, and with 0 for every number. */
static void put_frame(struct buffer *frame, struct text body)
{
    for (size_t i = 0; i < body.size; i++) {
        char c = body.data[i];

        buffer_char(frame, text_is_digit(c) ? '0' : c);
        while (text_is_digit(c) && i + 1 < body.size && text_is_digit(body.data[i + 1]))
            i++;
        if (c == '\'') {
            const char *end = memchr(body.data + i + 1, '\'', body.size - i - 1);

            i = end ? (size_t)(end - body.data) : i;
        }
    }
}

uint64_t diag_tally_family(const struct diag_state *state, enum diag_severity severity,
                           struct text body)
{
    struct buffer frame = {0};
    uint64_t key;

    if (severity != DIAG_WARNING || !state->tally || !state->tally->folds)
        return 0;
    CONTEXT_DEFER(buffer_cleanup, &frame);
    put_frame(&frame, body);
    key = XXH3_64bits(frame.data, frame.size);
    return key ? key : 1;
}

static struct diag_family *find_family(struct diag_tally *tally, uint64_t key)
{
    for (size_t i = 0; i < tally->family_count; i++)
        if (tally->families[i].key == key)
            return &tally->families[i];
    ARRAY_PUSH(tally->families, tally->family_count, tally->family_capacity) =
        (struct diag_family){.key = key};
    return &tally->families[tally->family_count - 1];
}

static bool admit_warning(struct diag_tally *tally, uint64_t key, struct text body)
{
    struct diag_family *family = find_family(tally, key);

    if (++family->count <= DIAG_UNFOLDED)
        return true;
    if (!family->text)
        family->text = memory_copy_string(body.data, body.size);
    return false;
}

bool diag_tally_admit(struct diag_state *state, enum diag_severity severity, uint64_t family,
                      struct text body)
{
    struct diag_tally *tally = state->tally;
    bool is_shown = true;

    if (!tally || severity == DIAG_NOTE)
        return true;
    if (severity == DIAG_ERROR)
        is_shown = tally->errors++ < tally->error_limit || tally->error_limit == 0;
    else if (family)
        is_shown = admit_warning(tally, family, body);
    state->continuation = !is_shown;
    return is_shown;
}

void diag_tally_free(struct diag_tally *tally)
{
    for (size_t i = 0; i < tally->family_count; i++)
        free(tally->families[i].text);
    free(tally->families);
    *tally = (struct diag_tally){0};
}
