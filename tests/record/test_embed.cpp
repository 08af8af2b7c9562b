#include <doctest/doctest.h>

#include "fixtures.h"
#include "record/report_data.h"

using namespace record_test;

TEST_CASE("base64 agrees with the examples of RFC 4648") {
  const auto encode = [](std::string_view text) {
    std::string out;
    append_base64(out, text.data(), text.size());
    return out;
  };
  CHECK(encode("") == "");
  CHECK(encode("f") == "Zg==");
  CHECK(encode("fo") == "Zm8=");
  CHECK(encode("foo") == "Zm9v");
  CHECK(encode("foobar") == "Zm9vYmFy");
  CHECK(encode(std::string_view("\xff\xfe\x00\x01", 4)) == "//4AAQ==");
}

TEST_CASE("text inside the page cannot end a script or start an element") {
  CHECK(json_string("a\"b\\c\n</script>") == "\"a\\\"b\\\\c\\u000a\\u003c/script\\u003e\"");
  CHECK(json_string("größe") == "\"größe\"");
  CHECK(html_text("<b class=\"x\">'&") == "&lt;b class=&quot;x&quot;&gt;&#39;&amp;");
  std::string out;
  append_json_number(out, std::numeric_limits<double>::quiet_NaN());
  append_json_number(out, -std::numeric_limits<double>::infinity());
  append_json_number(out, 0.25);
  CHECK(out == "nullnull0.25");
}
