// An audit: runs judged by a policy, one that sinkd comes with or one's own.
import gate from '../../../../../deploy/policies/release-gate.yaml?raw';
import quantized from '../../../../../deploy/policies/quantized-release.yaml?raw';
import smoke from '../../../../../deploy/policies/smoke.yaml?raw';

import {get} from '../api';
import type {Audit, RuleResult} from '../audit_types';
import {h, newId} from '../dom';
import {decimal, integer, interval, pValue, word} from '../format';
import {address} from '../route';
import {facts, table} from '../table';
import type {Run} from '../types';
import {runSelect} from './compare';
import {fill, type View} from './view';

const policies: Record<string, [string, string]> = {
  'release-gate': ['release gate, against a baseline', gate],
  'quantized-release': ['quantized release, against a baseline', quantized],
  smoke: ['smoke test, without a baseline', smoke],
};

// One's own outlives the view, but not the tab.
let own = '';

export function verdictChip(verdict: string|undefined): HTMLElement {
  const name = word(verdict, 'VERDICT_');
  const look = name === 'pass' ? 'complete' : name === 'fail' ? 'failed' : 'open';
  return h('span', {class: `chip ${look}`}, name);
}

function ruleRow(rule: RuleResult, withBaseline: boolean) {
  return [
    rule.name, verdictChip(rule.verdict), decimal(rule.value),
    ...(withBaseline ? [decimal(rule.baselineValue)] : []), rule.limit || '-',
    interval(rule.interval?.lower, rule.interval?.upper), pValue(rule.p), pValue(rule.adjustedP),
    integer(rule.candidateN), ...(withBaseline ? [integer(rule.baselineN)] : []), rule.reason ?? ''
  ];
}

function verdict(audit: Audit, withBaseline: boolean): HTMLElement {
  const columns = [
    'rule', 'verdict', 'candidate', ...(withBaseline ? ['baseline'] : []), 'limit', '95% interval',
    'p', 'p, corrected', 'n', ...(withBaseline ? ['n, baseline'] : []), 'reason'
  ];
  return h(
      'div', {}, facts([
        ['verdict', verdictChip(audit.verdict)], ['policy', audit.policyName ?? '-'],
        ['samples of the candidate', integer(audit.candidateSamples)],
        ['samples of the baseline', withBaseline ? integer(audit.baselineSamples) : 'no baseline'],
        ['seed', integer(audit.seed ?? 0)]
      ]),
      table(
          {
            columns,
            rows: (audit.rules ?? []).map((rule) => ruleRow(rule, withBaseline)),
            words: [0, 1, columns.indexOf('limit'), columns.indexOf('reason')]
          },
          'Rules'));
}

function policyFields(chosen: string): HTMLElement {
  const id = newId('policy');
  const text = h('textarea', {
    id,
    name: 'text',
    rows: 12,
    spellcheck: 'false',
    class: 'code',
    required: true,
    input: () => {
      own = text.value;
      select.value = 'own';
    }
  });
  const show = (policy: string) => text.value = policies[policy]?.[1] ?? own;
  const select = h(
      'select', {name: 'policy', change: () => show(select.value)},
      Object.entries(policies).map(
          ([name, [words]]) => h('option', {value: name, selected: name === chosen}, words)),
      h('option', {value: 'own', selected: chosen === 'own'}, 'your own'));
  show(chosen);
  return h(
      'div', {}, h('label', {class: 'inline'}, 'Policy ', select),
      h('details', {open: chosen === 'own'}, h('summary', {}, 'The policy, to read or to change'),
        h('label', {for: id}, 'YAML'), text));
}

function form(runs: Run[], parameters: URLSearchParams, out: HTMLElement, signal: AbortSignal) {
  const chosen = parameters.get('policy') ?? 'release-gate';
  const element =
      h('form', {class: 'try', 'aria-label': 'What is judged'}, policyFields(chosen),
        h('div', {class: 'filter'},
          h('label', {}, 'Candidate',
            runSelect(runs, 'candidate', parameters.get('candidate') ?? '', true)),
          h('label', {}, 'Baseline',
            runSelect(runs, 'baseline', parameters.get('baseline') ?? '', false)),
          h('button', {type: 'submit', class: 'main'}, 'Judge')));
  const judge = () => {
    const data = new FormData(element);
    const of = (name: string) => String(data.get(name) ?? '');
    const {candidate, baseline, policy} =
        {candidate: of('candidate'), baseline: of('baseline'), policy: of('policy')};
    history.replaceState(null, '', address(['audit'], {policy, candidate, baseline}));
    void fill(
        out, 'the verdict', signal,
        async () => verdict(
            await get<Audit>(
                '/api/v1/audit', {policy: of('text'), candidate, baseline: baseline || undefined},
                signal),
            baseline !== ''));
  };
  element.addEventListener('submit', (event) => {
    event.preventDefault();
    judge();
  });
  return {element, judge};
}

export const auditView: View = async ({main, parameters, signal}) => {
  const body = h('div');
  main.append(h('h1', {}, 'Audit'), body);
  await fill(body, 'runs', signal, async () => {
    const {runs = []} = await get<{runs?: Run[]}>('/api/v1/runs', {pageSize: 1000}, signal);
    const out = h('div', {'aria-live': 'polite'});
    const {element, judge} = form(runs, parameters, out, signal);
    if (parameters.get('candidate') && Object.hasOwn(policies, parameters.get('policy') ?? ''))
      judge();
    return h('div', {}, element, out);
  });
};
