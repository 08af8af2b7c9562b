#include "record/report_data.h"

#include <cmath>
#include <cstdio>

#include "record/metrics_table.h"

namespace verve {

std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == '<' || c == '>' || c == '&') {
      char buffer[8];
      std::snprintf(buffer, sizeof buffer, "\\u%04x", unsigned(static_cast<unsigned char>(c)));
      out += buffer;
    } else {
      out += c;
    }
  }
  return out + '"';
}

void append_json_number(std::string& out, double value, int digits) {
  if (std::isfinite(value))
    append_number(out, value, digits);
  else
    out += "null";
}

void append_base64(std::string& out, const void* data, size_t bytes) {
  static constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const auto* in = static_cast<const unsigned char*>(data);
  out.reserve(out.size() + (bytes + 2) / 3 * 4);
  for (size_t i = 0; i < bytes; i += 3) {
    const unsigned rest = unsigned(bytes - i < 3 ? bytes - i : 3);
    const unsigned second = rest > 1 ? in[i + 1] : 0, third = rest > 2 ? in[i + 2] : 0;
    const unsigned word = unsigned(in[i]) << 16 | second << 8 | third;
    out += digits[word >> 18];
    out += digits[word >> 12 & 63];
    out += rest > 1 ? digits[word >> 6 & 63] : '=';
    out += rest > 2 ? digits[word & 63] : '=';
  }
}

std::string html_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else if (c == '\'')
      out += "&#39;";
    else
      out += c;
  }
  return out;
}

}  // namespace verve
