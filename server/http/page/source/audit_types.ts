// The audits of sinks.v1 as the API's JSON has them.
import type {Int64} from './format';
import type {Interval} from './types';

export interface RuleResult {
  name?: string;
  measure?: string;
  verdict?: string;
  value?: number|string;
  baselineValue?: number|string;
  limit?: string;
  p?: number;
  adjustedP?: number;
  reason?: string;
  candidateN?: Int64;
  baselineN?: Int64;
  interval?: Interval;
}

export interface Audit {
  verdict?: string;
  rules?: RuleResult[];
  policyName?: string;
  candidateSamples?: Int64;
  baselineSamples?: Int64;
  seed?: Int64;
}
