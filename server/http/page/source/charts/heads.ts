// Heads: one number of each block and head as colours, and the heads that stand out.
import {h, replace} from '../dom';
import {decimal, integer} from '../format';
import {choice} from '../kinds';
import {currentRoute, remember} from '../route';
import {facts} from '../table';
import type {HeadPlace, HeadReport} from '../types';
import {labels} from './axes';
import {heatChart} from './heat';

type Measure = 'primary'|'primaryValueShare'|'entropy'|'maxWeight'|'secondary'|'rest'|'learnedSink'|
    'previousToken'|'duplicateToken'|'firstToken'|'primaryValue'|'secondaryValue'|'restValue'|
    'gate';

// The name of each, and what it is.
const measures: Record<Measure, [string, string]> = {
  primary: ['primary sink', 'Mean attention to the primary sink, of the queries past it'],
  primaryValueShare:
      ['value share', 'Share of the value-weighted attention that the primary sink gets'],
  entropy: ['entropy', 'Entropy of a query\'s attention, divided by ln(visible keys)'],
  maxWeight: ['largest weight', 'Mean of each query\'s largest weight'],
  secondary: ['secondary sinks', 'Mean attention to the secondary sinks, of the queries past each'],
  rest: ['rest', 'Mean attention to all other positions'],
  learnedSink: ['learned sink', 'Mean attention to the learned sink'],
  previousToken: ['previous token', 'Share of attention to the position before the query'],
  duplicateToken: ['duplicate token', 'Share of attention to earlier positions of the same token'],
  firstToken: ['first token', 'Share of attention to position 0'],
  primaryValue: ['primary, by value', 'Attention to the primary sink times what its value adds'],
  secondaryValue:
      ['secondary, by value', 'Attention to secondary sinks times what their values add'],
  restValue: ['rest, by value', 'Attention to other positions times what their values add'],
  gate: ['gate', 'Mean gate of the head\'s output'],
};

const kMostListed = 24;

function listed(places: HeadPlace[] = []): string {
  const names = places.slice(0, kMostListed).map((each) => `${each.block ?? 0}.${each.head ?? 0}`);
  return `${places.length}${names.length > 0 ? `: ${names.join(', ')}` : ''}${
      places.length > kMostListed ? ', ...' : ''}`;
}

function map(report: HeadReport, measure: Measure, attention: number[]|undefined): HTMLElement {
  const heads = report.heads ?? 1;
  const values = report[measure] ?? [];
  const blocks =
      attention?.length ? attention.map(String) : labels(0, Math.floor(values.length / heads) - 1);
  const most = values.reduce((best, value, i) => value > values[best] ? i : best, 0);
  const [name, what] = measures[measure];
  return heatChart({
    title: `Heads by ${name}`,
    label: `${what}; means over ${
        integer(
            measure.startsWith('secondary') ? report.samplesWithSecondary :
                                              report.samples)} samples. Largest in block ${
        blocks[Math.floor(most / heads)]}, head ${most % heads}: ${decimal(values[most])}.`,
    xName: 'block',
    yName: 'head',
    columns: blocks,
    rows: labels(0, heads - 1),
    values: Array.from(
        {length: values.length},
        (_, i) => values[(i % blocks.length) * heads + Math.floor(i / blocks.length)]),
    valueName: name,
  });
}

// `attention`: the blocks that have it, where not all do.
export function headCharts(report: HeadReport, attention: number[]|undefined): HTMLElement {
  const drawing = h('div');
  const present =
      (Object.keys(measures) as Measure[]).filter((each) => (report[each] ?? []).length > 0);
  const show = (chosen: string) => {
    const measure = present.find((each) => each === chosen) ?? present[0];
    remember({head: measure === present[0] ? undefined : measure});
    replace(
        drawing,
        choice(
            'Colour', present.map((each) => ({value: each, text: measures[each][0]})), measure,
            show),
        map(report, measure, attention));
  };
  show(currentRoute().parameters.get('head') ?? '');
  return h('div', {}, drawing, facts([
             ['dormant (block.head)', listed(report.dormant)],
             ['collapsed', listed(report.collapsed)],
             ['focused', listed(report.focused)],
             ['samples left out', integer(report.leftOut ?? 0)],
           ]));
}
