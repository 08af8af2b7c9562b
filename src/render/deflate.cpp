#include "render/deflate.h"

#include <algorithm>
#include <array>
#include <queue>
#include <vector>

namespace verve::render {

namespace {

constexpr int window = 32768, shortest = 3, longest = 258;
constexpr int most_tries = 48;  // earlier places looked at for a longer match

// RFC 1951, 3.2.5
constexpr std::array<int, 29> length_base{3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                          31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
constexpr std::array<int, 29> length_bits{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                          2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
constexpr std::array<int, 30> distance_base{1,    2,    3,    4,    5,    7,    9,    13,    17,    25,
                                            33,   49,   65,   97,   129,  193,  257,  385,   513,   769,
                                            1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
constexpr std::array<int, 30> distance_bits{0, 0, 0, 0, 1, 1, 2, 2,  3,  3,  4,  4,  5,  5,  6,
                                            6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13};

template <size_t n>
int place(const std::array<int, n>& base, int value) {
  return int(std::upper_bound(base.begin(), base.end(), value) - base.begin()) - 1;
}

class Bits {
 public:
  void put(unsigned value, int count) {
    held_ |= std::uint64_t(value) << filled_;
    filled_ += count;
    while (filled_ >= 8) out_ += char(held_ & 255), held_ >>= 8, filled_ -= 8;
  }
  std::string finish() {
    if (filled_ > 0) out_ += char(held_ & 255);
    return std::move(out_);
  }
  std::string& bytes() { return out_; }

 private:
  std::string out_;
  std::uint64_t held_ = 0;
  int filled_ = 0;
};

/// Huffman's code with no word longer than `limit`: counts are flattened until it fits.
std::vector<int> code_lengths(std::vector<unsigned> counts, int limit) {
  const int n = int(counts.size());
  std::vector<int> lengths(n, 0);
  for (;;) {
    using Item = std::pair<std::uint64_t, int>;
    std::priority_queue<Item, std::vector<Item>, std::greater<>> heap;
    std::vector<int> parent(n, -1);
    for (int s = 0; s < n; ++s)
      if (counts[s]) heap.push({counts[s], s});
    if (heap.empty()) return lengths;
    if (heap.size() == 1) {
      lengths[heap.top().second] = 1;
      return lengths;
    }
    while (heap.size() > 1) {
      const Item a = heap.top();
      heap.pop();
      const Item b = heap.top();
      heap.pop();
      parent[a.second] = parent[b.second] = int(parent.size());
      heap.push({a.first + b.first, int(parent.size())});
      parent.push_back(-1);
    }
    int deepest = 0;
    for (int s = 0; s < n; ++s) {
      if (!counts[s]) continue;
      int depth = 0;
      for (int v = s; parent[v] >= 0; v = parent[v]) ++depth;
      lengths[s] = depth, deepest = std::max(deepest, depth);
    }
    if (deepest <= limit) return lengths;
    for (unsigned& c : counts)
      if (c) c = c / 2 + 1;
  }
}

/// RFC 1951, 3.2.2, with the bits in the order in which they are written.
std::vector<unsigned> code_words(const std::vector<int>& lengths) {
  std::array<unsigned, 17> count{}, next{};
  for (const int l : lengths) ++count[l];
  count[0] = 0;
  for (int l = 1; l <= 16; ++l) next[l] = (next[l - 1] + count[l - 1]) << 1;
  std::vector<unsigned> words(lengths.size(), 0);
  for (size_t s = 0; s < lengths.size(); ++s) {
    unsigned word = lengths[s] ? next[lengths[s]]++ : 0;
    for (int k = 0; k < lengths[s]; ++k) words[s] = words[s] << 1 | (word & 1), word >>= 1;
  }
  return words;
}

struct Token {
  int length;    // 0: a literal
  int distance;  // or the byte
};

void write_block(const std::vector<Token>& tokens, bool last, Bits& out) {
  std::vector<unsigned> letter_counts(286, 0), distance_counts(30, 0);
  for (const Token& t : tokens) {
    ++letter_counts[t.length ? 257 + place(length_base, t.length) : t.distance];
    if (t.length) ++distance_counts[place(distance_base, t.distance)];
  }
  letter_counts[256] = 1;
  if (std::count(distance_counts.begin(), distance_counts.end(), 0u) == 30) distance_counts[0] = 1;
  const std::vector<int> letters = code_lengths(letter_counts, 15), distances = code_lengths(distance_counts, 15);
  const std::vector<unsigned> letter_words = code_words(letters), distance_words = code_words(distances);

  // the lengths of both codes, runs shortened (3.2.7)
  std::vector<int> all(letters);
  all.insert(all.end(), distances.begin(), distances.end());
  struct Run {
    int symbol, extra, bits;
  };
  std::vector<Run> runs;
  for (size_t i = 0; i < all.size();) {
    size_t j = i;
    while (j < all.size() && all[j] == all[i]) ++j;
    int n = int(j - i);
    const int value = all[i];
    if (value != 0) runs.push_back({value, 0, 0}), --n;
    while (n > 0) {
      if (value == 0 && n >= 11) {
        const int k = std::min(n, 138);
        runs.push_back({18, k - 11, 7}), n -= k;
      } else if (n >= 3) {
        const int k = std::min(n, value == 0 ? 10 : 6);
        runs.push_back(value == 0 ? Run{17, k - 3, 3} : Run{16, k - 3, 2}), n -= k;
      } else {
        runs.push_back({value, 0, 0}), --n;
      }
    }
    i = j;
  }
  std::vector<unsigned> run_counts(19, 0);
  for (const Run& r : runs) ++run_counts[r.symbol];
  const std::vector<int> run_lengths = code_lengths(run_counts, 7);
  const std::vector<unsigned> run_words = code_words(run_lengths);
  constexpr std::array<int, 19> order{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
  int shown = 19;
  while (shown > 4 && run_lengths[order[shown - 1]] == 0) --shown;

  out.put(last, 1), out.put(2, 2);
  out.put(286 - 257, 5), out.put(30 - 1, 5), out.put(unsigned(shown - 4), 4);
  for (int k = 0; k < shown; ++k) out.put(unsigned(run_lengths[order[k]]), 3);
  for (const Run& r : runs) out.put(run_words[r.symbol], run_lengths[r.symbol]), out.put(unsigned(r.extra), r.bits);
  for (const Token& t : tokens) {
    if (t.length == 0) {
      out.put(letter_words[t.distance], letters[t.distance]);
      continue;
    }
    const int l = place(length_base, t.length), d = place(distance_base, t.distance);
    out.put(letter_words[257 + l], letters[257 + l]), out.put(unsigned(t.length - length_base[l]), length_bits[l]);
    out.put(distance_words[d], distances[d]), out.put(unsigned(t.distance - distance_base[d]), distance_bits[d]);
  }
  out.put(letter_words[256], letters[256]);
}

}  // namespace

std::string zlib_compress(std::string_view bytes) {
  const auto at = [&](int i) { return unsigned(static_cast<unsigned char>(bytes[size_t(i)])); };
  const int n = int(bytes.size());
  Bits out;
  out.bytes() = "\x78\x9c";
  std::vector<int> head(32768, -1), previous(window, -1);
  const auto hash = [&](int i) { return ((at(i) << 16 | at(i + 1) << 8 | at(i + 2)) * 2654435761u) >> 17; };
  const auto enter = [&](int i) {
    if (i + shortest > n) return;
    previous[i % window] = head[hash(i)], head[hash(i)] = i;
  };
  const auto longest_match = [&](int i, int beyond) {
    Token best{beyond, 0};
    if (i + shortest > n) return best;
    const int most = std::min(longest, n - i);
    int candidate = head[hash(i)];
    for (int tries = 0; tries < most_tries && candidate >= 0 && i - candidate < window; ++tries) {
      if (best.length >= most) break;
      if (at(candidate + best.length) == at(i + best.length)) {
        int l = 0;
        while (l < most && at(candidate + l) == at(i + l)) ++l;
        if (l > best.length) best = {l, i - candidate};
      }
      const int earlier = previous[candidate % window];
      if (earlier >= candidate) break;  // overwritten since
      candidate = earlier;
    }
    return best;
  };

  std::vector<Token> tokens;
  for (int i = 0; i < n;) {
    Token match = longest_match(i, shortest - 1);
    enter(i);
    if (match.distance && i + 1 < n && match.length < 64) {
      // a longer match one byte on is worth a literal
      const Token later = longest_match(i + 1, match.length);
      if (later.distance) match.distance = 0;
    }
    if (!match.distance) {
      tokens.push_back({0, int(at(i))});
      ++i;
    } else {
      tokens.push_back(match);
      for (int k = 1; k < match.length; ++k) enter(i + k);
      i += match.length;
    }
    if (tokens.size() == 1 << 15 && i < n) write_block(tokens, false, out), tokens.clear();
  }
  write_block(tokens, true, out);
  std::string text = out.finish();

  std::uint32_t a = 1, b = 0;  // Adler-32
  for (int i = 0; i < n; ++i) a = (a + at(i)) % 65521, b = (b + a) % 65521;
  for (const int shift : {24, 16, 8, 0}) text += char((b << 16 | a) >> shift & 255);
  return text;
}

std::uint32_t crc32(std::string_view bytes) {
  static const auto table = [] {
    std::array<std::uint32_t, 256> t{};
    for (std::uint32_t k = 0; k < 256; ++k) {
      std::uint32_t c = k;
      for (int bit = 0; bit < 8; ++bit) c = c & 1 ? 0xedb88320u ^ c >> 1 : c >> 1;
      t[k] = c;
    }
    return t;
  }();
  std::uint32_t c = 0xffffffffu;
  for (const char byte : bytes) c = table[(c ^ static_cast<unsigned char>(byte)) & 255] ^ c >> 8;
  return ~c;
}

}  // namespace verve::render
