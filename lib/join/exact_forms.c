/* exact_forms.c: in which form the assembler wrote the chunks, as their own bytes tell. */
#include "cubin/format.h"
#include "join/exact_plan.h"

static const struct exact_form forms[] = {
#define FORM(first, last, symbols, names) {{first, last}, symbols, names},
#include "join/exact_forms.def"
#undef FORM
};

static void order_classes(struct exact *join)
{
    join->order_count = classes_whole(toolkits_find(join->form->toolkits.first), join->order);
    for (size_t i = 0; i < join->order_count; i++)
        join->place[join->order[i]] = (uint8_t)i;
}

size_t exact_name_padding(bool has_mercury)
{
    return has_mercury ? 36 : 14;
}

/* Whether the names stand one after the other in the order of the sections. */
static bool are_names_rewritten(const struct exact_input *input)
{
    const struct cubin *cubin = &input->cubin;
    struct bytes names = cubin->sections[EXACT_SECTION_NAMES].data;
    const char *next = (const char *)names.data + 1;

    for (size_t i = 1; i < cubin->section_count; i++) {
        if (cubin->sections[i].name.data != next)
            return false;
        next += cubin->sections[i].name.size + 1;
    }
    return (size_t)((const char *)names.data + names.size - next) ==
           exact_name_padding(input->has_mercury);
}

/* Whether the rows of weak symbols are where a form has them. A cubin without any fits both. */
static bool fits_symbols(const struct cubin *cubin, enum exact_symbol_form form)
{
    size_t made = exact_last_made(cubin);
    bool is_late = false;

    for (size_t row = 1; row < cubin->symbol_count; row++) {
        const struct cubin_symbol *symbol = &cubin->symbols[row];

        is_late |= row >= made || symbol->binding == STB_GLOBAL;
        if (form == WEAK_WITH_LOCALS
                ? is_late && (symbol->binding == STB_WEAK || exact_is_nameless(symbol))
                : row < made && symbol->binding != STB_LOCAL)
            return false;
    }
    return true;
}

static bool fits_form(const struct exact *join, const struct exact_form *form)
{
    for (size_t i = 0; i < join->count; i++)
        if (are_names_rewritten(&join->inputs[i]) != (form->names == NAMES_REWRITTEN) ||
            !fits_symbols(&join->inputs[i].cubin, form->symbols))
            return false;
    return true;
}

bool exact_find_form(struct exact *join)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (fits_form(join, &forms[i])) {
            join->form = &forms[i];
            order_classes(join);
            return true;
        }
    return exact_unsupported(join, NULL, 0, "is written in a form that is not known");
}

bool exact_join_knows(unsigned version)
{
    return version >= forms[0].toolkits.first &&
           version <= forms[sizeof forms / sizeof *forms - 1].toolkits.last;
}

bool exact_join_is_newer(unsigned version)
{
    return version > forms[sizeof forms / sizeof *forms - 1].toolkits.last;
}
