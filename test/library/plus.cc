// plus.cc: a C++ program can include the header and link with the library.
#include <cstdio>
#include <cstring>
#include <minilink/minilink.h>

int main()
{
    static const char text[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                               ".visible .entry k()\n{\n\tret;\n}\n";
    const char *options[] = {"-arch=sm_90"};
    struct minilink *link = nullptr;
    struct minilink_kernel kernel {};
    std::size_t size = 0;

    int code = minilink_create(&link, options, 1);
    if (code == MINILINK_OK)
        code = minilink_add_data(link, MINILINK_INPUT_PTX, text, std::strlen(text), nullptr);
    if (code == MINILINK_OK)
        code = minilink_complete(link);
    if (code == MINILINK_OK && minilink_cubin(link, &size))
        code = minilink_kernel(link, 0, &kernel, sizeof kernel);
    std::printf("%s %s\n", minilink_code_name(code), kernel.name ? kernel.name : "none");
    minilink_destroy(&link);
    return code;
}
