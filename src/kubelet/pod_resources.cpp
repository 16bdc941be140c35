// SPDX-License-Identifier: Apache-2.0
#include "kubelet/pod_resources.h"

#include <poll.h>
#include <pthread.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include "host/clock.h"
#include "host/file_lock.h"
#include "host/local_socket.h"
#include "host/memory.h"
#include "kubelet/channel.h"
#include "kubelet/pod_question.h"

namespace railhead::kubelet {
namespace {

using std::chrono::milliseconds;
using TimePoint = std::chrono::steady_clock::time_point;

/// How late a kubelet that has come is noticed at most.
constexpr milliseconds kBetweenLooks{100};
/// A kubelet that ends takes about so long to be back; who asks meanwhile may wait for it.
constexpr milliseconds kRestart{2000};
/// Before the next try. The kubelet's limit lets one more question pass every 10 ms.
constexpr int kShortestPauseMs = 30;
constexpr int kLongestPauseMs = 100;
/// A kubelet that was stopped reads nothing. gRPC gives no call back, cancelled or late, while a
/// write waits for room (grpc 1.51, chttp2_transport.cc, run_after_write), so a connection never
/// gets more than its socket holds: so many questions under way, and so many that had no answer in
/// time.
constexpr int kMostAtOnce = 32;
constexpr int kMostUnheard = 32;
constexpr milliseconds kUntilLeftBehind{1000};
/// An answer takes several times its size until it has been handed over. What it took is given back
/// once, however many come.
constexpr std::size_t kLargeAnswerBytes = std::size_t{1} << 20;
constexpr milliseconds kUntilTidy{1000};

/// Kubelets before 1.34 have Get behind a gate that is off ("… disabled"). That error has no code,
/// and neither has the one of a pod that is not known ("… not found"): List says what that holds.
/// Source: Kubernetes pkg/kubelet/apis/podresources/server_v1.go.
bool says_nothing_by_get(const grpc::Status& status) {
  return status.error_code() == grpc::StatusCode::UNIMPLEMENTED ||
         status.error_code() == grpc::StatusCode::UNKNOWN;
}

bool lacks_get(const grpc::Status& status) {
  return status.error_code() == grpc::StatusCode::UNIMPLEMENTED ||
         status.error_message().find("disabled") != std::string::npos;
}

/// An answer that is larger than we take would be as large again; the kubelet's limit has its code.
bool is_too_large(const grpc::Status& status) {
  return status.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED &&
         status.error_message().find("larger than max") != std::string::npos;
}

bool is_limited(const grpc::Status& status) {
  return status.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED && !is_too_large(status);
}

/// Somebody is there, or was: only `unavailable` says that there is no kubelet.
constexpr ErrorCode kNoAnswer = ErrorCode::timeout;

Error no_answer(std::string why) {
  return {kNoAnswer, std::move(why)};
}

bool is_lost(const grpc::Status& status) {
  return status.error_code() == grpc::StatusCode::UNAVAILABLE ||
         status.error_code() == grpc::StatusCode::CANCELLED;
}

}  // namespace

/// The thread and all it uses. Shared with it, so that one which is left behind keeps that.
class PodResources::Worker : public std::enable_shared_from_this<Worker> {
 public:
  Worker(std::string socket, loop::Mailbox& mailbox)
      : socket_(std::move(socket)),
        mailbox_(mailbox) {}

  TimePoint now() { return clock_.now(); }

  /// Nobody listened a moment ago.
  bool is_nobody_there() { return now().time_since_epoch().count() < nobody_until_; }

  /// A kubelet that was there has containers, whose truth it knows.
  [[nodiscard]] ErrorCode code_of_nobody() const {
    return was_there_ ? kNoAnswer : ErrorCode::unavailable;
  }

  [[nodiscard]] Error nobody() const {
    return {code_of_nobody(),
            socket_ + (was_there_ ? ": the kubelet has gone" : ": nobody listens")};
  }

  void ask(std::unique_ptr<Question> question) {
    const std::lock_guard lock(mutex_);
    if (!thread_.joinable() && !start()) {
      return post(question->failed(no_answer(socket_ + ": no thread to ask")));
    }
    if (queue_) return ring(std::move(question));
    waiting_.push_back(std::move(question));
    wake_.notify_one();
  }

  void end() {
    {
      const std::lock_guard lock(gate_);
      is_closed_ = true;
    }
    std::unique_lock lock(mutex_);
    if (!thread_.joinable()) return;
    is_ending_ = true;
    if (queue_) end_alarm_.emplace().Set(&*queue_, gpr_inf_past(GPR_CLOCK_MONOTONIC), nullptr);
    wake_.notify_one();
    const bool has_ended = ended_.wait_for(lock, kUntilLeftBehind, [this] { return has_ended_; });
    lock.unlock();
    has_ended ? thread_.join() : thread_.detach();
  }

 private:
  /// False where the system has no thread left.
  bool start() {
    try {
      thread_ = std::thread([worker = shared_from_this()] { worker->run(); });
    } catch (const std::system_error&) {
      return false;
    }
    ::pthread_setname_np(thread_.native_handle(), "pod-resources");
    return true;
  }

  /// From any thread, before the end.
  void ring(std::unique_ptr<Question> question) {
    auto& alarm = question->alarm.emplace();
    alarm.Set(&*queue_, gpr_inf_past(GPR_CLOCK_MONOTONIC), question.release());
  }

  /// From any thread: done on the mailbox's, unless our end comes first.
  void post(Question::Work work) {
    const std::lock_guard lock(gate_);
    if (is_closed_) return;
    mailbox_.post([worker = weak_from_this(), work = std::move(work)] {
      const auto alive = worker.lock();
      if (alive && !alive->is_closed_) work();
    });
  }

  // All that follows is on our thread.

  void run() {
    if (wait_for_kubelet()) serve();
    const std::lock_guard lock(mutex_);
    has_ended_ = true;
    ended_.notify_all();
  }

  /// Why nobody can be asked; absent where somebody listens.
  std::optional<Error> hindrance() {
    const auto listens = host::is_listened_on(socket_);
    if (!listens) return no_answer(listens.error().message);
    if (!*listens) return nobody();
    was_there_ = true;
    const auto started = start_library();
    if (!started) return no_answer(started.error().message);
    return std::nullopt;
  }

  /// Whether this is no reason to give up.
  bool is_asked_again(const Question& question, const Error& why_not) {
    return question.is_patient() && why_not.code != ErrorCode::unavailable &&
           now() + milliseconds(kLongestPauseMs) < question.deadline;
  }

  /// Without gRPC, which a node without a kubelet never needs. False: the end came first.
  bool wait_for_kubelet() {
    std::unique_lock lock(mutex_);
    for (;;) {
      wake_.wait(lock, [this] { return is_ending_ || !waiting_.empty(); });
      if (is_ending_) return false;
      lock.unlock();
      const auto why_not = hindrance();
      if (!why_not) break;
      note_nobody(*why_not);
      lock.lock();
      if (is_ending_) return false;
      std::erase_if(waiting_, [&](const auto& question) {
        if (is_asked_again(*question, *why_not)) return false;
        post(question->failed(*why_not));
        return true;
      });
      if (waiting_.empty()) continue;
      const auto patient = waiting_.size();
      wake_.wait_for(lock, kBetweenLooks, [&] { return is_ending_ || waiting_.size() > patient; });
    }
    auto queue = std::make_unique<grpc::CompletionQueue>();
    lock.lock();
    if (is_ending_) return false;
    queue_ = std::move(queue);
    for (auto& question : waiting_) ring(std::move(question));
    waiting_.clear();
    return true;
  }

  void serve() {
    void* tag = nullptr;
    bool is_ok = false;
    while (queue_->Next(&tag, &is_ok)) {
      if (tag == nullptr) {
        begin_end();
      } else if (tag == &tidy_alarm_) {
        host::give_back_free_memory();
        tidy_alarm_.reset();
      } else {
        happened(static_cast<Question*>(tag));
      }
    }
    drop_connection();
  }

  /// The queue tells of everything that was begun before it says that it is empty.
  void begin_end() {
    is_over_ = true;
    for (auto* question : open_) {
      if (question->attempt) {
        question->attempt->context.TryCancel();
      } else {
        question->alarm->Cancel();
      }
    }
    if (tidy_alarm_) tidy_alarm_->Cancel();
    queue_->Shutdown();
  }

  void happened(Question* question) {
    open_.insert(question);
    if (is_over_) return forget(question);
    if (!question->attempt) return try_now(question);
    --under_way_;
    const auto& status = question->attempt->status;
    if (question->connection == connection_) {
      unheard_ = status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED ? unheard_ + 1 : 0;
      if (unheard_ >= kMostUnheard) drop_connection();
    }
    const bool large = is_too_large(status) || question->attempt->bytes() >= kLargeAnswerBytes;
    if (large && !tidy_alarm_) {
      tidy_alarm_.emplace().Set(queue_.get(), timespec_in(kUntilTidy), &tidy_alarm_);
    }
    if (status.ok()) {
      was_heard_ = true;
      restart_until_ = {};
      post(question->answered());
      return forget(question);
    }
    if (question->uses_get() && says_nothing_by_get(status)) {
      if (lacks_get(status)) has_get_ = false;
      question->is_for_list = true;
      return try_now(question);
    }
    const auto error = error_of(status, socket_);
    if (is_limited(status)) {
      question->limit = error;
      return try_later(question, error);
    }
    if (!is_lost(status)) return fail(question, error);
    // Not gRPC's back-off, which would go on connecting while nobody asks.
    if (question->connection == connection_) drop_connection();
    nobody_answers(question, no_answer(error.message));
  }

  void try_now(Question* question) {
    const auto left = question->deadline - now();
    if (left <= left.zero()) {
      return fail(question, {ErrorCode::timeout, socket_ + ": no time left to ask"});
    }
    const auto identity = host::identity_of(socket_);
    if (identity != identity_) {
      drop_connection();
      identity_ = identity;
      has_get_ = true;
      nobody_until_ = 0;
    }
    if (!stub_) {
      if (is_nobody_there()) return fail(question, nobody());
      if (const auto why_not = hindrance()) return nobody_answers(question, *why_not);
      stub_ = v1::PodResourcesLister::NewStub(connect(socket_));
    }
    if (under_way_ >= kMostAtOnce) {
      return try_later(question, {ErrorCode::timeout, socket_ + ": too many questions wait"});
    }
    ++under_way_;
    question->connection = connection_;
    question->begin(*stub_, *queue_, timespec_in(left), has_get_ && !question->is_for_list);
  }

  /// A kubelet that answered before is waited for a while, and by the patient as long as they can.
  void nobody_answers(Question* question, const Error& error) {
    if (was_heard_) {
      was_heard_ = false;
      restart_until_ = now() + kRestart;
    }
    if (now() < restart_until_ || is_asked_again(*question, error)) {
      return try_later(question, error);
    }
    note_nobody(error);
    fail(question, error);
  }

  /// After a pause; where there is no time for one, this error is the answer.
  void try_later(Question* question, const Error& error) {
    const milliseconds pause(
        std::uniform_int_distribution(kShortestPauseMs, kLongestPauseMs)(dice_));
    if (now() + pause >= question->deadline) return fail(question, error);
    question->attempt.reset();
    question->alarm->Set(&*queue_, timespec_in(pause), question);
  }

  /// Only of one whose absence is sure: whoever listens is asked each time.
  void note_nobody(const Error& error) {
    if (error.code != ErrorCode::unavailable) return;
    nobody_until_ = (now() + kBetweenLooks).time_since_epoch().count();
  }

  void drop_connection() {
    stub_.reset();
    ++connection_;
    unheard_ = 0;
  }

  void fail(Question* question, const Error& error) {
    const bool is_for_limit = error.code == ErrorCode::timeout && question->limit;
    post(question->failed(is_for_limit ? *question->limit : error));
    forget(question);
  }

  void forget(Question* question) {
    open_.erase(question);
    delete question;
  }

  const std::string socket_;
  loop::Mailbox& mailbox_;
  host::SystemClock clock_;
  std::atomic<TimePoint::rep> nobody_until_{0};
  std::atomic<bool> was_there_{false};  ///< somebody has listened since the agent's start

  std::mutex gate_;
  bool is_closed_ = false;  ///< written on the mailbox's thread

  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable ended_;
  std::thread thread_;
  std::vector<std::unique_ptr<Question>> waiting_;  ///< until there is a queue
  std::unique_ptr<grpc::CompletionQueue> queue_;
  std::optional<grpc::Alarm> end_alarm_;
  bool is_ending_ = false;
  bool has_ended_ = false;

  // Our thread's own.
  std::set<Question*> open_;  ///< owned, except what still waits in the queue: that its tag owns
  std::unique_ptr<Question::Stub> stub_;
  std::uint64_t connection_ = 0;  ///< which one `stub_` is
  int under_way_ = 0;
  int unheard_ = 0;  ///< on this connection, since its last answer
  std::optional<host::FileIdentity> identity_;
  bool has_get_ = true;
  bool was_heard_ = false;  ///< since a connection was lost
  TimePoint restart_until_{};
  bool is_over_ = false;
  std::optional<grpc::Alarm> tidy_alarm_;  ///< as the tag of the queue: memory is to be given back
  std::minstd_rand dice_;
};

PodResources::PodResources(std::string socket, loop::Mailbox& mailbox)
    : worker_(std::make_shared<Worker>(std::move(socket), mailbox)) {}

PodResources::~PodResources() {
  worker_->end();
}

std::optional<ErrorCode> PodResources::asked_in_vain() const {
  if (!worker_->is_nobody_there()) return std::nullopt;
  return worker_->code_of_nobody();
}

void PodResources::pod(const std::string& pod_namespace, const std::string& name,
                       milliseconds timeout, Done<container::PodHoldings> done) {
  if (worker_->is_nobody_there()) return done(worker_->nobody());
  worker_->ask(pod_question(worker_->now() + timeout, pod_namespace, name, std::move(done)));
}

void PodResources::all(milliseconds timeout, Done<std::vector<container::PodHoldings>> done) {
  if (worker_->is_nobody_there()) return done(worker_->nobody());
  worker_->ask(all_question(worker_->now() + timeout, std::move(done)));
}

void PodResources::allocatable(milliseconds timeout, Done<std::vector<container::Holding>> done) {
  worker_->ask(allocatable_question(worker_->now() + timeout, std::move(done)));
}

Result<std::vector<container::PodHoldings>> ask_for_all(const std::string& socket,
                                                        milliseconds timeout) {
  const auto box = TRY(loop::Mailbox::open());
  PodResources resources(socket, *box);
  std::optional<Result<std::vector<container::PodHoldings>>> answer;
  resources.all(timeout, [&](auto result) { answer = std::move(result); });
  while (!answer) {
    pollfd wanted{box->descriptor(), POLLIN, 0};
    ::poll(&wanted, 1, -1);
    box->run();
  }
  return *std::move(answer);
}

}  // namespace railhead::kubelet
