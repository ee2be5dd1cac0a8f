/* report_page.c: --report=FILE.html: the page in page/, with its style, its script and the data in
 * it.
 *
 * A marker in the page stands where each goes. The data is JSON in a script that no browser runs;
 * no "<" stands in it, so that no name can end the script. The page's script puts names into the
 * page as text, never as HTML. */
#include <string.h>

#include "diag/json_tree.h"
#include "observe/facts.h"
#include "observe/page.h"

/* Appends the page up to the marker; returns what is behind it. */
static const char *put_until(const char *page, const char *marker, struct buffer *out)
{
    const char *found = strstr(page, marker);

    if (!found)
        return page;
    buffer_append(out, page, (size_t)(found - page));
    return found + strlen(marker);
}

void report_print_page(struct observation *observation, struct buffer *out)
{
    const char *rest = page_html;
    struct json_t *data = json_tree_begin();

    CONTEXT_DEFER(json_tree_end, data);
    report_data_put(observation, data);
    rest = put_until(rest, "@STYLE@", out);
    buffer_string(out, page_css);
    rest = put_until(rest, "@DATA@", out);
    json_tree_print(data, JSON_TREE_IN_PAGE, out);
    rest = put_until(rest, "@SCRIPT@", out);
    buffer_string(out, page_js);
    buffer_string(out, rest);
}
