/* json_tree.c: jansson's calls, each with its failure raised. It fails for want of memory alone,
 * since texts are made UTF-8 here. */
#include "diag/json_tree.h"

#include <jansson.h>

#include "diag/escape.h"

static void check(bool ok)
{
    if (!ok)
        context_raise(LINK_NO_MEMORY);
}

struct json_t *json_tree_begin(void)
{
    struct json_t *root = json_object();

    check(root);
    return root;
}

void json_tree_end(void *root)
{
    json_decref(root);
}

/* Both take the value over, also where they fail, and take none where there was no memory for it.
 */
static struct json_t *set(struct json_t *object, const char *key, struct json_t *value)
{
    check(json_object_set_new_nocheck(object, key, value) == 0);
    return value;
}

static struct json_t *push(struct json_t *array, struct json_t *value)
{
    check(json_array_append_new(array, value) == 0);
    return value;
}

struct json_t *json_tree_add_object(struct json_t *object, const char *key)
{
    return set(object, key, json_object());
}

struct json_t *json_tree_add_array(struct json_t *object, const char *key)
{
    return set(object, key, json_array());
}

struct json_t *json_tree_push_object(struct json_t *array)
{
    return push(array, json_object());
}

static struct json_t *text_value(struct text text)
{
    struct buffer shown = {0};
    struct json_t *value;

    if (text.size == 0)
        return json_string("");
    if (escape_is_plain(text))
        return json_stringn_nocheck(text.data, text.size);
    escape_text(text, &shown); /* makes one allocation, first of all */
    value = json_stringn_nocheck(shown.data, shown.size);
    buffer_free(&shown);
    return value;
}

static struct json_t *exact_value(struct text text)
{
    return json_stringn_nocheck(text.size ? text.data : "", text.size);
}

static struct json_t *number_value(uint64_t number)
{
    return json_integer(number < INT64_MAX ? (json_int_t)number : (json_int_t)INT64_MAX);
}

void json_tree_set_text(struct json_t *object, const char *key, struct text text)
{
    set(object, key, text_value(text));
}

void json_tree_set_string(struct json_t *object, const char *key, const char *string)
{
    if (string)
        set(object, key, text_value(text_of(string)));
}

void json_tree_set_exact(struct json_t *object, const char *key, struct text text)
{
    set(object, key, exact_value(text));
}

void json_tree_set_number(struct json_t *object, const char *key, uint64_t number)
{
    set(object, key, number_value(number));
}

void json_tree_set_signed(struct json_t *object, const char *key, int64_t number)
{
    set(object, key, json_integer(number));
}

void json_tree_set_bool(struct json_t *object, const char *key, bool value)
{
    set(object, key, json_boolean(value));
}

void json_tree_set_milliseconds(struct json_t *object, const char *key, uint64_t nanoseconds)
{
    set(object, key, json_real((double)nanoseconds / 1e6));
}

void json_tree_set_microseconds(struct json_t *object, const char *key, uint64_t nanoseconds)
{
    set(object, key, json_real((double)nanoseconds / 1e3));
}

void json_tree_push_text(struct json_t *array, struct text text)
{
    push(array, text_value(text));
}

void json_tree_push_exact(struct json_t *array, struct text text)
{
    push(array, exact_value(text));
}

void json_tree_push_number(struct json_t *array, uint64_t number)
{
    push(array, number_value(number));
}

/* Appends to a buffer, from inside of jansson, through which nothing may be raised. */
struct printing {
    struct buffer *out;
    const char *data;
    size_t size;
    bool in_page;
};

static enum link_code append(void *argument)
{
    const struct printing *printing = argument;
    size_t start = 0;

    for (size_t i = 0; i < printing->size && printing->in_page; i++) {
        if (printing->data[i] != '<')
            continue;
        buffer_append(printing->out, printing->data + start, i - start);
        buffer_string(printing->out, "\\u003c");
        start = i + 1;
    }
    buffer_append(printing->out, printing->data + start, printing->size - start);
    return LINK_OK;
}

static int take(const char *data, size_t size, void *argument)
{
    struct printing *printing = argument;

    printing->data = data;
    printing->size = size;
    return context_run(append, printing) == LINK_OK ? 0 : -1;
}

void json_tree_print(const struct json_t *root, enum json_tree_form form, struct buffer *out)
{
    static const size_t flags[] = {
        [JSON_TREE_LINES] = JSON_INDENT(1) | JSON_ENSURE_ASCII,
        [JSON_TREE_COMPACT] = JSON_COMPACT | JSON_ENSURE_ASCII,
        [JSON_TREE_IN_PAGE] = JSON_COMPACT | JSON_ENSURE_ASCII,
        [JSON_TREE_FILE] = JSON_INDENT(1),
        [JSON_TREE_MESSAGE] = JSON_COMPACT,
    };
    struct printing printing = {.out = out, .in_page = form == JSON_TREE_IN_PAGE};

    check(json_dump_callback(root, take, &printing, flags[form] | JSON_REAL_PRECISION(12)) == 0);
    if (form == JSON_TREE_LINES || form == JSON_TREE_MESSAGE)
        buffer_char(out, '\n');
}
