/* llvm_parts.c: counts instructions, and follows uses to the functions that they are in.
 *
 * The bitcode itself records the parts: a function has its part as an attribute, and private
 * symbols become visible after the passes of parts. */
#include "lto/llvm_steps.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/table.h"
#include "base/text.h"

/* Measured on libLLVM 19: generating code of 5,000 instructions takes 200 ms, and each part costs
 * 10 ms more. So on few processors more parts than these cost more than they save. */
#define INSTRUCTIONS_OF_PART 5000u
#define MOST_PARTS           8u

/* The smallest part of a program that has fewer of those than there are threads. */
#define FEWEST_INSTRUCTIONS 1250u

/* Attribute of a function: its part. */
#define PART "minilink-part"

/* Deepest nesting of constants. */
#define DEEPEST 16u

static uint64_t count_instructions(const struct llvm_api *api, llvm_value function)
{
    uint64_t count = 1;

    for (llvm_value b = api->first_block(function); b; b = api->next_block(b))
        for (llvm_value i = api->first_instruction(b); i; i = api->next_instruction(i))
            count++;
    return count;
}

static uint64_t count_all(const struct llvm_api *api, llvm_module module)
{
    uint64_t total = 0;

    for (llvm_value f = api->first_function(module); f; f = api->next_function(f))
        if (!api->is_declaration(f))
            total += count_instructions(api, f);
    return total;
}

/* The number of parts that so many instructions are worth. */
static unsigned parts_worth(uint64_t instructions, unsigned threads)
{
    uint64_t count = instructions / INSTRUCTIONS_OF_PART;
    uint64_t most = instructions / FEWEST_INSTRUCTIONS;

    if (count > MOST_PARTS)
        count = MOST_PARTS;
    if (count < threads)
        count = threads < most ? threads : most;
    return count > 1 ? (unsigned)count : 1;
}

/* Aliases, global constructors and destructors, and module-level assembly
 * belong to the whole module: such a program is not divided. */
unsigned llvm_parts_count(const struct llvm_api *api, llvm_module module, unsigned wanted,
                          unsigned threads)
{
    size_t assembly_size = 0;

    api->get_assembly(module, &assembly_size);
    if (api->first_alias(module) || api->named_global(module, "llvm.global_ctors") ||
        api->named_global(module, "llvm.global_dtors") || assembly_size > 0)
        return 0;
    return wanted ? wanted : parts_worth(count_all(api, module), threads);
}

void llvm_parts_deal(const struct llvm_api *api, llvm_module module, unsigned count)
{
    uint64_t total = count_all(api, module), done = 0;

    for (llvm_value f = api->first_function(module); f; f = api->next_function(f)) {
        char part[16];
        uint64_t own;

        if (api->is_declaration(f))
            continue;
        own = count_instructions(api, f);
        snprintf(part, sizeof part, "%u", (unsigned)((done + own / 2) * count / total));
        api->add_attribute(f, PART, part);
        done += own;
    }
}

/* The users of a value: a function, or others. Initial values of variables count as others. */
struct users {
    llvm_value function; /* one that names it; NULL = none */
    bool has_others;
};

/* True for a constant that is not a symbol: it has users of its own, and remains even without any.
 */
static bool is_nested(const struct llvm_api *api, llvm_value user, unsigned depth)
{
    return api->as_constant(user) && !api->as_global(user) && depth < DEEPEST;
}

static void find_value_users(const struct llvm_api *api, llvm_value value, unsigned depth,
                             struct users *users)
{
    for (llvm_value use = api->first_use(value); use && !users->has_others;
         use = api->next_use(use)) {
        llvm_value user = api->get_user(use), function;

        if (api->as_instruction(user)) {
            function = api->block_function(api->instruction_block(user));
            users->has_others = users->function && users->function != function;
            users->function = function;
        } else if (is_nested(api, user, depth)) {
            find_value_users(api, user, depth + 1, users);
        } else {
            users->has_others = true;
        }
    }
}

static bool is_local(const struct llvm_api *api, llvm_value value)
{
    int linkage = api->get_linkage(value);

    return !api->is_declaration(value) && (linkage == LLVM_INTERNAL || linkage == LLVM_PRIVATE);
}

/* Replaces characters that PTX names cannot have. NVPTX does the same, but only for local symbols.
 */
static void mend_name(const struct llvm_api *api, llvm_value value)
{
    struct text name = llvm_name(api, value);
    struct buffer mended = {0};

    if (name.size == 0)
        buffer_string(&mended, "unnamed");
    for (size_t i = 0; i < name.size; i++) {
        char c = name.data[i];

        if (c == '.' || c == '@' || c == '<' || c == '>')
            buffer_string(&mended, "_$_");
        else
            buffer_char(&mended, c);
    }
    /* LLVM appends a full stop and a number to a name that is taken. */
    for (;;) {
        api->set_name(value, mended.data, mended.size);
        if (text_equal(llvm_name(api, value), buffer_view(&mended)))
            break;
        buffer_char(&mended, '_');
    }
    buffer_free(&mended);
}

/* Names all unnamed symbols: each part would give its own the same names. */
static void name_all(const struct llvm_api *api, llvm_module module)
{
    for (llvm_value g = api->first_global(module); g; g = api->next_global(g))
        if (llvm_name(api, g).size == 0)
            mend_name(api, g);
    for (llvm_value f = api->first_function(module); f; f = api->next_function(f))
        if (llvm_name(api, f).size == 0)
            mend_name(api, f);
}

static bool is_only_accessed(const struct llvm_api *api, llvm_value pointer, unsigned depth);

/* Whether a user of a pointer only reads or writes the memory that it points to. */
static bool is_access(const struct llvm_api *api, llvm_value user, llvm_value pointer,
                      unsigned depth)
{
    int opcode = api->as_instruction(user)  ? api->opcode(user)
                 : api->as_expression(user) ? api->expression_opcode(user)
                                            : 0;

    switch (opcode) {
    case LLVM_LOAD:
        return true;
    case LLVM_STORE:
        return api->get_operand(user, 0) != pointer;
    case LLVM_GET_ELEMENT:
    case LLVM_BIT_CAST:
    case LLVM_SPACE_CAST:
        return depth < DEEPEST && is_only_accessed(api, user, depth + 1);
    default:
        return false;
    }
}

static bool is_only_accessed(const struct llvm_api *api, llvm_value pointer, unsigned depth)
{
    for (llvm_value use = api->first_use(pointer); use; use = api->next_use(use))
        if (!is_access(api, api->get_user(use), pointer, depth))
            return false;
    return true;
}

static void promote(const struct llvm_api *api, llvm_value value, int linkage, struct buffer *names)
{
    mend_name(api, value);
    api->set_linkage(value, linkage);
    buffer_text(names, llvm_name(api, value));
    buffer_char(names, '\n');
}

/* Whether anything except the function itself names it. */
static bool is_value_used(const struct llvm_api *api, llvm_value function)
{
    struct users users = {0};

    find_value_users(api, function, 0, &users);
    return users.has_others || (users.function && users.function != function);
}

/* Whether other functions need the variable. NVPTX puts shared variables of a single function into
 * that function's body. */
static bool is_used_outside(const struct llvm_api *api, llvm_value variable)
{
    struct users users = {0};

    find_value_users(api, variable, 0, &users);
    return users.has_others ||
           (users.function && (api->get_linkage(variable) != LLVM_INTERNAL ||
                               api->address_space(api->get_type(variable)) != LLVM_SHARED_SPACE));
}

/* Link-once symbols may be dropped if nothing names them, which can be so in one part while other
 * parts name them: makes them weak. */
static void keep_shared(const struct llvm_api *api, llvm_value value)
{
    int linkage = api->get_linkage(value);

    if (linkage == LLVM_LINK_ONCE_ANY || linkage == LLVM_LINK_ONCE_ODR)
        api->set_linkage(value, linkage == LLVM_LINK_ONCE_ANY ? LLVM_WEAK_ANY : LLVM_WEAK_ODR);
}

void llvm_parts_promote(const struct llvm_api *api, llvm_module module, struct buffer *names)
{
    name_all(api, module);
    llvm_module_drop(api, module, "llvm.used");
    llvm_module_drop(api, module, LLVM_COMPILER_USED);
    for (llvm_value g = api->first_global(module); g; g = api->next_global(g)) {
        keep_shared(api, g);
        if (is_local(api, g) && is_used_outside(api, g))
            promote(api, g, is_only_accessed(api, g, 0) ? LLVM_PRIVATE : LLVM_EXTERNAL, names);
        else if (is_local(api, g))
            api->set_linkage(g, LLVM_INTERNAL);
    }
    for (llvm_value f = api->first_function(module); f; f = api->next_function(f)) {
        keep_shared(api, f);
        if (is_local(api, f) && is_value_used(api, f))
            promote(api, f, LLVM_EXTERNAL, names);
    }
}

static unsigned part_of_function(const struct llvm_api *api, llvm_value function)
{
    llvm_attribute attribute =
        api->get_attribute(function, LLVM_FUNCTION_INDEX, PART, sizeof PART - 1);
    unsigned size = 0;

    return attribute ? (unsigned)strtoul(api->attribute_value(attribute, &size), NULL, 10) : 0;
}

void llvm_parts_keep(const struct llvm_api *api, llvm_module module, unsigned part)
{
    for (llvm_value f = api->first_function(module); f; f = api->next_function(f))
        if (!api->is_declaration(f) && part_of_function(api, f) != part)
            api->set_linkage(f, LLVM_AVAILABLE_EXTERNALLY);
}

void llvm_parts_read(const struct llvm_api *api, llvm_module module)
{
    llvm_reader reader = api->create_reader(module);

    for (llvm_value f = api->first_function(module); f; f = api->next_function(f))
        if (!api->is_declaration(f))
            api->read_function(reader, f);
}

void llvm_parts_loosen(const struct llvm_api *api, llvm_module module, struct table *linkages)
{
    for (llvm_value g = api->first_global(module); g; g = api->next_global(g))
        table_set(linkages, llvm_name(api, g), (uint32_t)api->get_linkage(g));
    for (llvm_value f = api->first_function(module); f; f = api->next_function(f)) {
        if (api->is_declaration(f))
            continue;
        table_set(linkages, llvm_name(api, f), (uint32_t)api->get_linkage(f));
        api->set_linkage(f, LLVM_WEAK_ANY);
    }
}

/* Names a variable that LLVM made for a function: LLVM numbers them through the module. */
static void name_made(const struct llvm_api *api, llvm_value variable, struct table *counts)
{
    struct users users = {0};
    struct buffer name = {0};
    struct text function;
    uint32_t count;

    find_value_users(api, variable, 0, &users);
    if (!users.function || users.has_others)
        return;
    function = llvm_name(api, users.function);
    count = table_find(counts, function);
    count = count == TABLE_NONE ? 0 : count + 1;
    table_set(counts, function, count);
    buffer_printf(&name, "%.*s_$_%u", TEXT_ARG(function), count);
    api->set_name(variable, name.data, name.size);
    buffer_free(&name);
    mend_name(api, variable);
    api->set_linkage(variable, LLVM_INTERNAL);
}

static void settle_variable(const struct llvm_api *api, llvm_value variable, unsigned part)
{
    int linkage = api->get_linkage(variable);

    if (linkage == LLVM_INTERNAL)
        return;
    if (part > 0)
        api->set_linkage(variable, LLVM_AVAILABLE_EXTERNALLY);
    else if (linkage == LLVM_PRIVATE)
        api->set_linkage(variable, LLVM_EXTERNAL);
}

void llvm_parts_settle(const struct llvm_api *api, llvm_module module, const struct table *linkages,
                       unsigned part)
{
    struct table made = {0};

    for (llvm_value f = api->first_function(module); f; f = api->next_function(f)) {
        uint32_t linkage = table_find(linkages, llvm_name(api, f));

        if (linkage != TABLE_NONE)
            api->set_linkage(f, (int)linkage);
    }
    for (llvm_value g = api->first_global(module); g; g = api->next_global(g)) {
        if (api->is_declaration(g))
            continue;
        if (table_find(linkages, llvm_name(api, g)) == TABLE_NONE)
            name_made(api, g, &made);
        else
            settle_variable(api, g, part);
    }
    table_free(&made);
}
