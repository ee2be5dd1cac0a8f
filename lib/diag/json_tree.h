/* json_tree.h: writing JSON by jansson, as a tree of values.
 *
 * Every function here raises LINK_NO_MEMORY instead of giving NULL. A tree belongs to its root: the
 * caller that makes a root defers its release (json_tree_end), and each new value is added to the
 * tree at once. */
#pragma once

#include "base/buffer.h"
#include "base/context.h"
#include "base/text.h"

struct json_t; /* jansson's */

/* A new root, an object. */
struct json_t *json_tree_begin(void);

/* Releases a root and all in it; for CONTEXT_DEFER. */
void json_tree_end(void *root);

/* A new object, or array, as the member `key` of an object, or as the last element of an array. */
struct json_t *json_tree_add_object(struct json_t *object, const char *key);
struct json_t *json_tree_add_array(struct json_t *object, const char *key);
struct json_t *json_tree_push_object(struct json_t *array);

/* Members of an object. Texts come from inputs: bytes that are no printable UTF-8 are escaped
 * (escape.h). Numbers above INT64_MAX become that. */
void json_tree_set_text(struct json_t *object, const char *key, struct text text);
void json_tree_set_string(struct json_t *object, const char *key, const char *string); /* NULL: no
                                                                                         member */
void json_tree_set_number(struct json_t *object, const char *key, uint64_t number);
void json_tree_set_signed(struct json_t *object, const char *key, int64_t number);
void json_tree_set_bool(struct json_t *object, const char *key, bool value);

/* Nanoseconds as milliseconds, or as microseconds (for traces), with a fraction. */
void json_tree_set_milliseconds(struct json_t *object, const char *key, uint64_t nanoseconds);
void json_tree_set_microseconds(struct json_t *object, const char *key, uint64_t nanoseconds);

/* A text with all its bytes, even control characters; it must be UTF-8 (escape_is_utf8). */
void json_tree_set_exact(struct json_t *object, const char *key, struct text text);

/* Elements of an array. */
void json_tree_push_text(struct json_t *array, struct text text);
void json_tree_push_exact(struct json_t *array, struct text text);
void json_tree_push_number(struct json_t *array, uint64_t number);

enum json_tree_form {
    JSON_TREE_LINES,   /* a member or element a line, for people; ASCII */
    JSON_TREE_COMPACT, /* in one line; ASCII */
    JSON_TREE_IN_PAGE, /* the same without "<", for a script in an HTML page */
    JSON_TREE_FILE,    /* a member or element a line, in UTF-8, for programs */
    JSON_TREE_MESSAGE, /* in one line, in UTF-8 */
};

/* Appends the tree as text; LINES and MESSAGE end with a line feed. */
void json_tree_print(const struct json_t *root, enum json_tree_form form, struct buffer *out);
