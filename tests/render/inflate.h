// A reader of zlib streams (RFC 1950, RFC 1951) that shares nothing with the writer under test.
#pragma once

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace verve::test {

class Inflater {
 public:
  explicit Inflater(const std::string& bytes) : in_(bytes) {}

  std::string run() {
    REQUIRE(in_.size() > 6);
    REQUIRE((std::uint8_t(in_[0]) & 15) == 8);
    REQUIRE((std::uint8_t(in_[0]) * 256 + std::uint8_t(in_[1])) % 31 == 0);
    at_ = 16;
    for (bool last = false; !last;) {
      last = bits(1);
      const int kind = bits(2);
      REQUIRE(kind == 2);  // the writer's only kind
      block();
    }
    at_ = (at_ + 7) / 8 * 8;
    REQUIRE(size_t(at_ / 8) + 4 == in_.size());
    std::uint32_t a = 1, b = 0, sum = 0;
    for (const char c : out_) a = (a + std::uint8_t(c)) % 65521, b = (b + a) % 65521;
    for (int k = 0; k < 4; ++k) sum = sum << 8 | std::uint8_t(in_[size_t(at_ / 8 + k)]);
    CHECK(sum == (b << 16 | a));
    return out_;
  }

 private:
  struct Code {
    std::vector<int> symbol_of;  // by length and number
    std::array<int, 16> first{}, offset{}, count{};
  };

  int bits(int n) {
    int value = 0;
    for (int k = 0; k < n; ++k, ++at_) {
      REQUIRE(size_t(at_ / 8) < in_.size());
      value |= (std::uint8_t(in_[size_t(at_ / 8)]) >> (at_ % 8) & 1) << k;
    }
    return value;
  }

  static Code code_of(const std::vector<int>& lengths) {
    Code out;
    for (const int l : lengths)
      if (l) ++out.count[size_t(l)];
    int number = 0, place = 0;
    long room = 1 << 15;
    for (int l = 1; l < 16; ++l) {
      number = (number + out.count[size_t(l - 1)]) << 1;
      out.first[size_t(l)] = number, out.offset[size_t(l)] = place;
      for (size_t s = 0; s < lengths.size(); ++s)
        if (lengths[s] == l) out.symbol_of.push_back(int(s)), ++place;
      room -= long(out.count[size_t(l)]) << (15 - l);
    }
    REQUIRE(room >= 0);  // not more words than fit
    return out;
  }
  int symbol(const Code& code) {
    int number = 0;
    for (int l = 1; l < 16; ++l) {
      number = number << 1 | bits(1);
      const int place = number - code.first[size_t(l)];
      if (place >= 0 && place < code.count[size_t(l)]) return code.symbol_of[size_t(code.offset[size_t(l)] + place)];
    }
    FAIL("a word that is not in the code");
    return -1;
  }

  void block() {
    const int letters = bits(5) + 257, distances = bits(5) + 1, shown = bits(4) + 4;
    constexpr int order[] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    std::vector<int> lengths(19, 0);
    for (int k = 0; k < shown; ++k) lengths[size_t(order[k])] = bits(3);
    const Code runs = code_of(lengths);
    std::vector<int> all;
    while (int(all.size()) < letters + distances) {
      const int s = symbol(runs);
      if (s < 16) {
        all.push_back(s);
      } else {
        if (s == 16) REQUIRE(!all.empty());
        const int value = s == 16 ? all.back() : 0, n = s == 16 ? 3 + bits(2) : s == 17 ? 3 + bits(3) : 11 + bits(7);
        all.insert(all.end(), size_t(n), value);
      }
    }
    REQUIRE(int(all.size()) == letters + distances);
    const Code letter = code_of({all.begin(), all.begin() + letters});
    const Code distance = code_of({all.begin() + letters, all.end()});
    for (;;) {
      const int s = symbol(letter);
      if (s == 256) return;
      if (s < 256) {
        out_ += char(s);
        continue;
      }
      // extra bits: four lengths for each count of them from 257 + 8 on, two distances from 4 on; 285 is 258 alone
      int length = 258;
      if (s < 285) {
        const int k = s - 257, extra = k < 8 ? 0 : k / 4 - 1;
        length = k < 8 ? k + 3 : 3 + ((4 + k % 4) << extra) + bits(extra);
      }
      const int k = symbol(distance), extra = k < 4 ? 0 : k / 2 - 1;
      const int back = k < 4 ? k + 1 : 1 + ((2 + k % 2) << extra) + bits(extra);
      REQUIRE(size_t(back) <= out_.size());
      for (int i = 0; i < length; ++i) out_ += out_[out_.size() - size_t(back)];
    }
  }

  const std::string& in_;
  long at_ = 0;
  std::string out_;
};

}  // namespace verve::test
