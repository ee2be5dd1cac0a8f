/* initialiser.c: a walk over the braces with one index for each dimension.
 *
 * Elements are numbers or addresses: g, g+8, generic(g), generic(g)+8, and 0xFF00(g), one byte of
 * an address. Nested braces are rows of arrays; omitted elements are zero.
 *
 * Which number can initialise which type was measured on ptxas: integers are truncated to the
 * element's size, floats are accepted for .f and .b types only, integers for all but .f types. */
#include "ptx/declaration.h"

#include "ptx/internal.h"

/* Most dimensions; deeper arrays are rejected. A vector's elements are one more. */
#define MOST_DIMENSIONS 16u

/* Largest variable with an initial value; larger ones are rejected: the bytes must be in memory. */
#define LARGEST_INITIALISED (UINT64_C(1) << 32)

struct decoder {
    struct parser at; /* in the module's whole text, up to the end of the initialiser */
    const struct ptx_variable *variable;
    struct initialiser *result;
    size_t capacity;                      /* of its references */
    uint64_t dimensions[MOST_DIMENSIONS]; /* outermost first */
    uint64_t strides[MOST_DIMENSIONS];    /* bytes from one element of a dimension to the next */
    size_t levels;
    uint32_t element; /* bytes */
};

/* Only the first fault counts, and after it all text is read. */
static void fail_here(struct decoder *decoder, const char *fault)
{
    expression_fail(&decoder->at, decoder->at.token.offset, fault);
}

/* The array's sizes, and one more level for the elements of a vector. */
static void set_dimensions(struct decoder *decoder)
{
    const struct ptx_variable *variable = decoder->variable;
    uint64_t stride = decoder->element;

    if (variable->dimensions.count >= MOST_DIMENSIONS) {
        fail_here(decoder, "too many dimensions");
        return;
    }
    for (; decoder->levels < variable->dimensions.count; decoder->levels++)
        decoder->dimensions[decoder->levels] = variable->dimensions.sizes[decoder->levels];
    if (variable->vector > 1)
        decoder->dimensions[decoder->levels++] = variable->vector;
    for (size_t i = decoder->levels; i-- > 0; stride *= decoder->dimensions[i]) {
        decoder->strides[i] = stride;
        /* The outermost size can be missing; it then follows from the variable's size. */
        if (i == 0 && stride > 0)
            decoder->dimensions[0] = variable->size / stride;
    }
}

/* Makes the element's bits of the constant's. False when the type does not accept it. */
static bool convert_constant(uint8_t type, struct constant *constant)
{
    bool is_float = type == PTX_F32 || type == PTX_F64;
    uint32_t single = (uint32_t)constant->bits;
    double wide;
    float narrow;

    if (constant->kind == CONSTANT_SIGNED || constant->kind == CONSTANT_UNSIGNED)
        return !is_float;
    if (constant->kind == CONSTANT_SINGLE && type == PTX_F64) {
        memcpy(&narrow, &single, sizeof narrow);
        wide = (double)narrow;
        memcpy(&constant->bits, &wide, sizeof wide);
    } else if (constant->kind == CONSTANT_DOUBLE && (type == PTX_F32 || type == PTX_B32)) {
        memcpy(&wide, &constant->bits, sizeof wide);
        narrow = (float)wide;
        memcpy(&single, &narrow, sizeof single);
        constant->bits = single;
    }
    return is_float || type == PTX_B32 || type == PTX_B64;
}

/* The address at the current token: name, name+N, generic(name), generic(name)+N. */
static void read_address(struct decoder *decoder, struct initialiser_reference *reference)
{
    struct parser *at = &decoder->at;
    struct constant addend;

    reference->is_generic = lexer_is(&at->lexer, at->token, TEXT("generic"));
    if (reference->is_generic) {
        parser_next(at);
        expression_mark(&decoder->at, '(', "expected '('");
    }
    if (at->token.kind != TOKEN_WORD)
        fail_here(decoder, "expected a name");
    reference->symbol = lexer_text(&at->lexer, at->token);
    reference->place = at->token.offset;
    parser_next(at);
    if (reference->is_generic)
        expression_mark(&decoder->at, ')', "expected ')'");
    if (at->token.mark != '+')
        return;
    parser_next(at);
    addend = expression_read(at);
    if (addend.kind != CONSTANT_SIGNED && addend.kind != CONSTANT_UNSIGNED)
        fail_here(decoder, "expected an offset");
    reference->addend = (int64_t)addend.bits;
}

/* An address, or, with a mask other than UINT64_MAX and parentheses around it, one byte of it.
 * Measured on ptxas: signed and untyped elements take no address. */
static void read_reference(struct decoder *decoder, uint64_t mask, uint64_t offset)
{
    struct initialiser_reference reference = {
        .offset = offset, .mask = mask, .width = decoder->element};
    uint8_t type = decoder->variable->type;
    bool is_byte = mask != UINT64_MAX;

    if (is_byte && (mask == 0 || mask >> (__builtin_ctzll(mask) & ~7) != 0xff))
        fail_here(decoder, "a mask that is not one byte of an address");
    if (type != PTX_U32 && type != PTX_U64 && !(is_byte && type == PTX_U8))
        fail_here(decoder, is_byte ? "a byte of an address in an element that is not .u8"
                                   : "an address in an element that is neither .u64 nor .u32");
    if (is_byte)
        parser_next(&decoder->at); /* the parenthesis */
    read_address(decoder, &reference);
    if (is_byte)
        expression_mark(&decoder->at, ')', "expected ')'");
    if (!decoder->at.failed)
        ARENA_PUSH(decoder->at.arena, decoder->result->references, decoder->result->reference_count,
                   decoder->capacity) = reference;
}

static void read_value(struct decoder *decoder, uint64_t offset)
{
    uint8_t type = decoder->variable->type;
    struct constant constant;

    if (type == PTX_F16 || type == PTX_F16X2)
        fail_here(decoder, "No initial value is allowed for a half");
    constant = expression_read(&decoder->at);
    if (!convert_constant(type, &constant))
        fail_here(decoder, "Initial value type mismatch");
    for (uint32_t i = 0; !decoder->at.failed && i < decoder->element && i < 8; i++)
        decoder->result->bytes[offset + i] = (uint8_t)(constant.bits >> (8 * i));
}

/* One element: a constant, an address, or one byte of an address, with a mask before it. */
static void read_element(struct decoder *decoder, uint64_t offset)
{
    const struct token *token = &decoder->at.token;
    const struct lexer *lexer = &decoder->at.lexer;
    uint64_t mask;

    if (token->mark == '{') {
        fail_here(decoder, "'{' where an element is expected");
    } else if (token->kind == TOKEN_WORD && !lexer_is(lexer, *token, TEXT("WARP_SZ"))) {
        read_reference(decoder, UINT64_MAX, offset);
    } else if (token->kind == TOKEN_NUMBER && lexer_peek(lexer).mark == '(' &&
               lexer_integer(lexer_text(lexer, *token), &mask)) {
        parser_next(&decoder->at);
        read_reference(decoder, mask, offset);
    } else {
        read_value(decoder, offset);
    }
}

/* An element, or `{`, what is at the level below, separated by commas, and `}`. */
static void read_level(struct decoder *decoder, size_t level, uint64_t offset)
{
    struct parser *at = &decoder->at;
    uint64_t count = 1;

    if (level == decoder->levels) {
        read_element(decoder, offset);
        return;
    }
    if (at->token.mark == '{' && decoder->dimensions[level] == 0)
        fail_here(decoder, "more elements than the variable has");
    expression_mark(&decoder->at, '{', "expected '{'");
    if (at->token.mark != '}')
        read_level(decoder, level + 1, offset);
    for (; at->token.mark == ','; count++) {
        if (count == decoder->dimensions[level])
            fail_here(decoder, "more elements than the variable has");
        parser_next(at);
        read_level(decoder, level + 1, offset + count * decoder->strides[level]);
    }
    if (at->token.mark == '}' && level + 1 == decoder->levels && decoder->variable->vector > 1 &&
        count < decoder->dimensions[level])
        fail_here(decoder, "fewer elements than the vector has");
    expression_mark(&decoder->at, '}', "expected ',' or '}'");
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
                        const struct ptx_module *module, const struct ptx_item *item)
{
    const struct ptx_variable *variable = &item->variable;
    struct text text = variable->initialiser;
    struct decoder decoder = {.variable = variable, .result = result};
    struct ptx_module own = *module;
    size_t start = text.size ? (size_t)(text.data - module->whole.data) : 0;

    *result = (struct initialiser){.size = variable->size};
    if (!text.size)
        return true;
    decoder.element = ptx_type_size(variable->type);
    decoder.at = (struct parser){
        .lexer = lexer_at((struct text){module->whole.data, start + text.size}, start),
        .arena = arena,
        .module = &own,
        .variable = item->name,
        .counted = (size_t)(item->text.data - module->whole.data),
        .line = item->line};
    parser_next(&decoder.at);
    if (result->size > LARGEST_INITIALISED)
        fail_here(&decoder, "too many bytes");
    else
        result->bytes = arena_zalloc(arena, result->size, 1);
    /* Samplers are initialised by named fields and have no bytes in memory. */
    if (decoder.element) {
        set_dimensions(&decoder);
        read_level(&decoder, 0, 0);
        if (decoder.at.token.kind != TOKEN_END)
            fail_here(&decoder, "more than one value");
    }
    return !decoder.at.failed;
}
