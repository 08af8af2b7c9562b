// The compression of PNG (RFC 1950, RFC 1951).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace verve::render {

/// A zlib stream: head, deflate blocks with codes of their own, checksum.
std::string zlib_compress(std::string_view bytes);
std::uint32_t crc32(std::string_view bytes);

}  // namespace verve::render
