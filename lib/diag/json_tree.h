/* json_tree.h: writing JSON by jansson, as a tree of its values.
 *
 * Every function here raises LINK_NO_MEMORY, also when it is given NULL, a value for which there
 * was no memory. A tree belongs to its root: the caller that makes a root defers its release
 * (json_tree_end), and each new value is added to the tree at once. */
#pragma once

#include <jansson.h>

#include "base/memory.h"

/* A new root, an object. */
json_t *json_tree_begin(void);

/* Releases a root and all in it; for CONTEXT_DEFER. */
void json_tree_end(void *root);

/* Adds a value as the member `key` of an object, or as the last element of an array; returns it. */
json_t *json_tree_set(json_t *object, const char *key, json_t *value);
json_t *json_tree_push(json_t *array, json_t *value);

/* A text from inputs: bytes that are no printable UTF-8 are escaped (escape.h). */
json_t *json_tree_text(struct text text);

/* A text with all its bytes, even control characters; it must be UTF-8 (escape_is_utf8). */
json_t *json_tree_exact(struct text text);

/* Members of an object. No string is no member; numbers above INT64_MAX become that. */
void json_tree_set_text(json_t *object, const char *key, struct text text);
void json_tree_set_string(json_t *object, const char *key, const char *string);
void json_tree_set_number(json_t *object, const char *key, uint64_t number);

/* Nanoseconds as milliseconds, with a fraction. */
void json_tree_set_milliseconds(json_t *object, const char *key, uint64_t nanoseconds);

enum json_tree_form {
    JSON_TREE_LINES,   /* a member or element a line, for people; ASCII */
    JSON_TREE_COMPACT, /* in one line; ASCII */
    JSON_TREE_IN_PAGE, /* the same without "<", for a script in an HTML page */
    JSON_TREE_FILE,    /* a member or element a line, in UTF-8, for programs */
    JSON_TREE_MESSAGE, /* in one line, in UTF-8 */
};

/* Appends the tree as text; LINES and MESSAGE end with a line feed. */
void json_tree_print(const json_t *root, enum json_tree_form form, struct buffer *out);
