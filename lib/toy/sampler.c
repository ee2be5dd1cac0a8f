/* sampler.c: reads the initializer of a sampler:
 *
 *     { addr_mode_0 = clamp_to_border, filter_mode = linear, ... }
 *
 * Measured on ptxas: addr_mode_0 to addr_mode_2 and filter_mode are the bytes of a word, 0xff if
 * not given; modes are numbered from 0 in the order below, and a number n stands for mode n - 1.
 * force_unnormalized_coords has a record of its own. */
#include "toy/data.h"

#include <string.h>

#include "diag/diag.h"
#include "ptx/lexer.h"
#include "ptx/source_place.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const struct text fields[] = {
    TEXT("addr_mode_0"),
    TEXT("addr_mode_1"),
    TEXT("addr_mode_2"),
    TEXT("filter_mode"),
};

static const struct text address_modes[] = {
    TEXT("wrap"), TEXT("mirror"), TEXT("clamp_ogl"), TEXT("clamp_to_edge"), TEXT("clamp_to_border"),
};

static const struct text filter_modes[] = {TEXT("nearest"), TEXT("linear")};

static bool find(const struct text *names, size_t count, struct text name, uint8_t *value)
{
    for (size_t i = 0; i < count; i++)
        if (text_equal(names[i], name)) {
            *value = (uint8_t)i;
            return true;
        }
    return false;
}

/* One "name = value". */
static bool read_field(struct lexer *lexer, struct sampler *sampler)
{
    struct text name = lexer_text(lexer, lexer_next(lexer));
    struct token equals = lexer_next(lexer);
    struct token token = lexer_next(lexer);
    struct text text = lexer_text(lexer, token);
    uint64_t number;
    uint8_t field;

    if (equals.mark != '=' || (token.kind != TOKEN_WORD && token.kind != TOKEN_NUMBER))
        return false;
    bool is_number = token.kind == TOKEN_NUMBER &&
                     lexer_number(text, &number, NULL) == NUMBER_INTEGER && number <= 0x7f;
    if (text_equal(name, TEXT("force_unnormalized_coords"))) {
        sampler->unnormalized = is_number && number != 0;
        return is_number;
    }
    if (!find(fields, COUNT(fields), name, &field))
        return false;
    if (is_number) {
        sampler->values[field] = (uint8_t)(number - 1);
        return true;
    }
    return field < 3 ? find(address_modes, COUNT(address_modes), text, &sampler->values[field])
                     : find(filter_modes, COUNT(filter_modes), text, &sampler->values[field]);
}

static bool read_fields(struct lexer *lexer, struct sampler *sampler)
{
    struct token token = lexer_next(lexer);

    if (token.mark != '{')
        return false;
    if (lexer_peek(lexer).mark == '}')
        return true;
    do {
        if (!read_field(lexer, sampler))
            return false;
        token = lexer_next(lexer);
    } while (token.mark == ',');
    return token.mark == '}';
}

bool sampler_decode(struct sampler *sampler, const struct ptx_module *module,
                    const struct ptx_item *item)
{
    struct text initialiser = item->variable.initialiser;

    memset(sampler, SAMPLER_NOT_SAID, sizeof *sampler);
    if (initialiser.size == 0)
        return true;
    struct lexer lexer = lexer_at(initialiser, 0);
    if (read_fields(&lexer, sampler))
        return true;
    const struct diag_place place = source_ptx_place(module, item, initialiser.data);
    diag_at(DIAG_ERROR, &place, "Invalid initial value of sampler '%.*s'", TEXT_ARG(item->name));
    return false;
}
