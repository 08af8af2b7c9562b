#include "live_server.h"

#include <arpa/inet.h>
#include <civetweb.h>
#include <ifaddrs.h>
#include <net/if.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <deque>
#include <mutex>
#include <random>
#include <string_view>
#include <thread>
#include <vector>

#include "live/session.h"
#include "verve_page_files.h"

namespace verve::cli {

namespace {

constexpr int most_clients = 8;
/// Requests at a time: of pages, scripts and pictures, and whatever else somebody sends.
constexpr int most_requests = 56;
/// Frames that the page has been sent and has not drawn yet. One that is being drawn and one that is on its way keep a
/// page busy; to a page that draws nothing nothing is sent.
constexpr int most_in_flight = 2;
/// Messages of a page that its session has not read yet: beyond, it is cut off.
constexpr size_t most_waiting = 4096, most_waiting_bytes = 96u << 20;

std::string random_token() {
  std::random_device source;
  std::string out;
  for (int i = 0; i < 4; ++i) {
    char word[9];
    std::snprintf(word, sizeof word, "%08x", unsigned(source()));
    out += word;
  }
  return out;
}

/// Addresses of this machine in its networks, without the loopback interface.
std::vector<std::string> network_addresses() {
  std::vector<std::string> out;
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return out;
  for (const ifaddrs* each = all; each; each = each->ifa_next) {
    if (!each->ifa_addr || each->ifa_addr->sa_family != AF_INET) continue;
    if (!(each->ifa_flags & IFF_UP) || (each->ifa_flags & IFF_LOOPBACK)) continue;
    char text[INET_ADDRSTRLEN] = "";
    if (inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(each->ifa_addr)->sin_addr, text, sizeof text))
      out.push_back(text);
  }
  freeifaddrs(all);
  return out;
}

/// In a time that does not tell how much of it is right.
bool same_token(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned char off = 0;
  for (size_t i = 0; i < a.size(); ++i) off |= static_cast<unsigned char>(a[i] ^ b[i]);
  return off == 0;
}

const char* header(const mg_connection* connection, const char* name) { return mg_get_header(connection, name); }

}  // namespace

struct LiveServer::Impl {
  /// One page: what it says is put into an inbox; a thread of its own reads it, steps and answers.
  class Client {
   public:
    Client(mg_connection* connection, const LiveServerOptions& options) : connection_(connection), options_(options) {}
    ~Client() { stop(); }

    void begin() {
      thread_ = std::thread([this] { work(); });
    }
    void stop() {
      {
        const std::lock_guard lock(mutex_);
        ended_ = true;
      }
      wake_.notify_all();
      if (thread_.joinable()) thread_.join();
    }
    /// False: too much to be meant, the connection is to be closed.
    bool receive(int bits, const char* data, size_t size) {
      const int opcode = bits & 0xf;
      if (opcode == MG_WEBSOCKET_OPCODE_CONNECTION_CLOSE) return false;
      if (opcode == MG_WEBSOCKET_OPCODE_PING) {
        mg_websocket_write(connection_, MG_WEBSOCKET_OPCODE_PONG, data, size);
        return true;
      }
      if (opcode == MG_WEBSOCKET_OPCODE_PONG) return true;
      const std::lock_guard lock(mutex_);
      if (opcode != MG_WEBSOCKET_OPCODE_CONTINUATION) {
        partial_.clear();
        partial_is_text_ = opcode == MG_WEBSOCKET_OPCODE_TEXT;
      }
      if (partial_.size() + size + waiting_bytes_ > most_waiting_bytes) return false;
      partial_.append(data, size);
      if (!(bits & 0x80)) return true;
      if (partial_is_text_) {
        if (inbox_.size() >= most_waiting) return false;
        waiting_bytes_ += partial_.size();
        inbox_.push_back(std::move(partial_));
      } else if (in_flight_ > 0) {
        --in_flight_;  // drawn
      }
      partial_.clear();
      wake_.notify_all();
      return true;
    }

   private:
    using Clock = std::chrono::steady_clock;

    bool write(int opcode, const std::string& bytes) {
      return mg_websocket_write(connection_, opcode, bytes.data(), bytes.size()) > 0;
    }
    bool write(const std::vector<std::string>& texts) {
      for (const std::string& text : texts)
        if (!write(MG_WEBSOCKET_OPCODE_TEXT, text)) return false;
      return true;
    }

    void work() {
      try {
        attend();
      } catch (const std::exception& error) {  // memory that ran out, most likely
        const std::string text = error.what();
        write(MG_WEBSOCKET_OPCODE_TEXT,
              write_json(Json::object({{"type", "error", {}}, {"text", "the session ended: " + text, {}}})));
        write(MG_WEBSOCKET_OPCODE_CONNECTION_CLOSE, "");
      }
    }

    void attend() {
      live::Session session({.threads = options_.threads});
      if (options_.scene && !write(session.load(*options_.scene))) return;
      Clock::time_point next = Clock::now();
      bool owed = session.take_changed();  // there is a frame that the page has not been sent
      for (;;) {
        std::deque<std::string> messages;
        bool free = false;
        {
          std::unique_lock lock(mutex_);
          const auto due = [&] { return ended_ || !inbox_.empty() || (owed && in_flight_ < most_in_flight); };
          if (session.running())
            wake_.wait_until(lock, next, due);
          else
            wake_.wait(lock, due);
          if (ended_) return;
          messages.swap(inbox_);
          waiting_bytes_ = 0;
        }
        for (const std::string& message : messages)
          if (!write(session.handle(message))) return;
        owed |= session.take_changed();
        if (session.running() && Clock::now() >= next) {
          if (!write(session.advance())) return;
          owed = true;
          // a machine that is too slow shows slow motion, not leaps
          const auto interval =
              std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(session.interval()));
          next = std::max(next + interval, Clock::now());
        } else if (!session.running()) {
          next = Clock::now();
        }
        if (!owed) continue;
        {
          const std::lock_guard lock(mutex_);
          free = in_flight_ < most_in_flight;
          if (free) ++in_flight_;
        }
        if (!free) continue;  // dropped; the page gets the one that is then the newest
        if (!write(MG_WEBSOCKET_OPCODE_BINARY, session.frame())) return;
        owed = false;
      }
    }

    mg_connection* connection_;
    const LiveServerOptions& options_;
    std::thread thread_;
    std::mutex mutex_;
    std::condition_variable wake_;
    std::deque<std::string> inbox_;
    size_t waiting_bytes_ = 0;
    std::string partial_;
    bool partial_is_text_ = false;
    int in_flight_ = 0;
    bool ended_ = false;
  };

  explicit Impl(const LiveServerOptions& o) : options(o), token(random_token()) {}
  ~Impl() {
    if (context) mg_stop(context);  // closes every connection, and with it its client
  }

  /// The address that the browser thinks it talks to: a name that only points here (DNS rebinding) is not ours.
  bool is_ours(const char* host) const {
    if (!host) return false;
    const std::string suffix = ":" + std::to_string(port);
    for (const std::string& name : names)
      if (host == name + suffix) return true;
    return false;
  }
  bool has_token(const mg_request_info* request) const {
    char given[80] = "";
    const char* query = request->query_string ? request->query_string : "";
    return mg_get_var(query, std::strlen(query), "token", given, sizeof given) > 0 && same_token(token, given);
  }
  bool may_connect(const mg_connection* connection) const {
    const char* origin = header(connection, "Origin");
    const mg_request_info* request = mg_get_request_info(connection);
    if (!is_ours(header(connection, "Host")) || !origin || std::strncmp(origin, "http://", 7) != 0 ||
        !is_ours(origin + 7))
      return false;
    return has_token(request);
  }

  void reply(mg_connection* connection, int status, const char* phrase, const char* type, std::string_view body) const {
    const char* host = header(connection, "Host");
    const bool head = !std::strcmp(mg_get_request_info(connection)->request_method, "HEAD");
    mg_printf(connection,
              "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\nCache-Control: no-store\r\n"
              "X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n"
              "Cross-Origin-Resource-Policy: same-origin\r\nCross-Origin-Opener-Policy: same-origin\r\n"
              "Cross-Origin-Embedder-Policy: require-corp\r\nX-Frame-Options: DENY\r\n"
              "Content-Security-Policy: default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; "
              "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; connect-src 'self'%s%s; base-uri 'none'; "
              "form-action 'none'\r\nConnection: close\r\n\r\n",
              status, phrase, type, body.size(), is_ours(host) ? " ws://" : "", is_ours(host) ? host : "");
    if (!head) mg_write(connection, body.data(), body.size());
  }

  int serve(mg_connection* connection) const {
    const mg_request_info* request = mg_get_request_info(connection);
    const std::string method = request->request_method, path = request->local_uri ? request->local_uri : "";
    if (method != "GET" && method != "HEAD")
      return reply(connection, 405, "Method Not Allowed", "text/plain", "only GET\n"), 405;
    if (!is_ours(header(connection, "Host")))
      return reply(connection, 403, "Forbidden", "text/plain", "this page is not at that address\n"), 403;
    if (options.lan && path == "/" && !has_token(request))
      return reply(connection, 403, "Forbidden", "text/plain",
                   "this page takes the whole address that verve serve --lan has written, with its token\n"),
             403;
    const std::string name = path == "/" ? "index.html" : path.substr(1);
    for (const auto& file : verve_page_files::all()) {
      if (file.name != name) continue;
      const auto ends = [&](std::string_view end) { return name.ends_with(end); };
      const char* type = ends(".html")   ? "text/html; charset=utf-8"
                         : ends(".css")  ? "text/css; charset=utf-8"
                         : ends(".js")   ? "text/javascript; charset=utf-8"
                         : ends(".json") ? "application/json"
                         : ends(".svg")  ? "image/svg+xml"
                         : ends(".webp") ? "image/webp"
                         : ends(".jpg")  ? "image/jpeg"
                                         : "application/octet-stream";
      std::string body(file.text);
      if (name == "index.html") {
        const std::string mark = "content=\"{{token}}\"";
        if (const size_t at = body.find(mark); at != std::string::npos)
          body.replace(at, mark.size(), "content=\"" + token + "\"");
      }
      return reply(connection, 200, "OK", type, body), 200;
    }
    return reply(connection, 404, "Not Found", "text/plain", "no such page\n"), 404;
  }

  LiveServerOptions options;
  std::string token;
  int port = 0;
  std::vector<std::string> names = {"127.0.0.1", "localhost"};  // that this machine goes by
  std::atomic<int> clients = 0;
  mg_context* context = nullptr;
};

LiveServer::LiveServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
LiveServer::LiveServer(LiveServer&&) noexcept = default;
LiveServer& LiveServer::operator=(LiveServer&&) noexcept = default;
LiveServer::~LiveServer() = default;
int LiveServer::port() const { return impl_->port; }
std::string LiveServer::address() const {
  const std::string port = ":" + std::to_string(impl_->port) + "/";
  return impl_->options.lan ? "http://" + impl_->names.back() + port + "?token=" + impl_->token
                            : "http://127.0.0.1" + port;
}

Expected<LiveServer> LiveServer::start(const LiveServerOptions& options) {
  static const unsigned features = mg_init_library(MG_FEATURES_WEBSOCKET);
  Diagnostics problems;
  if (!(features & MG_FEATURES_WEBSOCKET)) {
    problems.error("serve", "the civetweb library of this system knows no WebSockets");
    return problems;
  }
  auto impl = std::make_unique<Impl>(options);
  if (options.lan) {
    // the first network is named last, where address() looks
    const std::vector<std::string> found = network_addresses();
    if (found.empty()) {
      problems.error("--lan",
                     "found no network that this machine is in, expected one; without --lan the page is at 127.0.0.1");
      return problems;
    }
    impl->names.insert(impl->names.end(), found.rbegin(), found.rend());
  }
  const std::string ports = (options.lan ? "0.0.0.0:" : "127.0.0.1:") + std::to_string(options.port);
  // Each connection takes a thread while it lasts, a request that does not come to its end one until its time is over.
  const std::string threads = std::to_string(most_clients + most_requests);
  const char* settings[] = {"listening_ports",
                            ports.c_str(),
                            "num_threads",
                            threads.c_str(),
                            "websocket_timeout_ms",
                            "86400000",
                            "request_timeout_ms",
                            options.lan ? "2000" : "1000",
                            "enable_keep_alive",
                            "no",
                            "enable_websocket_ping_pong",
                            "no",
                            "tcp_nodelay",
                            "1",
                            nullptr};
  mg_callbacks callbacks{};
  callbacks.log_message = [](const mg_connection*, const char*) { return 1; };  // strangers' rubbish is no news
  impl->context = mg_start(&callbacks, impl.get(), settings);
  if (!impl->context) {
    problems.error("--port", "port " + std::to_string(options.port) +
                                 " cannot be had: another program uses it, or it needs rights. Expected a "
                                 "free one; 0 takes any");
    return problems;
  }
  mg_server_port bound[4];
  if (mg_get_server_ports(impl->context, 4, bound) > 0) impl->port = bound[0].port;

  mg_set_request_handler(
      impl->context, "/", [](mg_connection* c, void* self) { return static_cast<LiveServer::Impl*>(self)->serve(c); },
      impl.get());
  mg_set_websocket_handler(
      impl->context, "/session",
      [](const mg_connection* c, void* raw) {
        auto& self = *static_cast<LiveServer::Impl*>(raw);
        if (!self.may_connect(c)) return 1;
        if (self.clients.fetch_add(1) >= most_clients) {
          self.clients.fetch_sub(1);
          return 1;
        }
        mg_set_user_connection_data(c, new LiveServer::Impl::Client(const_cast<mg_connection*>(c), self.options));
        return 0;
      },
      [](mg_connection* c, void*) { static_cast<LiveServer::Impl::Client*>(mg_get_user_connection_data(c))->begin(); },
      [](mg_connection* c, int bits, char* data, size_t size, void*) {
        return static_cast<LiveServer::Impl::Client*>(mg_get_user_connection_data(c))->receive(bits, data, size) ? 1
                                                                                                                 : 0;
      },
      [](const mg_connection* c, void* raw) {
        delete static_cast<LiveServer::Impl::Client*>(mg_get_user_connection_data(c));
        mg_set_user_connection_data(c, nullptr);
        static_cast<LiveServer::Impl*>(raw)->clients.fetch_sub(1);
      },
      impl.get());
  return LiveServer(std::move(impl));
}

}  // namespace verve::cli
