/* compile.c: the steps from a body's text to its code.
 *
 * The code here only reads the function and the declarations that it names, so the result does not
 * depend on the function's chunk. */
#include "toy/phases.h"

#include "base/search.h"
#include "language/opcode.h"
#include "language/body.h"
#include "ptx/lexer.h"

#define ALL_BARRIERS 16u /* for a barrier number that is only known at run time */

/* A walk over the instructions that collects data for the container. */
struct survey {
    const struct body *body;
    struct function_code *result;
    struct table signatures; /* those that the result has */
    bool *is_seen;           /* by label: its targets or prototype have been noted */
};

static void use_symbol(struct survey *survey, uint32_t symbol, enum symbol_use use)
{
    if (symbol == NO_INDEX)
        return;
    if (use == USE_CODE && survey->body->symbols[symbol].is_function)
        use = USE_ADDRESS;
    survey->body->symbols[symbol].uses |= (uint8_t)use;
}

static void add_signature(struct survey *survey, const struct ptx_function *prototype)
{
    struct function_code *result = survey->result;
    struct text signature = signature_of(&result->arena, prototype);
    uint32_t next = (uint32_t)result->signature_count;

    if (table_add(&survey->signatures, signature, next) == next)
        result->signatures[result->signature_count++] = signature;
}

/* Functions of a .calltargets list are called; a .callprototype gives the prototype of possible
 * callees. */
static void survey_targets(struct survey *survey, const struct operand *operand)
{
    if (operand->kind != OPERAND_NAME || survey->is_seen[operand->label])
        return;
    const struct label *label = &survey->body->labels[operand->label];
    survey->is_seen[operand->label] = true;
    if (label->prototype)
        add_signature(survey, label->prototype);
    for (uint32_t i = 0; i < label->target_count; i++)
        if (label->targets[i].kind == OPERAND_SYMBOL)
            use_symbol(survey, label->targets[i].symbol, USE_CALLED);
}

static bool has_modifier(const struct instruction *instruction, struct text word)
{
    uint16_t modifier = modifier_find(word);

    for (unsigned i = 0; i < instruction->modifier_count; i++)
        if (instruction->modifiers[i] == modifier)
            return true;
    return false;
}

static void survey_barrier(struct survey *survey, const struct instruction *instruction)
{
    const struct operand *number = &instruction->operands[instruction->results];
    uint32_t count = ALL_BARRIERS;

    if (instruction->results >= instruction->operand_count ||
        has_modifier(instruction, TEXT("warp")) || has_modifier(instruction, TEXT("cluster")))
        return;
    if (number->kind == OPERAND_IMMEDIATE && number->value >= 0 && number->value < ALL_BARRIERS)
        count = (uint32_t)number->value + 1;
    RAISE(survey->result->barrier_count, count);
}

/* Nested operands need no note: arguments of calls are not functions (call_check.c), and a sampler
 * among coordinates has a symbol like any variable. */
static void survey_instruction(struct survey *survey, const struct instruction *instruction)
{
    uint16_t flags = opcode_get(instruction->opcode)->flags;
    bool is_call = (flags & OPCODE_CALL) != 0;

    survey->result->uses_textures |= (flags & OPCODE_TEXTURE) != 0;
    if (flags & OPCODE_BARRIER)
        survey_barrier(survey, instruction);
    if (instruction->opcode == INDEX_mma || instruction->opcode == INDEX_wmma)
        survey->result->has_double_mma |= has_modifier(instruction, TEXT("f64"));
    for (unsigned i = 0; i < instruction->operand_count; i++) {
        const struct operand *operand = &instruction->operands[i];
        bool is_target = is_call && i == instruction->results;

        survey->result->calls_indirectly |= is_target && operand->kind == OPERAND_REGISTER;
        if (is_call && i > instruction->results)
            survey_targets(survey, operand);
        if (operand->kind == OPERAND_SYMBOL || operand->kind == OPERAND_ADDRESS)
            use_symbol(survey, operand->symbol,
                       is_target && operand->kind == OPERAND_SYMBOL ? USE_CALLED : USE_CODE);
    }
}

static void collect_exits(struct function_code *result, const struct body *body)
{
    size_t capacity = 0;

    for (size_t i = 0; i < body->instruction_count; i++) {
        const struct instruction *instruction = &body->instructions[i];

        if (instruction->opcode == INDEX_ret || instruction->opcode == INDEX_exit)
            ARENA_PUSH(&result->arena, result->exits, result->exit_count, capacity) =
                instruction->address;
    }
}

/* Copies the results that are in scratch memory. */
static void keep(struct function_code *result, const struct body *body, const struct buffer *code,
                 const struct code_relocations *relocations)
{
    struct arena *arena = &result->arena;

    result->code = (struct bytes){arena_copy(arena, code->data, code->size, 1), code->size};
    result->relocation_count = relocations->count;
    result->relocations =
        arena_copy(arena, relocations->list, result->relocation_count, sizeof *result->relocations);
    result->symbol_count = body->symbol_count;
    result->symbols = arena_copy(arena, body->symbols, body->symbol_count, sizeof *result->symbols);
    for (size_t i = 0; i < result->symbol_count; i++)
        result->symbols[i].object = NO_INDEX;
    for (size_t i = 0; i < result->relocation_count; i++)
        result->relocations[i].symbol =
            &result->symbols[result->relocations[i].symbol - body->symbols];
    collect_exits(result, body);
}

static bool parse(struct body *body, const struct ptx_item *item, const struct unit *unit)
{
    const struct ptx_module *module = &unit->module;
    size_t begin = (size_t)(item->text.data - module->whole.data);
    size_t start = (size_t)(item->function.body.data - module->whole.data);
    struct parse_scope scope = {
        .file = module->file,
        .whole = module->whole,
        .first_line = item->line + text_count_lines(module->whole, begin, start),
        .version = (uint16_t)(module->version_major * 10 + module->version_minor),
        .target = module->target,
        .lookup = scope_lookup,
        .argument = &unit->scope};

    return frame_declare(body, module, item) && parse_body(body, item->function.body, &scope) &&
           call_check(body, unit);
}

/* Before spilling: surveys everything except the exits, whose addresses are not known yet. */
static void survey(struct function_code *result, const struct body *body)
{
    struct survey survey = {.body = body, .result = result};

    CONTEXT_DEFER(table_cleanup, &survey.signatures);
    survey.is_seen = arena_zalloc(body->arena, body->label_count, sizeof *survey.is_seen);
    result->signatures = arena_alloc(&result->arena, body->label_count, sizeof *result->signatures);
    for (size_t i = 0; i < body->instruction_count; i++)
        survey_instruction(&survey, &body->instructions[i]);
}

bool compile_function(const struct unit *unit, struct function_code *function)
{
    const struct ptx_item *item = function->item;
    struct arena scratch = {0};
    struct buffer code = {0};
    struct body body = {.arena = &scratch, .declared = &function->arena, .function = item->name};
    struct code_relocations relocations = {0};
    bool has_own_limit = !item->function.is_entry && unit->function_registers;

    CONTEXT_DEFER(arena_cleanup, &scratch);
    CONTEXT_DEFER(buffer_cleanup, &code);
    if (!parse(&body, item, unit))
        return false;
    cache_operator_apply(&body, unit);
    frame_complete(&body);
    survey(function, &body);
    function->register_limit = budget_of(
        item, unit->job->sm, has_own_limit ? unit->function_registers : unit->job->maxrregcount);
    if (!registers_allocate(&body, unit->reserved_registers, function) ||
        !frame_layout(&body, unit->parameter_base, function) ||
        !encode_body(&body, unit->module.file, &code, &relocations))
        return false;
    keep(function, &body, &code, &relocations);
    return true;
}
