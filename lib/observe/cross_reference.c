/* cross_reference.c: a graph of references between symbols; --why-live is a breadth-first search
 * from all kernels. */
#include <string.h>

#include "base/search.h"
#include "cubin/format.h"
#include "diag/symbol_names.h"
#include "input/member.h"
#include "observe/internal.h"
#include "ptx/program.h"

struct node {
    struct text name;   /* empty: the variables of a member */
    const char *member; /* the member that defines it, or NULL */
    const char *shown;  /* its name in messages */
    bool is_kernel;
    bool is_seen;
    uint32_t by; /* referrer nearest to a kernel; FACT_NONE = it needs none */
};

struct mention {
    uint32_t node;
    const char *member;
    bool is_definition;
};

struct edge {
    uint32_t from, to;
};

struct cross_reference {
    struct table names; /* of visible symbols */
    struct node *nodes;
    size_t node_count, node_capacity;
    struct mention *mentions;
    size_t mention_count, mention_capacity;
    struct edge *edges;
    size_t edge_count, edge_capacity;
};

struct cross_reference *cross_reference_open(const struct observe_request *request,
                                             struct arena *arena)
{
    return request->trace_symbols || request->why_live
               ? arena_zalloc(arena, 1, sizeof(struct cross_reference))
               : NULL;
}

void cross_reference_free(struct cross_reference *cross)
{
    if (cross)
        table_free(&cross->names);
}

static uint32_t add_node(struct observation *seen, struct text name, bool is_visible)
{
    struct cross_reference *cross = seen->cross;
    uint32_t node = is_visible ? table_find(&cross->names, name) : FACT_NONE;

    if (node != FACT_NONE)
        return node;
    node = (uint32_t)cross->node_count;
    name = arena_text(&seen->arena, name);
    if (is_visible)
        table_set(&cross->names, name, node);
    ARENA_PUSH(&seen->arena, cross->nodes, cross->node_count, cross->node_capacity) =
        (struct node){.name = name, .by = FACT_NONE};
    return node;
}

static void add_cross_mention(struct observation *seen, uint32_t node, const char *member,
                              bool is_definition)
{
    struct cross_reference *cross = seen->cross;

    ARENA_PUSH(&seen->arena, cross->mentions, cross->mention_count, cross->mention_capacity) =
        (struct mention){node, member, is_definition};
    if (is_definition && !cross->nodes[node].member)
        cross->nodes[node].member = member;
}

static void add_reference_edge(struct observation *seen, uint32_t from, uint32_t to)
{
    struct cross_reference *cross = seen->cross;

    ARENA_PUSH(&seen->arena, cross->edges, cross->edge_count, cross->edge_capacity) =
        (struct edge){from, to};
}

static void add_module(struct observation *seen, const struct program *program, uint32_t module,
                       const uint32_t *node_of)
{
    const struct program_module *details = &program->details[module];
    const char *member = arena_string(&seen->arena, text_of(program->modules[module]->file));

    for (size_t i = 0; i < details->entry_count; i++) {
        const struct program_entry *entry = &details->entries[i];

        if (entry->symbol != NO_SYMBOL && (entry->item->is_definition || entry->is_used))
            add_cross_mention(seen, node_of[entry->symbol], member, entry->item->is_definition);
    }
}

void cross_reference_add_program(struct observation *seen, const struct program *program)
{
    struct cross_reference *cross = seen->cross;
    uint32_t *node_of = arena_alloc(&seen->arena, program->symbol_count, sizeof *node_of);

    for (size_t i = 0; i < program->symbol_count; i++) {
        const struct program_symbol *symbol = &program->symbols[i];

        node_of[i] = add_node(seen, symbol->own_name, symbol->linkage != PTX_INTERNAL);
        cross->nodes[node_of[i]].is_kernel |= symbol->is_entry && symbol->is_live;
    }
    for (size_t i = 0; i < program->symbol_count; i++)
        for (uint32_t j = 0; program->symbols[i].is_live && j < program->symbols[i].reference_count;
             j++)
            add_reference_edge(seen, node_of[i], node_of[program->symbols[i].references[j]]);
    for (uint32_t i = 0; i < program->module_count; i++)
        add_module(seen, program, i, node_of);
}

void cross_reference_add_cubin(struct observation *seen, const struct cubin *cubin)
{
    struct cross_reference *cross = seen->cross;
    const char *member = arena_string(&seen->arena, text_of(cubin->name));
    uint32_t *node_of = arena_alloc(&seen->arena, cubin->symbol_count, sizeof *node_of);
    uint32_t data = add_node(seen, (struct text){0}, false);

    cross->nodes[data].member = member;
    for (size_t i = 1; i < cubin->symbol_count; i++) {
        const struct cubin_symbol *symbol = &cubin->symbols[i];
        bool is_defined = symbol->section != SHN_UNDEF;

        node_of[i] = FACT_NONE;
        if (symbol->type != STT_FUNC && symbol->type != STT_CUDA_OBJECT)
            continue;
        node_of[i] = add_node(seen, symbol->name, symbol->binding != STB_LOCAL);
        cross->nodes[node_of[i]].is_kernel |= is_defined && (symbol->other & STO_CUDA_ENTRY) != 0;
        add_cross_mention(seen, node_of[i], member, is_defined);
    }
    for (size_t i = 1; i < cubin->section_count; i++) {
        const struct cubin_section *list = &cubin->sections[i];
        uint32_t owner;

        if (list->type != SHT_RELA || !(cubin->sections[list->info].flags & SHF_ALLOC))
            continue;
        owner = cubin_section_function(cubin, list->info);
        for (size_t j = 0; j < list->relocation_count; j++) {
            uint32_t to = node_of[list->relocations[j].symbol];

            if (list->relocations[j].symbol && to != FACT_NONE)
                add_reference_edge(seen, owner ? node_of[owner] : data, to);
        }
    }
}

COMPARISON(compare_edges, struct edge, COMPARE(a->from, b->from) ?: COMPARE(a->to, b->to));

/* Walks from the kernels, nearest first, to all symbols that they need; variables of machine code
 * stay in any case. */
static void walk_references(struct observation *seen)
{
    struct cross_reference *cross = seen->cross;
    const struct edge *edges = cross->edges;
    uint32_t *queue = arena_alloc(&seen->arena, cross->node_count, sizeof *queue);
    size_t count = 0;

    SORT(cross->edges, cross->edge_count, compare_edges);
    for (uint32_t i = 0; i < cross->node_count; i++)
        if (cross->nodes[i].is_kernel || cross->nodes[i].name.size == 0) {
            cross->nodes[i].is_seen = true;
            queue[count++] = i;
        }
    for (size_t at = 0; at < count; at++) {
        size_t i = SEARCH_FIRST_NOT(cross->edge_count, edge, edges[edge].from < queue[at]);

        for (; i < cross->edge_count && edges[i].from == queue[at]; i++) {
            struct node *to = &cross->nodes[edges[i].to];

            if (to->is_seen)
                continue;
            to->is_seen = true;
            to->by = queue[at];
            queue[count++] = edges[i].to;
        }
    }
}

/* Removes kernels that the link left out: they keep nothing alive. */
static void leave_out(struct observation *seen)
{
    struct cross_reference *cross = seen->cross;

    for (size_t i = 0; i < seen->drop_count; i++) {
        uint32_t node = table_find(&cross->names, seen->drops[i].name);

        if (strcmp(seen->drops[i].what, "kernel") == 0 && node != TABLE_NONE)
            cross->nodes[node].is_kernel = false;
    }
}

/* Names of C++ may be typed with or without blanks. */
static bool is_same_but_blanks(const char *a, const char *b)
{
    for (;; a++, b++) {
        a += strspn(a, " ");
        b += strspn(b, " ");
        if (*a != *b || !*a)
            return *a == *b;
    }
}

/* A name is what the symbol is called, as it is or as messages print it, or that without types. */
static bool is_called(struct observation *seen, const struct node *node, const char *wanted)
{
    return text_equal(node->name, text_of(wanted)) ||
           (node->name.size > 0 &&
            (is_same_but_blanks(node->shown, wanted) ||
             text_equal(symbol_names_base(node->name, &seen->arena), text_of(wanted))));
}

/* Sets what messages print for the nodes; one child demangles all names. */
static void show_names(struct observation *seen)
{
    struct cross_reference *cross = seen->cross;
    struct text *names = arena_alloc(&seen->arena, cross->node_count, sizeof *names);
    const char **shown;

    for (size_t i = 0; i < cross->node_count; i++)
        names[i] = cross->nodes[i].name;
    shown = symbol_names_shown(names, cross->node_count, &seen->arena);
    for (size_t i = 0; i < cross->node_count; i++)
        cross->nodes[i].shown = cross->nodes[i].name.size ? shown[i] : "a variable";
}

/* A name that is not in PTX or machine code may have been in LTO-IR. */
static void print_none(const struct observation *seen, const char *name, struct buffer *out)
{
    const char *separator = "; if it was inside LTO-IR of ", *end = "\n";

    buffer_printf(out, "no input that takes part defines '%s'", name);
    for (size_t i = 0; i < seen->member_count; i++) {
        const struct member *member = seen->members[i].of;

        if (member->role != MEMBER_LTO)
            continue;
        buffer_printf(out, "%s%s", separator, member->name);
        separator = ", ";
        end = ", it was inlined or left out\n";
    }
    buffer_string(out, end);
}

static void print_why(struct observation *seen, const char *name, struct buffer *out)
{
    struct cross_reference *cross = seen->cross;
    bool is_found = false;

    for (size_t i = 0; i < cross->node_count; i++) {
        const struct node *node = &cross->nodes[i];

        if (!node->member || !is_called(seen, node, name))
            continue;
        is_found = true;
        buffer_printf(out, "%s of '%s' %s", node->shown, node->member,
                      node->is_kernel ? "is a kernel\n"
                      : node->is_seen ? "stays:\n"
                                      : "is reached by no kernel\n");
        for (; node->by != FACT_NONE; node = &cross->nodes[node->by]) {
            const struct node *by = &cross->nodes[node->by];

            buffer_printf(out, "    %s of '%s'%s refers to %s\n", by->shown,
                          by->member ? by->member : "", by->is_kernel ? ", a kernel," : "",
                          node->shown);
        }
    }
    if (!is_found)
        print_none(seen, name, out);
}

static void print_trace(struct observation *seen, const char *name, struct buffer *out)
{
    const struct cross_reference *cross = seen->cross;
    bool is_found = false;

    for (size_t i = 0; i < cross->mention_count; i++) {
        const struct mention *mention = &cross->mentions[i];
        const struct node *node = &cross->nodes[mention->node];

        if (!is_called(seen, node, name))
            continue;
        is_found = true;
        buffer_printf(out, "%s: %s %s\n", mention->member,
                      mention->is_definition ? "definition of" : "reference to", node->shown);
    }
    if (!is_found)
        print_none(seen, name, out);
}

void cross_reference_print(struct observation *seen, struct buffer *out)
{
    const struct observe_request *request = &seen->request;

    show_names(seen);
    for (const char *const *name = request->trace_symbols; name && *name; name++)
        print_trace(seen, *name, out);
    if (!request->why_live)
        return;
    leave_out(seen);
    walk_references(seen);
    for (const char *const *name = request->why_live; *name; name++)
        print_why(seen, *name, out);
}
