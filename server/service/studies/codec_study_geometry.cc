// What studies found of directions and distances: alignment, principal components, clustering.
#include "server/service/studies/codec_site.h"
#include "server/service/studies/codec_study_report.h"

namespace sinkd {
namespace {

namespace v1 = ::sinks::v1;

void Encode(const AlignRow& in, v1::AlignRow* out) {
  out->set_site(EncodeSite(in.site));
  out->set_group(in.group == PositionGroup::kTarget ? v1::POSITION_GROUP_TARGET
                                                    : v1::POSITION_GROUP_CONTROL);
  if (in.l_start) out->set_l_start(*in.l_start);
  *out->mutable_cosine() = EncodeEstimate(in.cosine);
  if (!in.cosine.value) return;
  out->set_minimum(in.minimum);
  out->set_median(in.median);
  out->set_maximum(in.maximum);
}

void Encode(const PcaDirection& in, v1::PcaDirection* out) {
  if (in.explained_variance) out->set_explained_variance(*in.explained_variance);
  if (in.singular_value) out->set_singular_value(*in.singular_value);
  out->set_effective(in.effective);
  for (const PcaTrial& trial : in.trials) {
    v1::PcaTrial* each = out->add_trials();
    each->set_scale(trial.scale);
    each->set_output_norm(trial.output_norm);
    each->set_cosine(trial.cosine);
  }
}

void Encode(const ClusterRow& in, v1::ClusterRow* out) {
  out->set_block(in.block);
  out->set_site(EncodeSite(in.site));
  if (!in.undefined.empty()) return out->set_undefined(in.undefined);
  out->set_adjusted_rand(in.adjusted_rand);
  out->set_silhouette(in.silhouette);
  out->set_auc(in.auc);
}

void Encode(const TsneMap& in, v1::TsneMap* out) {
  out->set_block(in.block);
  out->set_site(EncodeSite(in.site));
  out->set_perplexity(in.perplexity);
  out->set_divergence(in.divergence);
  out->mutable_coordinates()->Assign(in.coordinates.begin(), in.coordinates.end());
}

}  // namespace

void EncodeFindings(const AlignReport& in, v1::StudyReport* report) {
  v1::AlignReport* out = report->mutable_align();
  for (const Site site : in.sites) out->add_sites(EncodeSite(site));
  for (const AlignRow& row : in.rows) Encode(row, out->add_rows());
  for (const AlignPoint& point : in.points) {
    v1::AlignPoint* each = out->add_points();
    each->set_index(static_cast<int32_t>(point.index));
    each->mutable_cosines()->Assign(point.cosines.begin(), point.cosines.end());
  }
}

void EncodeFindings(const PcaReport& in, v1::StudyReport* report) {
  v1::PcaReport* out = report->mutable_pca();
  out->set_block(in.block);
  out->set_rows(in.rows);
  out->set_mean_norm(in.mean_norm);
  for (const PcaDirection& direction : in.components) Encode(direction, out->add_components());
  for (const PcaDirection& direction : in.random) Encode(direction, out->add_random());
  if (!in.undefined.empty()) out->set_undefined(in.undefined);
}

void EncodeFindings(const ClusterReport& in, v1::StudyReport* report) {
  v1::ClusterReport* out = report->mutable_cluster();
  for (const ClusterRow& row : in.rows) Encode(row, out->add_rows());
  for (const DecisionLayer& layer : in.decision_layers) {
    v1::DecisionLayer* each = out->add_decision_layers();
    each->set_site(EncodeSite(layer.site));
    if (layer.block) each->set_block(*layer.block);
  }
  if (in.decision_layer) out->set_decision_layer(*in.decision_layer);
  if (in.decision_site) out->set_decision_site(EncodeSite(*in.decision_site));
  for (const TsneMap& map : in.maps) Encode(map, out->add_maps());
  if (!in.undefined.empty()) out->set_undefined(in.undefined);
}

}  // namespace sinkd
