// tokens.h - a mutator that knows the words of the language.
//
// The dictionary is token.def itself, with the beginnings of literals that no
// row spells. Included by one file of a fuzz program.
#ifndef TOKENS_H
#define TOKENS_H

#include <string.h>

#include "support/support.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t room);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room,
                               unsigned seed);

static const char *const fuzz_words[] = {
#define TOKEN(id, text, ...) text,
#include "lang/token.def"
    "\n", "\n    ", "\n\t", "\\\n", "# c\n", "'", "\"", "'''", "\"\"\"", "f'{",
    "f\"\"\"{", "rb'", "{x!r:>{y}}", "}}", "0x1f", "1_0.5e3j", "match x:\n",
    " case _:\n", "\xc2\xb5", "\xe2\x80\x9c", "\\N{", "\\u12", "_",
};

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room,
                               unsigned seed)
{
    const char *word = fuzz_words[seed / 3 % countof(fuzz_words)];
    size_t len = strlen(word), at = seed / 1009 % (size + 1);

    if (seed % 3 || size + len > room)
        return LLVMFuzzerMutate(data, size, room);
    memmove(data + at + len, data + at, size - at);
    memcpy(data + at, word, len);
    return size + len;
}
#endif
