// SPDX-License-Identifier: Apache-2.0
// What an API server sends, byte by byte, and a kubeconfig. The first byte chooses: an odd one is a
// kubeconfig; an even one is an answer, which comes in pieces of half so many bytes, and one more.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <boost/asio/buffer.hpp>

#include "data/below.h"
#include "kube/access.h"
#include "kube/http_answer.h"
#include "kube/lease.h"
#include "kube/node_condition.h"
#include "kube/taint.h"

using namespace railhead;

namespace {

constexpr std::size_t kMaxBody = 4096;

void require(bool condition) {
  if (!condition) std::abort();
}

void take_kubeconfig(std::string_view text) {
  const auto access = kube::parse_kubeconfig(
      text, "config",
      [](const std::string& path, std::size_t) { return Result<std::string>(path); });
  if (!access) return require(!access.error().message.empty());
  // They become headers and a place to connect to.
  require(!access->host.empty() && !access->port.empty() && !access->server_name.empty());
  require((access->host + access->prefix).find_first_of("\r\n ") == std::string::npos);
}

void take_answer(std::string_view text, std::size_t piece) {
  kube::HttpAnswerParser parser;
  kube::set_limits(parser, kMaxBody);
  parser.eager(true);
  boost::beast::error_code failure;
  std::string pending;
  while (!failure && !parser.is_done() && !text.empty()) {
    pending += text.substr(0, piece);
    text.remove_prefix(std::min(piece, text.size()));
    const auto used = parser.put(boost::asio::buffer(pending), failure);
    pending.erase(0, used);
    if (failure == boost::beast::http::error::need_more) failure = {};
  }
  if (!failure && parser.got_some() && !parser.is_done()) parser.put_eof(failure);
  if (failure || !parser.is_done()) return;
  const auto answer = kube::answer_in(parser);
  require(answer.body.size() <= kMaxBody);
  const auto request = kube::get("/api/v1/nodes/a");
  const auto object = kube::object_in(request, answer);
  if (!object) {
    require(object.error().message.starts_with("GET /api/v1/nodes/a: "));
    require(object.error().message.find_first_of("\r\n\x1b") == std::string::npos);
    return;
  }
  if (const auto operations = kube::taint_removal(*object, "key")) {
    require(operations->size() % 2 == 0 && operations->size() <= answer.body.size());
  }
  if (const auto lease = kube::lease_in(*object)) {
    require(!lease->version.empty() && lease->holder.size() <= answer.body.size());
    // Whatever a holder is called, the patch is one object for one version.
    const auto taken = data::parse_json(kube::take_lease({"a", "b"}, *lease, "c", {}).body);
    require(taken && data::text_below(*taken, {"spec", "holderIdentity"}) == "c" &&
            data::text_below(*taken, {"metadata", "resourceVersion"}) == lease->version);
  }
  const auto conditions = kube::conditions_in(*object);
  require(conditions.size() <= answer.body.size());
  // What was there may be written back.
  const auto patch = data::parse_json(kube::patch_conditions("a", conditions).body);
  require(patch && kube::conditions_in(*patch).size() == conditions.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] % 2 == 1) {
    take_kubeconfig(text);
  } else {
    take_answer(text, std::size_t{data[0]} / 2 + 1);
  }
  return 0;
}
