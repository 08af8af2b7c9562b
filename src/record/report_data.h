// Values as text inside a page.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace verve {

/// A JSON string that may stand inside <script>: no "<" in it.
std::string json_string(std::string_view text);
/// null when the value is not finite, for JSON has no word for that.
void append_json_number(std::string& out, double value, int digits = 9);
void append_base64(std::string& out, const void* data, size_t bytes);
/// Text for HTML, also inside an attribute.
std::string html_text(std::string_view text);

}  // namespace verve
