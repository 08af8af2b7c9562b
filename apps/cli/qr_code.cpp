#include "qr_code.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>

namespace verve::cli {

namespace {

using Grid = std::vector<std::vector<bool>>;

/// Of versions 1 to 5 with error correction L, each of which is one block: bytes of data and of error correction.
constexpr std::array<std::array<int, 2>, 5> blocks = {{{19, 7}, {34, 10}, {55, 15}, {80, 20}, {108, 26}}};
constexpr int header_bits = 12;  // mode and length

/// Product in GF(2^8) modulo x^8 + x^4 + x^3 + x^2 + 1.
std::uint8_t product(std::uint8_t a, std::uint8_t b) {
  int out = 0;
  for (int i = 7; i >= 0; --i) {
    out = (out << 1) ^ ((out >> 7) * 0x11d);
    if (b >> i & 1) out ^= a;
  }
  return std::uint8_t(out);
}

/// The remainder of the data by the generator with roots 2^0, 2^1, ...
std::vector<std::uint8_t> error_correction(const std::vector<std::uint8_t>& data, int count) {
  std::vector<std::uint8_t> generator(size_t(count), 0), out(size_t(count), 0);
  generator.back() = 1;
  std::uint8_t root = 1;
  for (int i = 0; i < count; ++i) {
    for (size_t j = 0; j < generator.size(); ++j) {
      generator[j] = product(generator[j], root);
      if (j + 1 < generator.size()) generator[j] ^= generator[j + 1];
    }
    root = product(root, 2);
  }
  for (const std::uint8_t byte : data) {
    const std::uint8_t factor = byte ^ out.front();
    out.erase(out.begin());
    out.push_back(0);
    for (size_t i = 0; i < out.size(); ++i) out[i] ^= product(generator[i], factor);
  }
  return out;
}

std::vector<std::uint8_t> code_words(std::string_view text, int version) {
  const auto [data, correction] = blocks[size_t(version) - 1];
  std::vector<bool> bits;
  const auto put = [&](unsigned value, int count) {
    for (int i = count - 1; i >= 0; --i) bits.push_back(value >> i & 1);
  };
  put(4, 4), put(unsigned(text.size()), 8);
  for (const char c : text) put(static_cast<unsigned char>(c), 8);
  put(0, std::min(4, 8 * data - int(bits.size())));
  while (bits.size() % 8) bits.push_back(false);
  std::vector<std::uint8_t> out;
  for (size_t i = 0; i < bits.size(); i += 8) {
    int byte = 0;
    for (size_t k = 0; k < 8; ++k) byte = 2 * byte + bits[i + k];
    out.push_back(std::uint8_t(byte));
  }
  for (bool first = true; int(out.size()) < data; first = !first) out.push_back(first ? 0xec : 0x11);
  const std::vector<std::uint8_t> more = error_correction(out, correction);
  out.insert(out.end(), more.begin(), more.end());
  return out;
}

/// The modules and which of them are no data.
struct Code {
  int size;
  Grid dark, fixed;

  explicit Code(int version)
      : size(17 + 4 * version), dark(size_t(size), std::vector<bool>(size_t(size))), fixed(dark) {
    for (int i = 0; i < size; ++i) set(6, i, i % 2 == 0), set(i, 6, i % 2 == 0);  // timing
    for (const auto& [row, column] : {std::pair{3, 3}, std::pair{3, size - 4}, std::pair{size - 4, 3}})
      square(row, column, 4);
    if (version > 1) square(size - 7, size - 7, 2);
    put_format(0);
  }

  void set(int row, int column, bool is_dark) {
    dark[size_t(row)][size_t(column)] = is_dark, fixed[size_t(row)][size_t(column)] = true;
  }

  /// Rings about a module, dark but for the second from outside of a finder and the ring between of an alignment
  /// square.
  void square(int row, int column, int reach) {
    for (int i = -reach; i <= reach; ++i)
      for (int j = -reach; j <= reach; ++j) {
        const int ring = std::max(std::abs(i), std::abs(j)), r = row + i, c = column + j;
        if (r < 0 || c < 0 || r >= size || c >= size) continue;
        set(r, c, reach == 4 ? ring != 2 && ring != 4 : ring != 1);
      }
  }

  /// Error correction L and the mask, in fifteen bits, twice.
  void put_format(int mask) {
    const unsigned data = 1u << 3 | unsigned(mask);
    unsigned rest = data;
    for (int i = 0; i < 10; ++i) rest = (rest << 1) ^ ((rest >> 9) * 0x537);
    const unsigned bits = (data << 10 | rest) ^ 0x5412;
    const auto bit = [&](int i) { return (bits >> i & 1) != 0; };
    for (int i = 0; i <= 5; ++i) set(i, 8, bit(i));
    set(7, 8, bit(6)), set(8, 8, bit(7)), set(8, 7, bit(8));
    for (int i = 9; i < 15; ++i) set(8, 14 - i, bit(i));
    for (int i = 0; i < 8; ++i) set(8, size - 1 - i, bit(i));
    for (int i = 8; i < 15; ++i) set(size - 15 + i, 8, bit(i));
    set(size - 8, 8, true);
  }

  /// In columns of two from the right, up and down in turns.
  void put_data(const std::vector<std::uint8_t>& words) {
    size_t at = 0;
    for (int right = size - 1; right >= 1; right -= 2) {
      if (right == 6) right = 5;
      for (int k = 0; k < size; ++k)
        for (const int column : {right, right - 1}) {
          const int row = (right + 1) / 2 % 2 == 0 ? size - 1 - k : k;
          if (fixed[size_t(row)][size_t(column)] || at >= 8 * words.size()) continue;
          dark[size_t(row)][size_t(column)] = words[at / 8] >> (7 - at % 8) & 1;
          ++at;
        }
    }
  }

  void apply_mask(int mask) {
    for (int i = 0; i < size; ++i)
      for (int j = 0; j < size; ++j) {
        const bool turn = mask == 0   ? (i + j) % 2 == 0
                          : mask == 1 ? i % 2 == 0
                          : mask == 2 ? j % 3 == 0
                          : mask == 3 ? (i + j) % 3 == 0
                          : mask == 4 ? (i / 2 + j / 3) % 2 == 0
                          : mask == 5 ? i * j % 2 + i * j % 3 == 0
                          : mask == 6 ? (i * j % 2 + i * j % 3) % 2 == 0
                                      : ((i + j) % 2 + i * j % 3) % 2 == 0;
        if (turn && !fixed[size_t(i)][size_t(j)]) dark[size_t(i)][size_t(j)] = !dark[size_t(i)][size_t(j)];
      }
  }

  /// What makes a code hard to read: long runs, blocks of one colour, what looks like a finder, more of one than of the
  /// other.
  int penalty() const {
    int out = 0, darks = 0;
    for (int way = 0; way < 2; ++way)
      for (int i = 0; i < size; ++i) {
        const auto at = [&](int j) {
          return way ? bool(dark[size_t(j)][size_t(i)]) : bool(dark[size_t(i)][size_t(j)]);
        };
        int run = 0;
        unsigned history = 0;
        for (int j = 0; j < size; ++j) {
          run = j > 0 && at(j) == at(j - 1) ? run + 1 : 1;
          if (run == 5) out += 3;
          if (run > 5) ++out;
          history = (history << 1 | unsigned(at(j))) & 0x7ff;
          if (j >= 10 && (history == 0x5d0 || history == 0x05d)) out += 40;
        }
      }
    for (int i = 0; i < size; ++i)
      for (int j = 0; j < size; ++j) {
        darks += dark[size_t(i)][size_t(j)];
        if (i + 1 == size || j + 1 == size) continue;
        const int sum = dark[size_t(i)][size_t(j)] + dark[size_t(i) + 1][size_t(j)] + dark[size_t(i)][size_t(j) + 1] +
                        dark[size_t(i) + 1][size_t(j) + 1];
        if (sum == 0 || sum == 4) out += 3;
      }
    return out + 10 * (std::abs(20 * darks - 10 * size * size) / (size * size));
  }
};

}  // namespace

std::vector<std::vector<bool>> qr_code(std::string_view text) {
  int version = 1;
  while (version <= 5 && header_bits + 8 * int(text.size()) > 8 * blocks[size_t(version) - 1][0]) ++version;
  if (version > 5) return {};
  Code plain(version);
  plain.put_data(code_words(text, version));
  Grid best;
  int least = 0;
  for (int mask = 0; mask < 8; ++mask) {
    Code code = plain;
    code.put_format(mask);
    code.apply_mask(mask);
    const int penalty = code.penalty();
    if (best.empty() || penalty < least) best = code.dark, least = penalty;
  }
  return best;
}

std::string qr_text(const std::vector<std::vector<bool>>& code, bool colored) {
  constexpr int border = 4;
  const int size = int(code.size());
  const auto light = [&](int row, int column) {
    return row < 0 || column < 0 || row >= size || column >= size || !code[size_t(row)][size_t(column)];
  };
  std::string out;
  for (int row = -border; row < size + border; row += 2) {
    if (colored) out += "\x1b[97;40m";
    for (int column = -border; column < size + border; ++column) {
      const bool above = light(row, column), below = row + 1 < size + border && light(row + 1, column);
      out += above && below ? "█" : above ? "▀" : below ? "▄" : " ";
    }
    out += colored ? "\x1b[0m\n" : "\n";
  }
  return out;
}

}  // namespace verve::cli
