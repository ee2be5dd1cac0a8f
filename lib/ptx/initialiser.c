/* initialiser.c: a walk over the braces with one index for each dimension.
 *
 * Which number can initialise which type was measured on ptxas: integers are truncated to the
 * element's size, floats are accepted for .f and .b types only, integers for all but .f types. */
#include "ptx/initialiser.h"

#include <string.h>

#include "diag/diag.h"
#include "ptx/declaration.h"
#include "ptx/expression.h"
#include "ptx/lexer.h"
#include "ptx/source_place.h"
#include "ptx/types.h"

/* Most dimensions; deeper arrays are rejected. The elements of a vector count as one more
 * dimension. */
#define MOST_DIMENSIONS 16u

/* Largest variable with an initial value; a larger one is rejected, since its bytes must be in
 * memory. */
#define LARGEST_INITIALISED (UINT64_C(1) << 32)

struct decoder {
    struct expression at; /* in the module's whole text, up to the end of the initialiser */
    const struct ptx_module *module;
    const struct ptx_item *item;
    struct initialiser *result;
    struct arena *arena;                  /* of the result */
    size_t capacity;                      /* of its references */
    uint64_t dimensions[MOST_DIMENSIONS]; /* outermost first */
    uint64_t strides[MOST_DIMENSIONS];    /* bytes from one element of a dimension to the next */
    uint64_t indexes[MOST_DIMENSIONS];
    size_t levels;
    uint32_t element; /* bytes */
};

static bool fail_decoding(const struct decoder *decoder, const char *message)
{
    const struct diag_place place = source_ptx_place(
        decoder->module, decoder->item, decoder->at.lexer.text.data + decoder->at.token.offset);

    diag_at(DIAG_ERROR, &place, "%s in the initial value of '%.*s'", message,
            TEXT_ARG(decoder->item->name));
    return false;
}

static bool take_mark(struct decoder *decoder, char mark)
{
    if (decoder->at.token.kind != TOKEN_MARK || decoder->at.token.mark != mark)
        return fail_decoding(decoder, mark == '(' ? "expected '('" : "expected ')'");
    expression_next(&decoder->at);
    return true;
}

/* The array sizes after the name, and one more level for the elements of a vector. */
static bool read_dimensions(struct decoder *decoder)
{
    const struct ptx_variable *variable = &decoder->item->variable;
    struct lexer lexer = lexer_at(variable->declarator, 0);
    uint64_t stride = decoder->element, size;
    bool is_open;

    while (declaration_next_dimension(&lexer, &size, &is_open)) {
        if (decoder->levels + 1 >= MOST_DIMENSIONS)
            return fail_decoding(decoder, "too many dimensions");
        decoder->dimensions[decoder->levels++] = size;
    }
    if (variable->vector > 1)
        decoder->dimensions[decoder->levels++] = variable->vector;
    for (size_t i = decoder->levels; i-- > 0; stride *= decoder->dimensions[i]) {
        decoder->strides[i] = stride;
        /* The outermost size can be missing; it then follows from the variable's size. */
        if (i == 0 && stride > 0)
            decoder->dimensions[0] = variable->size / stride;
    }
    return true;
}

static uint64_t place_of_value(const struct decoder *decoder)
{
    uint64_t offset = 0;

    for (size_t i = 0; i < decoder->levels; i++)
        offset += decoder->indexes[i] * decoder->strides[i];
    return offset;
}

static bool is_float_type(uint8_t type)
{
    return type == PTX_F32 || type == PTX_F64;
}

/* The element's bits for a floating-point literal; false when the type accepts none. */
static bool convert_float(uint8_t type, bool is_single, uint64_t *bits)
{
    uint32_t single = (uint32_t)*bits;
    double wide;
    float narrow;

    if (!is_float_type(type) && type != PTX_B32 && type != PTX_B64)
        return false;
    if (is_single && type == PTX_F64) {
        memcpy(&narrow, &single, sizeof narrow);
        wide = (double)narrow;
        memcpy(bits, &wide, sizeof wide);
    } else if (!is_single && (type == PTX_F32 || type == PTX_B32)) {
        memcpy(&wide, bits, sizeof wide);
        narrow = (float)wide;
        memcpy(&single, &narrow, sizeof single);
        *bits = single;
    }
    return true;
}

static bool read_constant(struct decoder *decoder, struct constant *constant)
{
    if (expression_read(&decoder->at, constant))
        return true;
    decoder->at.token.offset = decoder->at.place;
    return fail_decoding(decoder, decoder->at.fault);
}

/* The address at the current token: name, name+N, generic(name), generic(name)+N. */
static bool read_address(struct decoder *decoder, struct initialiser_reference *reference)
{
    struct constant addend;

    if (lexer_is(&decoder->at.lexer, decoder->at.token, TEXT("generic"))) {
        reference->is_generic = true;
        expression_next(&decoder->at);
        if (!take_mark(decoder, '('))
            return false;
    }
    if (decoder->at.token.kind != TOKEN_WORD)
        return fail_decoding(decoder, "expected a name");
    reference->symbol = lexer_text(&decoder->at.lexer, decoder->at.token);
    reference->place = decoder->at.token.offset;
    expression_next(&decoder->at);
    if (reference->is_generic && !take_mark(decoder, ')'))
        return false;
    if (decoder->at.token.mark != '+')
        return true;
    expression_next(&decoder->at);
    if (!read_constant(decoder, &addend))
        return false;
    if (addend.kind != CONSTANT_SIGNED && addend.kind != CONSTANT_UNSIGNED)
        return fail_decoding(decoder, "expected an offset");
    reference->addend = (int64_t)addend.bits;
    return true;
}

static bool is_byte_mask(uint64_t mask)
{
    for (int shift = 0; shift < 64; shift += 8)
        if (mask == UINT64_C(0xff) << shift)
            return true;
    return false;
}

static bool add_mask_reference(struct decoder *decoder, uint64_t mask)
{
    struct initialiser_reference reference = {
        .offset = place_of_value(decoder), .mask = mask, .width = decoder->element};
    uint8_t type = decoder->item->variable.type;

    if (mask != UINT64_MAX && !is_byte_mask(mask))
        return fail_decoding(decoder, "a mask that is not one byte of an address");
    /* Measured on ptxas: signed and untyped elements take no address. */
    if (type != PTX_U32 && type != PTX_U64 && (mask == UINT64_MAX || type != PTX_U8))
        return fail_decoding(decoder, mask == UINT64_MAX
                                          ? "an address in an element that is neither .u64 nor .u32"
                                          : "a byte of an address in an element that is not .u8");
    if (mask != UINT64_MAX) {
        expression_next(&decoder->at);
        if (!read_address(decoder, &reference) || !take_mark(decoder, ')'))
            return false;
    } else if (!read_address(decoder, &reference)) {
        return false;
    }
    ARENA_PUSH(decoder->arena, decoder->result->references, decoder->result->reference_count,
               decoder->capacity) = reference;
    return true;
}

static void store_bits(struct decoder *decoder, uint64_t bits)
{
    uint8_t *at = decoder->result->bytes + place_of_value(decoder);
    uint32_t width = decoder->element < 8 ? decoder->element : 8;

    for (uint32_t i = 0; i < width; i++)
        at[i] = (uint8_t)(bits >> (8 * i));
}

static bool read_value_number(struct decoder *decoder)
{
    uint8_t type = decoder->item->variable.type;
    struct constant constant;
    bool is_integer;

    if (type == PTX_F16 || type == PTX_F16X2)
        return fail_decoding(decoder, "No initial value is allowed for a half");
    if (!read_constant(decoder, &constant))
        return false;
    is_integer = constant.kind == CONSTANT_SIGNED || constant.kind == CONSTANT_UNSIGNED;
    if (is_integer ? is_float_type(type)
                   : !convert_float(type, constant.kind == CONSTANT_SINGLE, &constant.bits))
        return fail_decoding(decoder, "Initial value type mismatch");
    store_bits(decoder, constant.bits);
    return true;
}

/* One element: a constant, an address, or one byte of an address, with a mask before it. */
static bool read_element(struct decoder *decoder)
{
    const struct token *token = &decoder->at.token;
    uint64_t mask;

    if (token->kind == TOKEN_WORD && !lexer_is(&decoder->at.lexer, *token, TEXT("WARP_SZ")))
        return add_mask_reference(decoder, UINT64_MAX);
    if (token->kind == TOKEN_NUMBER && lexer_peek(&decoder->at.lexer).mark == '(' &&
        lexer_number(lexer_text(&decoder->at.lexer, *token), &mask, NULL) == NUMBER_INTEGER) {
        expression_next(&decoder->at);
        return add_mask_reference(decoder, mask);
    }
    return read_value_number(decoder);
}

/* After an element or a closing brace: `,` continues the level, `}` ends it. */
static bool next_place(struct decoder *decoder, size_t *depth)
{
    while (*depth > 0 && decoder->at.token.mark == '}') {
        (*depth)--;
        if (decoder->item->variable.vector > 1 && *depth + 1 == decoder->levels &&
            decoder->indexes[*depth] + 1 < decoder->dimensions[*depth])
            return fail_decoding(decoder, "fewer elements than the vector has");
        decoder->indexes[*depth] = 0;
        expression_next(&decoder->at);
    }
    if (*depth == 0)
        return decoder->at.token.kind == TOKEN_END || fail_decoding(decoder, "more than one value");
    if (decoder->at.token.mark != ',')
        return fail_decoding(decoder, "expected ',' or '}'");
    if (++decoder->indexes[*depth - 1] >= decoder->dimensions[*depth - 1])
        return fail_decoding(decoder, "more elements than the variable has");
    expression_next(&decoder->at);
    return true;
}

static bool decode_values(struct decoder *decoder)
{
    size_t depth = 0;

    do {
        if (decoder->at.token.mark == '{') {
            if (depth == decoder->levels)
                return fail_decoding(decoder, "'{' where an element is expected");
            if (decoder->dimensions[depth] == 0)
                return fail_decoding(decoder, "more elements than the variable has");
            decoder->indexes[depth++] = 0;
            expression_next(&decoder->at);
            if (decoder->at.token.mark != '}')
                continue;
        } else if (depth < decoder->levels) {
            return fail_decoding(decoder, "expected '{'");
        } else if (!read_element(decoder)) {
            return false;
        }
        if (!next_place(decoder, &depth))
            return false;
    } while (depth > 0);
    return true;
}

uint64_t initialiser_count(struct text initialiser)
{
    struct lexer lexer = lexer_at(initialiser, 0);
    struct token token;
    uint64_t count = 0;
    size_t depth = 0;
    bool has_element = false;

    while ((token = lexer_next(&lexer)).kind != TOKEN_END) {
        bool opens = token.mark == '{' || token.mark == '(';
        bool closes = token.mark == '}' || token.mark == ')';

        depth -= closes && depth > 0;
        if (depth == 1 && token.mark == ',')
            count++;
        else if (depth >= 1)
            has_element = true;
        depth += opens;
    }
    return has_element ? count + 1 : 0;
}

bool initialiser_decode(struct initialiser *result, struct arena *arena,
                        const struct ptx_module *module, const struct ptx_item *variable)
{
    struct text initialiser = variable->variable.initialiser;
    struct decoder decoder = {.module = module, .item = variable, .result = result, .arena = arena};

    *result = (struct initialiser){.size = variable->variable.size};
    decoder.element = ptx_type_size(variable->variable.type);
    decoder.at.lexer =
        lexer_at(module->whole, initialiser.size ? (size_t)(initialiser.data - module->whole.data)
                                                 : module->whole.size);
    decoder.at.end = decoder.at.lexer.at + initialiser.size;
    decoder.at.token.offset = decoder.at.lexer.at;
    if (initialiser.size && result->size > LARGEST_INITIALISED)
        return fail_decoding(&decoder, "too many bytes");
    if (initialiser.size)
        result->bytes = arena_zalloc(arena, result->size, 1);
    /* Samplers are initialised by named fields and have no bytes in memory. */
    if (!initialiser.size || !decoder.element)
        return true;
    expression_next(&decoder.at);
    return read_dimensions(&decoder) && decode_values(&decoder);
}
