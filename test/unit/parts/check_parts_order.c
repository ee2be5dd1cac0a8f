/* check_parts_order.c: joined parts stand in the order of one compilation. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "diag/diag.h"
#include "parts/parts.h"
#include "suite.h"

#define HEADER ".version 9.0\n.target sm_90\n.address_size 64\n"

static struct arena arena;

void tear_down(void)
{
    arena_free(&arena);
    arena = (struct arena){0};
}

/* Kernels are named kMODULE_PLACE, and functions that have a rank rMODULE_PLACE. */
static uint64_t rank(const void *argument, struct text kernel, bool is_declaration)
{
    const char *name = arena_string(&arena, kernel);
    char *end;
    uint32_t module;

    ck_assert_ptr_null(argument);
    if (is_declaration || (*name != 'k' && *name != 'r'))
        return PARTS_NO_RANK;
    module = (uint32_t)strtoul(name + 1, &end, 10);
    return PARTS_RANK(module, strtoul(end + 1, NULL, 10));
}

/* One letter and more for each item, out of a list: "D" a declaration of f, "V" a variable of that
 * name, "F" a function, "K" a kernel, each with its name and then `>` with what it calls or names,
 * with blanks between. */
static struct text make_part(const char *list)
{
    char *words = arena_string(&arena, text_of(list)), *rest = words, *word;
    const char *text = HEADER;

    while ((word = strtok_r(rest, " ", &rest))) {
        char *callee = strchr(word, '>');

        if (callee)
            *callee++ = '\0';
        switch (*word) {
        case 'D':
            text = arena_printf(&arena, "%s.func %s();\n", text, word + 1);
            break;
        case 'X':
            text = arena_printf(&arena, "%s.extern .func %s();\n", text, word + 1);
            break;
        case 'V':
            text = callee
                       ? arena_printf(&arena, "%s.global .u64 %s = %s;\n", text, word + 1, callee)
                       : arena_printf(&arena, "%s.global .u32 %s = 1;\n", text, word + 1);
            break;
        default:
            text = arena_printf(&arena, "%s%s %s()\n{\n", text,
                                *word == 'K' ? ".visible .entry" : ".func", word + 1);
            if (callee && *callee == 'v')
                text = arena_printf(&arena, "%s\tld.global.u32 %%r1, [%s];\n", text, callee);
            else if (callee)
                text = arena_printf(&arena, "%s\tcall %s;\n", text, callee);
            text = arena_printf(&arena, "%s\tret;\n}\n", text);
        }
    }
    return text_of(text);
}

/* The items of a text, as make_part takes them, without what they name. */
static const char *list_items(struct text text)
{
    const char *lines = arena_string(&arena, text), *list = "";
    char *rest = (char *)lines, *line;

    while ((line = strtok_r(rest, "\n", &rest))) {
        char name[32], kind;
        const char *space = *line == '.' ? strstr(line, ".func ") : NULL;

        if (space)
            kind = strstr(line, ".extern") ? 'X' : strchr(line, ';') ? 'D' : 'F';
        else if (*line == '.' && (space = strstr(line, ".entry ")))
            kind = 'K';
        else if (*line == '.' && (space = strstr(line, ".u32 ")))
            kind = 'V';
        else if (*line == '.' && (space = strstr(line, ".u64 ")))
            kind = 'V';
        if (space && sscanf(space, ".%*s %31[a-z0-9_]", name) == 1)
            list = arena_printf(&arena, "%s%s%c%s", list, *list ? " " : "", kind, name);
    }
    return list;
}

/* What parts make, whichever of them comes first. */
static const char *restored(const char *const *lists, size_t count)
{
    struct parts_order order = {.rank = rank};
    struct text texts[8];
    const char *first = NULL;

    for (size_t turn = 0; turn < count; turn++) {
        struct parts_request request = {.texts = texts, .count = count, .order = &order};
        struct parts_result result;
        const char *list;

        for (size_t i = 0; i < count; i++)
            texts[i] = make_part(lists[(i + turn) % count]);
        ck_assert_int_eq(parts_join(&result, &arena, &request), PARTS_JOINED);
        list = list_items(result.ptx);
        if (first)
            ck_assert_str_eq(first, list);
        first = list;
    }
    return first;
}

static const struct row {
    const char *parts[4]; /* ends with NULL */
    const char *whole;
} rows[] = {
    /* Kernels stand as they are ranked, not by name. */
    {{"Kk0_9 Kk10_0", "Kk0_10 Kk9_0"}, "Kk0_9 Kk0_10 Kk9_0 Kk10_0"},
    /* Those of one module and place as in their part. */
    {{"Kk0_1z Kk0_1a", "Kk1_0"}, "Kk0_1z Kk0_1a Kk1_0"},
    /* Functions keep their places among the kernels that stand around them. */
    {{"Ff Kk0_0>f Kk0_2>f", "Ff Kk0_1>f Fg Kk0_3>g"}, "Ff Kk0_0 Kk0_1 Kk0_2 Fg Kk0_3"},
    {{"Dg Kk0_0>g Kk0_2>g Fg Kk1_0", "Dg Kk0_3>g Fg Kk1_1>g"},
     "Dg Kk0_0 Kk0_2 Kk0_3 Fg Kk1_0 Kk1_1"},
    /* What a module has for itself stands behind it, though its part ends earlier. */
    {{"Dg Kk0_0>g Fg Kk1_0", "Kk0_1 Kk1_1"}, "Dg Kk0_0 Kk0_1 Fg Kk1_0 Kk1_1"},
    /* Ahead of the kernel that needs it, where both are of one module. */
    {{"Kk0_0 Fg Kk0_5>g", "Kk0_1 Kk0_4"}, "Kk0_0 Kk0_1 Kk0_4 Fg Kk0_5"},
    /* Unless its own place is known. */
    {{"Dr0_7 Kk0_0>r0_7 Fr0_7", "Kk0_3 Kk0_9"}, "Dr0_7 Kk0_0 Kk0_3 Fr0_7 Kk0_9"},
    /* In front of all, or behind all. */
    {{"Ff Kk0_1>f", "Kk0_0"}, "Kk0_0 Ff Kk0_1"},
    {{"Df Kk0_1>f Ff", "Kk0_0 Kk0_2"}, "Df Kk0_0 Kk0_1 Kk0_2 Ff"},
    /* Declarations, those of the driver's functions among them, and variables in their order. */
    {{"Dg Xmalloc Df Kk0_0>f Kk0_2>g Kk0_4>malloc Fg Ff",
      "Dg Xvprintf Df Kk0_1>f Kk0_3>vprintf Kk0_5>g Fg Ff"},
     "Dg Xvprintf Xmalloc Df Kk0_0 Kk0_1 Kk0_2 Kk0_3 Kk0_4 Kk0_5 Fg Ff"},
    {{"Vvz Vvm Kk0_0>vm", "Vvm Vva Kk0_1>va"}, "Vvz Vvm Vva Kk0_0 Kk0_1"},
    {{"Vvz Vvm Kk0_0>vm", "Vvz Vvb Kk0_1>vb", "Vvz Vva Kk0_2>va"},
     "Vvz Vvm Vvb Vva Kk0_0 Kk0_1 Kk0_2"},
    /* A declaration that only the joined text needs. */
    {{"Ff Kk0_1>f", "Ff Kk0_0>f", "Kk0_2"}, "Ff Kk0_0 Kk0_1 Kk0_2"},
    /* Variables that stand in contradicting orders: each still behind what it names. */
    {{"Vva Vvb Vvd>va Kk0_0", "Vvb Vva Vvc>vb Kk0_1"}, "Vva Vvb Vvc Vvd Kk0_0 Kk0_1"},
};

TEST_LOOP(everything_stands_as_in_one_compilation, COUNT(rows))
{
    size_t count = 0;

    while (rows[_i].parts[count])
        count++;
    ck_assert_str_eq(restored(rows[_i].parts, count), rows[_i].whole);
}
