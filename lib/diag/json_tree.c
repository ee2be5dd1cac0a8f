/* json_tree.c: calls of jansson, whose failures are raised. It only fails for lack of memory, since
 * texts are made UTF-8 here. */
#include "diag/json_tree.h"

#include "diag/escape.h"

static void check_built(bool ok)
{
    if (!ok)
        context_raise(LINK_NO_MEMORY);
}

json_t *json_tree_begin(void)
{
    json_t *root = json_object();

    check_built(root);
    return root;
}

void json_tree_end(void *root)
{
    json_decref(root);
}

/* jansson takes the value over even when it fails, as it does for NULL. */
json_t *json_tree_set(json_t *object, const char *key, json_t *value)
{
    check_built(json_object_set_new_nocheck(object, key, value) == 0);
    return value;
}

json_t *json_tree_push(json_t *array, json_t *value)
{
    check_built(json_array_append_new(array, value) == 0);
    return value;
}

json_t *json_tree_exact(struct text text)
{
    return json_stringn_nocheck(text.size ? text.data : "", text.size);
}

json_t *json_tree_text(struct text text)
{
    LOCAL_BUFFER(shown);

    if (escape_is_plain(text))
        return json_tree_exact(text);
    escape_text(text, &shown);
    return json_tree_exact(buffer_view(&shown));
}

void json_tree_set_text(json_t *object, const char *key, struct text text)
{
    json_tree_set(object, key, json_tree_text(text));
}

void json_tree_set_string(json_t *object, const char *key, const char *string)
{
    if (string)
        json_tree_set_text(object, key, text_of(string));
}

void json_tree_set_number(json_t *object, const char *key, uint64_t number)
{
    json_tree_set(object, key, json_integer(number < INT64_MAX ? (json_int_t)number : INT64_MAX));
}

void json_tree_set_milliseconds(json_t *object, const char *key, uint64_t nanoseconds)
{
    json_tree_set(object, key, json_real((double)nanoseconds / 1e6));
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

void json_tree_print(const json_t *root, enum json_tree_form form, struct buffer *out)
{
    static const size_t forms[] = {
        [JSON_TREE_LINES] = JSON_INDENT(1) | JSON_ENSURE_ASCII,
        [JSON_TREE_COMPACT] = JSON_COMPACT | JSON_ENSURE_ASCII,
        [JSON_TREE_IN_PAGE] = JSON_COMPACT | JSON_ENSURE_ASCII,
        [JSON_TREE_FILE] = JSON_INDENT(1),
        [JSON_TREE_MESSAGE] = JSON_COMPACT,
    };
    size_t flags = forms[form] | JSON_REAL_PRECISION(12), size = json_dumpb(root, NULL, 0, flags);
    LOCAL_BUFFER(text);

    check_built(size > 0);
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
