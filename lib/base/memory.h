/* memory.h: allocation that does not fail, arenas, buffers and lists of words.
 *
 * When memory runs out these functions do not return: they raise LINK_NO_MEMORY through the
 * thread's context (context.h), which unwinds to its recovery point, or ends the program when there
 * is none. Sizes are counts of elements times bytes; the product is checked. */
#pragma once

#include <stdarg.h>

#include "base/context.h"
#include "base/table.h"

/* `count` * `size` bytes, uninitialised or zeroed, for free(). Never NULL, even for 0 bytes. */
void *memory_alloc(size_t count, size_t size);
void *memory_zalloc(size_t count, size_t size);

/* Grows the array at *array (element `size` bytes, *capacity elements) for `needed` elements, which
 * are more: to twice its capacity, or to exactly `needed` if that is larger. Returns it. On failure
 * the old array stays valid and is still owned by the caller. Use through ARRAY_RESERVE. */
void *memory_grow(void *array, size_t *capacity, size_t needed, size_t size);

/* Makes room for `needed` elements in a malloc'ed array with its capacity beside it. */
#define ARRAY_RESERVE(array, capacity, needed)                                                     \
    ((needed) > (capacity)                                                                         \
         ? (void)((array) = memory_grow((array), &(capacity), (needed), sizeof *(array)))          \
         : (void)0)

/* Appends one element: ARRAY_PUSH(list, count, capacity) = value. */
#define ARRAY_PUSH(array, count, capacity)                                                         \
    (ARRAY_RESERVE((array), (capacity), (count) + 1), (array) + (count)++)[0]

/* A malloc'ed, NUL-terminated copy of `size` bytes. */
char *memory_copy_string(const char *data, size_t size);

/* free for CONTEXT_DEFER: `array` is the address of a pointer, whose array may still move. */
void memory_cleanup(void *array);

/* Arenas: memory that is freed all at once.
 *
 * Each stage has one arena for the results that it hands on, and each worker one for its chunk.
 * Not thread-safe: an arena belongs to one thread at a time. Start with `struct arena a = {0};`. */
struct arena {
    struct arena_block *blocks; /* newest first */
    char *next;                 /* first free byte of the newest block */
    char *end;
    size_t block_size; /* of the next block; grows with use */
};

/* `count` * `size` bytes for any type, uninitialised or zero. Never NULL; raises LINK_NO_MEMORY. */
void *arena_alloc(struct arena *arena, size_t count, size_t size);
void *arena_zalloc(struct arena *arena, size_t count, size_t size);

/* A copy of the array of `count` elements (of `size` bytes). */
void *arena_copy(struct arena *arena, const void *array, size_t count, size_t size);

/* A copy of the array of `count` elements (of `size` bytes) with room for twice *capacity elements,
 * at least 16; updates *capacity. The old array stays where it is. */
void *arena_grow(struct arena *arena, const void *old, size_t count, size_t *capacity, size_t size);

/* Appends one element to an array in it: ARENA_PUSH(arena, list, count, capacity) = value. */
#define ARENA_PUSH(arena, array, count, capacity)                                                  \
    ((count) == (capacity)                                                                         \
         ? (void)((array) = arena_grow((arena), (array), (count), &(capacity), sizeof *(array)))   \
         : (void)0,                                                                                \
     (array) + (count)++)[0]

/* The concatenation of `first` and `second`, NUL-terminated. */
struct text arena_join(struct arena *arena, struct text first, struct text second);

/* A NUL-terminated copy of a view; as a view it does not count the NUL. */
char *arena_string(struct arena *arena, struct text text);
struct text arena_text(struct arena *arena, struct text text);

/* printf into the arena; NUL-terminated. */
char *arena_printf(struct arena *arena, const char *format, ...) PRINTF(2, 3);
char *arena_vprintf(struct arena *arena, const char *format, va_list arguments) PRINTF(2, 0);

/* Frees every block; the arena is empty and usable again. The second is for CONTEXT_DEFER. */
void arena_free(struct arena *arena);
void arena_cleanup(void *arena);

/* Buffers: a growing byte string, for texts and sections that are built piece by piece.
 *
 * Start with `struct buffer b = {0};`. `data` is malloc'ed and may be taken over by the caller
 * (buffer_take), else buffer_free releases it. Raises LINK_NO_MEMORY. */
struct buffer {
    char *data;
    size_t size;     /* bytes in use */
    size_t capacity; /* bytes allocated */
};

/* Makes room for `size` more bytes, so that they can be written at data + size. */
void buffer_reserve(struct buffer *buffer, size_t size);

/* Inline: most appends are a few bytes for which there is room. */
static inline void buffer_append(struct buffer *buffer, const void *data, size_t size)
{
    if (size == 0)
        return;
    if (size > buffer->capacity - buffer->size)
        buffer_reserve(buffer, size);
    memcpy(buffer->data + buffer->size, data, size);
    buffer->size += size;
}

static inline void buffer_char(struct buffer *buffer, char c)
{
    buffer_append(buffer, &c, 1);
}

/* Little endian. */
static inline void buffer_u32(struct buffer *buffer, uint32_t value)
{
    buffer_append(buffer, &value, sizeof value);
}

static inline void buffer_u64(struct buffer *buffer, uint64_t value)
{
    buffer_append(buffer, &value, sizeof value);
}

void buffer_text(struct buffer *buffer, struct text text);
void buffer_string(struct buffer *buffer, const char *string);

/* Appends `size` zero bytes. */
void buffer_zeros(struct buffer *buffer, size_t size);

/* Pads with zero bytes until the size is a multiple of `alignment` (0 and 1 do nothing). */
void buffer_align(struct buffer *buffer, size_t alignment);

void buffer_printf(struct buffer *buffer, const char *format, ...) PRINTF(2, 3);
void buffer_vprintf(struct buffer *buffer, const char *format, va_list arguments) PRINTF(2, 0);

/* The contents, as views valid until the next change. */
struct text buffer_view(const struct buffer *buffer);
struct bytes buffer_bytes(const struct buffer *buffer);

/* Hands the contents, followed by a NUL, to the caller, who frees them with free(); the buffer is
 * empty afterwards. */
char *buffer_take(struct buffer *buffer, size_t *size);

/* The second is for CONTEXT_DEFER. */
void buffer_free(struct buffer *buffer);
void buffer_cleanup(void *buffer);

/* Lists of words, such as the options of another program, in an arena; and the names
 * in messages for data made from several files: "lto.ptx(a.o(2)+b.o(2))". */
/* Start with {.arena = ...}. */
struct word_list {
    struct arena *arena;
    const char **list;
    size_t count, capacity;
};

/* Adds a word, which must live as long as the list. */
void word_list_add(struct word_list *words, const char *word);

/* Adds each word of a list that ends with NULL, or is NULL. */
void word_list_add_all(struct word_list *words, const char *const *more);

/* printf of a word, into the arena. */
void word_list_printf(struct word_list *words, const char *format, ...) PRINTF(2, 3);

/* The words, which end with NULL. */
const char **word_list_end(struct word_list *words);

/* The most names that are listed. */
#define NAME_LIST_MOST 3

/* Start with {0}. */
struct name_list {
    const char *names[NAME_LIST_MOST]; /* borrowed */
    const char *last;
    size_t count;
};

/* Adds a name, unless it is the one that was added last. */
void name_list_add(struct name_list *list, const char *name);

/* "head(name+name)", in `arena`; with more than three names "head(name+name+name+...)". */
const char *name_list_text(const char *head, const struct name_list *list, struct arena *arena);

/* Each declares an empty one that is freed when the block ends, or when something is raised. */
#define LOCAL_BUFFER(name)                                                                         \
    struct buffer name = {0};                                                                      \
    CONTEXT_DEFER(buffer_cleanup, &name)
#define LOCAL_ARENA(name)                                                                          \
    struct arena name = {0};                                                                       \
    CONTEXT_DEFER(arena_cleanup, &name)
#define LOCAL_TABLE(name)                                                                          \
    struct table name = {0};                                                                       \
    CONTEXT_DEFER(table_cleanup, &name)
