// SPDX-License-Identifier: Apache-2.0
//
// pod_question SOCKET REQUESTS PAUSE_US: asks PodResources for one pod, again and again over one
// connection, and does nothing else. What remains is the cost of gRPC's library and of the kubelet.
// Prints one JSON object with the p50, p90 and p99 in µs.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include <grpcpp/grpcpp.h>

#include "podresources.grpc.pb.h"

namespace {

constexpr std::size_t kWarmUp = 200;

double ask(v1::PodResourcesLister::Stub& kubelet) {
  v1::GetPodResourcesRequest question;
  question.set_pod_namespace("default");
  question.set_pod_name("pod");
  v1::GetPodResourcesResponse answer;
  grpc::ClientContext context;
  const auto begin = std::chrono::steady_clock::now();
  const auto status = kubelet.Get(&context, question, &answer);
  const auto end = std::chrono::steady_clock::now();
  if (!status.ok()) {
    std::cerr << "pod_question: " << status.error_message() << '\n';
    std::exit(1);
  }
  return std::chrono::duration<double, std::micro>(end - begin).count();
}

}  // namespace

int main(int count, char** words) {
  if (count != 4) return 64;
  grpc::ChannelArguments settings;
  settings.SetString(GRPC_ARG_DEFAULT_AUTHORITY, "localhost");
  const auto kubelet = v1::PodResourcesLister::NewStub(grpc::CreateCustomChannel(
      std::string("unix:") + words[1], grpc::InsecureChannelCredentials(), settings));
  for (std::size_t i = 0; i < kWarmUp; ++i) ask(*kubelet);
  std::vector<double> times(std::strtoul(words[2], nullptr, 10));
  const std::chrono::microseconds pause(std::strtoul(words[3], nullptr, 10));
  for (auto& time : times) {
    std::this_thread::sleep_for(pause);
    time = ask(*kubelet);
  }
  std::ranges::sort(times);
  const auto at = [&](double part) {
    return times.empty()
               ? 0
               : times[static_cast<std::size_t>(part * static_cast<double>(times.size() - 1))];
  };
  std::cout << "{\"p50_us\": " << at(0.5) << ", \"p90_us\": " << at(0.9)
            << ", \"p99_us\": " << at(0.99) << "}\n";
}
