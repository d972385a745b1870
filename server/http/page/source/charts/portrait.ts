// One sample: the norm of its states by layer and position, or the attention of its positions by
// block, with its sinks on top.
import type {Alpha} from '../alpha';
import {chart} from '../chart';
import type {EChartsOption} from '../engine';
import {decimal, toNumber, visible} from '../format';
import {kindName} from '../kinds';
import type {Palette} from '../theme';
import type {Portrait, SampleRecord, Sink} from '../types';
import {grid, labels, xAxis, yAxis} from './axes';

interface Picture {
  row: 'layer'|'block';
  value: 'norm'|'attention';
  rows: number;
  columns: number;
  positions: number;
  values: number[];  // [rows, columns], the largest of a column's positions
  texts: string[];
  sinks: Sink[];
  // Rows between the layer where a position is a sink and the row that shows it: block b reads what
  // layer b - 1 left.
  shift: number;
}

type Select = ((position: number) => void)|undefined;

function picture(
    record: SampleRecord, portrait: Portrait, columns: number, values: number[],
    value: Picture['value']): Picture {
  return {
    row: value === 'norm' ? 'layer' : 'block',
    value,
    rows: columns > 0 ? Math.floor(values.length / columns) : 0,
    columns,
    positions: toNumber(record.positions),
    values,
    texts: portrait.tokenTexts ?? [],
    sinks: [...(record.primary ? [record.primary] : []), ...(record.sinks ?? [])],
    shift: value === 'norm' ? 0 : 1,
  };
}

// Positions of column c, [first, end).
function span(of: Picture, c: number): [number, number] {
  const first = Math.floor(c * of.positions / of.columns);
  return [first, Math.max(first + 1, Math.floor((c + 1) * of.positions / of.columns))];
}

function columnOf(of: Picture, position: number): number {
  const guess = Math.floor(position * of.columns / of.positions);
  return position >= span(of, guess)[1] ? guess + 1 : guess;
}

function spanText(of: Picture, c: number): string {
  const [first, end] = span(of, c);
  const token = (position: number) => `“${visible(of.texts[position])}”`;
  return end - first === 1 ? `position ${first} ${token(first)}` :
                             `positions ${first} ${token(first)} to ${end - 1} ${token(end - 1)}`;
}

export function sinkText(sink: Sink, primary: boolean): string {
  const name = primary ? 'the primary sink' : `${kindName(sink.kind)} sink`;
  const life = primary ? `sink from layer ${sink.lStart} for ${sink.lifetime} layers` :
                         `first layer ${sink.lStart}, lifetime ${sink.lifetime} layer${
                             sink.lifetime === 1 ? '' : 's'}`;
  const numbers = [
    sink.score === undefined ? 'score undefined: no block reads it, or scores were not asked for' :
                               `score ${decimal(sink.score)}`,
    sink.mlpNorm === undefined ? '' : `MLP norm ${decimal(sink.mlpNorm)}`,
    sink.stateNorm === undefined ? '' : `state norm ${decimal(sink.stateNorm)}`,
  ].filter(Boolean);
  return `“${visible(sink.tokenText)}” at position ${sink.position}: ${name}\n${life}\n${
      numbers.join('\n')}`;
}

function cellText(of: Picture, i: number): string {
  const [row, c] = [Math.floor(i / of.columns), i % of.columns];
  const [first, end] = span(of, c);
  const here = of.sinks.filter(
      (sink) => sink.position! >= first && sink.position! < end &&
          (sink.layers ?? []).includes(row - of.shift));
  return `${of.row} ${row}, ${spanText(of, c)}\n${of.value} ${decimal(of.values[i])}` +
      here.map(
              (sink) =>
                  `\n${sink === of.sinks[0] ? 'primary sink' : `${kindName(sink.kind)} sink`} here`)
          .join('');
}

const positive = (value: number) => Math.log10(Math.max(value, 1e-6));

function option(of: Picture, colours: Palette): EChartsOption {
  const finite = of.values.filter((value) => Number.isFinite(value)).map(positive);
  const [least, most] = finite.reduce(
      ([low, high], each) => [Math.min(low, each), Math.max(high, each)], [Infinity, -Infinity]);
  const category = {type: 'category' as const, splitLine: {show: false}};
  return {
    grid: {...grid, bottom: 50},
    xAxis: {
      ...xAxis(colours, 'position, tokens'),
      ...category,
      data: Array.from({length: of.columns}, (_, c) => String(span(of, c)[0]))
    },
    yAxis: {...yAxis(colours, of.row), ...category, data: labels(0, of.rows - 1)},
    visualMap: [{
      type: 'continuous',
      show: false,
      seriesIndex: 0,
      dimension: 2,
      min: least,
      max: most,
      inRange: {color: colours.ramps.heat}
    }],
    series: [
      {
        type: 'heatmap',
        data: of.values.map(
            (value, i) => [i % of.columns, Math.floor(i / of.columns), positive(value)]),
        progressive: 0,
        emphasis: {itemStyle: {borderColor: colours.text, borderWidth: 2}}
      },
      {
        type: 'scatter',
        symbolSize: 9,
        data: of.sinks.map((sink, i) => ({
                             value: [
                               columnOf(of, sink.position ?? 0),
                               Math.min((sink.lStart ?? 0) + of.shift, of.rows - 1)
                             ],
                             itemStyle: {
                               color: i === 0 ? colours.primary : colours[kindName(sink.kind)],
                               borderColor: colours.surface,
                               borderWidth: 1.5
                             },
                           }))
      },
    ],
  };
}

function rowsOf(of: Picture) {
  return Array.from({length: of.rows}, (_, at) => {
    const row = of.values.slice(at * of.columns, (at + 1) * of.columns);
    const order = row.map((_value, c) => c).sort((a, b) => row[b]! - row[a]!);
    const most = order.slice(0, 3).map((c) => `${decimal(row[c])} at ${spanText(of, c)}`);
    return [
      at, ...[0, 1, 2].map((i) => most[i] ?? '-'),
      decimal(row[order[Math.floor(order.length / 2)]!])
    ];
  });
}

function mapChart(of: Picture, title: string, dots: string, select: Select): HTMLElement {
  const peak = of.values.reduce((best, value, i) => value > of.values[best]! ? i : best, 0);
  const merged = of.columns < of.positions ?
      ` A column stands for several positions and shows the largest ${of.value}.` :
      '';
  const column = (series: number, index: number) =>
      series === 1 ? columnOf(of, of.sinks[index]!.position ?? 0) : index % of.columns;
  return chart({
    title,
    label: `The stronger the colour, the larger, on a logarithmic scale; largest: ${
               decimal(of.values[peak])} ${of.row === 'layer' ? 'after layer' : 'in block'} ` +
        `${Math.floor(peak / of.columns)} at ${spanText(of, peak % of.columns)}. ${dots}${merged}`,
    height: Math.min(520, 130 + 12 * of.rows),
    canvas: of.values.length > 2000,
    legend: [['primary', 'primary'], ['secondary', 'secondary'], ['noise', 'noise']],
    option: (colours) => option(of, colours),
    text: (mark) => mark.series === 1 ? sinkText(of.sinks[mark.index]!, mark.index === 0) :
                                        cellText(of, mark.index),
    walk: {
      count: of.values.length,
      mark: (i) => ({series: 0, index: i}),
      place: (i) => [i % of.columns, Math.floor(i / of.columns)],
    },
    select: select && (({series, index}) => select(span(of, column(series, index))[0])),
    table: () => ({
      columns: [of.row, `largest ${of.value}`, 'second', 'third', 'median'],
      rows: rowsOf(of),
      words: [0, 1, 2, 3],
    }),
    csv: () => ({
      columns: [of.row, 'first_position', 'last_position', 'first_token', of.value],
      rows: of.values.map((value, i) => {
        const [first, end] = span(of, i % of.columns);
        return [Math.floor(i / of.columns), first, end - 1, of.texts[first], value];
      }),
    }),
  });
}

// Null when the portrait is empty. `select` is told of the first position of a column.
export function portraitChart(record: SampleRecord, select?: Select): HTMLElement|null {
  const {portrait} = record;
  if (!portrait) return null;
  const of = picture(
      record, portrait, portrait.columns ?? 0, (portrait.stateNorms ?? []).map(Number), 'norm');
  if (of.rows === 0) return null;
  return mapChart(
      of, 'Norm of the states, by layer and position', 'Dots mark where sinks start.', select);
}

const kMostColumns = 1024;

// The attention that each position gets, by block: the mean over heads.
export function attentionMap(
    record: SampleRecord, portrait: Portrait, alpha: Alpha, select: Select): HTMLElement {
  const columns = Math.min(alpha.positions, kMostColumns);
  const of = picture(record, portrait, columns, [], 'attention');
  const values = Array.from({length: alpha.blocks * columns}, (_, i) => {
    const [first, end] = span(of, i % columns);
    let most = 0;
    for (let position = first; position < end; ++position)
      most = Math.max(most, alpha.mean(Math.floor(i / columns), position));
    return most;
  });
  return mapChart(
      {...of, values, rows: alpha.blocks}, 'Attention received, by block and position',
      'Means over heads. Dots mark the first block that reads a sink.', select);
}
