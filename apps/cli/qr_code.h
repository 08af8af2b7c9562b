// A short text as a QR code (ISO/IEC 18004), for a phone that looks at a terminal.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace verve::cli {

/// Rows of modules, true where they are dark. Byte mode, error correction L, versions 1 to 5: empty for a text of more
/// than 106 bytes.
std::vector<std::vector<bool>> qr_code(std::string_view text);

/// In half blocks, two rows of modules in each line, with the light border that readers look for; black on white where
/// `colored`, otherwise in the colours of the terminal, light where it is dark.
std::string qr_text(const std::vector<std::vector<bool>>& code, bool colored);

}  // namespace verve::cli
