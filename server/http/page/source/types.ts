// The messages of sinks.v1 as the API's JSON has them, as far as the page reads them.
import type {Int64} from './format';

export type Kind = 'SINK_KIND_PRIMARY'|'SINK_KIND_SECONDARY'|'SINK_KIND_NOISE';

export interface Model {
  name?: string;
  state?: string;
  architecture?: string;
  blocks?: number;
  hiddenSize?: number;
  heads?: number;
  kvHeads?: number;
  vocabularySize?: number;
  maxPositions?: number;
  device?: string;
  computeType?: string;
  residency?: string;
  weightBytes?: Int64;
  hasChatTemplate?: boolean;
  failure?: string;
  warnings?: string[];
}

export interface Spec {
  model?: string;
  detection?:
      {cosineThreshold?: number; minNormRatio?: number; kindRule?: string; lastState?: string};
  scores?: object;
  sinkRate?: {epsilon?: number; firstTokens?: number};
  levels?: {minShare?: number};
  regression?: {points?: boolean; includePrimary?: boolean};
  compensation?: {bootstrapSamples?: number; seed?: Int64};
  portrait?: {samples?: number};
  heads?: {dormantMass?: number; dormantValueShare?: number};
}

export interface Run {
  name?: string;
  model?: string;
  labels?: Record<string, string>;
  spec?: Spec;
  state?: string;
  createTime?: string;
  updateTime?: string;
  samples?: Int64;
  failedSamples?: Int64;
  tokens?: Int64;
  primarySinks?: Int64;
  secondarySinks?: Int64;
  noiseSinks?: Int64;
  sizeBytes?: Int64;
}

export interface LevelCount {
  lStart?: number;
  lifetime?: number;
  kind?: Kind;
  count?: Int64
}

export interface LevelReport {
  counts?: LevelCount[];
  primary?: Int64;
  secondary?: Int64;
  noise?: Int64;
  positions?: Int64;
  secondaryPer1000Tokens?: number;
  samplesWithSecondary?: Int64;
  shareOfSamplesWithSecondary?: number;
  distinctLevels?: Int64;
  entropy?: number;
  normalizedEntropy?: number;
  topTokens?: {tokenId?: number; text?: string; count?: Int64}[];
  positionBins?: Int64[];
}

export interface ScoreStatistics {
  kind?: Kind;
  count?: Int64;
  undefined?: Int64;
  mean?: number;
  deviation?: number;
  minimum?: number;
  maximum?: number;
}

export interface Coefficient {
  value?: number;
  standardError?: number;
  t?: number;
  p?: number;
  lower?: number;
  upper?: number;
}

export interface Fit {
  form?: string;
  n?: Int64;
  leftOut?: Int64;
  undefined?: string;
  intercept?: Coefficient;
  slope?: Coefficient;
  rSquared?: number;
  residualDeviation?: number;
  aic?: number;
}

export interface Correlation {
  n?: Int64;
  undefined?: string;
  value?: number;
  p?: number
}
export interface RegressionResult {
  fits?: Fit[];
  pearson?: Correlation;
  spearman?: Correlation
}
export interface Point {
  x?: number;
  y?: number
}

export interface RegressionReport {
  score?: RegressionResult;
  lifetime?: RegressionResult;
  withoutScore?: Int64;
  scorePoints?: Point[];
  lifetimePoints?: Point[];
}

export interface Interval {
  lower?: number;
  upper?: number
}

export interface BlockCompensation {
  primary?: number;
  secondary?: number;
  rest?: number;
  primaryNorm?: number;
  primaryInterval?: Interval;
  secondaryInterval?: Interval;
}

export interface CompensationReport {
  samples?: Int64;
  blocks?: BlockCompensation[];
  weakestBlock?: Record<string, Int64>;
  startMinusWeakest?: Record<string, Int64>;
  pearson?: Correlation;
  spearman?: Correlation;
  pearsonInterval?: Interval;
  spearmanInterval?: Interval;
}

export interface SinkRateReport {
  samples?: Int64;
  leftOut?: Int64;
  rates?: number[];
  cells?: Int64[];
  hits?: Int64[]
}

export interface HeadPlace {
  block?: number;
  head?: number
}

// Matrices of blocks with attention by heads, row after row.
export interface HeadReport {
  samples?: Int64;
  leftOut?: Int64;
  samplesWithSecondary?: Int64;
  heads?: number;
  entropy?: number[];
  maxWeight?: number[];
  primary?: number[];
  secondary?: number[];
  rest?: number[];
  learnedSink?: number[];
  previousToken?: number[];
  duplicateToken?: number[];
  firstToken?: number[];
  primaryValue?: number[];
  secondaryValue?: number[];
  restValue?: number[];
  primaryValueShare?: number[];
  gate?: number[];
  dormant?: HeadPlace[];
  collapsed?: HeadPlace[];
  focused?: HeadPlace[];
}

// Matrices of blocks with attention by heads, row after row.
export interface GateReport {
  samples?: Int64;
  samplesWithSecondary?: Int64;
  heads?: number;
  all?: number[];
  primary?: number[];
  secondary?: number[];
}

export interface Summary {
  samples?: Int64;
  positions?: Int64;
  undecidedSamples?: Int64;
  notes?: string[];
  scores?: {primaryPosition?: ScoreStatistics; byKind?: ScoreStatistics[]};
  sinkRate?: SinkRateReport;
  levels?: LevelReport;
  regression?: RegressionReport;
  compensation?: CompensationReport;
  learnedSinks?: {samples?: Int64; mass?: number[]};
  attentionBlocks?: number[];
  gates?: GateReport;
  heads?: HeadReport;
}

export interface SpecDifference {
  field?: string;
  values?: {value?: string; runCount?: Int64; run?: string}[];
}

export interface ChangePoint {
  undefined?: string;
  lastBefore?: number;
  firstAfter?: number;
  meanBefore?: number;
  meanAfter?: number;
  interval?: Interval;
  p?: number;
}

export interface SummarySeries {
  name?: string;
  labelValues?: number[];
  values?: number[];
  changePoint?: ChangePoint;
}

export interface GroupSummary {
  group?: string;
  runs?: string[];
  runCount?: Int64;
  summary?: Summary;
  spec?: Spec;
  differences?: SpecDifference[];
  labelValue?: number;
  series?: SummarySeries[];
}

export interface Sink {
  position?: number;
  tokenId?: number;
  tokenText?: string;
  kind?: Kind;
  lStart?: number;
  lifetime?: number;
  layers?: number[];
  contiguous?: boolean;
  margin?: number;
  mlpNorm?: number;
  stateNorm?: number;
  score?: number;
  scoreMaximum?: number;
  scoreCurve?: number[];
}

export interface Portrait {
  tokenTexts?: string[];
  columns?: number;
  stateNorms?: (number|string)[]
}

export interface SampleRecord {
  sampleIndex?: Int64;
  sampleId?: string;
  layers?: number;
  positions?: Int64;
  promptTokens?: Int64;
  responseTokens?: Int64;
  windowStart?: number;
  windowEnd?: number;
  primary?: Sink;
  sinks?: Sink[];
  undecided?: boolean;
  continued?: boolean;
  arithmetic?: string;
  portrait?: Portrait;
}

// google.rpc.Status.
export interface Status {
  code?: number;
  message?: string;
  details?: {reason?: string; metadata?: Record<string, string>}[];
}

export interface StoredRecord {
  sequence?: Int64;
  sampleKey?: string;
  record?: SampleRecord;
  error?: {sampleId?: string; status?: Status};
}

export interface AlphaChunk {
  block?: number;
  firstHead?: number;
  heads?: number;
  positions?: Int64;
  values?: (number|string)[];
}

export interface AnalyzeStarted {
  blocks?: number;
  heads?: number;
  computeType?: string;
  device?: string
}

// One line of the answer to POST /api/v1/analyze.
export interface AnalyzeResponse {
  started?: AnalyzeStarted;
  record?: SampleRecord;
  alpha?: AlphaChunk;
  sampleError?: {status?: Status};
  summary?: Summary;
}
