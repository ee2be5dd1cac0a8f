/* fuzz_parts.c: hostile parts of one compilation. Each part of the input is a PTX text, joined
 * under lists that name variables with a v, or none. What comes out is PTX; joined alone, in any
 * order and again, it must answer the same each time. */
#include "fuzz.h"

#include "base/memory.h"
#include "input/file.h"
#include "input/used.h"
#include "parts/parts.h"
#include "ptx/module.h"

#define MOST_PARTS 4

static enum parts_answer join(struct parts_result *result, struct arena *arena,
                              const struct parts_request *request)
{
    enum parts_answer answer = parts_join(result, arena, request);

    if ((answer == PARTS_FAILED) != (fuzz_errors() > 0) ||
        (answer == PARTS_DISAGREE) != (result->difference != NULL))
        abort();
    return answer;
}

/* The result is a module, and joins with nothing and with itself. */
static void check(struct text ptx, struct arena *arena, const struct used_names *used)
{
    struct text twice[2] = {ptx, ptx};
    struct parts_request request = {.texts = twice, .count = 2, .used = used};
    struct parts_result result;
    struct ptx_module module;
    struct module_cursor cursor = {0};

    if (!module_parse(&module, arena, "joined", ptx, &cursor) || !module_at_end(ptx, cursor.offset))
        abort();
    if (fuzz_errors() > 0 || join(&result, arena, &request) == PARTS_FAILED)
        abort();
}

static void fuzz(struct bytes rest)
{
    uint8_t choice = fuzz_byte(&rest);
    struct used_names used = {0};
    struct inputs none = {0};
    struct used_request names = {.variables =
                                     (const char *const[]){choice & 2 ? "v" : "none", NULL}};
    struct text texts[MOST_PARTS];
    struct parts_request request = {.texts = texts, .used = choice & 1 ? &used : NULL};
    struct parts_result result, turned;
    struct arena arena = {0};
    enum parts_answer answer;

    while (request.count < MOST_PARTS && rest.size) {
        struct bytes part = fuzz_part(&rest);

        texts[request.count++] = (struct text){(const char *)part.data, part.size};
    }
    if (!used_collect(&used, &none, &names))
        abort();
    if (request.count) {
        answer = join(&result, &arena, &request);
        if (answer == PARTS_JOINED)
            check(result.ptx, &arena, request.used);
        for (size_t i = 0, j = request.count - 1; i < j; i++, j--) {
            struct text text = texts[i];

            texts[i] = texts[j];
            texts[j] = text;
        }
        if (join(&turned, &arena, &request) != answer)
            abort();
    }
    used_free(&used);
    arena_free(&arena);
}
