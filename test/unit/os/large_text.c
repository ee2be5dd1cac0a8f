/* large_text.so: a library with 9 MiB of text, for tests of the fork server. */
__asm__(".text\n"
        ".globl large_text\n"
        ".type large_text, %function\n"
        "large_text: .zero 9437184\n");
