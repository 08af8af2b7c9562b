#include <array>
#include <cstdlib>
#include <stdexcept>

#include "render/deflate.h"
#include "render/picture.h"

namespace verve::render {

namespace {

std::string number(std::uint32_t value) {
  return {char(value >> 24 & 255), char(value >> 16 & 255), char(value >> 8 & 255), char(value & 255)};
}

void add_chunk(std::string& out, std::string_view kind, std::string_view data) {
  const std::string body = std::string(kind) + std::string(data);
  out += number(std::uint32_t(data.size())) + body + number(crc32(body));
}

/// The filters of PNG (W3C 2003, 9.2).
int predicted(int filter, int left, int up, int corner) {
  switch (filter) {
    case 1:
      return left;
    case 2:
      return up;
    case 3:
      return (left + up) / 2;
    case 4: {
      const int p = left + up - corner;
      const int a = std::abs(p - left), b = std::abs(p - up), c = std::abs(p - corner);
      return a <= b && a <= c ? left : b <= c ? up : corner;
    }
    default:
      return 0;
  }
}

}  // namespace

std::string png(const Image& image) {
  if (image.width < 1 || image.height < 1 || image.rgb.size() != size_t(image.width) * image.height * 3)
    throw std::invalid_argument("png: found an image without its pixels");
  const int row = image.width * 3;
  std::string data, best, trial(size_t(row), '\0');
  data.reserve(size_t(row + 1) * image.height);
  for (int y = 0; y < image.height; ++y) {
    const std::uint8_t* here = image.rgb.data() + size_t(y) * row;
    long least = -1;
    char chosen = 0;
    for (int filter = 0; filter < 5; ++filter) {
      long sum = 0;  // of the differences: the usual measure of how well a row will be compressed
      for (int i = 0; i < row; ++i) {
        const int left = i >= 3 ? here[i - 3] : 0, up = y ? here[i - row] : 0,
                  corner = i >= 3 && y ? here[i - row - 3] : 0;
        trial[i] = char(here[i] - predicted(filter, left, up, corner));
        sum += std::abs(int(static_cast<signed char>(trial[i])));
      }
      if (least < 0 || sum < least) least = sum, chosen = char(filter), best = trial;
    }
    data += chosen;
    data += best;
  }
  std::string out = "\x89PNG\r\n\x1a\n";
  add_chunk(out, "IHDR",
            number(std::uint32_t(image.width)) + number(std::uint32_t(image.height)) + std::string{8, 2, 0, 0, 0});
  add_chunk(out, "sRGB", std::string(1, '\0'));
  add_chunk(out, "IDAT", zlib_compress(data));
  add_chunk(out, "IEND", "");
  return out;
}

}  // namespace verve::render
