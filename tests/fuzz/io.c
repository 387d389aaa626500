/* libFuzzer's entry. With clang, against a static Tenon built with the same sanitizers:
 *
 *   clang -fsanitize=fuzzer,address -Iinclude -Itests tests/fuzz/io.c libtenon.a -lm -ldl -lpthread -o fuzz_io
 *   ./fuzz_io corpus/
 *
 * tests/test_fuzz_io.c runs the same function over mutations of its own, without libFuzzer. */
#include "fuzz/io.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static char path[64];
    if (!path[0]) {
        (void)snprintf(path, sizeof path, "/tmp/tenon-fuzz-XXXXXX");
        const int file = mkstemp(path);
        FUZZ_REQUIRE(file >= 0 && close(file) == 0);
    }
    (void)fuzz_file(path, bytes, size);
    return 0;
}
