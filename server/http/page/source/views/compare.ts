// Two runs side by side, to one scale.
import {get, report} from '../api';
import {attentionChart} from '../charts/compensation';
import {extentOf, levelChart, levelKinds} from '../charts/levels';
import {contents} from '../contents';
import {h, replace} from '../dom';
import {decimal, idOf, interval} from '../format';
import {nothing} from '../notice';
import {address, currentRoute, remember} from '../route';
import {table} from '../table';
import type {GroupSummary, Interval, LevelReport, Run, Summary} from '../types';
import {runPath} from './run';
import {testSection} from './tests';
import {fill, type View} from './view';

type Measure =
    [string, (summary: Summary) => number | undefined, string, ((summary: Summary) => Interval | undefined)?];

const ofForm = (summary: Summary, y: 'score'|'lifetime') =>
    summary.regression?.[y]?.fits?.find((fit) => fit.form === 'REGRESSION_FORM_LINEAR_LOG');
const whole = (value: unknown) => value === undefined ? undefined : Number(value);

const measures: Measure[] = [
  ['samples', (each) => whole(each.samples), ''],
  ['tokens', (each) => whole(each.positions), ''],
  ['secondary sinks', (each) => whole(each.levels?.secondary), ''],
  ['secondary sinks per 1,000 tokens', (each) => each.levels?.secondaryPer1000Tokens, ''],
  ['share of samples with one', (each) => each.levels?.shareOfSamplesWithSecondary, ''],
  ['distinct levels', (each) => whole(each.levels?.distinctLevels), ''],
  ['entropy of levels, nats', (each) => each.levels?.entropy, 'no secondary sinks'],
  ['mean score, primary sink', (each) => each.scores?.primaryPosition?.mean, 'no scores'],
  [
    'mean score, secondary sinks',
    (each) => each.scores?.byKind?.find((kind) => kind.kind === 'SINK_KIND_SECONDARY')?.mean,
    'no scores'
  ],
  [
    'slope of score by ln norm', (each) => ofForm(each, 'score')?.slope?.value, 'no fit',
    (each) => ofForm(each, 'score')?.slope
  ],
  ['R² of score by ln norm', (each) => ofForm(each, 'score')?.rSquared, 'no fit'],
  [
    'slope of lifetime by ln norm', (each) => ofForm(each, 'lifetime')?.slope?.value, 'no fit',
    (each) => ofForm(each, 'lifetime')?.slope
  ],
];

function difference(a: number|undefined, b: number|undefined): string {
  if (a === undefined || b === undefined) return '-';
  if (a === b) return '0';
  return `${b >= a ? '+' : '−'}${decimal(Math.abs(b - a))}`;
}

function measureTable(names: [string, string], [a, b]: [Summary, Summary]): HTMLElement {
  const told = (summary: Summary, [, of, reason, range]: Measure) => {
    const value = of(summary);
    if (value === undefined) return `undefined${reason ? `: ${reason}` : ''}`;
    const {lower, upper} = range?.(summary) ?? {};
    return lower === undefined ? decimal(value) : `${decimal(value)} (${interval(lower, upper)})`;
  };
  return table(
      {
        columns: ['measure', names[0], names[1], 'difference'],
        rows: measures.map(
            (measure) =>
                [measure[0], told(a, measure), told(b, measure),
                 difference(measure[1](a), measure[1](b))]),
      },
      'Measures of both runs, with 95% intervals where there are any');
}

function bothLevels(names: string[], reports: LevelReport[]): HTMLElement {
  const place = h('div');
  const show = (kind: string) => {
    remember({kind: kind === 'all' ? undefined : kind});
    const extent = extentOf(reports, kind);
    const sum = (name: 'primary'|'secondary'|'noise') =>
        reports.reduce((total, each) => total + Number(each[name] ?? 0), 0);
    const both = {primary: sum('primary'), secondary: sum('secondary'), noise: sum('noise')};
    replace(
        place, levelKinds(both, kind, show),
        h('div', {class: 'pair'},
          reports.map(
              (each, i) => levelChart(each, {kind, extent, title: names[i]!}) ??
                  nothing(`${names[i]}: no sinks of this kind.`))));
  };
  show(currentRoute().parameters.get('kind') ?? 'all');
  return place;
}

function sides(
    names: [string, string], summaries: [Summary, Summary], signal: AbortSignal): HTMLElement {
  const reports = summaries.map((each) => each.levels);
  const curves = summaries.map((each) => each.compensation);
  const section = (title: string, content: Node) =>
      h('section', {'aria-label': title}, h('h2', {}, title), content);
  const parts = h(
      'div', {}, report ? null : testSection(names, signal),
      section(
          'Levels, to one scale',
          reports.every(Boolean) ? bothLevels(names, reports as LevelReport[]) :
                                   nothing('One of the runs did not ask for levels.')),
      section(
          'Compensation',
          h('div', {class: 'pair'},
            curves.map(
                (each, i) => each?.blocks?.length ?
                    attentionChart(each, names[i]) :
                    nothing(`${names[i]} did not ask for compensation.`)))));
  return h('div', {}, measureTable(names, summaries), contents(parts), parts);
}

export function runSelect(
    runs: Run[], name: string, chosen: string, required: boolean): HTMLSelectElement {
  const ids = runs.map((run) => idOf(run.name));
  if (chosen && !ids.includes(chosen)) ids.unshift(chosen);
  return h(
      'select', {name, required},
      h('option', {value: ''}, required ? 'choose a run' : 'no run'),
      ids.map((id) => h('option', {value: id, selected: id === chosen}, id)));
}

function chooser(runs: Run[], a: string, b: string): HTMLElement {
  const form =
      h('form', {class: 'filter', 'aria-label': 'Runs to compare'},
        h('label', {}, 'First run', runSelect(runs, 'a', a, true)),
        h('label', {}, 'Second run', runSelect(runs, 'b', b, true)),
        a && b && !report ?
            h('a', {
              class: 'button',
              href: address(['audit'], {policy: 'release-gate', candidate: b, baseline: a})
            },
              'Judge the second by the first') :
            null);
  form.addEventListener('change', () => {
    const data = new FormData(form);
    location.hash = address(['compare'], {a: String(data.get('a')), b: String(data.get('b'))});
  });
  return form;
}

async function summaryOf(id: string, signal: AbortSignal): Promise<Summary> {
  const answer = await get<GroupSummary>(`${runPath(id)}/summary`, {}, signal);
  return answer.summary ?? {};
}

export const compareView: View = async ({main, parameters, signal}) => {
  const [a, b] = [parameters.get('a') ?? '', parameters.get('b') ?? ''];
  const choose = h('div');
  const body = h('div');
  main.append(h('h1', {}, a && b ? `${a} and ${b}` : 'Compare two runs'), choose, body);
  const choosing = fill(choose, 'runs', signal, async () => {
    const {runs = []} = await get<{runs?: Run[]}>('/api/v1/runs', {pageSize: 1000}, signal);
    return chooser(runs, a, b);
  });
  if (!a || !b) return choosing;
  await fill(
      body, 'both summaries', signal,
      async () => sides(
          [a, b], await Promise.all([summaryOf(a, signal), summaryOf(b, signal)]), signal));
  return choosing;
};
