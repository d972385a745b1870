// The studies of sinks.v1 as the API's JSON has them, as far as the page reads them.
import type {Int64} from './format';

export interface Estimate {
  value?: number;
  lower?: number;
  upper?: number;
  n?: Int64;
  undefined?: string
}

export interface StudyPosition {
  sampleIndex?: Int64;
  position?: number;
  tokenId?: number;
  group?: string;
  lStart?: number;
  sameToken?: boolean;
}

export interface TsneMap {
  block?: number;
  site?: string;
  perplexity?: number;
  divergence?: number;
  coordinates?: number[]
}

export interface ClusterRow {
  block?: number;
  site?: string;
  adjustedRand?: number;
  silhouette?: number;
  auc?: number;
  undefined?: string;
}

export interface ClusterReport {
  rows?: ClusterRow[];
  decisionLayers?: {site?: string; block?: number}[];
  decisionLayer?: number;
  decisionSite?: string;
  maps?: TsneMap[];
  undefined?: string;
}

export interface SinkOutcome {
  suppressed?: Estimate;
  cosineChange?: Estimate;
  normChange?: Estimate;
  lifetimeChange?: Estimate;
}

export interface SwapRow {
  block?: number;
  site?: string;
  targets?: SinkOutcome;
  untouched?: SinkOutcome;
  controlSwap?: SinkOutcome;
  lossChange?: Estimate;
  controlLossChange?: Estimate;
}

export interface SwapReport {
  rows?: SwapRow[];
  samplesLeftOut?: Int64;
  undefined?: string
}

export interface SteerRow {
  tau?: number;
  mlpNorm?: Estimate;
  lifetime?: Estimate;
  sinks?: Estimate;
  score?: Estimate;
  untouchedLifetimeChange?: Estimate;
  randomLifetime?: Estimate;
  lossChange?: Estimate;
}

export interface AblateRow {
  ablation?: string;
  group?: string;
  role?: string;
  lStart?: number;
  lifetime?: number;
  block?: number;
  head?: number;
  lossChange?: Estimate;
  divergence?: Estimate;
  choicesChanged?: Estimate;
  suppressed?: Estimate;
  vanished?: Estimate;
  appeared?: Estimate;
  curve?: {firstDistance?: number; lastDistance?: number; lossChange?: Estimate}[];
}

export interface PcaDirection {
  explainedVariance?: number;
  effective?: boolean;
  trials?: {scale?: number; outputNorm?: number; cosine?: number}[];
}

export interface GroupNorms {
  key?: Estimate;
  value?: Estimate;
  state?: Estimate
}

export interface StudyReport {
  partial?: boolean;
  partialReason?: string;
  samples?: Int64;
  tokens?: Int64;
  sinks?: Int64;
  targets?: Int64;
  controls?: Int64;
  targetLStart?: number;
  positions?: StudyPosition[];
  seconds?: number;
  align?: {
    sites?: string[];
    rows?: {
      site?: string;
      group?: string;
      lStart?: number;
      cosine?: Estimate;
      minimum?: number;
      median?: number;
      maximum?: number
    }[];
  };
  pca?: {
    block?: number;
    rows?: Int64;
    meanNorm?: number;
    components?: PcaDirection[];
    random?: PcaDirection[];
    undefined?: string
  };
  cluster?: ClusterReport;
  swap?: SwapReport;
  steer?: {block?: number; steered?: Int64; rows?: SteerRow[]; undefined?: string};
  ablate?: {loss?: Estimate; rows?: AblateRow[]; undefined?: string};
  entropy?: {
    rows?: {block?: number; entropy?: Estimate; normalized?: Estimate; withoutSinks?: Estimate}[]
  };
  norms?:
      {rows?: {block?: number; primary?: GroupNorms; secondary?: GroupNorms; rest?: GroupNorms}[]};
  massive?: {
    rows?: {
      block?: number;
      sampleIndex?: Int64;
      entries?: {
        sampleIndex?: Int64;
        position?: number;
        tokenId?: number;
        tokenText?: string;
        channel?: number;
        value?: number
      }[];
      median?: number;
      largestOfRest?: number;
    }[];
  };
}

export interface Study {
  createTime?: string;
  request?: {model?: string; seed?: Int64};
  report?: StudyReport
}
