#include "figures/page.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>

#include "verve/version.h"

namespace verve::figures {

namespace {

std::string base64(const std::string& bytes) {
  static constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t word = 0;
    for (size_t k = 0; k < 3; ++k) word = word << 8 | (i + k < bytes.size() ? std::uint8_t(bytes[i + k]) : 0);
    for (size_t k = 0; k < 4; ++k) out += k <= bytes.size() - i ? digits[word >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

/// " width=… height=…" as the PNG or GIF says: without them the page jumps while pictures come in, and links miss.
std::string extent(const Picture& picture) {
  const auto byte = [&](size_t at) { return at < picture.bytes.size() ? int(std::uint8_t(picture.bytes[at])) : 0; };
  int width, height;
  if (picture.name.ends_with(".gif"))
    width = byte(6) | byte(7) << 8, height = byte(8) | byte(9) << 8;
  else
    width = byte(18) << 8 | byte(19), height = byte(22) << 8 | byte(23);
  return " width=\"" + std::to_string(width) + "\" height=\"" + std::to_string(height) + "\"";
}

constexpr const char* style = R"css(
:root{color-scheme:light dark;--ink:#22262b;--soft:#5c656f;--paper:#fff;--ground:#f4f5f7;--grid:#e3e6ea;--axis:#8a929c;
--bound:#777;--good:#1f7a3d;--bad:#b3261e;--line:#dcdfe3}
@media (prefers-color-scheme:dark){:root{--ink:#d9dee4;--soft:#98a2ad;--paper:#181c21;--ground:#101316;--grid:#2c333b;
--axis:#6b7580;--bound:#99a;--good:#5fce84;--bad:#ff8a80;--line:#2c333b}}
*{box-sizing:border-box}body{margin:0;background:var(--ground);color:var(--ink);font:15px/1.5 system-ui,sans-serif}
main{max-width:1380px;margin:0 auto;padding:24px 20px 80px}h1{font-size:28px;margin:0 0 4px}h2{font-size:20px;margin:0}
a{color:inherit}p{margin:6px 0}.soft{color:var(--soft)}.good{color:var(--good)}.bad{color:var(--bad);font-weight:600}
section{background:var(--paper);border:1px solid var(--line);border-radius:10px;padding:18px 20px;margin:18px 0}
table{border-collapse:collapse;font-size:13.5px;margin:8px 0;font-variant-numeric:tabular-nums}
th,td{text-align:left;padding:3px 12px 3px 0;border-bottom:1px solid var(--line);vertical-align:top}
th{font-weight:600}caption{text-align:left;font-weight:600;padding:6px 0 2px}.wide{overflow-x:auto}
.charts{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(420px,100%),1fr));gap:12px}
.charts svg{width:100%;height:auto;max-width:640px}.charts figure{margin:0}figure.p{margin:10px 0}figure.p img{max-width:100%;height:auto;
border-radius:6px;display:block}figcaption{font-size:13px;color:var(--soft)}ul{margin:6px 0;padding-left:20px}
.differs{border-left:3px solid var(--axis);padding:2px 0 2px 12px;margin:10px 0}
@media print{body{background:#fff}section{break-inside:avoid-page;border:none}main{max-width:none;padding:0}}
)css";

std::string table_html(const Table& table) {
  std::string out = "<div class=\"wide\"><table><caption>" + escaped(table.title) + "</caption>\n";
  for (size_t r = 0; r < table.rows.size(); ++r) {
    out += "<tr>";
    for (const std::string& cell : table.rows[r])
      out += (r ? "<td>" : "<th>") + escaped(cell) + (r ? "</td>" : "</th>");
    out += "</tr>\n";
  }
  return out + "</table></div>\n";
}

std::string section(const Made& made, const std::string& command) {
  const Figure& figure = *made.figure;
  const Result& result = made.result;
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%.1f s", result.seconds);
  std::string out = "<section id=\"" + std::string(figure.name) + "\"><h2>" + figure.name + ": " +
                    escaped(figure.title) + "</h2>\n<p>" + escaped(figure.shows) + "</p>\n";
  if (!result.checks.empty())
    out += "<div class=\"wide\"><table><tr><th></th><th>what</th><th>measured</th><th>bound</th><th>from</th></tr>\n";
  for (const Check& c : result.checks)
    out += std::string("<tr><td class=\"") + (c.passed ? "good\">pass" : "bad\">FAIL") + "</td><td>" + escaped(c.what) +
           "</td><td>" + escaped(c.measured) + "</td><td>" + escaped(c.bound) + "</td><td class=\"soft\">" +
           escaped(c.source) + "</td></tr>\n";
  if (!result.checks.empty()) out += "</table></div>\n";
  for (const std::string& words : result.remarks) out += "<p class=\"differs\">" + escaped(words) + "</p>\n";
  for (const Picture& p : result.pictures) {
    const bool moving = p.name.ends_with(".gif");
    out += "<figure class=\"p\"><img loading=\"lazy\"" + extent(p) + " alt=\"" + escaped(p.caption) +
           "\" src=\"data:image/" + (moving ? "gif" : "png") + ";base64," + base64(p.bytes) + "\"><figcaption>" +
           escaped(p.caption) + "</figcaption></figure>\n";
  }
  if (!result.charts.empty()) {
    out += "<div class=\"charts\">\n";
    for (const Chart& chart : result.charts) out += "<figure>" + svg(chart) + "</figure>\n";
    out += "</div>\n";
  }
  for (const Table& table : result.tables) out += table_html(table);
  if (result.checks.empty()) return out + "</section>\n";
  return out + "<p class=\"soft\">" + verdict(result.passed(), result.failed()) + ", " + seconds +
         (command.empty() ? "" : "; <code>" + escaped(command + " " + figure.name) + "</code>") + "</p></section>\n";
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

}  // namespace

std::string verdict(int passed, int failed) {
  return std::to_string(passed) + " passed, " + (failed ? "<span class=\"bad\">" : "") + std::to_string(failed) +
         " failed" + (failed ? "</span>" : "");
}

std::string page(const PageText& text, const std::vector<Made>& made) {
  std::string out =
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
      "content=\"width=device-width,initial-scale=1\"><title>" +
      escaped(text.title) + "</title><style>" + std::string(style) + "</style></head><body><main>\n<h1>" +
      escaped(text.heading) + "</h1>\n" + text.introduction;
  out += "<section><div class=\"wide\"><table><tr><th>figure</th><th></th><th>passed</th><th>failed</th></tr>\n";
  for (const Made& m : made)
    out += "<tr><td><a href=\"#" + std::string(m.figure->name) + "\">" + m.figure->name + "</a></td><td>" +
           escaped(m.figure->title) + "</td><td>" + std::to_string(m.result.passed()) + "</td><td" +
           (m.result.failed() ? " class=\"bad\"" : "") + ">" + std::to_string(m.result.failed()) + "</td></tr>\n";
  out += "</table></div></section>\n";
  for (const Made& m : made) out += section(m, text.command);
  return out + "</main></body></html>\n";
}

std::string page(const std::vector<Made>& made, bool quick, const std::string& method, double seconds) {
  int passed = 0, failed = 0;
  for (const Made& m : made) passed += m.result.passed(), failed += m.result.failed();
  char took[64];
  std::snprintf(took, sizeof took, "%.0f s", seconds);
  PageText text{"Verve: the papers in one command", "The papers, reproduced", "", "verve figures"};
  text.introduction =
      "<p>Every table and figure of Kee, Um, Jeong, Han 2021, <i>Constrained Projective Dynamics</i>, and of Bouaziz, "
      "Martin, Liu, Kavan, Pauly 2014, <i>Projective Dynamics</i>, from our own scenes, with the measurement that "
      "decides each; and what neither shows. Bounds were there before the measurements; what does not meet its bound "
      "is "
      "marked and explained, not adjusted. Stiffnesses and speeds that the papers do not print were chosen so that the "
      "figure is in the paper's situation; where that was after a first look, the figure says so.</p>\n<p>" +
      verdict(passed, failed) + " in " + took +
      (quick ? ", <b>quick: a part of the figures, with shorter runs</b>" : "") +
      (method.empty() ? "" : ", with <b>" + escaped(method) + "</b> in the place of the method under test") +
      ". Verve " VERVE_VERSION
      ", times in processor time of one thread unless said. C…, P… and M… number what is claimed "
      "of CPD, of PD and of what they are compared with; docs/figures.md says more.</p>\n";
  return page(text, made);
}

std::string checks_csv(const std::vector<Made>& made) {
  std::string out = "figure,check,measured,bound,source,passed\n";
  for (const Made& m : made)
    for (const Check& c : m.result.checks)
      out += std::string(m.figure->name) + "," + quoted(c.what) + "," + quoted(c.measured) + "," + quoted(c.bound) +
             "," + quoted(c.source) + "," + (c.passed ? "1" : "0") + "\n";
  return out;
}

std::vector<std::pair<std::string, std::string>> files_of(const Made& made) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const Chart& chart : made.result.charts) {
    out.emplace_back(chart.name + ".svg", svg(chart));
    out.emplace_back(chart.name + ".csv", csv(chart));
  }
  for (size_t i = 0; i < made.result.tables.size(); ++i) {
    std::string text;
    for (const auto& row : made.result.tables[i].rows) {
      for (size_t c = 0; c < row.size(); ++c) text += (c ? "," : "") + quoted(row[c]);
      text += "\n";
    }
    out.emplace_back("table" + std::to_string(i + 1) + ".csv", text);
  }
  for (const Picture& p : made.result.pictures) out.emplace_back(p.name, p.bytes);
  return out;
}

}  // namespace verve::figures
