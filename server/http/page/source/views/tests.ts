// What two runs differ in, by test: an audit of the second run against the first.
import {get} from '../api';
import type {Audit, RuleResult} from '../audit_types';
import {h} from '../dom';
import {decimal, interval, pValue} from '../format';
import {table} from '../table';
import {fill} from './view';

type Form = 'difference'|'test'|'pairs';

// Measures of policies (docs/audits.md), in words and how two runs are compared by them.
const measures: [string, string, Form][] = [
  ['secondary_per_1000_tokens', 'secondary sinks per 1,000 tokens', 'difference'],
  ['samples_with_secondary', 'share of samples with a secondary sink', 'difference'],
  ['primary_score', 'mean score of the primary sink', 'difference'],
  ['primary_norm', 'mean norm of the primary sink', 'difference'],
  ['weakest_primary_attention', 'least attention to the primary sink', 'difference'],
  ['regression_slope', 'slope of score by ln norm', 'difference'],
  ['level_divergence', 'divergence of the levels, bits', 'test'],
  ['secondary_score', 'mean score of the secondary sinks', 'difference'],
  ['secondary_norm', 'mean MLP norm of the secondary sinks', 'difference'],
  ['score_distribution', 'distance of the distributions of scores', 'test'],
  ['norm_distribution', 'distance of the distributions of MLP norms', 'test'],
  ['moved_primary', 'share of samples whose primary sink moved', 'pairs'],
  ['lost_secondary', 'secondary sinks lost, share', 'pairs'],
  ['gained_secondary', 'secondary sinks gained, share', 'pairs'],
  ['moved_secondary', 'secondary sinks on another level, share', 'pairs'],
  ['shared_score_ratio', 'scores of sinks in both, ratio', 'pairs'],
];

const fields: Record<Form, string> = {
  difference: 'of: difference, at_least: 0, at_most: 0, test: true',
  test: 'test: true',
  pairs: 'at_least: 0',
};

const policy = [
  'name: compare', 'rules:',
  ...measures.map(([measure, , form]) => `  - {measure: ${measure}, ${fields[form]}}`)
].join('\n');

const byForm: Record<Form, (rule: RuleResult) => string> = {
  difference: ({value, baselineValue}) => decimal(Number(value) - Number(baselineValue)),
  test: ({value}) => decimal(value),
  pairs: ({value}) => decimal(value),
};

function finding(rule: RuleResult, form: Form): string {
  if (rule.verdict === 'VERDICT_NOT_ENOUGH_DATA') return `not enough data: ${rule.reason ?? ''}`;
  if (form === 'pairs') return 'sample by sample';
  return rule.verdict === 'VERDICT_FAIL' ? 'differs' : 'no difference found';
}

function rows(rules: RuleResult[]) {
  return measures.map(([measure, words, form]) => {
    const rule = rules.find((each) => each.measure === measure) ?? {};
    const each = (value: number|string|undefined) => form === 'difference' ? decimal(value) : '-';
    return [
      words, each(rule.baselineValue), each(rule.value),
      rule.value === undefined ? '-' : byForm[form](rule),
      interval(rule.interval?.lower, rule.interval?.upper), pValue(rule.p), pValue(rule.adjustedP),
      finding(rule, form)
    ];
  });
}

export function testSection([a, b]: [string, string], signal: AbortSignal): HTMLElement {
  const body = h('div');
  void fill(body, 'the tests', signal, async () => {
    const {rules = []} =
        await get<Audit>('/api/v1/audit', {policy, candidate: b, baseline: a}, signal);
    return h(
        'div', {},
        h('p', {class: 'aside'},
          'Permutation tests over samples, p corrected by Holm for all of them, ' +
              'and 95% bootstrap intervals over the samples that both runs hold.'),
        table(
            {
              columns: [
                'measure', a, b, 'difference', '95% interval', 'p', 'p, corrected', 'finding'
              ],
              rows: rows(rules),
              words: [0, 7]
            },
            'Differences by test'));
  });
  return h('section', {'aria-label': 'Differences by test'}, h('h2', {}, 'Differences by test'), body);
}
