/* check_json_tree.c: what is put together is read back by jansson as it was meant, whatever is in
 * it. */
#include "diag/json_tree.h"

#include <jansson.h>

#include "suite.h"

static struct buffer printed;

static json_t *read_back(void)
{
    json_error_t error;
    json_t *root = json_loadb(printed.data, printed.size, 0, &error);

    ck_assert_msg(root, "%s", error.text);
    return root;
}

static const char *string_of(const json_t *root, const char *key)
{
    return json_string_value(json_object_get(root, key));
}

TEST_LOOP(values_come_back, 2)
{
    json_t *root = json_tree_begin(), *list;
    json_t *read;

    json_tree_set_string(root, "string", "text");
    json_tree_set_string(root, "none", NULL);
    json_tree_set_text(root, "empty", (struct text){0});
    json_tree_set_number(root, "number", 4711);
    json_tree_set_number(root, "large", UINT64_MAX);
    json_tree_set(root, "signed", json_integer(-7));
    json_tree_set(root, "yes", json_boolean(true));
    json_tree_set_milliseconds(root, "ms", 1234567);
    json_tree_set(root, "us", json_real((double)(1234567) / 1e3));
    list = json_tree_set(root, "list", json_array());
    json_tree_push(list, json_integer(1));
    json_tree_push(list, json_tree_text(TEXT("two")));
    json_tree_set_number(json_tree_push(list, json_object()), "three", 3);
    json_tree_set_number(json_tree_set(root, "object", json_object()), "five", 5);
    json_tree_print(root, _i ? JSON_TREE_COMPACT : JSON_TREE_LINES, &printed);
    json_tree_end(root);

    ck_assert_int_eq(memchr(printed.data, '\n', printed.size) != NULL, !_i);
    read = read_back();
    ck_assert_str_eq(string_of(read, "string"), "text");
    ck_assert(!json_object_get(read, "none"));
    ck_assert_str_eq(string_of(read, "empty"), "");
    ck_assert_int_eq(json_integer_value(json_object_get(read, "number")), 4711);
    ck_assert(json_integer_value(json_object_get(read, "large")) == INT64_MAX);
    ck_assert_int_eq(json_integer_value(json_object_get(read, "signed")), -7);
    ck_assert(json_is_true(json_object_get(read, "yes")));
    ck_assert(json_real_value(json_object_get(read, "ms")) == 1.234567);
    ck_assert(json_real_value(json_object_get(read, "us")) == 1234.567);
    ck_assert_uint_eq(json_array_size(json_object_get(read, "list")), 3);
    ck_assert_int_eq(json_integer_value(json_object_get(json_object_get(read, "object"), "five")),
                     5);
    json_decref(read);
}

/* Bytes of names, and what a reader gets. */
static const struct {
    struct text name;
    const char *shown;
} names[] = {
    {TEXT("</script><script>alert(1)</script>"), "</script><script>alert(1)</script>"},
    {TEXT("a\"b\\c"), "a\"b\\c"},
    {TEXT("line\nend\x1b[31m"), "line\\nend\\x1b[31m"},
    {TEXT("\xff\xfe"), "\\xff\\xfe"},
    {TEXT("\xc3\xa4"), "\xc3\xa4"},
    {TEXT("nul\0byte"), "nul\\x00byte"},
    {TEXT("<!--"), "<!--"},
};

TEST_LOOP(names_are_text_and_end_no_script, COUNT(names))
{
    json_t *root = json_tree_begin();
    json_t *read;

    json_tree_set_text(root, "name", names[_i].name);
    json_tree_print(root, JSON_TREE_IN_PAGE, &printed);
    json_tree_end(root);
    ck_assert(!memchr(printed.data, '<', printed.size));
    for (size_t i = 0; i < printed.size; i++)
        ck_assert(printed.data[i] >= ' ' && printed.data[i] < 0x7f);
    read = read_back();
    ck_assert_str_eq(string_of(read, "name"), names[_i].shown);
    json_decref(read);
}

void tear_down(void)
{
    buffer_free(&printed);
}
