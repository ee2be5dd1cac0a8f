/* call_check.c: checks the arguments of calls.
 *
 * ptxas refuses a call if its numbers of arguments or results differ from the prototype's, if an
 * argument has another size, or if it is a float where an integer is declared or vice versa
 * (measured). A .param variable is compared by its size; other variables, and the caller's own
 * parameters, cannot be arguments. */
#include "toy/phases.h"

#include "diag/diag.h"
#include "ptx/module.h"
#include "language/opcode.h"

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

bool call_check(const struct body *body, const struct unit *unit)
{
    struct call call = {.body = body, .unit = unit};

    for (size_t i = 0; i < body->instruction_count && call.errors < MOST_ERRORS; i++) {
        call.instruction = &body->instructions[i];
        if (opcode_get(call.instruction->opcode)->flags & OPCODE_CALL)
            check_call(&call);
    }
    return call.errors == 0;
}
