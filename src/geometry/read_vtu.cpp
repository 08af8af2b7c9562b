// VTK's unstructured grids in XML (.vtu): arrays as text, as base64 in place, or appended raw or as base64; not
// compressed. Schroeder et al., "VTK File Formats", 2006.
#include <map>

#include "geometry/mesh_bytes.h"
#include "geometry/mesh_formats.h"
#include "geometry/vtk_cells.h"

namespace verve {

namespace {

struct Fault {
  std::size_t at;  // byte
  std::string what;
};

/// An opening tag.
struct Tag {
  std::string name;
  std::map<std::string, std::string> attributes;
  std::size_t begin = 0, end = 0;  // bytes
  std::string get(const char* key) const {
    const auto found = attributes.find(key);
    return found == attributes.end() ? "" : found->second;
  }
};

struct Numbers {
  std::vector<double> real;
  std::vector<long long> whole;
};

class Reader {
 public:
  Reader(const MeshSource& source, Diagnostics& out) : source_(source), out_(out), text_(source.bytes) {}

  Mesh read() {
    Mesh mesh;
    try {
      load(mesh);
    } catch (const Fault& fault) {
      const std::string_view before = text_.substr(0, std::min(fault.at, text_.size()));
      out_.error(source_.name + ":" + std::to_string(1 + std::count(before.begin(), before.end(), '\n')), fault.what);
    }
    return mesh;
  }

 private:
  static bool space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

  /// The next opening tag from `at` on.
  bool next(std::size_t& at, Tag& tag) const {
    while ((at = text_.find('<', at)) != std::string_view::npos) {
      if (text_.substr(at, 4) == "<!--") {
        at = text_.find("-->", at);
        if (at == std::string_view::npos) return false;
        continue;
      }
      if (at + 1 < text_.size() && (text_[at + 1] == '/' || text_[at + 1] == '?' || text_[at + 1] == '!')) {
        ++at;
        continue;
      }
      tag = {};
      tag.begin = at++;
      while (at < text_.size() && !space(text_[at]) && text_[at] != '>' && text_[at] != '/') tag.name += text_[at++];
      while (at < text_.size() && text_[at] != '>') {
        if (space(text_[at]) || text_[at] == '/') {
          ++at;
          continue;
        }
        std::string key;
        while (at < text_.size() && text_[at] != '=' && text_[at] != '>') key += text_[at++];
        while (!key.empty() && space(key.back())) key.pop_back();
        if (at >= text_.size() || text_[at] == '>') break;
        at = text_.find_first_of("\"'", at);
        const std::size_t end = at == std::string_view::npos ? at : text_.find(text_[at], at + 1);
        if (end == std::string_view::npos) throw Fault{tag.begin, "found a tag that does not end"};
        tag.attributes[key] = std::string(text_.substr(at + 1, end - at - 1));
        at = end + 1;
      }
      if (at >= text_.size()) throw Fault{tag.begin, "found a tag that does not end"};
      tag.end = ++at;
      return true;
    }
    return false;
  }

  void load(Mesh& mesh) {
    std::size_t at = 0;
    Tag tag;
    std::string section;
    std::map<std::string, Tag> arrays;
    bool grid = false, piece = false;
    while (next(at, tag)) {
      if (tag.name == "VTKFile") {
        if (tag.get("type") != "UnstructuredGrid")
          throw Fault{tag.begin, "found type \"" + tag.get("type") + "\", expected UnstructuredGrid"};
        if (!tag.get("compressor").empty())
          throw Fault{tag.begin, "found data compressed by " + tag.get("compressor") +
                                     ", expected none: save it as text, or without compression"};
        wide_header_ = tag.get("header_type") == "UInt64";
        big_endian_ = tag.get("byte_order") == "BigEndian";
        grid = true;
      } else if (tag.name == "Piece") {
        if (piece) throw Fault{tag.begin, "found a second Piece, expected one"};
        piece = true;
      } else if (tag.name == "Points" || tag.name == "Cells" || tag.name == "PointData" || tag.name == "CellData") {
        section = tag.name;
      } else if (tag.name == "DataArray" && section == "Points") {
        arrays["points"] = tag;
      } else if (tag.name == "DataArray" && section == "Cells") {
        arrays[tag.get("Name")] = tag;
      } else if (tag.name == "AppendedData") {
        base64_appended_ = tag.get("encoding") == "base64";
        appended_ = text_.find('_', tag.end);
        if (appended_ == std::string_view::npos) throw Fault{tag.begin, "found no \"_\" before the appended data"};
        ++appended_;
        break;  // what follows is no XML
      }
    }
    if (!grid) throw Fault{0, "found no tag VTKFile"};
    for (const char* name : {"points", "connectivity", "offsets", "types"})
      if (!arrays.count(name)) throw Fault{0, "found no array \"" + std::string(name) + "\""};
    const std::vector<double> x = values(arrays["points"]).real;
    const auto connectivity = values(arrays["connectivity"]).whole, offsets = values(arrays["offsets"]).whole,
               types = values(arrays["types"]).whole;
    if (x.size() % 3) throw Fault{arrays["points"].begin, "found coordinates that are no multiple of three"};
    for (std::size_t i = 0; i < x.size(); i += 3) {
      for (std::size_t k = i; k < i + 3; ++k)
        if (!std::isfinite(x[k]))
          throw Fault{arrays["points"].begin, "found a coordinate of point " + std::to_string(i / 3) + " that is not finite"};
      mesh.vertices.push_back({x[i], x[i + 1], x[i + 2]});
    }
    if (types.size() != offsets.size())
      throw Fault{arrays["types"].begin, "found " + std::to_string(types.size()) + " types, expected the " +
                                             std::to_string(offsets.size()) + " of the offsets"};
    VtkCells cells;
    long long before = 0;
    for (std::size_t c = 0; c < types.size(); ++c) {
      if (offsets[c] < before || offsets[c] > (long long)(connectivity.size()))
        throw Fault{arrays["offsets"].begin, "found an offset of " + std::to_string(offsets[c]) + ", expected " +
                                                 std::to_string(before) + " to " + std::to_string(connectivity.size())};
      const std::string fault =
          cells.add(types[c], std::span(connectivity).subspan(std::size_t(before), std::size_t(offsets[c] - before)),
                    mesh.vertices.size());
      if (!fault.empty()) throw Fault{arrays["connectivity"].begin, "cell " + std::to_string(c) + ": " + fault};
      before = offsets[c];
    }
    cells.finish(mesh, source_.name, out_);
  }

  Numbers values(const Tag& tag) const {
    const std::string type = tag.get("type"), format = tag.get("format");
    const bool real = type == "Float32" || type == "Float64";
    const std::size_t size = type.ends_with("64") ? 8 : type.ends_with("32") ? 4 : type.ends_with("16") ? 2 : 1;
    if (!real && type.find("Int") == std::string::npos)
      throw Fault{tag.begin, "found the type \"" + type + "\", expected Float32, Float64 or a kind of Int"};
    Numbers out;
    if (format == "ascii" || format.empty()) {
      const std::string_view body = text_.substr(tag.end, std::min(text_.find('<', tag.end), text_.size()) - tag.end);
      LineReader lines(body);
      std::vector<std::string_view> words;
      while (lines.next(words))
        for (const std::string_view word : words) {
          double number = 0;
          if (!parse_number(word, number)) throw Fault{tag.begin, "found " + quote(word) + ", expected a number"};
          real ? out.real.push_back(number) : out.whole.push_back((long long)(number));
        }
      return out;
    }
    std::string decoded;
    std::string_view raw;
    const std::size_t head = wide_header_ ? 8 : 4;
    if (format == "appended") {
      long long offset = 0;
      if (!parse_integer(tag.get("offset"), offset) || offset < 0) throw Fault{tag.begin, "found no offset"};
      if (appended_ == 0) throw Fault{tag.begin, "found no AppendedData"};
      if (std::size_t(offset) > text_.size() - appended_)
        throw Fault{tag.begin, "found the offset " + std::to_string(offset) + " beyond the end of the file"};
      raw = text_.substr(appended_ + std::size_t(offset));
      if (base64_appended_) raw = decode(raw, decoded, tag);
    } else if (format == "binary") {
      raw = text_.substr(tag.end, std::min(text_.find('<', tag.end), text_.size()) - tag.end);
      raw = decode(raw, decoded, tag);
    } else {
      throw Fault{tag.begin, "found the format \"" + format + "\", expected ascii, binary or appended"};
    }
    Diagnostics unused;
    ByteReader bytes(raw, "", unused, big_endian_);
    const std::uint64_t length =
        wide_header_ ? bytes.take<std::uint64_t>("a length") : bytes.take<std::uint32_t>("a length");
    if (bytes.failed() || length > raw.size() - head)
      throw Fault{tag.begin, "found " + std::to_string(length) + " bytes announced, expected at most the " +
                                 std::to_string(bytes.remaining()) + " that follow"};
    for (std::uint64_t i = 0; i < length / size; ++i) {
      if (real)
        out.real.push_back(size == 8 ? bytes.take<double>("") : double(bytes.take<float>("")));
      else
        out.whole.push_back(size == 8   ? bytes.take<std::int64_t>("")
                            : size == 4 ? bytes.take<std::int32_t>("")
                            : size == 2 ? bytes.take<std::int16_t>("")
                                        : (long long)(bytes.take<std::uint8_t>("")));
    }
    return out;
  }

  /// Base64 up to what is none; the length before the numbers may be coded by itself, with padding.
  std::string_view decode(std::string_view text, std::string& out, const Tag& tag) const {
    unsigned bits = 0;
    int count = 0;
    for (const char c : text) {
      if (space(c)) continue;
      if (c == '=') {
        bits = 0, count = 0;
        continue;
      }
      const int value = c >= 'A' && c <= 'Z'   ? c - 'A'
                        : c >= 'a' && c <= 'z' ? c - 'a' + 26
                        : c >= '0' && c <= '9' ? c - '0' + 52
                        : c == '+'             ? 62
                        : c == '/'             ? 63
                                               : -1;
      if (value < 0) break;
      bits = bits << 6 | unsigned(value);
      if ((count += 6) >= 8) out += char(bits >> (count -= 8) & 255);
    }
    if (out.size() < (wide_header_ ? 8u : 4u)) throw Fault{tag.begin, "found no base64, expected the array"};
    return out;
  }

  const MeshSource& source_;
  Diagnostics& out_;
  std::string_view text_;
  std::size_t appended_ = 0;
  bool wide_header_ = false, big_endian_ = false, base64_appended_ = false;
};

Mesh read(const MeshSource& source, Diagnostics& out) { return Reader(source, out).read(); }
bool recognised(std::string_view bytes) { return bytes.substr(0, 2000).find("<VTKFile") != std::string_view::npos; }

}  // namespace

MeshFormat vtu_format() { return {{"vtu", "VTK unstructured grid, XML", {".vtu"}}, recognised, read}; }

}  // namespace verve
