#include "record/npy.h"

#include <cstdlib>

namespace verve {

std::string npy_header(std::int64_t frames, std::int64_t vertices, bool float64) {
  return npy_header(float64 ? "'<f8'" : "'<f4'",
                    "(" + std::to_string(frames) + ", " + std::to_string(vertices) + ", 3)");
}

std::string npy_header(const std::string& type, const std::string& shape) {
  // https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
  std::string dictionary = "{'descr': " + type + ", 'fortran_order': False, 'shape': " + shape + ", }";
  constexpr int length = int(npy_header_size) - 10;
  dictionary.resize(length - 1, ' ');
  dictionary += '\n';
  std::string out = "\x93NUMPY";
  out += '\x01';
  out += '\x00';
  out += char(length & 255);
  out += char(length >> 8);
  return out + dictionary;
}

namespace {

/// The value of 'key' in the dictionary, without the blanks before it.
std::string behind(const std::string& dictionary, const std::string& key) {
  const size_t at = dictionary.find("'" + key + "':");
  if (at == std::string::npos) return "";
  const size_t begin = dictionary.find_first_not_of(' ', at + key.size() + 3);
  return begin == std::string::npos ? "" : dictionary.substr(begin);
}

/// What is wrong with the bytes before the dictionary; empty: nothing, and here it is.
std::string find_dictionary(const std::string& bytes, std::string& dictionary, std::uint64_t& size) {
  const auto byte = [&](size_t i) { return std::uint64_t(static_cast<unsigned char>(bytes[i])); };
  if (bytes.size() < 10 || bytes.compare(0, 6, "\x93NUMPY") != 0) return "found no NumPy array";
  if (byte(6) != 1) return "found version " + std::to_string(byte(6)) + " of the format of NumPy, expected version 1";
  size = 10 + byte(8) + 256 * byte(9);
  if (bytes.size() < size) return "found a header that is cut off";
  dictionary = bytes.substr(10, size - 10);
  return "";
}

}  // namespace

std::string read_npy_header(const std::string& bytes, NpyHeader& out) {
  std::string dictionary;
  if (std::string fault = find_dictionary(bytes, dictionary, out.size); !fault.empty()) return fault;
  const std::string type = behind(dictionary, "descr").substr(0, 5);
  out.float64 = type == "'<f8'";
  if (!out.float64 && type != "'<f4'") return "found numbers of type " + type + ", expected '<f4' or '<f8'";
  if (behind(dictionary, "fortran_order").rfind("False", 0) != 0) return "found an array in the order of Fortran";
  const std::string shape = behind(dictionary, "shape");
  long long sizes[3] = {};
  const char* at = shape.c_str();
  bool good = *at == '(';
  for (int i = 0; i < 3 && good; ++i) {
    char* end = nullptr;
    sizes[i] = std::strtoll(at + 1, &end, 10);
    good = end > at + 1 && sizes[i] >= 0 && (*end == ',' || (i == 2 && *end == ')'));
    at = end;
  }
  if (!good || sizes[2] != 3)
    return "found the shape " + shape.substr(0, shape.find(')') + 1) + ", expected (frames, vertices, 3)";
  out.frames = sizes[0], out.vertices = sizes[1];
  return "";
}

std::string read_npy_table_header(const std::string& bytes, const std::string& type, std::int64_t& rows,
                                  std::uint64_t& size) {
  std::string dictionary;
  if (std::string fault = find_dictionary(bytes, dictionary, size); !fault.empty()) return fault;
  if (behind(dictionary, "descr").rfind(type, 0) != 0) return "expected rows of type " + type;
  const std::string shape = behind(dictionary, "shape");
  char* end = nullptr;
  rows = shape.empty() ? -1 : std::strtoll(shape.c_str() + 1, &end, 10);
  if (rows < 0 || shape[0] != '(' || std::string(end).rfind(",)", 0) != 0)
    return "found the shape " + shape.substr(0, shape.find(')') + 1) + ", expected (rows,)";
  return "";
}

}  // namespace verve
