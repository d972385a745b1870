// Two runs side by side, to one scale.
import {get} from '../api';
import {attentionChart} from '../charts/compensation';
import {extentOf, levelChart, levelKinds} from '../charts/levels';
import {h, replace} from '../dom';
import {decimal, idOf} from '../format';
import {nothing} from '../notice';
import {address, currentRoute, remember} from '../route';
import {table} from '../table';
import type {GroupSummary, LevelReport, Run, Summary} from '../types';
import {runPath} from './run';
import {fill, type View} from './view';

type Measure = [string, (summary: Summary) => number | undefined, string];

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
  ['slope of score by ln norm', (each) => ofForm(each, 'score')?.slope?.value, 'no fit'],
  ['R² of score by ln norm', (each) => ofForm(each, 'score')?.rSquared, 'no fit'],
  ['slope of lifetime by ln norm', (each) => ofForm(each, 'lifetime')?.slope?.value, 'no fit'],
];

function difference(a: number|undefined, b: number|undefined): string {
  if (a === undefined || b === undefined) return '-';
  if (a === b) return '0';
  return `${b >= a ? '+' : '−'}${decimal(Math.abs(b - a))}`;
}

function measureTable(names: [string, string], [a, b]: [Summary, Summary]): HTMLElement {
  const told = (value: number|undefined, reason: string) =>
      value === undefined ? `undefined${reason ? `: ${reason}` : ''}` : decimal(value);
  return table(
      {
        columns: ['measure', names[0], names[1], 'difference'],
        rows: measures.map(
            ([
              name, of, reason
            ]) => [name, told(of(a), reason), told(of(b), reason), difference(of(a), of(b))]),
      },
      'Measures of both runs');
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
              (report, i) => levelChart(report, {kind, extent, title: names[i]!}) ??
                  nothing(`${names[i]}: no sinks of this kind.`))));
  };
  show(currentRoute().parameters.get('kind') ?? 'all');
  return place;
}

function sides(names: [string, string], summaries: [Summary, Summary]): HTMLElement {
  const reports = summaries.map((each) => each.levels);
  const curves = summaries.map((each) => each.compensation);
  return h(
      'div', {}, measureTable(names, summaries), h('h2', {}, 'Levels, to one scale'),
      reports.every(Boolean) ? bothLevels(names, reports as LevelReport[]) :
                               nothing('One of the runs did not ask for levels.'),
      h('h2', {}, 'Compensation'),
      h('div', {class: 'pair'},
        curves.map(
            (report, i) => report?.blocks?.length ?
                attentionChart(report, names[i]) :
                nothing(`${names[i]} did not ask for compensation.`))));
}

function chooser(runs: Run[], a: string, b: string): HTMLElement {
  const select = (name: string, chosen: string) => {
    const ids = runs.map((run) => idOf(run.name));
    if (chosen && !ids.includes(chosen)) ids.unshift(chosen);
    return h(
        'select', {name}, h('option', {value: ''}, 'choose a run'),
        ids.map((id) => h('option', {value: id, selected: id === chosen}, id)));
  };
  const form =
      h('form', {class: 'filter', 'aria-label': 'Runs to compare'},
        h('label', {}, 'First run', select('a', a)), h('label', {}, 'Second run', select('b', b)));
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
      async () => sides([a, b], await Promise.all([summaryOf(a, signal), summaryOf(b, signal)])));
  return choosing;
};
