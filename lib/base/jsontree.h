/* jsontree.h: JSON that is written, by jansson: values are put together as a tree.
 *
 * Every function here raises LINK_NO_MEMORY instead of giving NULL. A tree belongs to its root: who
 * makes a root defers its release (jsontree_begin), and each value is handed over as soon as it is
 * made. */
#ifndef MINILINK_BASE_JSONTREE_H
#define MINILINK_BASE_JSONTREE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/context.h"
#include "base/text.h"

struct json_t; /* jansson's */

/* A new root, an object; context_clean(cleanup) lets go of it. */
struct json_t *jsontree_begin(struct context_cleanup *cleanup);

/* A new object, or array, as the member `key` of an object, or as the last element of an array. */
struct json_t *jsontree_add_object(struct json_t *object, const char *key);
struct json_t *jsontree_add_array(struct json_t *object, const char *key);
struct json_t *jsontree_push_object(struct json_t *array);
struct json_t *jsontree_push_array(struct json_t *array);

/* Members of an object. Texts come from inputs: what is no printable UTF-8 in them is spelled out
 * (escape.h). Numbers above INT64_MAX become that. */
void jsontree_set_text(struct json_t *object, const char *key, struct text text);
void jsontree_set_string(struct json_t *object, const char *key, const char *string); /* NULL: no
                                                                                         member */
void jsontree_set_number(struct json_t *object, const char *key, uint64_t number);
void jsontree_set_signed(struct json_t *object, const char *key, int64_t number);
void jsontree_set_bool(struct json_t *object, const char *key, bool value);
void jsontree_set_null(struct json_t *object, const char *key);

/* Nanoseconds as milliseconds, or as the microseconds that traces have, with their fraction. */
void jsontree_set_milliseconds(struct json_t *object, const char *key, uint64_t nanoseconds);
void jsontree_set_microseconds(struct json_t *object, const char *key, uint64_t nanoseconds);

/* Elements of an array. */
void jsontree_push_text(struct json_t *array, struct text text);
void jsontree_push_number(struct json_t *array, uint64_t number);

/* Appends the tree as text. With `lines`, a member or element a line, for people; else all in one
 * line. With `in_page`, no "<" stands in it, so that it can stand in an HTML page's script. */
enum jsontree_form { JSONTREE_LINES, JSONTREE_COMPACT, JSONTREE_IN_PAGE };
void jsontree_print(const struct json_t *root, enum jsontree_form form, struct buffer *out);

#endif
