#include "observe/facts.h"
void report_print_data(struct observation *observation, struct buffer *out)
{
    (void)observation;
    (void)out;
}
void report_print_page(struct observation *observation, struct buffer *out)
{
    (void)observation;
    (void)out;
}
