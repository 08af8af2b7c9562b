// Values to bytes and back, by one list of members each: visit(archive, value) calls the archive with every member, for
// writing and for reading alike. Numbers as they are in memory.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace verve {

class ByteWriter {
 public:
  static constexpr bool reads = false;
  void raw(const void* from, size_t count) {
    const auto* first = static_cast<const unsigned char*>(from);
    bytes_.insert(bytes_.end(), first, first + count);
  }
  const std::vector<unsigned char>& bytes() const { return bytes_; }

 private:
  std::vector<unsigned char> bytes_;
};

/// Never reads beyond the end: what is missing is zero, and ok() says so.
class ByteReader {
 public:
  static constexpr bool reads = true;
  ByteReader(const unsigned char* first, size_t count) : at_(first), left_(count) {}
  void raw(void* to, size_t count) {
    if (count > left_) {
      std::memset(to, 0, count);
      ok_ = false;
      return;
    }
    std::memcpy(to, at_, count);
    at_ += count, left_ -= count;
  }
  /// A length that cannot be: each item takes a byte at least.
  bool holds(std::uint64_t items) {
    ok_ = ok_ && items <= left_;
    return ok_;
  }
  bool ok() const { return ok_; }
  size_t left() const { return left_; }

 private:
  const unsigned char* at_;
  size_t left_;
  bool ok_ = true;
};

// All overloads are declared before any is used: containers hold containers.
template <class A, class T>
  requires(std::is_arithmetic_v<T> || std::is_enum_v<T>)
void archive(A& a, T& value);
template <class A>
void archive(A& a, std::string& text);
template <class A, class T>
void archive(A& a, std::vector<T>& items);
template <class A, class T, size_t n>
void archive(A& a, std::array<T, n>& items);
template <class A, class T>
void archive(A& a, std::optional<T>& value);
template <class A, class T, class U>
void archive(A& a, std::pair<T, U>& both);
template <class A, class T>
void archive(A& a, std::map<std::string, T>& items);
template <class A, class T>
void archive(A& a, std::shared_ptr<const T>& value);
template <class A, class T>
  requires requires(A& a, T& value) { visit(a, value); }
void archive(A& a, T& value) {
  visit(a, value);
}

template <class A, class... T>
void archive_all(A& a, T&... values) {
  (archive(a, values), ...);
}

template <class A, class T>
  requires(std::is_arithmetic_v<T> || std::is_enum_v<T>)
void archive(A& a, T& value) {
  if constexpr (std::is_same_v<T, bool>) {  // any other byte than 0 or 1 would be no bool
    unsigned char byte = value;
    a.raw(&byte, 1);
    if constexpr (A::reads) value = byte != 0;
  } else {
    a.raw(&value, sizeof value);
  }
}

/// The number of items, and room for them; false: the bytes do not hold so many.
template <class A, class Items>
bool archive_size(A& a, Items& items) {
  std::uint64_t count = items.size();
  a.raw(&count, sizeof count);
  if constexpr (A::reads) {
    if (!a.holds(count)) return false;
    items.resize(count);
  }
  return true;
}

template <class A>
void archive(A& a, std::string& text) {
  if (archive_size(a, text) && !text.empty()) a.raw(text.data(), text.size());
}

template <class A, class T>
void archive(A& a, std::vector<T>& items) {
  if (!archive_size(a, items)) return;
  for (T& item : items) archive(a, item);
}

template <class A, class T, size_t n>
void archive(A& a, std::array<T, n>& items) {
  for (T& item : items) archive(a, item);
}

template <class A, class T>
void archive(A& a, std::optional<T>& value) {
  bool has = value.has_value();
  archive(a, has);
  if constexpr (A::reads) {
    if (has) value.emplace();
  }
  if (has) archive(a, *value);
}

template <class A, class T, class U>
void archive(A& a, std::pair<T, U>& both) {
  archive(a, both.first), archive(a, both.second);
}

template <class A, class T>
void archive(A& a, std::map<std::string, T>& items) {
  std::vector<std::pair<std::string, T>> list(items.begin(), items.end());
  archive(a, list);
  if constexpr (A::reads) items = {list.begin(), list.end()};
}

template <class A, class T>
void archive(A& a, std::shared_ptr<const T>& value) {
  bool has = value != nullptr;
  archive(a, has);
  if (!has) return;
  T copy = value ? *value : T{};
  archive(a, copy);
  if constexpr (A::reads) value = std::make_shared<const T>(std::move(copy));
}

}  // namespace verve
