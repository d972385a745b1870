// The attention of one sample: what a token gets of each block and head, and what each sink gets
// block by block.
import type {Alpha} from '../alpha';
import {decimal, visible} from '../format';
import {h} from '../dom';
import {kindName, kindNames} from '../kinds';
import type {SampleRecord, Sink} from '../types';
import {labels} from './axes';
import {heatChart} from './heat';
import {lineChart} from './lines';

export function tokenChart(alpha: Alpha, position: number, text: string|undefined): HTMLElement {
  const values = Array.from(
      {length: alpha.blocks * alpha.heads},
      (_, i) => alpha.at(i % alpha.blocks, Math.floor(i / alpha.blocks), position));
  const most =
      values.reduce((best, value, i) => value > (values[best] || 0) ? i : best, 0);
  return heatChart({
    title: `What “${visible(text)}” at position ${position} gets of each head`,
    label: `alpha, the mean attention of the queries that see it. Largest in block ${
        most % alpha.blocks}, head ${Math.floor(most / alpha.blocks)}: ${decimal(values[most])}.`,
    xName: 'block',
    yName: 'head',
    columns: labels(0, alpha.blocks - 1),
    rows: labels(0, alpha.heads - 1),
    values,
    valueName: 'alpha',
  });
}

const kMostLines = 12;
const kMostRows = 200;

const sum = (values: number[]) => values.reduce((total, each) => total + each, 0);

// Null when the sample's sinks have no curves.
export function curveCharts(record: SampleRecord): HTMLElement|null {
  const sinks = [...(record.primary ? [record.primary] : []), ...(record.sinks ?? [])].filter(
      (sink) => sink.scoreCurve?.length);
  if (sinks.length === 0) return null;
  const curve = (sink: Sink) => (sink.scoreCurve ?? []).map(Number);
  const strongest = [...sinks].sort((a, b) => sum(curve(b)) - sum(curve(a)));
  const drawn = strongest.slice(0, kMostLines);
  const rows = strongest.slice(0, kMostRows).sort((a, b) => a.position! - b.position!);
  const name = (sink: Sink) => `${sink.position} “${visible(sink.tokenText)}”`;
  const colour = (sink: Sink) => sink === record.primary ? 'primary' : kindName(sink.kind);
  const blocks = Math.max(...sinks.map((sink) => sink.scoreCurve!.length));
  const some = (shown: Sink[]) =>
      shown.length < sinks.length ? `, of ${sinks.length} the ${shown.length} with the most` : '';
  return h(
      'div', {}, lineChart({
        title: 'Attention of each sink, block by block',
        label: `Means over heads, by position and token${some(drawn)}.`,
        xName: 'block',
        x: labels(0, blocks - 1),
        yName: 'attention received',
        legend: kindNames.filter((kind) => drawn.some((sink) => colour(sink) === kind))
                    .map((kind) => [kind, kind]),
        lines: drawn.map((sink) => ({name: name(sink), colour: colour(sink), values: curve(sink)})),
      }),
      rows.length > 1 ? heatChart({
        title: 'Attention of all sinks, block by block',
        label: `Means over heads, by position and token${some(rows)}.`,
        xName: 'block',
        yName: 'sink',
        columns: labels(0, blocks - 1),
        rows: rows.map(name),
        values: rows.flatMap(curve),
        valueName: 'attention',
        wideRows: true,
      }) :
                        null);
}
