// PNG and GIF, read back by readers of their own.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <stdexcept>

#include "base/random.h"
#include "render/deflate.h"
#include "render/inflate.h"
#include "render/picture.h"

using namespace verve;
using namespace verve::render;

namespace {

std::uint32_t word(const std::string& s, size_t at) {
  std::uint32_t out = 0;
  for (size_t k = 0; k < 4; ++k) out = out << 8 | std::uint8_t(s.at(at + k));
  return out;
}

/// By the definition, bit by bit.
std::uint32_t crc(const std::string& bytes) {
  std::uint32_t c = ~0u;
  for (const char b : bytes)
    for (int bit = 0; bit < 8; ++bit) {
      const bool odd = (c ^ std::uint32_t(std::uint8_t(b) >> bit)) & 1;
      c = c >> 1 ^ (odd ? 0xedb88320u : 0);
    }
  return ~c;
}

Image decode_png(const std::string& file) {
  REQUIRE(file.substr(0, 8) == "\x89PNG\r\n\x1a\n");
  Image out;
  std::string packed;
  size_t at = 8;
  std::string last;
  while (at < file.size()) {
    const std::uint32_t size = word(file, at);
    last = file.substr(at + 4, 4);
    const std::string body = file.substr(at + 4, size + 4), data = body.substr(4);
    CHECK(word(file, at + 8 + size) == crc(body));
    if (last == "IHDR") {
      out.width = int(word(data, 0)), out.height = int(word(data, 4));
      CHECK(data.substr(8) == std::string{8, 2, 0, 0, 0});
    }
    if (last == "IDAT") packed += data;
    at += size + 12;
  }
  CHECK(last == "IEND");
  const std::string rows = test::Inflater(packed).run();
  const int n = out.width * 3;
  REQUIRE(rows.size() == size_t(n + 1) * size_t(out.height));
  out.rgb.resize(size_t(n) * size_t(out.height));
  for (int y = 0; y < out.height; ++y) {
    const int filter = rows[size_t(y) * size_t(n + 1)];
    for (int i = 0; i < n; ++i) {
      const auto pixel = [&](int row, int k) {
        return row < 0 || k < 0 ? 0 : int(out.rgb[size_t(row) * size_t(n) + size_t(k)]);
      };
      const int a = pixel(y, i - 3), b = pixel(y - 1, i), c = i < 3 ? 0 : pixel(y - 1, i - 3);
      int guess = 0;
      if (filter == 1) guess = a;
      if (filter == 2) guess = b;
      if (filter == 3) guess = (a + b) / 2;
      if (filter == 4) {
        const int p = a + b - c, pa = std::abs(p - a), pb = std::abs(p - b), pc = std::abs(p - c);
        guess = pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
      }
      out.rgb[size_t(y) * size_t(n) + size_t(i)] =
          std::uint8_t(rows[size_t(y) * size_t(n + 1) + 1 + size_t(i)] + guess);
    }
  }
  return out;
}

struct Gif {
  int width = 0, height = 0;
  std::vector<int> delays;
  std::vector<Image> frames;  // as seen
};

Gif decode_gif(const std::string& file) {
  const auto byte = [&](size_t at) { return int(std::uint8_t(file.at(at))); };
  const auto two = [&](size_t at) { return byte(at) + 256 * byte(at + 1); };
  REQUIRE(file.substr(0, 6) == "GIF89a");
  Gif out;
  out.width = two(6), out.height = two(8);
  REQUIRE(byte(10) == 0xf7);  // a palette of 256
  const size_t palette = 13;
  size_t at = palette + 768;
  int hidden = -1;
  Image canvas{out.width, out.height, std::vector<std::uint8_t>(size_t(out.width) * size_t(out.height) * 3)};
  while (byte(at) != ';') {
    if (byte(at) == 0x21) {
      if (byte(at + 1) == 0xf9) {
        hidden = byte(at + 3) & 1 ? byte(at + 6) : -1;
        out.delays.push_back(two(at + 4));
      }
      for (at += 2; byte(at); at += size_t(byte(at)) + 1) {
      }
      ++at;
      continue;
    }
    REQUIRE(byte(at) == ',');
    const int x0 = two(at + 1), y0 = two(at + 3), w = two(at + 5), h = two(at + 7), root = byte(at + 10);
    std::string data;
    for (at += 11; byte(at); at += size_t(byte(at)) + 1) data += file.substr(at + 1, size_t(byte(at)));
    ++at;
    // LZW: every code stands for a string, the next one to be known is the last string and a letter
    const int clear = 1 << root;
    std::vector<std::string> strings;
    const auto start = [&] {
      strings.assign(size_t(clear) + 2, "");
      for (int k = 0; k < clear; ++k) strings[size_t(k)] = std::string(1, char(k));
    };
    start();
    int size = root + 1;
    size_t bit = 0;
    std::string indices, before;
    for (;;) {
      int code = 0;
      for (int k = 0; k < size; ++k, ++bit) code |= (std::uint8_t(data.at(bit / 8)) >> (bit % 8) & 1) << k;
      if (code == clear) {
        start(), size = root + 1, before.clear();
        continue;
      }
      if (code == clear + 1) break;
      REQUIRE(code <= int(strings.size()));
      std::string now = code < int(strings.size()) ? strings[size_t(code)] : before + before[0];
      REQUIRE(!now.empty());
      indices += now;
      if (!before.empty() && strings.size() < 4096) strings.push_back(before + now[0]);
      if (int(strings.size()) == 1 << size && size < 12) ++size;
      before = now;
    }
    REQUIRE(indices.size() == size_t(w) * size_t(h));
    for (int y = 0; y < h; ++y)
      for (int x = 0; x < w; ++x) {
        const int k = std::uint8_t(indices[size_t(y) * size_t(w) + size_t(x)]);
        if (k == hidden) continue;
        for (size_t c = 0; c < 3; ++c)
          canvas.rgb[(size_t(y0 + y) * size_t(out.width) + size_t(x0 + x)) * 3 + c] =
              std::uint8_t(file.at(palette + size_t(k) * 3 + c));
      }
    out.frames.push_back(canvas);
  }
  CHECK(at + 1 == file.size());
  return out;
}

Image noise(int width, int height, std::uint64_t seed) {
  Image out{width, height, std::vector<std::uint8_t>(size_t(width) * size_t(height) * 3)};
  for (size_t i = 0; i < out.rgb.size(); ++i) out.rgb[i] = std::uint8_t(random_bits(seed, i));
  return out;
}
/// A disc that moves over a gradient.
Image disc(int width, int height, double x, double y) {
  Image out{width, height, {}};
  for (int j = 0; j < height; ++j)
    for (int i = 0; i < width; ++i) {
      const bool in = std::hypot(i - x, j - y) < 9;
      out.rgb.insert(out.rgb.end(), {std::uint8_t(in ? 220 : 40 + 2 * j), std::uint8_t(in ? 60 : 90 + i),
                                     std::uint8_t(in ? 40 : 160)});
    }
  return out;
}

}  // namespace

TEST_CASE("what is compressed comes back, whatever it is") {
  std::string texts[] = {"", "a", "aaaa", std::string(100000, 'x'), "", "", ""};
  for (int k = 0; k < 70000; ++k) texts[4] += char(random_bits(1, std::uint64_t(k)));  // nothing to gain
  for (int k = 0; k < 200000; ++k) texts[5] += char(k % 251 * (k / 3000));             // matches of all distances
  for (int k = 0; k < 40; ++k) texts[6] += std::string(size_t(1) << std::min(k, 14), char(k));  // a lopsided code
  for (const std::string& text : texts) {
    CAPTURE(text.size());
    const std::string packed = zlib_compress(text);
    CHECK((test::Inflater(packed).run() == text));
  }
  CHECK(zlib_compress(texts[3]).size() < 1000);
  CHECK(zlib_compress(texts[4]).size() < 71500);
  CHECK(crc32("123456789") == 0xcbf43926u);  // the check value of CRC-32
}

TEST_CASE("a PNG holds the pixels of its image, with every checksum right") {
  for (const Image& image : {noise(1, 1, 1), noise(37, 23, 2), disc(64, 48, 20, 20), disc(301, 200, 100, 60)}) {
    const Image back = decode_png(png(image));
    CHECK(back.width == image.width);
    CHECK(back.height == image.height);
    CHECK((back.rgb == image.rgb));
  }
  CHECK(png(disc(301, 200, 100, 60)).size() < 301 * 200 * 3 / 20);
  CHECK_THROWS_AS(png(Image{}), std::invalid_argument);
}

TEST_CASE("a GIF has all frames, their delays, and colours near to those of the images") {
  std::vector<Image> images;
  for (int k = 0; k < 7; ++k) images.push_back(disc(80, 60, 15 + 7 * k, 20 + 3 * k));
  images.push_back(images.back());  // nothing moves
  const Gif back = decode_gif(gif(images, 30));
  CHECK(back.width == 80);
  CHECK(back.height == 60);
  REQUIRE(back.frames.size() == images.size());
  REQUIRE(back.delays.size() == images.size());
  int hundredths = 0;
  for (const int d : back.delays) hundredths += d;
  CHECK(hundredths == 27);  // 8 / 30 s
  for (size_t f = 0; f < images.size(); ++f) {
    double sum = 0;
    int worst = 0;
    for (size_t i = 0; i < images[f].rgb.size(); ++i) {
      const int off = std::abs(int(images[f].rgb[i]) - int(back.frames[f].rgb[i]));
      sum += off, worst = std::max(worst, off);
    }
    // 255 colours over a plane of 80 x 60: 4 to 5 steps of the gradient apart in one direction, half of it the error,
    // and 3 more for the dither or for what is left standing
    CHECK(sum / double(images[f].rgb.size()) < 3);
    CHECK(worst < 16);
  }
}

TEST_CASE("noise survives the dictionary of a GIF running full") {
  // two levels per channel: eight colours, all in the palette
  Image image = noise(200, 150, 5);
  for (std::uint8_t& c : image.rgb) c = c & 1 ? 250 : 5;
  const Image images[] = {image};
  const Gif back = decode_gif(gif(images, 10));
  REQUIRE(back.frames.size() == 1);
  CHECK((back.frames[0].rgb == image.rgb));
}

TEST_CASE("a GIF needs images of one size") {
  const Image different[] = {noise(4, 4, 1), noise(5, 4, 1)};
  CHECK_THROWS_AS(gif({}, 10), std::invalid_argument);
  CHECK_THROWS_AS(gif(different, 10), std::invalid_argument);
  CHECK_THROWS_AS(gif({different, 1}, 0), std::invalid_argument);
}
