// Model ids: the names of models for clients.
//
// An id is the name of a folder under the model root or, for a model of a Hugging Face cache,
// NAME or NAME@REVISION (models/model_folder.h).
#pragma once

#include <string>
#include <string_view>

namespace sinkd {

// ^[a-z0-9][a-z0-9._-]{0,63}$ : no folder name leaves the root or is hidden in it.
bool IsModelFolderName(std::string_view name);

// ^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$ : no revision leaves its folder or is hidden in it.
bool IsRevision(std::string_view revision);

// NAME or NAME@REVISION.
bool IsModelId(std::string_view id);

// What IsModelId accepts, for messages.
inline constexpr char kModelIdPattern[] =
    "^[a-z0-9][a-z0-9._-]{0,63}(@[A-Za-z0-9][A-Za-z0-9._-]{0,63})?$";

struct ModelIdParts {
  std::string_view name;
  std::string_view revision;  // empty: none
};

// The parts of an id, which they view.
ModelIdParts SplitModelId(std::string_view id);

// A folder name for a folder with another one: "qwen2.5-7b" for "Qwen2.5-7B". Empty if no part of
// the name can be part of an id.
std::string ModelIdFor(std::string_view name);

// Why `name` is no folder name, as the end of a sentence: "'Q' cannot be in an id".
std::string WhyNoModelId(std::string_view name);

}  // namespace sinkd
