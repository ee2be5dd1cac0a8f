/* compile.c: the steps from a body's text to its code.
 *
 * The code here only reads the function and the declarations that it names, so the result does not
 * depend on the function's chunk. */
#include "toy/internal.h"

#include "base/search.h"
#include "language/syntax.h"
#include "ptx/lexer.h"

/* Errors in one body after which checking stops. */
#define MOST_ERRORS 20u

struct call {
    const struct body *body;
    const struct unit *unit;
    const struct instruction *instruction;
    unsigned errors;
};

static void fail(struct call *call, const char *format, struct text name)
{
    struct diag_place place = {.file = call->unit->module.file, .line = call->instruction->line};

    call->errors++;
    diag_at(DIAG_ERROR, &place, format, TEXT_ARG(name));
}

static bool register_agrees(const struct virtual_register *reg,
                            const struct ptx_parameter *parameter)
{
    bool is_float = parameter->type == PTX_F32 || parameter->type == PTX_F64;
    bool is_integer = parameter->type >= PTX_U8 && parameter->type <= PTX_S64;

    if (parameter->type == PTX_PRED || reg->class == REGISTER_PREDICATE)
        return parameter->type == PTX_PRED && reg->class == REGISTER_PREDICATE;
    return reg->bits == 8 * parameter->size && !(is_integer && reg->type == 'f') &&
           !(is_float && (reg->type == 'u' || reg->type == 's'));
}

static bool argument_agrees(const struct call *call, const struct operand *argument,
                            const struct ptx_parameter *parameter)
{
    if (parameter->size == 0 || argument->component)
        return true;
    if (argument->kind == OPERAND_REGISTER)
        return register_agrees(&call->body->registers[argument->reg], parameter);
    if (argument->kind == OPERAND_SYMBOL) {
        const struct body_symbol *symbol = &call->body->symbols[argument->symbol];

        return symbol->space != PTX_SPACE_PARAM || symbol->size == 0 ||
               symbol->size == parameter->size;
    }
    return true;
}

/* Checks that arguments and results are registers, numbers, or .param variables of the body. */
static void check_spaces(struct call *call, const struct operand *list)
{
    for (uint32_t i = 0; i < list->element_count; i++) {
        const struct operand *argument = &list->elements[i];
        const struct body_symbol *symbol =
            argument->kind == OPERAND_SYMBOL ? &call->body->symbols[argument->symbol] : NULL;

        if (symbol && symbol->is_parameter && symbol->space == PTX_SPACE_PARAM)
            fail(call,
                 "Formal parameter '%.*s' declared in .param space cannot be used as argument to "
                 "call",
                 symbol->name);
        else if (symbol ? symbol->is_function || symbol->space != PTX_SPACE_PARAM
                        : argument->kind == OPERAND_SPECIAL || argument->kind == OPERAND_ADDRESS)
            fail(call, "Call argument '%.*s' has illegal state space", argument->text);
    }
}

/* Checks one list, NULL = there is none, by the function's parameters from `first` on. */
static void check_list(struct call *call, const struct operand *list, const struct ptx_item *item,
                       uint32_t first, uint32_t count)
{
    const struct ptx_parameter *parameters = item->function.parameters;

    if ((list ? list->element_count : 0) != count) {
        fail(call, "Call of '%.*s' has wrong number of parameters", item->name);
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        if (!argument_agrees(call, &list->elements[i], &parameters[first + i])) {
            fail(call, "Type of argument does not match formal parameter '%.*s'",
                 parameters[first + i].name);
            return;
        }
}

static void check_call(struct call *call)
{
    const struct instruction *instruction = call->instruction;
    unsigned at = instruction->operand_count && instruction->operands[0].kind == OPERAND_LIST;
    const struct operand *target = &instruction->operands[at], *arguments = NULL;
    const struct ptx_item *item;

    for (unsigned i = 0; i < instruction->operand_count; i++)
        if (instruction->operands[i].kind == OPERAND_LIST)
            check_spaces(call, &instruction->operands[i]);
    if (at == instruction->operand_count)
        return;
    if (at + 1u < instruction->operand_count && target[1].kind == OPERAND_LIST)
        arguments = &target[1];
    if (target->kind == OPERAND_REGISTER) {
        if (instruction->operands[instruction->operand_count - 1].kind != OPERAND_NAME)
            fail(call, "An indirect call through '%.*s' needs a prototype or a list of targets",
                 target->text);
        return;
    }
    if (target->kind != OPERAND_SYMBOL)
        return;
    item = call->unit->scope.globals[call->body->symbols[target->symbol].global].item;
    uint32_t results = item->function.return_count;
    check_list(call, at ? &instruction->operands[0] : NULL, item, 0, results);
    if (call->errors <= MOST_ERRORS)
        check_list(call, arguments, item, results, item->function.parameter_count - results);
}

/* Checks the arguments of calls. ptxas refuses a call if its numbers of arguments or results differ
 * from the prototype's, if an argument has another size, or if it is a float where an integer is
 * declared or vice versa (measured). A .param variable is compared by its size; other variables,
 * and the caller's own parameters, cannot be arguments. An indirect call names its targets or
 * prototype.
 */
static bool check_calls(const struct body *body, const struct unit *unit)
{
    struct call call = {.body = body, .unit = unit};

    for (size_t i = 0; i < body->instruction_count && call.errors < MOST_ERRORS; i++) {
        call.instruction = &body->instructions[i];
        if (opcode_get(call.instruction->opcode)->flags & OPCODE_CALL)
            check_call(&call);
    }
    return call.errors == 0;
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

    return allocate_parameters(body, module, item) &&
           parse_body(body, item->function.body, &scope) && check_calls(body, unit);
}

/* Cache operators that options set for loads and stores (phases 1 and 16).
 *
 * Measured on ptxas by comparing the code with that of the same instruction with an operator: an
 * option applies to weak `ld` and `st` of .global and generic addresses without L1 modifiers; an
 * operator in the text overrides a default and is overridden by a forced one; for `ld.nc` only .cs
 * changes the code. ptxas also applies options to `ldu`, but PTX has no word for that. */

/* A kind of access, and its operators. */
static const struct access {
    const char *name;
    uint16_t opcode;
    const char *operators[6]; /* ends with NULL */
} accesses[CACHED_ACCESSES] = {{"load", INDEX_ld, {"ca", "cg", "cs", "lu", "cv"}},
                               {"store", INDEX_st, {"wb", "cg", "cs", "wt"}}};

static bool has_operator(const struct access *access, const char *word)
{
    size_t i = 0;

    while (access->operators[i] && strcmp(access->operators[i], word) != 0)
        i++;
    return access->operators[i] != NULL;
}

bool compile_check_caches(const struct switches *switches)
{
    bool ok = true;

    for (size_t i = 0; i < CACHED_ACCESSES; i++) {
        const char *name = accesses[i].name;
        const char *const words[] = {switches->default_cache[i], switches->forced_cache[i]};

        for (size_t k = 0; k < 2; k++)
            if (words[k] && !has_operator(&accesses[i], words[k]))
                ok = diag_error("Invalid default cache modifier on %s specified: %s", name,
                                words[k]);
        if (words[0] && words[1])
            diag_warning("Conflicting options force-%s-cache and def-%s-cache specified, ignoring "
                         "def-%s-cache option",
                         name, name, name);
    }
    return ok;
}

/* Words that exempt an access: another memory, an ordering, or an L1 modifier. */
static bool is_exempt(const char *word)
{
    static const char *const starts[] = {"volatile", "relaxed", "acquire", "release", "mmio",
                                         "shared",   "local",   "const",   "param",   "L1::"};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (strncmp(word, starts[i], strlen(starts[i])) == 0)
            return true;
    return false;
}

/* The operator stands, or is put, after the state space, or before the types. */
static void set_operator(struct instruction *instruction, struct arena *arena,
                         const struct access *access, const char *given, bool is_forced)
{
    bool is_streaming = strcmp(given, "cs") == 0, is_taken = false;
    unsigned count = instruction->modifier_count, place = 0;

    for (unsigned i = 0; i < count; i++) {
        const char *word = modifier_name(instruction->modifiers[i]);

        if (is_exempt(word) || (!strcmp(word, "nc") && !is_streaming))
            return;
        if (has_operator(access, word)) {
            place = i;
            is_taken = true;
        } else if (!is_taken && (!strcmp(word, "weak") || !strcmp(word, "global"))) {
            place = i + 1;
        }
    }
    /* No load or store that the parser accepts has as many words as an instruction may have. */
    if (is_taken ? !is_forced : count == INSTRUCTION_MODIFIERS)
        return;
    uint16_t *modifiers = arena_alloc(arena, count + 1, sizeof *modifiers);
    unsigned rest = place + is_taken; /* the first word after it */
    memcpy(modifiers, instruction->modifiers, place * sizeof *modifiers);
    modifiers[place] = modifier_find(text_of(given));
    memcpy(&modifiers[place + 1], &instruction->modifiers[rest],
           (count - rest) * sizeof *modifiers);
    instruction->modifiers = modifiers;
    instruction->modifier_count = (uint8_t)(count + !is_taken);
}

static void apply_caches(struct body *body, const struct unit *unit)
{
    for (size_t access = 0; access < CACHED_ACCESSES; access++) {
        const char *forced = unit->switches.forced_cache[access];
        const char *given = forced ? forced : unit->switches.default_cache[access];

        for (size_t i = 0; given && i < body->instruction_count; i++)
            if (body->instructions[i].opcode == accesses[access].opcode)
                set_operator(&body->instructions[i], body->arena, &accesses[access], given,
                             forced != NULL);
    }
}

static bool runs_off_the_end(const struct body *body)
{
    if (body->instruction_count == 0)
        return true;
    const struct instruction *last = &body->instructions[body->instruction_count - 1];
    if (!(opcode_get(last->opcode)->flags & OPCODE_ENDS) || last->guard != NO_INDEX)
        return true;
    for (size_t i = 0; i < body->label_count; i++)
        if (body->labels[i].instruction >= body->instruction_count)
            return true;
    return false;
}

/* Adds a return if control could run off the end. */
static void complete(struct body *body)
{
    size_t count = body->instruction_count;
    struct instruction end = {.opcode = INDEX_ret, .guard = NO_INDEX};

    if (!runs_off_the_end(body))
        return;
    end.line = count ? body->instructions[count - 1].line : 0;
    ARENA_PUSH(body->arena, body->instructions, body->instruction_count, count) = end;
}

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
    struct text signature = emit_info_signature(&result->arena, prototype);
    uint32_t next = (uint32_t)result->signature_count;

    if (table_add(&survey->signatures, signature, next) == next)
        result->signatures[result->signature_count++] = signature;
}

/* Functions of a .calltargets list are called; a .callprototype is that of possible callees. */
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

/* Nested operands need no note: arguments of calls are not functions (check_calls), and a sampler
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

/* Copies the results that are in scratch memory. */
static void keep(struct function_code *result, const struct body *body, const struct buffer *code,
                 const struct code_relocations *relocations)
{
    struct arena *arena = &result->arena;
    size_t capacity = 0;

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
    for (size_t i = 0; i < body->instruction_count; i++)
        if (body->instructions[i].opcode == INDEX_ret || body->instructions[i].opcode == INDEX_exit)
            ARENA_PUSH(arena, result->exits, result->exit_count, capacity) =
                body->instructions[i].address;
}

bool compile_function(const struct unit *unit, struct function_code *function)
{
    const struct ptx_item *item = function->item;
    LOCAL_ARENA(scratch);
    LOCAL_BUFFER(code);
    struct body body = {.arena = &scratch, .declared = &function->arena, .function = item->name};
    struct code_relocations relocations = {0};
    uint32_t most = unit->job.maxrregcount;

    if (!parse(&body, item, unit))
        return false;
    apply_caches(&body, unit);
    complete(&body);
    survey(function, &body);
    if (!item->function.is_entry && unit->switches.function_maxrregcount > 0)
        most = (uint32_t)unit->switches.function_maxrregcount;
    function->register_limit = allocate_limit(item, unit->job.sm, most);
    if (!allocate_registers(&body, unit->reserved_registers, function) ||
        !allocate_frame(&body, unit->parameter_base, function) ||
        !encode_body(&body, unit->module.file, &code, &relocations))
        return false;
    keep(function, &body, &code, &relocations);
    return true;
}
