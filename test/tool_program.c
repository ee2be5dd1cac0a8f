/* tool_program.c: writes a random PTX program of several modules, for test/jobs/random-programs.sh.
 *
 *     tool_program SEED FOLDER     writes FOLDER/0.ptx, FOLDER/1.ptx ...
 *
 * All that the splitter must get right is in some of them: internal, visible, weak and common
 * symbols, internals of one name in several modules, a weak symbol that another module defines for
 * good, calls across modules, recursion, aliases, addresses of functions in code and in tables,
 * variables that point to each other, shared and constant variables, variables in bodies, lines of
 * source. The same seed gives the same program on any machine. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"

#define MOST_ITEMS 96u
#define NO_ITEM    MOST_ITEMS

enum kind { FUNCTION, KERNEL, ALIAS, GLOBAL, CONSTANT, SHARED, TABLE };
enum linkage { INTERNAL, VISIBLE, WEAK, COMMON };

static const char *const linkage_words[] = {"", ".visible ", ".weak ", ".common "};

struct item {
    enum kind kind;
    enum linkage linkage;
    unsigned module;
    unsigned target; /* of an alias */
    unsigned words;  /* of a variable: its size, which all its definitions share */
    char name[24];
};

static struct item items[MOST_ITEMS];
static unsigned item_count, module_count;

/* Of the module that is being written. */
static unsigned current;
static bool is_used[MOST_ITEMS];  /* it names the item */
static bool is_early[MOST_ITEMS]; /* it names the table before it defines it */
static unsigned label_count;
static bool has_lines;

static uint64_t state;

/* Call it once in each statement: compilers evaluate arguments in different orders. */
static unsigned below(unsigned bound)
{
    return random_below(&state, bound);
}

static bool is_function(const struct item *item)
{
    return item->kind == FUNCTION || item->kind == ALIAS;
}

static bool is_variable(const struct item *item)
{
    return item->kind >= GLOBAL;
}

/* What the current module means by an item's name, or NO_ITEM when that is another symbol. */
static unsigned seen_here(unsigned wanted)
{
    for (unsigned i = 0; i < item_count; i++)
        if (items[i].module == current && strcmp(items[i].name, items[wanted].name) == 0)
            return items[i].linkage == INTERNAL && items[wanted].module != current ? NO_ITEM : i;
    return items[wanted].linkage == INTERNAL ? NO_ITEM : wanted;
}

/* An item that the current module may name, of functions or of variables, marked as used. */
static unsigned pick(bool function)
{
    for (unsigned attempt = 0; attempt < 40; attempt++) {
        unsigned found = seen_here(below(item_count));

        if (found == NO_ITEM)
            continue;
        if (function ? !is_function(&items[found]) : !is_variable(&items[found]))
            continue;
        is_used[found] = true;
        return found;
    }
    return NO_ITEM;
}

static bool is_defined(unsigned module, const char *name)
{
    for (unsigned i = 0; i < item_count; i++)
        if (items[i].module == module && strcmp(items[i].name, name) == 0)
            return true;
    return false;
}

static bool has_strong(const char *name)
{
    for (unsigned i = 0; i < item_count; i++)
        if (items[i].linkage == VISIBLE && strcmp(items[i].name, name) == 0)
            return true;
    return false;
}

/* Adds a function or variable. Its name says its kind, and so its size; names of internal and weak
 * ones are few, so that modules share them. */
static void add_item(enum kind kind)
{
    static const char letters[] = {'f', 'k', 'a', 'g', 'c', 's', 't'};
    struct item item = {.kind = kind, .module = below(module_count), .target = NO_ITEM};
    unsigned choice = below(8);
    unsigned number = item_count;

    item.linkage = choice < 3 ? INTERNAL : choice < 6 ? VISIBLE : WEAK;
    if (kind == KERNEL)
        item.linkage = VISIBLE;
    else if (kind == GLOBAL && below(10) == 0)
        item.linkage = COMMON;
    if (item.linkage == INTERNAL)
        snprintf(item.name, sizeof item.name, "%c_own%u", letters[kind], number = below(4));
    else if (item.linkage == WEAK || item.linkage == COMMON)
        snprintf(item.name, sizeof item.name, "%c_%s%u", letters[kind],
                 item.linkage == WEAK ? "weak" : "common", number = below(5));
    else
        snprintf(item.name, sizeof item.name, "%c_%u", letters[kind], number);
    /* A module's own symbol may hide another's; a strong definition may win over weak ones. */
    if (item.linkage == VISIBLE && kind != KERNEL && below(8) == 0) {
        number = below(4);
        snprintf(item.name, sizeof item.name, "%c_%s%u", letters[kind], below(2) ? "own" : "weak",
                 number);
    }
    item.words = 1 + number % 5;
    if (item_count == MOST_ITEMS || is_defined(item.module, item.name) ||
        (item.linkage == VISIBLE && has_strong(item.name)))
        return;
    items[item_count++] = item;
}

/* Gives a function that is not weak a second name. */
static void add_alias(void)
{
    unsigned target = below(item_count);
    struct item item = items[target];

    if (item.kind != FUNCTION || item.linkage != VISIBLE || item_count == MOST_ITEMS)
        return;
    item.kind = ALIAS;
    item.target = target;
    snprintf(item.name, sizeof item.name, "a_%u", item_count);
    items[item_count++] = item;
}

static void make_program(void)
{
    unsigned kernels = 1 + below(5);
    unsigned functions = below(25);
    unsigned variables = below(20);

    module_count = 1 + below(5);
    for (unsigned i = 0; i < kernels; i++)
        add_item(KERNEL);
    for (unsigned i = 0; i < functions; i++)
        add_item(FUNCTION);
    for (unsigned i = 0; i < variables; i++)
        add_item((enum kind)(GLOBAL + below(4)));
    for (unsigned i = below(8); i > 0; i--)
        add_alias();
}

static void put_signature(FILE *out, const struct item *item)
{
    if (item->kind == KERNEL)
        fprintf(out, ".entry %s(.param .u64 p)", item->name);
    else
        fprintf(out, ".func (.param .b32 r) %s(.param .b32 p)", item->name);
}

static void put_call(FILE *out, const char *callee, const char *prototype)
{
    fprintf(out,
            "\t{ .param .b32 in; .param .b32 out; st.param.b32 [in], %%r1;\n"
            "\tcall (out), %s, (in)%s; ld.param.b32 %%r2, [out]; }\n"
            "\txor.b32 %%r1, %%r1, %%r2;\n",
            callee, prototype);
}

/* A call through the pointer in %rd2, which may be to any function or to those of a list. */
static void put_indirect_call(FILE *out, unsigned target)
{
    char rest[32];
    unsigned label = label_count++;

    if (target != NO_ITEM && below(3) == 0)
        fprintf(out, "\tTo%u: .calltargets %s;\n", label, items[target].name);
    else
        fprintf(out, "\tTo%u: .callprototype (.param .b32 _) _ (.param .b32 _);\n", label);
    snprintf(rest, sizeof rest, ", To%u", label);
    put_call(out, "%rd2", rest);
}

static void put_access(FILE *out, const struct item *item)
{
    unsigned offset = 4 * below(item->kind == TABLE ? 2 : item->words);

    switch (item->kind) {
    case TABLE:
        fprintf(out, "\tld.global.u64 %%rd2, [%s];\n", item->name);
        put_indirect_call(out, NO_ITEM);
        break;
    case CONSTANT:
        fprintf(out, "\tld.const.u32 %%r2, [%s+%u]; add.u32 %%r1, %%r1, %%r2;\n", item->name,
                offset);
        break;
    case SHARED:
        fprintf(out, "\tst.shared.u32 [%s+%u], %%r1; ld.shared.u32 %%r1, [%s];\n", item->name,
                offset, item->name);
        break;
    default:
        if (below(2))
            fprintf(out, "\tatom.global.add.u32 %%r1, [%s+%u], %%r1;\n", item->name, offset);
        else
            fprintf(out,
                    "\tmov.u64 %%rd2, %s; cvta.global.u64 %%rd2, %%rd2; ld.u32 %%r1, [%%rd2];\n",
                    item->name);
    }
}

static void put_arithmetic(FILE *out)
{
    unsigned label = label_count++;

    for (unsigned i = below(5) ? 1 : 30; i > 0; i--) {
        unsigned term = below(1000);
        fprintf(out, "\tmul.lo.s32 %%r1, %%r1, %u; add.s32 %%r1, %%r1, %u;\n", below(1000), term);
    }
    if (below(4) == 0)
        fprintf(out,
                "\tsetp.lt.s32 %%p1, %%r1, %u; @%%p1 bra Over%u; neg.s32 %%r1, %%r1;\nOver%u:\n",
                below(100), label, label);
}

/* A variable of the body: a function with one may not be copied. */
static void put_own_variable(FILE *out)
{
    unsigned number = label_count++;
    const char *space = below(2) ? "shared" : "global";

    fprintf(out, "\t.%s .align 4 .u32 mine%u; st.%s.u32 [mine%u], %%r1;\n", space, number, space,
            number);
}

static void put_statement(FILE *out)
{
    unsigned choice = below(12);
    unsigned item;

    if (choice < 4 && (item = pick(true)) != NO_ITEM) {
        put_call(out, items[item].name, "");
    } else if (choice < 5 && (item = pick(true)) != NO_ITEM) {
        fprintf(out, "\tmov.u64 %%rd2, %s;\n", items[item].name);
        put_indirect_call(out, item);
    } else if (choice < 9 && (item = pick(false)) != NO_ITEM) {
        put_access(out, &items[item]);
    } else if (choice == 9 && below(4) == 0) {
        put_own_variable(out);
    } else {
        put_arithmetic(out);
    }
}

static void put_definition(FILE *out, const struct item *item)
{
    bool is_kernel = item->kind == KERNEL;

    fputs(linkage_words[item->linkage], out);
    put_signature(out, item);
    fputs("\n{\n\t.reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .pred %p<2>;\n", out);
    fputs(is_kernel ? "\tld.param.u64 %rd1, [p]; ld.u32 %r1, [%rd1];\n"
                    : "\tld.param.u32 %r1, [p];\n",
          out);
    for (unsigned i = below(7); i > 0; i--) {
        if (has_lines)
            fprintf(out, "\t.loc 1 %u 1\n", 1 + below(500));
        put_statement(out);
    }
    fputs(is_kernel ? "\tst.u32 [%rd1], %r1;\n" : "\tst.param.b32 [r], %r1;\n", out);
    fputs("\tret;\n}\n", out);
}

static void put_variable_head(FILE *out, const char *linkage, const struct item *item)
{
    static const char *const spaces[] = {
        [GLOBAL] = "global", [TABLE] = "global", [CONSTANT] = "const", [SHARED] = "shared"};

    fprintf(out, "%s.%s .align %u .%s %s[%u]", linkage, spaces[item->kind],
            item->kind == TABLE ? 8 : 4, item->kind == TABLE ? "u64" : "u32", item->name,
            item->kind == TABLE ? 1 + item->words : item->words);
}

/* A later variable must be declared, as .extern, which only a visible one may be. */
static bool can_point(unsigned self, unsigned item)
{
    if (item == NO_ITEM || items[item].kind == SHARED)
        return false;
    if (items[item].kind != TABLE || items[item].module != current || item < self)
        return true;
    is_early[item] |= items[item].linkage == VISIBLE;
    return items[item].linkage == VISIBLE;
}

/* Functions and other variables; a table's first element is called. */
static void put_table(FILE *out, unsigned self)
{
    for (unsigned i = 0; i < 1 + items[self].words; i++) {
        unsigned item = pick(i == 0 || below(2));

        fputs(i ? ", " : " = {", out);
        if (!can_point(self, item))
            fputs("0", out);
        else if (items[item].kind == GLOBAL && below(2))
            fprintf(out, "generic(%s)+%u", items[item].name, 4 * (items[item].words - 1));
        else
            fputs(items[item].name, out);
    }
    fputs("}", out);
}

static void put_variable(FILE *out, unsigned self)
{
    const struct item *item = &items[self];

    put_variable_head(out, linkage_words[item->linkage], item);
    if (item->kind == TABLE)
        put_table(out, self);
    else if (item->kind != SHARED && item->linkage != COMMON && below(2))
        fprintf(out, " = {%u}", below(1000));
    fputs(";\n", out);
}

/* What the module names, before anything names it; each name once. */
static void put_declarations(FILE *out)
{
    for (unsigned i = 0; i < item_count; i++) {
        const struct item *item = &items[i];
        bool is_here = item->module == current;
        bool is_repeated = false;

        for (unsigned j = 0; j < i; j++)
            is_repeated |= is_used[j] && strcmp(items[j].name, item->name) == 0;
        if (item->kind == KERNEL)
            continue;
        if (!(is_here && item->kind == ALIAS) && (!is_used[i] || is_repeated))
            continue;
        if (is_function(item)) {
            fputs(is_here ? linkage_words[item->linkage] : ".extern ", out);
            put_signature(out, item);
            fputs(";\n", out);
        } else if (!is_here || is_early[i]) {
            put_variable_head(out, ".extern ", item);
            fputs(";\n", out);
        }
    }
}

static void put_module(FILE *out)
{
    char *variables = NULL, *bodies = NULL;
    size_t size;
    FILE *stream = open_memstream(&bodies, &size);

    memset(is_used, 0, sizeof is_used);
    memset(is_early, 0, sizeof is_early);
    has_lines = below(4) == 0;
    for (unsigned i = 0; stream && i < item_count; i++)
        if (items[i].module == current && (items[i].kind == FUNCTION || items[i].kind == KERNEL))
            put_definition(stream, &items[i]);
    for (unsigned i = 0; stream && i < item_count; i++)
        if (items[i].module == current && items[i].kind == ALIAS)
            fprintf(stream, ".alias %s, %s;\n", items[i].name, items[items[i].target].name);
    if (!stream || fclose(stream) != 0 || !(stream = open_memstream(&variables, &size)))
        exit(2);
    for (unsigned tables = 0; tables <= 1; tables++)
        for (unsigned i = 0; i < item_count; i++)
            if (items[i].module == current && is_variable(&items[i]) &&
                (items[i].kind == TABLE) == (tables == 1))
                put_variable(stream, i);
    if (fclose(stream) != 0)
        exit(2);
    fprintf(out, ".version 8.%u\n.target sm_90\n.address_size 64\n", below(6));
    if (has_lines)
        fprintf(out, ".file 1 \"source%u.cu\"\n", below(3));
    put_declarations(out);
    fputs(variables, out);
    fputs(bodies, out);
    free(variables);
    free(bodies);
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    state = strtoull(argv[1], NULL, 10);
    make_program();
    for (current = 0; current < module_count; current++) {
        char path[4096];
        FILE *out;

        snprintf(path, sizeof path, "%s/%u.ptx", argv[2], current);
        out = fopen(path, "w");
        if (!out) {
            perror(path);
            return 2;
        }
        put_module(out);
        if (fclose(out) != 0) {
            perror(path);
            return 2;
        }
    }
    return 0;
}
