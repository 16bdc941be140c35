// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "agent/feature_file.h"
#include "agent/hosted_service.h"

namespace railhead::agent {

/// Features for node-feature-discovery: a FeatureFile, which waits for a disk.
class FeatureFileService final : public HostedService<FeatureFile> {
 public:
  FeatureFileService(Context context, const FeatureFileOptions& options, TableFeed& tables,
                     const FeatureFile::Open& open)
      : HostedService("features", "features", [=, &tables](loop::LoopThread& thread) {
          auto file = std::make_unique<FeatureFile>(context.on(thread), options, tables, open);
          tables.follow(thread.mailbox(), [now = file.get()] { now->look(); });
          file->start();
          return file;
        }) {}
};

}  // namespace railhead::agent
