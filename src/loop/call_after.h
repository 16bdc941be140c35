// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include <boost/asio/steady_timer.hpp>

namespace railhead::loop {

/// Calls `work` once, so much later, on the timer's thread. Not where the timer is set again,
/// cancelled or destroyed before it is due.
template <typename Work>
void call_after(boost::asio::steady_timer& timer, boost::asio::steady_timer::duration time,
                Work work) {
  timer.expires_after(time);
  timer.async_wait([work = std::move(work)](const boost::system::error_code& failure) mutable {
    if (!failure) work();
  });
}

}  // namespace railhead::loop
