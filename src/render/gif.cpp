// Moving pictures as GIF89a: one palette for all frames, and in each frame only what has changed.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <stdexcept>

#include "base/parallel.h"
#include "render/picture.h"

namespace verve::render {

namespace {

constexpr int transparent = 255, colors = 255;
constexpr int kept = 3;  // a pixel stays as it is while no channel is off by more
using Rgb = std::array<int, 3>;

// about what the eye gives to red, green and blue
int difference(const Rgb& a, const Rgb& b) {
  const int r = a[0] - b[0], g = a[1] - b[1], c = a[2] - b[2];
  return 2 * r * r + 4 * g * g + c * c;
}

struct Entry {
  Rgb color;
  double count;
};

/// Colours of all frames, 6 bits per channel.
std::vector<Entry> histogram(std::span<const Image> images) {
  std::vector<std::uint32_t> counts(1 << 18, 0);
  std::vector<std::array<std::uint64_t, 3>> sums(1 << 18);
  for (const Image& image : images)
    for (size_t i = 0; i < image.rgb.size(); i += 3) {
      const size_t at = size_t(image.rgb[i] >> 2) << 12 | size_t(image.rgb[i + 1] >> 2) << 6 | image.rgb[i + 2] >> 2;
      ++counts[at];
      for (int k = 0; k < 3; ++k) sums[at][k] += image.rgb[i + k];
    }
  std::vector<Entry> out;
  for (size_t at = 0; at < counts.size(); ++at) {
    if (!counts[at]) continue;
    Entry e{{}, std::sqrt(double(counts[at]))};  // the root: a wide backdrop does not take all colours
    for (int k = 0; k < 3; ++k) e.color[k] = int((sums[at][k] + counts[at] / 2) / counts[at]);
    out.push_back(e);
  }
  return out;
}

/// Boxes of colours, the one with the largest spread cut at its mean until there are enough (Wu's criterion), then
/// moved to the mean of what is nearest to each (Lloyd).
std::vector<Rgb> palette_of(std::vector<Entry> entries) {
  struct Range {
    int begin, end, axis;
    double spread, mean;
  };
  const auto measure = [&](int begin, int end) {
    Range out{begin, end, 0, -1, 0};
    constexpr std::array<double, 3> weight{2, 4, 1};
    for (int k = 0; k < 3; ++k) {
      double n = 0, sum = 0, squares = 0;
      for (int i = begin; i < end; ++i) {
        const double c = entries[i].color[k], w = entries[i].count;
        n += w, sum += w * c, squares += w * c * c;
      }
      const double spread = weight[k] * (squares - sum * sum / n);
      if (spread > out.spread) out.spread = spread, out.axis = k, out.mean = sum / n;
    }
    return out;
  };
  std::vector<Range> ranges{measure(0, int(entries.size()))};
  while (int(ranges.size()) < colors) {
    const auto widest = std::max_element(ranges.begin(), ranges.end(),
                                         [](const Range& a, const Range& b) { return a.spread < b.spread; });
    if (widest->end - widest->begin < 2 || widest->spread <= 0) break;
    const Range r = *widest;
    const auto middle = std::stable_partition(entries.begin() + r.begin, entries.begin() + r.end,
                                              [&](const Entry& e) { return e.color[r.axis] <= r.mean; });
    const int cut = int(middle - entries.begin());
    if (cut == r.begin || cut == r.end) {
      widest->spread = 0;
      continue;
    }
    *widest = measure(r.begin, cut);
    ranges.push_back(measure(cut, r.end));
  }
  std::vector<Rgb> palette;
  for (const Range& r : ranges) {
    std::array<double, 4> sum{};
    for (int i = r.begin; i < r.end; ++i) {
      for (int k = 0; k < 3; ++k) sum[k] += entries[i].count * entries[i].color[k];
      sum[3] += entries[i].count;
    }
    palette.push_back(
        {int(std::lround(sum[0] / sum[3])), int(std::lround(sum[1] / sum[3])), int(std::lround(sum[2] / sum[3]))});
  }
  return palette;
}

int nearest(const std::vector<Rgb>& palette, const Rgb& color) {
  int best = 0, least = difference(palette[0], color);
  for (int k = 1; k < int(palette.size()); ++k)
    if (const int d = difference(palette[k], color); d < least) best = k, least = d;
  return best;
}

void improve(std::vector<Rgb>& palette, const std::vector<Entry>& entries) {
  std::vector<int> own(entries.size());
  for (int round = 0; round < 4; ++round) {
    parallel_for(int(entries.size()), 256, [&](int begin, int end, int) {
      for (int i = begin; i < end; ++i) own[i] = nearest(palette, entries[i].color);
    });
    std::vector<std::array<double, 4>> sums(palette.size());
    for (size_t i = 0; i < entries.size(); ++i) {
      for (int k = 0; k < 3; ++k) sums[own[i]][k] += entries[i].count * entries[i].color[k];
      sums[own[i]][3] += entries[i].count;
    }
    for (size_t p = 0; p < palette.size(); ++p)
      if (sums[p][3] > 0)
        for (int k = 0; k < 3; ++k) palette[p][k] = int(std::lround(sums[p][k] / sums[p][3]));
  }
}

/// LZW with codes of growing length, as in Appendix F of the specification of GIF89a.
std::string compress(const std::vector<std::uint8_t>& indices) {
  constexpr int clear = 256, stop = 257, most = 4096, places = 16384;
  std::string bytes;
  unsigned held = 0;
  int filled = 0, size = 9, next = stop + 1;
  const auto put = [&](int code) {
    held |= unsigned(code) << filled, filled += size;
    while (filled >= 8) bytes += char(held & 255), held >>= 8, filled -= 8;
  };
  std::vector<int> key(places, -1), value(places);
  put(clear);
  int prefix = indices[0];
  for (size_t i = 1; i < indices.size(); ++i) {
    const int wanted = prefix << 8 | indices[i];
    unsigned at = unsigned(wanted) * 2654435761u >> 18;
    while (key[at] >= 0 && key[at] != wanted) at = (at + 1) % places;
    if (key[at] == wanted) {
      prefix = value[at];
      continue;
    }
    put(prefix);
    if (next < most) {
      key[at] = wanted, value[at] = next++;
      if (next > 1 << size && size < 12) ++size;
    } else {
      put(clear);
      std::fill(key.begin(), key.end(), -1);
      size = 9, next = stop + 1;
    }
    prefix = indices[i];
  }
  put(prefix);
  if (next >= 1 << size && size < 12) ++size;
  put(stop);
  if (filled > 0) bytes += char(held & 255);
  return bytes;
}

std::string word(int value) { return {char(value & 255), char(value >> 8 & 255)}; }

}  // namespace

std::string gif(std::span<const Image> images, double frames_per_second) {
  if (images.empty()) throw std::invalid_argument("gif: found no image, expected at least one");
  if (!(frames_per_second > 0)) throw std::invalid_argument("gif: expected more than 0 frames per second");
  const int width = images[0].width, height = images[0].height;
  for (const Image& i : images)
    if (i.width != width || i.height != height || i.width > 65535 || i.height > 65535 ||
        i.rgb.size() != size_t(width) * height * 3 || i.rgb.empty())
      throw std::invalid_argument("gif: expected images of one size, with their pixels, at most 65535 each way");

  const std::vector<Entry> entries = histogram(images);
  std::vector<Rgb> palette = palette_of(entries);
  improve(palette, entries);
  std::vector<std::uint8_t> table(1 << 18);  // nearest colour, 6 bits per channel
  parallel_for(1 << 18, 1024, [&](int begin, int end, int) {
    for (int at = begin; at < end; ++at)
      table[at] = std::uint8_t(nearest(palette, {(at >> 12) * 4 + 2, (at >> 6 & 63) * 4 + 2, (at & 63) * 4 + 2}));
  });

  std::string out = "GIF89a" + word(width) + word(height) + std::string{char(0xf7), 0, 0};
  for (int k = 0; k < 256; ++k)
    for (int c = 0; c < 3; ++c) out += k < int(palette.size()) ? char(palette[k][c]) : char(0);
  out += std::string("\x21\xff\x0bNETSCAPE2.0\x03\x01\x00\x00\x00", 19);

  // fixed in place, so that what stands still does not shimmer
  constexpr std::array<int, 64> bayer{0,  32, 8,  40, 2,  34, 10, 42, 48, 16, 56, 24, 50, 18, 58, 26,
                                      12, 44, 4,  36, 14, 46, 6,  38, 60, 28, 52, 20, 62, 30, 54, 22,
                                      3,  35, 11, 43, 1,  33, 9,  41, 51, 19, 59, 27, 49, 17, 57, 25,
                                      15, 47, 7,  39, 13, 45, 5,  37, 63, 31, 55, 23, 61, 29, 53, 21};
  std::vector<std::uint8_t> shown(size_t(width) * height), fresh;
  for (size_t f = 0; f < images.size(); ++f) {
    const std::vector<std::uint8_t>& rgb = images[f].rgb;
    std::vector<std::uint8_t> index(shown.size());
    int x0 = width, y0 = height, x1 = 0, y1 = 0;
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        const size_t at = size_t(y) * width + x;
        const int r = rgb[3 * at], g = rgb[3 * at + 1], b = rgb[3 * at + 2];
        if (f > 0) {
          const Rgb& old = palette[shown[at]];
          if (std::abs(old[0] - r) <= kept && std::abs(old[1] - g) <= kept && std::abs(old[2] - b) <= kept + 1) {
            index[at] = transparent;
            continue;
          }
        }
        const int shift = (bayer[(y & 7) * 8 + (x & 7)] - 32) / 10;
        const auto six = [&](int c) { return std::clamp(c + shift, 0, 255) >> 2; };
        index[at] = table[six(r) << 12 | six(g) << 6 | six(b)];
        if (f > 0 && index[at] == shown[at]) {
          index[at] = transparent;
          continue;
        }
        shown[at] = index[at];
        x0 = std::min(x0, x), x1 = std::max(x1, x + 1), y0 = std::min(y0, y), y1 = std::max(y1, y + 1);
      }
    if (x0 >= x1) x0 = y0 = 0, x1 = y1 = 1;
    const int delay = int(std::lround((f + 1) * 100 / frames_per_second) - std::lround(f * 100 / frames_per_second));
    out += std::string("\x21\xf9\x04", 3) + char(f > 0 ? 5 : 4) + word(std::clamp(delay, 2, 65535)) +
           std::string{char(f > 0 ? transparent : 0), 0};
    out += std::string(",") + word(x0) + word(y0) + word(x1 - x0) + word(y1 - y0) + std::string{0, 8};
    fresh.clear();
    for (int y = y0; y < y1; ++y)
      fresh.insert(fresh.end(), index.begin() + long(y) * width + x0, index.begin() + long(y) * width + x1);
    const std::string data = compress(fresh);
    for (size_t i = 0; i < data.size(); i += 255) {
      const size_t n = std::min<size_t>(255, data.size() - i);
      out += char(n);
      out.append(data, i, n);
    }
    out += char(0);
  }
  return out + ";";
}

}  // namespace verve::render
