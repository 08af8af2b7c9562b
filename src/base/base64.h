// Bytes as text, RFC 4648: what is read of it.
#pragma once

#include <string>
#include <string_view>

namespace verve {

/// Both alphabets; ends at the first "=". False where something else stands, with what came before it in `out`.
inline bool decode_base64(std::string_view text, std::string& out) {
  unsigned bits = 0;
  int count = 0;
  for (const char c : text) {
    if (c == '=') break;
    const int value = c >= 'A' && c <= 'Z'   ? c - 'A'
                      : c >= 'a' && c <= 'z' ? c - 'a' + 26
                      : c >= '0' && c <= '9' ? c - '0' + 52
                      : c == '+' || c == '-' ? 62
                      : c == '/' || c == '_' ? 63
                                             : -1;
    if (value < 0) return false;
    bits = bits << 6 | unsigned(value);
    if ((count += 6) >= 8) out += char(bits >> (count -= 8) & 255);
  }
  return true;
}

}  // namespace verve
