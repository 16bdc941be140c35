// SPDX-License-Identifier: Apache-2.0
#include "metrics/http_places.h"

#include <netinet/in.h>

#include <algorithm>
#include <cstring>

namespace railhead::metrics {

HttpPeer peer_of(const boost::asio::generic::stream_protocol::endpoint& remote) {
  HttpPeer peer{};
  const auto ipv4 = [&](const void* address) {
    peer[2] = peer[3] = 0xFF;  // no network of IPv6 begins like this
    std::memcpy(peer.data() + 4, address, 4);
  };
  sockaddr_storage raw{};
  std::memcpy(&raw, remote.data(), std::min(remote.size(), sizeof raw));
  if (raw.ss_family == AF_INET) {
    ipv4(&reinterpret_cast<const sockaddr_in&>(raw).sin_addr);
  } else if (raw.ss_family == AF_INET6) {
    const auto& address = reinterpret_cast<const sockaddr_in6&>(raw).sin6_addr;
    if (IN6_IS_ADDR_V4MAPPED(&address)) {
      ipv4(&address.s6_addr[12]);
    } else {
      std::memcpy(peer.data(), address.s6_addr, peer.size());
    }
  }
  return peer;
}

void HttpPlaces::Client::leave() {
  if (!has_place()) return;
  places_->clients_.erase(at_);
  places_->bytes_ -= bytes_;
  if (--share_->second == 0) places_->shares_.erase(share_);
  places_ = nullptr;
}

bool HttpPlaces::has_room_for(std::size_t bytes) const {
  return clients_.empty() ||
         (clients_.size() < most_ && bytes_ <= most_bytes_ && bytes <= most_bytes_ - bytes_);
}

void HttpPlaces::admit(Client& client, std::size_t bytes) {
  client.leave();
  while (!has_room_for(bytes)) {
    // The first of several: the oldest.
    close(**std::ranges::max_element(clients_, [](const Client* a, const Client* b) {
      return a->share_->second < b->share_->second;
    }));
  }
  client.at_ = clients_.insert(clients_.end(), &client);
  client.share_ = shares_.try_emplace(client.peer_, 0).first;
  ++client.share_->second;
  client.bytes_ = bytes;
  bytes_ += bytes;
  client.places_ = this;
}

void HttpPlaces::close(Client& client) {
  client.leave();
  client.close();
}

void HttpPlaces::close_all() {
  while (!clients_.empty()) close(*clients_.front());
}

}  // namespace railhead::metrics
