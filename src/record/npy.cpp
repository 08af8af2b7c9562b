#include "record/npy.h"

namespace verve {

std::string npy_header(std::int64_t frames, std::int64_t vertices, bool float64) {
  // https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
  std::string dictionary = "{'descr': '";
  dictionary += float64 ? "<f8" : "<f4";
  dictionary +=
      "', 'fortran_order': False, 'shape': (" + std::to_string(frames) + ", " + std::to_string(vertices) + ", 3), }";
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

}  // namespace verve
