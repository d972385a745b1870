// bitsandbytes:
//   nf4, fp4  weight U8 [N K / 2, 1], two values a byte, the higher nibble first; weight.quant_map
//             [16]; weight.absmax, one a block of values in row order; quant_state as JSON in
//             bytes. W = quant_map[nibble] absmax. Where absmax are quantized themselves, they are
//             nested_quant_map[absmax] nested_absmax + nested_offset
//   int8      weight I8 [N, K], SCB F32 [N]: W = weight SCB / 127
#include <algorithm>
#include <memory>

#include "server/base/json.h"
#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/engine/checkpoint/quantized/packed_matrix.h"

namespace sinkd {
namespace {

constexpr int64_t kMostStateBytes = 65536;

// What the JSON beside a 4-bit weight says.
struct State {
  int64_t rows = 0, columns = 0;
  int64_t block = 0;         // values that share an absmax
  int64_t nested_block = 0;  // absmax values that share a nested one; 0: they are not quantized
  float nested_offset = 0;
};

absl::StatusOr<State> ReadState(const StoredPart& part, bool nested) {
  if (part.location.entry->bytes > kMostStateBytes) return part.Error("is larger than 64 KiB");
  SINKD_ASSIGN_OR_RETURN(const std::vector<uint8_t> bytes, part.Bytes());
  const auto json = ParseJson({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (!json.ok()) return part.Error(std::string(json.status().message()));
  const auto size = [&](const nlohmann::json& value) {
    constexpr int64_t kMost = int64_t{1} << 31;
    if (!value.is_number_integer()) return int64_t{0};
    const auto number = value.get<int64_t>();
    return number > 0 && number <= kMost ? number : 0;
  };
  const nlohmann::json shape = json->value("shape", nlohmann::json());
  if (!shape.is_array() || shape.size() != 2) return part.Error("names no shape of two axes");
  State state{.rows = size(shape[0]),
              .columns = size(shape[1]),
              .block = size(json->value("blocksize", nlohmann::json()))};
  if (state.rows == 0 || state.columns == 0 || state.block == 0) {
    return part.Error("holds a shape or a blocksize that cannot be");
  }
  if (!nested) return state;
  state.nested_block = size(json->value("nested_blocksize", nlohmann::json()));
  const nlohmann::json offset = json->value("nested_offset", nlohmann::json());
  if (state.nested_block == 0 || !offset.is_number()) {
    return part.Error("holds no nested_blocksize or nested_offset that can be");
  }
  state.nested_offset = offset.get<float>();
  return state;
}

int64_t Blocks(int64_t values, int64_t each) {
  return (values + each - 1) / each;
}

struct FourBits {
  State state;
  std::vector<uint8_t> weight;
  std::vector<float> map, absmax;

  void Unpack(int64_t first, int64_t count, float* out) const {
    const int64_t end = (first + count) * state.columns;
    for (int64_t begin = first * state.columns; begin < end;) {
      const int64_t block = begin / state.block;
      const float largest = absmax[static_cast<size_t>(block)];
      const int64_t stop = std::min(end, (block + 1) * state.block);
      for (int64_t i = begin; i < stop; ++i) {
        const uint8_t byte = weight[static_cast<size_t>(i / 2)];
        *out++ = map[i % 2 == 0 ? byte >> 4U : byte & 15U] * largest;
      }
      begin = stop;
    }
  }
};

// absmax of every block, from what is stored of them.
struct Absmax {
  StoredPart stored;
  std::optional<StoredPart> nested, nested_map;

  static absl::StatusOr<Absmax> Of(const ModuleTensors& module, const State& state) {
    const int64_t count = Blocks(state.rows * state.columns, state.block);
    if (state.nested_block == 0) {
      SINKD_ASSIGN_OR_RETURN(StoredPart plain, module.Part("weight.absmax", {"F32"}, {count}));
      return Absmax{std::move(plain), std::nullopt, std::nullopt};
    }
    SINKD_ASSIGN_OR_RETURN(StoredPart stored, module.Part("weight.absmax", {"U8"}, {count}));
    SINKD_ASSIGN_OR_RETURN(StoredPart nested, module.Part("weight.nested_absmax", {"F32"},
                                                          {Blocks(count, state.nested_block)}));
    SINKD_ASSIGN_OR_RETURN(StoredPart map, module.Part("weight.nested_quant_map", {"F32"}, {256}));
    return Absmax{std::move(stored), std::move(nested), std::move(map)};
  }

  absl::StatusOr<std::vector<float>> Read(const State& state) const {
    if (!nested) return stored.Floats();
    SINKD_ASSIGN_OR_RETURN(const std::vector<uint8_t> bytes, stored.Bytes());
    SINKD_ASSIGN_OR_RETURN(const std::vector<float> scales, nested->Floats());
    SINKD_ASSIGN_OR_RETURN(const std::vector<float> map, nested_map->Floats());
    std::vector<float> values(bytes.size());
    for (size_t i = 0; i < values.size(); ++i) {
      const float value = map[bytes[i]] * scales[i / static_cast<size_t>(state.nested_block)];
      values[i] = value + state.nested_offset;
    }
    return values;
  }
};

}  // namespace

absl::StatusOr<PackedMatrix> DescribeBitsAndBytes4(const ModuleTensors& module,
                                                   const QuantizationConfig&) {
  const bool nf4 = module.Has("weight.quant_state.bitsandbytes__nf4");
  const char* const type = nf4 ? "nf4" : "fp4";
  SINKD_ASSIGN_OR_RETURN(const StoredPart description,
                         module.Part(StrCat("weight.quant_state.bitsandbytes__", type), {"U8"}));
  SINKD_ASSIGN_OR_RETURN(const State state,
                         ReadState(description, module.Has("weight.nested_absmax")));
  SINKD_ASSIGN_OR_RETURN(const StoredPart weight, module.Part("weight", {"U8"}));
  if (weight.size() != Blocks(state.rows * state.columns, 2)) {
    return weight.Error(StrCat("has ", weight.size(), " bytes, and ", description.name, " says ",
                               state.rows, " x ", state.columns, " values of 4 bits"));
  }
  SINKD_ASSIGN_OR_RETURN(const StoredPart map, module.Part("weight.quant_map", {"F32"}, {16}));
  SINKD_ASSIGN_OR_RETURN(const Absmax absmax, Absmax::Of(module, state));
  return PackedMatrix{.rows = state.rows,
                      .columns = state.columns,
                      .format = StrCat("bitsandbytes ", type),
                      .open = [=]() -> absl::StatusOr<RowUnpacker> {
                        auto opened = std::make_shared<FourBits>();
                        opened->state = state;
                        SINKD_ASSIGN_OR_RETURN(opened->weight, weight.Bytes());
                        SINKD_ASSIGN_OR_RETURN(opened->map, map.Floats());
                        SINKD_ASSIGN_OR_RETURN(opened->absmax, absmax.Read(state));
                        return [opened](int64_t first, int64_t count, float* out) {
                          opened->Unpack(first, count, out);
                        };
                      }};
}

absl::StatusOr<PackedMatrix> DescribeBitsAndBytes8(const ModuleTensors& module,
                                                   const QuantizationConfig&) {
  SINKD_ASSIGN_OR_RETURN(const StoredPart weight,
                         module.Part("weight", {"I8"}, {ModuleTensors::kAny, ModuleTensors::kAny}));
  const int64_t rows = weight.shape()[0], columns = weight.shape()[1];
  SINKD_ASSIGN_OR_RETURN(const StoredPart scales, module.Part("SCB", {"F32"}, {rows}));
  return PackedMatrix{
      .rows = rows,
      .columns = columns,
      .format = "bitsandbytes int8",
      .open = [=]() -> absl::StatusOr<RowUnpacker> {
        SINKD_ASSIGN_OR_RETURN(std::vector<uint8_t> bytes, weight.Bytes());
        SINKD_ASSIGN_OR_RETURN(std::vector<float> scale, scales.Floats());
        return [=, bytes = std::move(bytes), scale = std::move(scale)](int64_t first, int64_t count,
                                                                       float* out) {
          constexpr float kOver127 = 7.874015718698502e-3F;
          for (int64_t n = first; n < first + count; ++n) {
            for (int64_t k = 0; k < columns; ++k) {
              const auto value = static_cast<int8_t>(bytes[static_cast<size_t>(n * columns + k)]);
              *out++ = static_cast<float>(value) * scale[static_cast<size_t>(n)] * kOver127;
            }
          }
        };
      }};
}

}  // namespace sinkd
