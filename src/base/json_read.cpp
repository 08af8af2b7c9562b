#include <cmath>
#include <locale>
#include <sstream>

#include "base/json.h"

namespace verve {

namespace {

constexpr int deepest = 200;  // far beyond any scene, far below the stack

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
         c == '+' || c == '.' || c == '$';
}
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The number grammar of RFC 8259, section 6.
bool is_json_number(std::string_view s) {
  size_t i = 0;
  const auto digits = [&] {
    const size_t start = i;
    while (i < s.size() && is_digit(s[i])) ++i;
    return i > start;
  };
  if (i < s.size() && s[i] == '-') ++i;
  if (i < s.size() && s[i] == '0')
    ++i;
  else if (!digits())
    return false;
  if (i < s.size() && s[i] == '.' && (++i, !digits())) return false;
  if (i < s.size() && (s[i] == 'e' || s[i] == 'E')) {
    ++i;
    if (i < s.size() && (s[i] == '+' || s[i] == '-')) ++i;
    if (!digits()) return false;
  }
  return i == s.size();
}

double to_double(std::string_view s) {
  std::istringstream stream{std::string(s)};
  stream.imbue(std::locale::classic());
  double value = 0;
  stream >> value;
  return stream.fail() ? HUGE_VAL : value;
}

/// Bytes of the UTF-8 character at s[0]; 0 when it is not one.
size_t utf8_length(std::string_view s) {
  const auto byte = [&](size_t i) { return i < s.size() ? static_cast<unsigned char>(s[i]) : 0u; };
  const auto tail = [&](size_t i) { return (byte(i) & 0xC0) == 0x80; };
  const unsigned b = byte(0);
  if (b < 0x80) return 1;
  if (b >= 0xC2 && b <= 0xDF) return tail(1) ? 2 : 0;
  if (b >= 0xE0 && b <= 0xEF) {
    const unsigned low = b == 0xE0 ? 0xA0 : 0x80, high = b == 0xED ? 0x9F : 0xBF;
    return byte(1) >= low && byte(1) <= high && tail(2) ? 3 : 0;
  }
  if (b >= 0xF0 && b <= 0xF4) {
    const unsigned low = b == 0xF0 ? 0x90 : 0x80, high = b == 0xF4 ? 0x8F : 0xBF;
    return byte(1) >= low && byte(1) <= high && tail(2) && tail(3) ? 4 : 0;
  }
  return 0;
}

void append_utf8(std::string& out, unsigned c) {
  if (c < 0x80) {
    out += char(c);
  } else if (c < 0x800) {
    out += {char(0xC0 | (c >> 6)), char(0x80 | (c & 0x3F))};
  } else if (c < 0x10000) {
    out += {char(0xE0 | (c >> 12)), char(0x80 | ((c >> 6) & 0x3F)), char(0x80 | (c & 0x3F))};
  } else {
    out += {char(0xF0 | (c >> 18)), char(0x80 | ((c >> 12) & 0x3F)), char(0x80 | ((c >> 6) & 0x3F)),
            char(0x80 | (c & 0x3F))};
  }
}

class Parser {
 public:
  Parser(std::string_view text, int number, std::vector<JsonProblem>& problems)
      : text_(text), number_(number), problems_(problems) {}

  Json document() {
    if (text_.substr(0, 3) == "\xEF\xBB\xBF") at_ = 3;  // byte order mark
    Json value = this->value("", 0);
    skip();
    if (!stop_ && at_ < text_.size()) problem(at_, "", "found " + here() + ", expected the end of the file");
    return value;
  }

 private:
  void problem(size_t offset, const std::string& path, std::string what) {
    problems_.push_back({{number_, offset}, path, std::move(what)});
  }
  /// A problem after which the rest of the text makes no sense.
  void give_up(size_t offset, const std::string& path, std::string what) {
    if (!stop_) problem(offset, path, std::move(what));
    stop_ = true;
  }
  bool end() const { return at_ >= text_.size(); }
  bool take(char c) {
    if (end() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  std::string_view word() const {
    size_t stop = at_;
    while (stop < text_.size() && is_word(text_[stop])) ++stop;
    return text_.substr(at_, stop - at_);
  }
  std::string here() const {
    if (end()) return "the end of the file";
    if (const std::string_view w = word(); !w.empty()) return std::string(w.substr(0, 40));
    const size_t n = utf8_length(text_.substr(at_));
    if (n == 0) return "a byte that is not UTF-8";
    if (n == 1 && static_cast<unsigned char>(text_[at_]) < 0x20) return "a control character";
    std::string out(1, '\'');
    out += text_.substr(at_, n);
    return out += '\'';
  }

  void skip() {
    while (!end()) {
      const char c = text_[at_];
      if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
        ++at_;
      } else if (text_.substr(at_, 2) == "//") {
        while (!end() && text_[at_] != '\n') ++at_;
      } else if (text_.substr(at_, 2) == "/*") {
        const size_t close = text_.find("*/", at_ + 2);
        if (close == std::string_view::npos) {
          give_up(at_, "", "found a comment without an end, expected */");
          at_ = text_.size();
          return;
        }
        at_ = close + 2;
      } else {
        return;
      }
    }
  }

  Json value(const std::string& path, int depth) {
    skip();
    Json out;
    out.place = {number_, at_};
    out.kind = Json::Kind::invalid;
    if (stop_) return out;
    if (depth > deepest) {
      give_up(at_, path, "found more than " + std::to_string(deepest) + " levels of nesting, expected fewer");
    } else if (end()) {
      give_up(at_, path, "found the end of the file, expected a value");
    } else if (text_[at_] == '{') {
      object(out, path, depth);
    } else if (text_[at_] == '[') {
      array(out, path, depth);
    } else if (text_[at_] == '"') {
      if (string(out.text, path)) out.kind = Json::Kind::string;
    } else if (is_word(text_[at_])) {
      literal(out, path);
    } else {
      give_up(at_, path, "found " + here() + ", expected a value");
    }
    return out;
  }

  void literal(Json& out, const std::string& path) {
    const size_t start = at_;
    const std::string_view w = word();
    at_ += w.size();
    if (w == "null") {
      out.kind = Json::Kind::null;
    } else if (w == "true" || w == "false") {
      out.kind = Json::Kind::boolean;
      out.boolean = w == "true";
    } else if (is_json_number(w)) {
      out.number = to_double(w);
      out.text = w;
      if (std::isfinite(out.number))
        out.kind = Json::Kind::number;
      else
        problem(start, path, "found " + std::string(w.substr(0, 40)) + ", expected a number that fits a double");
    } else {
      const std::string found = "found " + std::string(w.substr(0, 40)) + ", ";
      std::string lower;
      for (const char c : w.substr(w[0] == '-' || w[0] == '+'))
        if (lower.size() < 9) lower += char(c >= 'A' && c <= 'Z' ? c + 32 : c);
      if (lower == "nan" || lower == "inf" || lower == "infinity")
        problem(start, path, found + "expected a finite number (JSON has no NaN and no Infinity)");
      else if (is_digit(w[0]) || w[0] == '-' || w[0] == '+' || w[0] == '.')
        problem(start, path, found + "expected a number as JSON writes it: 12, -0.5, 1e-3");
      else
        problem(start, path, found + "expected a value (a text goes in double quotes)");
    }
  }

  bool hex4(unsigned& out) {
    out = 0;
    for (int i = 0; i < 4; ++i, ++at_) {
      const char c = end() ? ' ' : text_[at_];
      if (is_digit(c))
        out = out * 16 + unsigned(c - '0');
      else if (c >= 'a' && c <= 'f')
        out = out * 16 + unsigned(c - 'a' + 10);
      else if (c >= 'A' && c <= 'F')
        out = out * 16 + unsigned(c - 'A' + 10);
      else
        return false;
    }
    return true;
  }

  bool escape(std::string& out) {
    const char c = end() ? ' ' : text_[at_++];
    switch (c) {
      case '"':
      case '\\':
      case '/':
        out += c;
        return true;
      case 'b':
        out += '\b';
        return true;
      case 'f':
        out += '\f';
        return true;
      case 'n':
        out += '\n';
        return true;
      case 'r':
        out += '\r';
        return true;
      case 't':
        out += '\t';
        return true;
      case 'u':
        break;
      default:
        return false;
    }
    unsigned code = 0, low = 0;
    if (!hex4(code) || (code >= 0xDC00 && code <= 0xDFFF)) return false;
    if (code >= 0xD800 && code <= 0xDBFF) {
      if (!take('\\') || !take('u') || !hex4(low) || low < 0xDC00 || low > 0xDFFF) return false;
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    }
    append_utf8(out, code);
    return true;
  }

  bool string(std::string& out, const std::string& path) {
    const size_t start = at_++;
    while (!end()) {
      const char c = text_[at_];
      if (c == '"') return ++at_, true;
      if (c == '\\') {
        const size_t slash = at_++;
        if (!escape(out))
          return give_up(slash, path, "found a \\ that escapes nothing, expected \\\\ or a JSON escape"), false;
        continue;
      }
      if (c == '\n' || c == '\r') break;
      const size_t n = utf8_length(text_.substr(at_));
      if (n == 0) return give_up(at_, path, "found a byte that is not UTF-8, expected UTF-8 text"), false;
      if (static_cast<unsigned char>(c) < 0x20)
        return give_up(at_, path, "found a control character, expected \\t or \\u00xx"), false;
      out += text_.substr(at_, n);
      at_ += n;
    }
    give_up(start, path, "found a text without an end, expected \" before the end of the line");
    return false;
  }

  /// After a value: true when another one follows.
  bool more(char close, const std::string& path) {
    skip();
    if (stop_) return false;
    const size_t comma = at_;
    if (take(',')) {
      skip();
      if (!take(close)) return true;
      problem(comma, path, "found a comma after the last value, expected none");
      return false;
    }
    if (take(close)) return false;
    if (!end() && (text_[at_] == '"' || text_[at_] == '{' || text_[at_] == '[' || is_word(text_[at_]))) {
      problem(at_, path, "found " + here() + ", expected a comma before it");
      return true;
    }
    give_up(at_, path, "found " + here() + ", expected a comma or " + close);
    return false;
  }

  void array(Json& out, const std::string& path, int depth) {
    ++at_;
    skip();
    if (!take(']')) {
      do out.items.push_back(value(join_path(path, out.items.size()), depth + 1));
      while (!stop_ && more(']', path));
    }
    if (!stop_) out.kind = Json::Kind::array;
  }

  void object(Json& out, const std::string& path, int depth) {
    ++at_;
    skip();
    if (!take('}')) {
      do {
        skip();
        JsonMember member;
        member.place = {number_, at_};
        if (end() || text_[at_] != '"') {
          give_up(at_, path, "found " + here() + ", expected a key in double quotes");
        } else if (string(member.key, path)) {
          skip();
          if (!take(':'))
            give_up(at_, join_path(path, member.key), "found " + here() + ", expected a colon after the key");
          member.value = value(join_path(path, member.key), depth + 1);
          out.members.push_back(std::move(member));
        }
      } while (!stop_ && more('}', path));
    }
    if (!stop_) out.kind = Json::Kind::object;
  }

  std::string_view text_;
  int number_;
  std::vector<JsonProblem>& problems_;
  size_t at_ = 0;
  bool stop_ = false;
};

}  // namespace

Json parse_json(std::string_view text, int text_number, std::vector<JsonProblem>& problems) {
  return Parser(text, text_number, problems).document();
}

std::pair<int, int> line_and_column(std::string_view text, size_t offset) {
  int line = 1, column = 1;
  for (size_t i = text.substr(0, 3) == "\xEF\xBB\xBF" ? 3 : 0; i < offset && i < text.size(); ++i) {
    if (text[i] == '\n')
      ++line, column = 1;
    else if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80)
      ++column;
  }
  return {line, column};
}

}  // namespace verve
