// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <list>
#include <map>

#include <boost/asio/generic/stream_protocol.hpp>

namespace railhead::metrics {

/// Who is at the other end, as far as places are shared out: an IPv4 address, or the network part
/// (64 bits) of an IPv6 address, because who has one address of a network may have them all. All
/// zero for what has no address: the Unix socket.
using HttpPeer = std::array<unsigned char, 8>;

HttpPeer peer_of(const boost::asio::generic::stream_protocol::endpoint& remote);

/// A bounded number of places for connections, and a bound for what they hold together. Where there
/// is no room, the peer that has most places loses its oldest: who floods makes room for himself,
/// not at the cost of others.
class HttpPlaces {
  using Shares = std::map<HttpPeer, std::size_t>;  ///< places by peer; none with 0

 public:
  /// Has one place at most, and leaves it before it ends.
  class Client {
   public:
    explicit Client(const HttpPeer& peer)
        : peer_(peer) {}

    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;
    virtual ~Client() = default;

    void leave();

    [[nodiscard]] bool has_place() const { return places_ != nullptr; }

   private:
    friend class HttpPlaces;
    /// Its place is needed for another, and it has left it.
    virtual void close() = 0;

    HttpPeer peer_;
    std::size_t bytes_ = 0;
    HttpPlaces* places_ = nullptr;
    std::list<Client*>::iterator at_;
    Shares::iterator share_;
  };

  static constexpr std::size_t kAnyBytes = ~std::size_t{0};

  explicit HttpPlaces(std::size_t most, std::size_t most_bytes = kAnyBytes)
      : most_(most),
        most_bytes_(most_bytes) {}

  /// Gives a place to a client, which leaves the one that it has, and room for so many bytes. Who
  /// needs more than there is at all has all of it alone.
  void admit(Client& client, std::size_t bytes = 0);

  void close_all();

 private:
  static void close(Client& client);

  [[nodiscard]] bool has_room_for(std::size_t bytes) const;

  std::size_t most_;
  std::size_t most_bytes_;
  std::size_t bytes_ = 0;
  std::list<Client*> clients_;  ///< oldest first
  Shares shares_;
};

}  // namespace railhead::metrics
