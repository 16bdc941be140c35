// SPDX-License-Identifier: Apache-2.0
//
// What containers ask for, and who offers it.
#include <map>
#include <set>

#include "base/find.h"
#include "base/text.h"
#include "lint/rule.h"
#include "pools/resource_name.h"

namespace railhead::lint {
namespace {

template <typename Use>
void for_each_asked(const Given& given, Use use) {
  for (const auto& pod : given.pods) {
    for (const auto* list : {&pod.containers, &pod.init_containers}) {
      for (const auto& container : *list) {
        for (const auto& asked : asked_by(container)) use(pod, container, asked);
      }
    }
  }
}

std::string offered_text(const Given& given, std::string_view asked) {
  // The same word with another prefix is what was meant.
  if (const auto* offer = given.offers.find_last_part(asked)) {
    return in_quotes(offer->name) + " is offered, by " + offer->by;
  }
  std::set<std::string> names;
  for (const auto& offer : given.offers) {
    if (names.size() == 8) break;
    names.insert(offer.name);
  }
  return join({names.begin(), names.end()}, ", ") + " is offered";
}

void no_pool(const Given& given, Found& found) {
  if (given.offers.empty()) return;
  std::set<const data::Value::Entry*> done;
  for_each_asked(given, [&](const Pod& pod, const Container& container, const Asked& asked) {
    if (!is_nic(given, asked.name) || given.offers.find(asked.name) != nullptr) return;
    // Once for limits and requests of a container.
    const bool again =
        !asked.is_limit && below(*container.value, {"resources", "limits", asked.name}) != nullptr;
    if (again || !done.insert(asked.entry).second) return;
    found.add(*pod.object, asked.entry,
              "no node offers " + in_quotes(asked.name) + "; " + offered_text(given, asked.name));
  });
}

void resource_name(const Given& given, Found& found) {
  for_each_asked(given, [&](const Pod& pod, const Container&, const Asked& asked) {
    const auto status = pools::check_resource_name(asked.name);
    if (!status) found.add(*pod.object, asked.entry, status.error().message);
  });
}

void limits(const Given& given, Found& found) {
  for_each_asked(given, [&](const Pod& pod, const Container& container, const Asked& asked) {
    if (asked.is_limit) return;
    if (!is_nic(given, asked.name) && !is_gpu(given, asked.name)) return;
    const auto* limit = below(*container.value, {"resources", "limits", asked.name});
    if (limit == nullptr) {
      found.add(*pod.object, asked.entry, asked.name + " is requested without a limit");
    } else if (quantity(limit->scalar) != asked.count) {
      found.add(*pod.object, asked.entry,
                asked.name + ": the request is " + std::to_string(asked.count) + " and the limit " +
                    in_quotes(limit->scalar));
    }
  });
}

/// Source: Kubernetes pkg/apis/core/validation, ValidateResourceQuantityValue().
void fraction(const Given& given, Found& found) {
  for_each_asked(given, [&](const Pod& pod, const Container&, const Asked& asked) {
    if (!is_nic(given, asked.name) && !is_gpu(given, asked.name)) return;
    const std::string_view text = asked.entry->value.scalar;
    const bool is_milli = text.ends_with('m') && parse_unsigned(text.substr(0, text.size() - 1));
    const auto dot = text.find('.');
    const bool has_rest = dot != std::string_view::npos &&
                          text.find_first_not_of('0', dot + 1) != std::string_view::npos &&
                          text.find_first_not_of("0123456789", dot + 1) == std::string_view::npos;
    if (!is_milli && !has_rest) return;
    found.add(*pod.object, asked.entry,
              asked.name + ": " + in_quotes(text) + " is no whole number");
  });
}

void one_rail(const Given& given, Found& found) {
  for_each_asked(given, [&](const Pod& pod, const Container& container, const Asked& asked) {
    if (!asked.is_limit) return;
    const auto* offer = given.offers.find(asked.name);
    if (offer == nullptr || offer->mode != pools::PoolMode::exclusive) return;
    const auto gpus = gpus_of(given, container);
    const auto nics = nics_of(given, container);
    if (gpus < 2 || nics == 0 || nics >= gpus) return;
    found.add(*pod.object, asked.entry,
              counted(nics, "NIC") + " for " + counted(gpus, "GPU") + ": each of " + asked.name +
                  " is one function");
  });
}

void many_slots(const Given& given, Found& found) {
  for_each_asked(given, [&](const Pod& pod, const Container&, const Asked& asked) {
    const auto* offer = given.offers.find(asked.name);
    if (!asked.is_limit || asked.count < 2 || offer == nullptr) return;
    if (offer->mode != pools::PoolMode::shared || !offer->spec || offer->spec->slots_per_nic)
      return;
    found.add(*pod.object, asked.entry,
              std::to_string(asked.count) + " of " + asked.name +
                  ", which is an admission to all NICs of its pool");
  });
}

/// Resources of the trainer's container in a runtime of Kubeflow Trainer, by name.
std::map<std::string, std::string> trainer_resources(const Given& given, const Object& runtime) {
  constexpr std::string_view kStep = "trainer.kubeflow.org/trainjob-ancestor-step";
  std::map<std::string, std::string> all;
  for (const auto& job :
       items_below(runtime.root, {"spec", "template", "spec", "replicatedJobs"})) {
    if (text_below(job, {"template", "metadata", "labels", kStep}) != "trainer") continue;
    for (const auto& container :
         items_below(job, {"template", "spec", "template", "spec", "containers"})) {
      if (text_below(container, {"name"}) != "node") continue;
      const auto* limits = below(container, {"resources", "limits"});
      if (limits == nullptr) continue;
      for (const auto& entry : limits->entries) {
        if (is_nic(given, entry.key)) all.emplace(entry.key, runtime.label());
      }
    }
  }
  return all;
}

void replaced(const Given& given, Found& found) {
  std::map<std::string_view, const Object*> runtimes;
  for (const char* kind : {"TrainingRuntime", "ClusterTrainingRuntime"}) {
    for (const auto* runtime : given.of_kind(kind)) runtimes.emplace(runtime->name, runtime);
  }
  for (const auto* job : given.of_kind("TrainJob")) {
    const auto* own = below(job->root, {"spec", "trainer", "resourcesPerNode"});
    const auto* runtime =
        find_value(runtimes, text_below(job->root, {"spec", "runtimeRef", "name"}));
    if (own == nullptr || runtime == nullptr) continue;
    if (below(own, {"limits"}) == nullptr && below(own, {"requests"}) == nullptr) continue;
    for (const auto& [name, by] : trainer_resources(given, **runtime)) {
      if (below(own, {"limits", name}) != nullptr) continue;
      found.add(*job, own, "resourcesPerNode has no " + name + ", which " + by + " has");
    }
  }
}

constexpr Rule kResourceRules[] = {
    {"resource.no-pool", "A pod asks for a resource that nobody offers.", Severity::fail,
     "The pod stays Pending: Insufficient RESOURCE. What offers resources is looked for in the "
     "manifests that are given, in Railhead's configuration, and with doctor --kube in the nodes.",
     "Ask for a resource that is offered, or configure a pool of this name.", "D33 C16 E21",
     no_pool},
    {"resource.name", "A resource has a name that the kubelet refuses.", Severity::fail,
     "The API server refuses the pod.", "Use DOMAIN/NAME as the pool has it.", "", resource_name},
    {"resource.limit", "A GPU or NIC is requested otherwise than it is limited.", Severity::fail,
     "The API server refuses the pod: extended resources cannot be overcommitted.",
     "Write the same number into limits; requests may be left out.", "", limits},
    {"resource.fraction", "A part of a GPU or NIC is asked for.", Severity::fail,
     "The API server refuses the pod: extended resources are whole numbers.",
     "Ask for 1 of a resource that is shared.", "", fraction},
    {"resource.one-nic-for-many-gpus", "A pod with several GPUs asks for fewer NICs.",
     Severity::warn,
     "In a pool of functions one resource is one NIC, so GPUs share rails and links stay idle. "
     "One for each pod is right for a shared plugin alone.",
     "Ask for one NIC for each GPU, or for a shared pool.", "L11 E19", one_rail},
    {"resource.replaced", "A TrainJob takes the NICs of its runtime away.", Severity::warn,
     "resourcesPerNode takes the place of all resources of the runtime's container, so its pods "
     "have no NIC and the job runs over TCP (kubeflow/trainer, "
     "pkg/runtime/framework/plugins/jobset/builder.go).",
     "Write the runtime's NICs into resourcesPerNode, too.", "", replaced},
    {"resource.many-slots", "A pod asks for several slots of a shared pool.", Severity::warn,
     "Each slot gives the same NICs; the others are taken from pods that could have had them.",
     "Ask for 1.", "L11 E19", many_slots},
};

}  // namespace

std::span<const Rule> resource_rules() {
  return kResourceRules;
}

}  // namespace railhead::lint
