/* parts.c: what stands in several parts is taken once. */
#include "ptx/parts.h"

#include <stdlib.h>

#include "base/buffer.h"
#include "base/context.h"
#include "base/memory.h"
#include "base/table.h"
#include "ptx/item.h"
#include "ptx/module.h"

struct joining {
    struct arena *arena;
    struct table known; /* names to indexes in `items` */
    const struct ptx_item **items;
    size_t count;
    size_t capacity;
    struct buffer text;
};

static void free_joining(void *argument)
{
    struct joining *joining = argument;

    table_free(&joining->known);
    buffer_free(&joining->text);
    free(joining->items);
}

/* False when an item of the same name says something else. */
static bool add_item(struct joining *joining, const struct ptx_item *item)
{
    struct text key = item->name.size ? item->name : item->text;
    uint32_t at;

    if (item->kind == PTX_FUNCTION && !item->is_definition)
        key = (struct text){item->text.data, item->text.size};
    at = table_add(&joining->known, key, (uint32_t)joining->count);
    if (at != joining->count)
        return text_equal(joining->items[at]->text, item->text);
    ARRAY_PUSH(joining->items, joining->count, joining->capacity) = item;
    buffer_text(&joining->text, item->text);
    buffer_char(&joining->text, '\n');
    return true;
}

enum parts_answer parts_join(struct parts_result *result, struct arena *arena,
                             const struct parts_request *request)
{
    struct joining joining = {.arena = arena};
    struct context_cleanup cleanup;
    enum parts_answer answer = PARTS_JOINED;

    *result = (struct parts_result){0};
    context_defer(&cleanup, free_joining, &joining);
    for (size_t i = 0; i < request->count && answer == PARTS_JOINED; i++) {
        struct ptx_module module;
        size_t offset = 0;

        if (!module_parse(&module, arena, "lto.ptx", request->texts[i], &offset)) {
            answer = PARTS_FAILED;
            break;
        }
        if (i == 0 && module.item_count)
            buffer_text(&joining.text,
                        (struct text){module.text.data,
                                      (size_t)(module.items[0].text.data - module.text.data)});
        for (size_t j = 0; j < module.item_count && answer == PARTS_JOINED; j++) {
            if (add_item(&joining, &module.items[j]))
                continue;
            result->difference = arena_printf(arena, "'%.*s'", TEXT_ARG(module.items[j].name));
            answer = PARTS_DISAGREE;
        }
    }
    result->ptx = arena_text(arena, buffer_view(&joining.text));
    context_clean(&cleanup);
    return answer;
}
