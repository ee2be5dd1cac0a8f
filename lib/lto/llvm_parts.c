/* llvm_parts.c: instructions are counted, uses followed to the functions that they are in. */
#include "lto/llvm_steps.h"

#include <stdint.h>

#include "base/table.h"
#include "base/text.h"

/* Measured on libLLVM 19: code of so many instructions takes 60 ms to make, as long as a child
 * takes to start. Each part reads the whole program: more parts than these cost more than they
 * give. */
#define INSTRUCTIONS_OF_PART 5000u
#define MOST_PARTS           8u

/* What constants are nested in each other. */
#define DEEPEST 16u

struct plan {
    const struct llvm_api *api;
    struct table functions; /* to their parts; those that are defined */
};

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

/* Other names of functions, what runs before kernels do, and text are made for a module. */
unsigned llvm_parts_count(const struct llvm_api *api, llvm_module module, unsigned wanted)
{
    uint64_t count = count_all(api, module) / INSTRUCTIONS_OF_PART;
    size_t assembly_size = 0;

    api->get_assembly(module, &assembly_size);
    if (api->first_alias(module) || api->named_global(module, "llvm.global_ctors") ||
        api->named_global(module, "llvm.global_dtors") || assembly_size > 0)
        return 0;
    if (wanted || count < 2)
        return wanted ? wanted : 1;
    return count < MOST_PARTS ? (unsigned)count : MOST_PARTS;
}

static void make_plan(struct plan *plan, const struct llvm_api *api, llvm_module module,
                      unsigned count)
{
    uint64_t total = count_all(api, module), done = 0;

    *plan = (struct plan){.api = api};
    for (llvm_value f = api->first_function(module); f; f = api->next_function(f)) {
        uint64_t own;

        if (api->is_declaration(f))
            continue;
        own = count_instructions(api, f);
        table_set(&plan->functions, llvm_name(api, f),
                  (uint32_t)((done + own / 2) * count / total));
        done += own;
    }
}

/* The functions that name a value. What initialises variables is no function. */
struct users {
    llvm_value function; /* NULL = none */
    bool has_others;
};

static void find_users(const struct llvm_api *api, llvm_value value, unsigned depth,
                       struct users *users)
{
    for (llvm_value use = api->first_use(value); use && !users->has_others;
         use = api->next_use(use)) {
        llvm_value user = api->get_user(use), function;

        if (api->as_instruction(user)) {
            function = api->block_function(api->instruction_block(user));
            users->has_others = users->function && users->function != function;
            users->function = function;
        } else if (api->as_expression(user) && depth < DEEPEST) {
            find_users(api, user, depth + 1, users);
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

/* NVPTX mends names of what is local only, in this way. */
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
    /* LLVM puts a full stop and a number behind a name that is taken. */
    for (;;) {
        api->set_name(value, mended.data, mended.size);
        if (text_equal(llvm_name(api, value), buffer_view(&mended)))
            break;
        buffer_char(&mended, '_');
    }
    buffer_free(&mended);
}

/* Each part would give those without names the same ones. */
static void name_all(const struct llvm_api *api, llvm_module module)
{
    for (llvm_value g = api->first_global(module); g; g = api->next_global(g))
        if (llvm_name(api, g).size == 0)
            mend_name(api, g);
    for (llvm_value f = api->first_function(module); f; f = api->next_function(f))
        if (llvm_name(api, f).size == 0)
            mend_name(api, f);
}

static void promote(const struct llvm_api *api, llvm_value value, struct buffer *names)
{
    mend_name(api, value);
    api->set_linkage(value, LLVM_EXTERNAL);
    buffer_text(names, llvm_name(api, value));
    buffer_char(names, '\n');
}

/* Lists that keep what optimisation would drop, which is over. */
static void drop_list(const struct llvm_api *api, llvm_module module, const char *name)
{
    llvm_value list = api->named_global(module, name);

    if (list)
        api->delete_global(list);
}

/* Whether anything but the function itself names it. */
static bool is_used(const struct llvm_api *api, llvm_value function)
{
    struct users users = {0};

    find_users(api, function, 0, &users);
    return users.has_others || (users.function && users.function != function);
}

/* NVPTX puts shared variables of one function into that function's body. */
static bool is_used_outside(const struct llvm_api *api, llvm_value variable)
{
    struct users users = {0};

    find_users(api, variable, 0, &users);
    return users.has_others ||
           (users.function && (api->get_linkage(variable) != LLVM_INTERNAL ||
                               api->address_space(api->get_type(variable)) != LLVM_SHARED_SPACE));
}

void llvm_parts_promote(const struct llvm_api *api, llvm_module module, struct buffer *names)
{
    name_all(api, module);
    drop_list(api, module, "llvm.used");
    drop_list(api, module, "llvm.compiler.used");
    for (llvm_value g = api->first_global(module); g; g = api->next_global(g))
        if (is_local(api, g) && is_used_outside(api, g))
            promote(api, g, names);
    for (llvm_value f = api->first_function(module); f; f = api->next_function(f))
        if (is_local(api, f) && is_used(api, f))
            promote(api, f, names);
}

static uint32_t part_of(const struct plan *plan, llvm_value function)
{
    return table_find(&plan->functions, llvm_name(plan->api, function));
}

/* Behind llvm_parts_promote() what is local is named by one function at most. */
static uint32_t part_of_variable(const struct plan *plan, llvm_value variable)
{
    struct users users = {0};

    if (is_local(plan->api, variable))
        find_users(plan->api, variable, 0, &users);
    return users.function ? part_of(plan, users.function) : 0;
}

void llvm_parts_keep(const struct llvm_api *api, llvm_module module, unsigned count, unsigned part)
{
    struct plan plan;

    make_plan(&plan, api, module, count);
    for (llvm_value g = api->first_global(module); g; g = api->next_global(g))
        if (!api->is_declaration(g) && part_of_variable(&plan, g) != part)
            api->set_linkage(g, LLVM_AVAILABLE_EXTERNALLY);
    for (llvm_value f = api->first_function(module); f; f = api->next_function(f))
        if (!api->is_declaration(f) && part_of(&plan, f) != part)
            api->set_linkage(f, LLVM_AVAILABLE_EXTERNALLY);
    table_free(&plan.functions);
}
