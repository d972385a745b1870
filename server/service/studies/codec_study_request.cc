#include "server/service/studies/codec_study_request.h"

#include <cmath>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include <absl/strings/str_cat.h>

#include "server/base/status.h"
#include "server/service/analyze/codec_detection.h"
#include "server/service/analyze/codec_record.h"
#include "server/service/calls/codec_lane.h"
#include "server/service/models/codec_model.h"
#include "server/service/runs/codec_run.h"
#include "server/service/studies/codec_site.h"

namespace sinkd {
namespace {

namespace v1 = ::sinks::v1;

absl::StatusOr<SinkKind> DecodeKind(int value) {
  switch (value) {
    case v1::SINK_KIND_PRIMARY:
      return SinkKind::kPrimary;
    case v1::SINK_KIND_SECONDARY:
      return SinkKind::kSecondary;
    case v1::SINK_KIND_NOISE:
      return SinkKind::kNoise;
    default:
      return UnknownEnum("targets.kinds", value, v1::SinkKind_MAX);
  }
}

absl::StatusOr<TargetFilter> DecodeTargets(const v1::TargetFilter& proto) {
  TargetFilter out;
  if (proto.kinds_size() > 0) out.kinds.clear();
  for (const int value : proto.kinds()) {
    SINKD_ASSIGN_OR_RETURN(const SinkKind kind, DecodeKind(value));
    out.kinds.push_back(kind);
  }
  if (proto.has_l_start()) out.l_start = proto.l_start();
  out.token_ids.assign(proto.token_ids().begin(), proto.token_ids().end());
  if (proto.has_limit()) out.limit = proto.limit();
  return out;
}

AlignParameters Decode(const v1::AlignParameters& proto) {
  return {.points = proto.points()};
}

PcaParameters Decode(const v1::PcaParameters& proto) {
  PcaParameters out;
  if (proto.has_block()) out.block = proto.block();
  if (proto.has_components()) out.components = proto.components();
  if (proto.scales_size() > 0) out.scales.assign(proto.scales().begin(), proto.scales().end());
  if (proto.has_effective_cosine()) out.effective_cosine = proto.effective_cosine();
  return out;
}

absl::StatusOr<ClusterParameters> Decode(const v1::ClusterParameters& proto) {
  ClusterParameters out;
  if (proto.has_block()) out.block = proto.block();
  if (proto.has_blocks_before()) out.blocks_before = proto.blocks_before();
  if (proto.sites_size() > 0) {
    SINKD_ASSIGN_OR_RETURN(out.sites, DecodeSites(proto.sites(), "cluster.sites"));
  }
  SINKD_ASSIGN_OR_RETURN(out.tsne_sites, DecodeSites(proto.tsne_sites(), "cluster.tsne_sites"));
  if (proto.has_perplexity()) out.perplexity = proto.perplexity();
  if (proto.has_separating_auc()) out.separating_auc = proto.separating_auc();
  return out;
}

absl::StatusOr<SwapParameters> Decode(const v1::SwapParameters& proto) {
  SwapParameters out;
  out.blocks.assign(proto.blocks().begin(), proto.blocks().end());
  if (proto.sites_size() > 0) {
    SINKD_ASSIGN_OR_RETURN(out.sites, DecodeSites(proto.sites(), "swap.sites"));
  }
  if (proto.has_controls_per_sample()) out.controls_per_sample = proto.controls_per_sample();
  out.loss = proto.loss();
  return out;
}

absl::StatusOr<SteerMode> DecodeMode(int value) {
  switch (value) {
    case v1::STEER_MODE_UNSPECIFIED:
    case v1::STEER_MODE_SET:
      return SteerMode::kSet;
    case v1::STEER_MODE_CLIP:
      return SteerMode::kClip;
    default:
      return UnknownEnum("steer.mode", value, v1::SteerMode_MAX);
  }
}

absl::StatusOr<SteerParameters> Decode(const v1::SteerParameters& proto) {
  SteerParameters out;
  if (proto.has_block()) out.block = proto.block();
  out.taus.assign(proto.taus().begin(), proto.taus().end());
  SINKD_ASSIGN_OR_RETURN(out.mode, DecodeMode(proto.mode()));
  if (proto.has_cosine_threshold()) out.cosine_threshold = proto.cosine_threshold();
  if (proto.has_loss()) out.loss = proto.loss();
  return out;
}

EntropyParameters Decode(const v1::EntropyParameters& proto) {
  EntropyParameters out;
  if (proto.has_alpha()) out.alpha = proto.alpha();
  out.first = proto.first();
  if (proto.has_end()) out.end = proto.end();
  return out;
}

MassiveParameters Decode(const v1::MassiveParameters& proto) {
  MassiveParameters out;
  if (proto.has_top()) out.top = proto.top();
  out.per_sample = proto.per_sample();
  return out;
}

absl::StatusOr<StudyChoice> DecodeChoice(const v1::RunStudyRequest& proto) {
  switch (proto.study_case()) {
    case v1::RunStudyRequest::kAlign:
      return Decode(proto.align());
    case v1::RunStudyRequest::kPca:
      return Decode(proto.pca());
    case v1::RunStudyRequest::kCluster: {
      SINKD_ASSIGN_OR_RETURN(ClusterParameters out, Decode(proto.cluster()));
      return out;
    }
    case v1::RunStudyRequest::kSwap: {
      SINKD_ASSIGN_OR_RETURN(SwapParameters out, Decode(proto.swap()));
      return out;
    }
    case v1::RunStudyRequest::kSteer: {
      SINKD_ASSIGN_OR_RETURN(SteerParameters out, Decode(proto.steer()));
      return out;
    }
    case v1::RunStudyRequest::kEntropy:
      return Decode(proto.entropy());
    case v1::RunStudyRequest::kNorms:
      return NormsParameters();
    case v1::RunStudyRequest::kMassive:
      return Decode(proto.massive());
    case v1::RunStudyRequest::STUDY_NOT_SET:
      break;
  }
  return InvalidArgument(
      "the request names no study",
      {.reason = "STUDY_MISSING",
       .subject = "study",
       .fix = "set one of align, pca, cluster, swap, steer, entropy, norms, massive"});
}

absl::Status CheckSamples(int count) {
  if (count >= 1 && count <= kMaxStudySamples) return absl::OkStatus();
  return InvalidArgument(absl::StrCat("a study takes 1 to ", kMaxStudySamples, " samples"),
                         {.reason = count == 0 ? "NO_SAMPLES" : "TOO_MANY_SAMPLES",
                          .subject = "samples",
                          .value = absl::StrCat(count),
                          .fix = count == 0 ? "send at least one sample" : "send fewer samples"});
}

// Longer ones are no limit at all, and would overflow a clock.
absl::StatusOr<std::chrono::duration<double>> DecodeBudget(double seconds) {
  constexpr double kLongest = 1e9;
  if (seconds > 0 && seconds <= kLongest) return std::chrono::duration<double>(seconds);
  return InvalidArgument("time_budget_seconds must be over 0 and at most 1e9",
                         {.reason = "PARAMETER_OUT_OF_RANGE",
                          .subject = "time_budget_seconds",
                          .value = absl::StrCat(seconds),
                          .fix = "choose a value over 0, or leave it out for no limit"});
}

}  // namespace

absl::StatusOr<StudyRequest> DecodeStudyRequest(const v1::RunStudyRequest& proto,
                                                const std::string& default_template_date) {
  StudyRequest out;
  SINKD_ASSIGN_OR_RETURN(out.model_id, DecodeModelName(proto.model(), "model"));
  SINKD_RETURN_IF_ERROR(CheckSamples(proto.samples_size()));
  SINKD_ASSIGN_OR_RETURN(
      out.template_date,
      DecodeTemplateDate(proto.has_template_date() ? &proto.template_date() : nullptr,
                         default_template_date, ""));
  if (proto.has_time_budget_seconds()) {
    SINKD_ASSIGN_OR_RETURN(out.time_budget, DecodeBudget(proto.time_budget_seconds()));
  }
  if (proto.has_run()) {
    SINKD_ASSIGN_OR_RETURN(out.run_id, DecodeRunName(proto.run(), "run"));
  }
  SINKD_ASSIGN_OR_RETURN(out.lane, DecodeLane(proto.lane(), proto.has_run(), "lane"));
  SINKD_ASSIGN_OR_RETURN(out.parameters.detection, DecodeDetection(proto.detection(), ""));
  SINKD_ASSIGN_OR_RETURN(out.parameters.targets, DecodeTargets(proto.targets()));
  out.parameters.seed = static_cast<uint64_t>(proto.seed());
  SINKD_ASSIGN_OR_RETURN(out.parameters.study, DecodeChoice(proto));
  return out;
}

namespace {

v1::TargetFilter EncodeTargets(const TargetFilter& in) {
  v1::TargetFilter out;
  for (const SinkKind kind : in.kinds) out.add_kinds(EncodeKind(kind));
  if (in.l_start) out.set_l_start(*in.l_start);
  out.mutable_token_ids()->Assign(in.token_ids.begin(), in.token_ids.end());
  out.set_limit(static_cast<int32_t>(in.limit));
  return out;
}

void Encode(const AlignParameters& in, v1::RunStudyRequest* out) {
  out->mutable_align()->set_points(in.points);
}

void Encode(const PcaParameters& in, v1::RunStudyRequest* request) {
  v1::PcaParameters* out = request->mutable_pca();
  if (in.block) out->set_block(*in.block);
  out->set_components(static_cast<int32_t>(in.components));
  out->mutable_scales()->Assign(in.scales.begin(), in.scales.end());
  out->set_effective_cosine(in.effective_cosine);
}

void Encode(const ClusterParameters& in, v1::RunStudyRequest* request) {
  v1::ClusterParameters* out = request->mutable_cluster();
  if (in.block) out->set_block(*in.block);
  out->set_blocks_before(static_cast<int32_t>(in.blocks_before));
  for (const Site site : in.sites) out->add_sites(EncodeSite(site));
  for (const Site site : in.tsne_sites) out->add_tsne_sites(EncodeSite(site));
  if (in.perplexity) out->set_perplexity(*in.perplexity);
  out->set_separating_auc(in.separating_auc);
}

void Encode(const SwapParameters& in, v1::RunStudyRequest* request) {
  v1::SwapParameters* out = request->mutable_swap();
  out->mutable_blocks()->Assign(in.blocks.begin(), in.blocks.end());
  for (const Site site : in.sites) out->add_sites(EncodeSite(site));
  out->set_controls_per_sample(static_cast<int32_t>(in.controls_per_sample));
  out->set_loss(in.loss);
}

void Encode(const SteerParameters& in, v1::RunStudyRequest* request) {
  v1::SteerParameters* out = request->mutable_steer();
  if (in.block) out->set_block(*in.block);
  out->mutable_taus()->Assign(in.taus.begin(), in.taus.end());
  out->set_mode(in.mode == SteerMode::kClip ? v1::STEER_MODE_CLIP : v1::STEER_MODE_SET);
  out->set_cosine_threshold(in.cosine_threshold);
  out->set_loss(in.loss);
}

void Encode(const EntropyParameters& in, v1::RunStudyRequest* request) {
  v1::EntropyParameters* out = request->mutable_entropy();
  out->set_alpha(in.alpha);
  out->set_first(static_cast<int32_t>(in.first));
  if (in.end) out->set_end(static_cast<int32_t>(*in.end));
}

void Encode(const NormsParameters&, v1::RunStudyRequest* out) {
  out->mutable_norms();
}

void Encode(const MassiveParameters& in, v1::RunStudyRequest* out) {
  out->mutable_massive()->set_top(static_cast<int32_t>(in.top));
  out->mutable_massive()->set_per_sample(in.per_sample);
}

}  // namespace

v1::RunStudyRequest EncodeStudyRequest(const StudyRequest& request) {
  v1::RunStudyRequest out;
  out.set_model(absl::StrCat("models/", request.model_id));
  *out.mutable_detection() = EncodeDetection(request.parameters.detection);
  *out.mutable_targets() = EncodeTargets(request.parameters.targets);
  out.set_seed(static_cast<int64_t>(request.parameters.seed));
  out.set_template_date(request.template_date);
  if (!request.run_id.empty()) out.set_run(RunName(request.run_id));
  out.set_lane(EncodeLane(request.lane));
  if (request.time_budget) out.set_time_budget_seconds(request.time_budget->count());
  std::visit([&out](const auto& study) { Encode(study, &out); }, request.parameters.study);
  return out;
}

}  // namespace sinkd
