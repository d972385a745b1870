// Runs summed up by model or by a label.
import {get} from '../api';
import {lineChart} from '../charts/lines';
import {h} from '../dom';
import {counted, decimal, idOf, integer, interval, percent, pValue} from '../format';
import {nothing} from '../notice';
import {address} from '../route';
import {table} from '../table';
import type {ChangePoint, GroupSummary, SummarySeries} from '../types';
import {fill, type View} from './view';

function form(grouping: string, label: string, numeric: boolean): HTMLElement {
  const element =
      h('form', {class: 'filter', 'aria-label': 'How runs are grouped'},
        h('label', {}, 'Group by',
          h('select', {name: 'grouping'},
            [['MODEL', 'model'], ['LABEL', 'label'], ['RUN', 'run']].map(
                ([value, text]) => h('option', {value, selected: value === grouping}, text!)))),
        h('label', {}, 'Label',
          h('input', {name: 'label', value: label, placeholder: 'stage', autocomplete: 'off'})),
        h('label', {}, h('input', {type: 'checkbox', name: 'order', checked: numeric}),
          'Its values are numbers'),
        h('button', {type: 'submit'}, 'Sum up'));
  element.addEventListener('submit', (event) => {
    event.preventDefault();
    const data = new FormData(element);
    location.hash = address(['groups'], {
      grouping: String(data.get('grouping')),
      label: String(data.get('label')).trim(),
      order: data.has('order') ? 'NUMERIC' : undefined,
    });
  });
  return element;
}

// What runs of one group do not share, and so no summary shows.
function differences(list: GroupSummary[], names: string[]): HTMLElement|null {
  const rows = list.flatMap(
      (each, i) => (each.differences ?? []).map((difference) => [
        names[i], difference.field, h('ul', {class: 'plain'}, (difference.values ?? []).map(
            ({value, runCount, run}) => h('li', {}, `${value || 'none'}: `,
                h('a', {href: address(['runs', idOf(run)])}, idOf(run)),
                Number(runCount) > 1 ? ` and ${counted(Number(runCount) - 1, 'other run')}` : '')))
      ]));
  if (rows.length === 0) return null;
  return h(
      'section', {'aria-label': 'What the runs differ in'}, h('h2', {}, 'What the runs differ in'),
      h('p', {class: 'aside'},
        'Above is what all runs of a group share. Analyses that not all of them hold are left out.'),
      table({columns: ['group', 'parameter', 'values'], rows, words: [0, 1, 2]}, 'Differences'));
}

function changeText(change: ChangePoint|undefined): string {
  if (!change || change.undefined) return `No change point: ${change?.undefined ?? 'none is known'}.`;
  const {lastBefore, firstAfter, meanBefore, meanAfter} = change;
  return `Changes between ${decimal(lastBefore)} and ${decimal(firstAfter)} (95% interval ${
      interval(change.interval?.lower, change.interval?.upper)}), from ${decimal(meanBefore)} to ${
      decimal(meanAfter)}; ${pValue(change.p)}.`;
}

// A number of the summaries against the label, with the means before and after its change.
function seriesChart(series: SummarySeries, label: string): HTMLElement {
  const {labelValues = [], values = [], changePoint: change} = series;
  const name = (series.name ?? '').replaceAll('_', ' ');
  const title = name.charAt(0).toUpperCase() + name.slice(1);
  const means = labelValues.map(
      (at) => at >= Number(change?.firstAfter) ? change?.meanAfter : change?.meanBefore);
  const stepped = change?.firstAfter !== undefined;
  return lineChart({
    title,
    xName: label,
    x: labelValues,
    yName: name,
    label: changeText(change),
    lines: [
      {name, colour: 'secondary', values},
      ...(stepped ? [{name: 'mean before and after', colour: 'noise' as const, values: means}] : []),
    ],
  });
}

function groups(list: GroupSummary[], label: string): HTMLElement {
  const names = list.map((each) => idOf(each.group) || '(without it)');
  const series = list[list.length - 1]?.series;
  return h(
      'div', {}, series ? series.map((each) => seriesChart(each, label)) : lineChart({
        title: 'Secondary sinks per 1,000 tokens',
        xName: 'group',
        x: names,
        yName: 'per 1,000 tokens',
        bars: true,
        label: `${list.length} groups.`,
        lines: [{
          name: 'secondary sinks per 1,000 tokens',
          colour: 'secondary',
          values: list.map((each) => each.summary?.levels?.secondaryPer1000Tokens)
        }],
      }),
      table(
          {
            columns: [
              'group', 'runs', 'samples', 'tokens', 'secondary sinks', 'samples with one',
              'distinct levels', 'mean score, primary'
            ],
            rows: list.map(
                ({runCount, summary}, i) =>
                    [names[i], integer(runCount), integer(summary?.samples),
                     integer(summary?.positions), integer(summary?.levels?.secondary),
                     percent(summary?.levels?.shareOfSamplesWithSecondary),
                     integer(summary?.levels?.distinctLevels),
                     decimal(summary?.scores?.primaryPosition?.mean)]),
          },
          'Groups'),
      [...new Set(list.flatMap(({summary}) => summary?.notes ?? []))].map(
          (note) => h('p', {class: 'warning'}, note)),
      differences(list, names));
}

export const groupsView: View = async ({main, parameters, signal}) => {
  const grouping = parameters.get('grouping') ?? 'MODEL';
  const label = parameters.get('label') ?? '';
  const body = h('div');
  const numeric = grouping === 'LABEL' && parameters.get('order') === 'NUMERIC';
  main.append(h('h1', {}, 'Runs summed up'), form(grouping, label, numeric), body);
  if (grouping === 'LABEL' && !label) {
    body.append(nothing('Which label? Its values make the groups.'));
    return;
  }
  await fill(body, 'summaries', signal, async () => {
    const query = {
      grouping,
      label: grouping === 'LABEL' ? label : undefined,
      order: numeric ? 'NUMERIC' : undefined
    };
    const {summaries = []} =
        await get<{summaries?: GroupSummary[]}>('/api/v1/summaries', query, signal);
    return summaries.length > 0 ? groups(summaries, label) : nothing('There are no runs to sum up.');
  });
};
