/* llvm_parts.c: counts instructions, and follows uses to the functions that they are in.
 *
 * The bitcode itself records the parts: a function has its part as an attribute, and private
 * symbols become visible after the passes of parts. */
#include "lto/llvm_internal.h"

#include <stdio.h>
#include <stdlib.h>

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

static uint64_t count_instructions(llvm_value function)
{
    uint64_t count = 1;

    for (llvm_value b = llvm.first_block(function); b; b = llvm.next_block(b))
        for (llvm_value i = llvm.first_instruction(b); i; i = llvm.next_instruction(i))
            count++;
    return count;
}

static uint64_t count_all(llvm_module module)
{
    uint64_t total = 0;

    for (llvm_value f = llvm.first_function(module); f; f = llvm.next_function(f))
        if (!llvm.is_declaration(f))
            total += count_instructions(f);
    return total;
}

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
unsigned llvm_parts_count(llvm_module module, unsigned wanted, unsigned threads)
{
    size_t assembly_size = 0;

    llvm.get_assembly(module, &assembly_size);
    if (llvm.first_alias(module) || llvm.named_global(module, "llvm.global_ctors") ||
        llvm.named_global(module, "llvm.global_dtors") || assembly_size > 0)
        return 0;
    return wanted ? wanted : parts_worth(count_all(module), threads);
}

void llvm_parts_deal(llvm_module module, unsigned count)
{
    uint64_t total = count_all(module), done = 0;

    for (llvm_value f = llvm.first_function(module); f; f = llvm.next_function(f)) {
        char part[16];
        uint64_t own;

        if (llvm.is_declaration(f))
            continue;
        own = count_instructions(f);
        snprintf(part, sizeof part, "%u", (unsigned)((done + own / 2) * count / total));
        llvm.add_attribute(f, PART, part);
        done += own;
    }
}

/* The users of a value: a function, or others. Initial values of variables count as others. */
struct users {
    llvm_value function; /* one that names it; NULL = none */
    bool has_others;
};

/* A constant that is not a symbol has users of its own, and remains even without any. */
static void find_value_users(llvm_value value, unsigned depth, struct users *users)
{
    for (llvm_value use = llvm.first_use(value); use && !users->has_others;
         use = llvm.next_use(use)) {
        llvm_value user = llvm.get_user(use), function;

        if (llvm.as_instruction(user)) {
            function = llvm.block_function(llvm.instruction_block(user));
            users->has_others = users->function && users->function != function;
            users->function = function;
        } else if (llvm.as_constant(user) && !llvm.as_global(user) && depth < DEEPEST) {
            find_value_users(user, depth + 1, users);
        } else {
            users->has_others = true;
        }
    }
}

static bool is_local(llvm_value value)
{
    int linkage = llvm.get_linkage(value);

    return !llvm.is_declaration(value) && (linkage == LLVM_INTERNAL || linkage == LLVM_PRIVATE);
}

/* Replaces characters that PTX names cannot have. NVPTX does so for local symbols only. */
static void mend_name(llvm_value value)
{
    struct text name = llvm_name(value);
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
        llvm.set_name(value, mended.data, mended.size);
        if (text_equal(llvm_name(value), buffer_view(&mended)))
            break;
        buffer_char(&mended, '_');
    }
    buffer_free(&mended);
}

static bool is_only_accessed(llvm_value pointer, unsigned depth);

/* Whether a user of a pointer only reads or writes the memory that it points to. */
static bool is_access(llvm_value user, llvm_value pointer, unsigned depth)
{
    int opcode = llvm.as_instruction(user)  ? llvm.opcode(user)
                 : llvm.as_expression(user) ? llvm.expression_opcode(user)
                                            : 0;

    switch (opcode) {
    case LLVM_LOAD:
        return true;
    case LLVM_STORE:
        return llvm.get_operand(user, 0) != pointer;
    case LLVM_GET_ELEMENT:
    case LLVM_BIT_CAST:
    case LLVM_SPACE_CAST:
        return depth < DEEPEST && is_only_accessed(user, depth + 1);
    default:
        return false;
    }
}

static bool is_only_accessed(llvm_value pointer, unsigned depth)
{
    for (llvm_value use = llvm.first_use(pointer); use; use = llvm.next_use(use))
        if (!is_access(llvm.get_user(use), pointer, depth))
            return false;
    return true;
}

static void promote(llvm_value value, int linkage, struct buffer *names)
{
    mend_name(value);
    llvm.set_linkage(value, linkage);
    buffer_text(names, llvm_name(value));
    buffer_char(names, '\n');
}

/* Whether other functions need the function or variable. NVPTX puts shared variables of a single
 * function into that function's body. */
static bool is_used_outside(llvm_value value, bool is_function)
{
    bool is_inside = !is_function && llvm.get_linkage(value) == LLVM_INTERNAL &&
                     llvm.address_space(llvm.get_type(value)) == LLVM_SHARED_SPACE;
    struct users users = {0};

    find_value_users(value, 0, &users);
    return users.has_others || (users.function && users.function != value && !is_inside);
}

/* Names an unnamed symbol: each part would give its own the same name. Link-once symbols may be
 * dropped if nothing names them, which can be so in one part and not in others: makes them weak. */
static void prepare(llvm_value value)
{
    int linkage = llvm.get_linkage(value);

    if (llvm_name(value).size == 0)
        mend_name(value);
    if (linkage == LLVM_LINK_ONCE_ANY || linkage == LLVM_LINK_ONCE_ODR)
        llvm.set_linkage(value, linkage == LLVM_LINK_ONCE_ANY ? LLVM_WEAK_ANY : LLVM_WEAK_ODR);
}

void llvm_parts_promote(llvm_module module, struct buffer *names)
{
    llvm_module_drop(module, "llvm.used");
    llvm_module_drop(module, LLVM_COMPILER_USED);
    for (llvm_value g = llvm.first_global(module); g; g = llvm.next_global(g)) {
        prepare(g);
        if (is_local(g) && is_used_outside(g, false))
            promote(g, is_only_accessed(g, 0) ? LLVM_PRIVATE : LLVM_EXTERNAL, names);
        else if (is_local(g))
            llvm.set_linkage(g, LLVM_INTERNAL);
    }
    for (llvm_value f = llvm.first_function(module); f; f = llvm.next_function(f)) {
        prepare(f);
        if (is_local(f) && is_used_outside(f, true))
            promote(f, LLVM_EXTERNAL, names);
    }
}

static unsigned part_of_function(llvm_value function)
{
    llvm_attribute attribute =
        llvm.get_attribute(function, LLVM_FUNCTION_INDEX, PART, sizeof PART - 1);
    unsigned size = 0;

    return attribute ? (unsigned)strtoul(llvm.attribute_value(attribute, &size), NULL, 10) : 0;
}

void llvm_parts_keep(llvm_module module, unsigned part)
{
    for (llvm_value f = llvm.first_function(module); f; f = llvm.next_function(f))
        if (!llvm.is_declaration(f) && part_of_function(f) != part)
            llvm.set_linkage(f, LLVM_AVAILABLE_EXTERNALLY);
}

void llvm_parts_read(llvm_module module)
{
    llvm_reader reader = llvm.create_reader(module);

    for (llvm_value f = llvm.first_function(module); f; f = llvm.next_function(f))
        if (!llvm.is_declaration(f))
            llvm.read_function(reader, f);
}

void llvm_parts_loosen(llvm_module module, struct table *linkages)
{
    for (llvm_value g = llvm.first_global(module); g; g = llvm.next_global(g))
        table_set(linkages, llvm_name(g), (uint32_t)llvm.get_linkage(g));
    for (llvm_value f = llvm.first_function(module); f; f = llvm.next_function(f)) {
        if (llvm.is_declaration(f))
            continue;
        table_set(linkages, llvm_name(f), (uint32_t)llvm.get_linkage(f));
        llvm.set_linkage(f, LLVM_WEAK_ANY);
    }
}

/* Names a variable that LLVM made for a function: LLVM numbers them through the module. */
static void name_made(llvm_value variable, struct table *counts)
{
    struct users users = {0};
    struct buffer name = {0};
    struct text function;
    uint32_t count;

    find_value_users(variable, 0, &users);
    if (!users.function || users.has_others)
        return;
    function = llvm_name(users.function);
    count = table_find(counts, function);
    count = count == TABLE_NONE ? 0 : count + 1;
    table_set(counts, function, count);
    buffer_printf(&name, "%.*s_$_%u", TEXT_ARG(function), count);
    llvm.set_name(variable, name.data, name.size);
    buffer_free(&name);
    mend_name(variable);
    llvm.set_linkage(variable, LLVM_INTERNAL);
}

static void settle_variable(llvm_value variable, unsigned part)
{
    int linkage = llvm.get_linkage(variable);

    if (linkage == LLVM_INTERNAL)
        return;
    if (part > 0)
        llvm.set_linkage(variable, LLVM_AVAILABLE_EXTERNALLY);
    else if (linkage == LLVM_PRIVATE)
        llvm.set_linkage(variable, LLVM_EXTERNAL);
}

void llvm_parts_settle(llvm_module module, const struct table *linkages, unsigned part)
{
    struct table made = {0};

    for (llvm_value f = llvm.first_function(module); f; f = llvm.next_function(f)) {
        uint32_t linkage = table_find(linkages, llvm_name(f));

        if (linkage != TABLE_NONE)
            llvm.set_linkage(f, (int)linkage);
    }
    for (llvm_value g = llvm.first_global(module); g; g = llvm.next_global(g)) {
        if (llvm.is_declaration(g))
            continue;
        if (table_find(linkages, llvm_name(g)) == TABLE_NONE)
            name_made(g, &made);
        else
            settle_variable(g, part);
    }
    table_free(&made);
}
