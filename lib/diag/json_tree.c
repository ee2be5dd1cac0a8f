/* json_tree.c: calls of jansson, whose failures are raised. It only fails for lack of memory, since
 * texts are made UTF-8 here. */
#include "diag/json_tree.h"

#include <jansson.h>

#include "diag/escape.h"

static void check_built(bool ok)
{
    if (!ok)
        context_raise(LINK_NO_MEMORY);
}

struct json_t *json_tree_begin(void)
{
    struct json_t *root = json_object();

    check_built(root);
    return root;
}

void json_tree_end(void *root)
{
    json_decref(root);
}

/* Both take over the value, even when they fail; they fail for a NULL, which had no memory. */
static struct json_t *set_value(struct json_t *object, const char *key, struct json_t *value)
{
    check_built(json_object_set_new_nocheck(object, key, value) == 0);
    return value;
}

static struct json_t *push_value(struct json_t *array, struct json_t *value)
{
    check_built(json_array_append_new(array, value) == 0);
    return value;
}

struct json_t *json_tree_add_object(struct json_t *object, const char *key)
{
    return set_value(object, key, json_object());
}

struct json_t *json_tree_add_array(struct json_t *object, const char *key)
{
    return set_value(object, key, json_array());
}

struct json_t *json_tree_push_object(struct json_t *array)
{
    return push_value(array, json_object());
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
    set_value(object, key, text_value(text));
}

void json_tree_set_string(struct json_t *object, const char *key, const char *string)
{
    if (string)
        set_value(object, key, text_value(text_of(string)));
}

void json_tree_set_exact(struct json_t *object, const char *key, struct text text)
{
    set_value(object, key, exact_value(text));
}

void json_tree_set_number(struct json_t *object, const char *key, uint64_t number)
{
    set_value(object, key, number_value(number));
}

void json_tree_set_signed(struct json_t *object, const char *key, int64_t number)
{
    set_value(object, key, json_integer(number));
}

void json_tree_set_bool(struct json_t *object, const char *key, bool value)
{
    set_value(object, key, json_boolean(value));
}

void json_tree_set_milliseconds(struct json_t *object, const char *key, uint64_t nanoseconds)
{
    set_value(object, key, json_real((double)nanoseconds / 1e6));
}

void json_tree_set_microseconds(struct json_t *object, const char *key, uint64_t nanoseconds)
{
    set_value(object, key, json_real((double)nanoseconds / 1e3));
}

void json_tree_push_text(struct json_t *array, struct text text)
{
    push_value(array, text_value(text));
}

void json_tree_push_exact(struct json_t *array, struct text text)
{
    push_value(array, exact_value(text));
}

void json_tree_push_number(struct json_t *array, uint64_t number)
{
    push_value(array, number_value(number));
}

static void put_in_page(struct text text, struct buffer *out)
{
    const char *mark;

    while (text.size && (mark = memchr(text.data, '<', text.size))) {
        buffer_append(out, text.data, (size_t)(mark - text.data));
        buffer_string(out, "\\u003c");
        text = text_drop(text, (size_t)(mark - text.data) + 1);
    }
    buffer_text(out, text);
}

void json_tree_print(const struct json_t *root, enum json_tree_form form, struct buffer *out)
{
    static const size_t forms[] = {
        [JSON_TREE_LINES] = JSON_INDENT(1) | JSON_ENSURE_ASCII,
        [JSON_TREE_COMPACT] = JSON_COMPACT | JSON_ENSURE_ASCII,
        [JSON_TREE_IN_PAGE] = JSON_COMPACT | JSON_ENSURE_ASCII,
        [JSON_TREE_FILE] = JSON_INDENT(1),
        [JSON_TREE_MESSAGE] = JSON_COMPACT,
    };
    size_t flags = forms[form] | JSON_REAL_PRECISION(12), size = json_dumpb(root, NULL, 0, flags);
    struct buffer text = {0};

    check_built(size > 0);
    CONTEXT_DEFER(buffer_cleanup, &text);
    buffer_reserve(&text, size);
    text.size = json_dumpb(root, text.data, size, flags);
    check_built(text.size == size);
    if (form == JSON_TREE_IN_PAGE)
        put_in_page(buffer_view(&text), out);
    else
        buffer_text(out, buffer_view(&text));
    if (form == JSON_TREE_LINES || form == JSON_TREE_MESSAGE)
        buffer_char(out, '\n');
}
