// One sample: the norm of its states by layer and position, with its sinks on top.
import {chart} from '../chart';
import type {EChartsOption} from '../engine';
import {decimal, toNumber, visible} from '../format';
import {kindName} from '../kinds';
import type {Palette} from '../theme';
import type {Portrait, SampleRecord, Sink} from '../types';
import {grid, labels, xAxis, yAxis} from './axes';

interface Picture {
  layers: number;
  columns: number;
  positions: number;
  norms: number[];
  texts: string[];
  sinks: Sink[];
}

function picture(record: SampleRecord, portrait: Portrait): Picture {
  const columns = portrait.columns ?? 0;
  const norms = (portrait.stateNorms ?? []).map(Number);
  return {
    layers: columns > 0 ? Math.floor(norms.length / columns) : 0,
    columns,
    positions: toNumber(record.positions),
    norms,
    texts: portrait.tokenTexts ?? [],
    sinks: [...(record.primary ? [record.primary] : []), ...(record.sinks ?? [])],
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
  const [layer, c] = [Math.floor(i / of.columns), i % of.columns];
  const [first, end] = span(of, c);
  const here = of.sinks.filter(
      (sink) =>
          sink.position! >= first && sink.position! < end && (sink.layers ?? []).includes(layer));
  return `layer ${layer}, ${spanText(of, c)}\nnorm ${decimal(of.norms[i])}` +
      here.map(
              (sink) =>
                  `\n${sink === of.sinks[0] ? 'primary sink' : `${kindName(sink.kind)} sink`} here`)
          .join('');
}

const positive = (norm: number) => Math.log10(Math.max(norm, 1e-6));

function option(of: Picture, colours: Palette): EChartsOption {
  const finite = of.norms.filter((norm) => Number.isFinite(norm)).map(positive);
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
    yAxis: {...yAxis(colours, 'layer'), ...category, data: labels(0, of.layers - 1)},
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
        data:
            of.norms.map((norm, i) => [i % of.columns, Math.floor(i / of.columns), positive(norm)]),
        progressive: 0,
        emphasis: {itemStyle: {borderColor: colours.text, borderWidth: 2}}
      },
      {
        type: 'scatter',
        symbolSize: 9,
        data: of.sinks.map((sink, i) => ({
                             value: [columnOf(of, sink.position ?? 0), sink.lStart ?? 0],
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

function layerRows(of: Picture) {
  return Array.from({length: of.layers}, (_, layer) => {
    const row = of.norms.slice(layer * of.columns, (layer + 1) * of.columns);
    const order = row.map((_norm, c) => c).sort((a, b) => row[b]! - row[a]!);
    const most = order.slice(0, 3).map((c) => `${decimal(row[c])} at ${spanText(of, c)}`);
    return [
      layer, ...[0, 1, 2].map((i) => most[i] ?? '-'),
      decimal(row[order[Math.floor(order.length / 2)]!])
    ];
  });
}

// Null when the portrait is empty.
export function portraitChart(record: SampleRecord): HTMLElement|null {
  const of = record.portrait ? picture(record, record.portrait) : null;
  if (!of || of.layers === 0) return null;
  const peak = of.norms.reduce((best, norm, i) => norm > of.norms[best]!? i : best, 0);
  const merged = of.columns < of.positions ?
      ' A column stands for several positions and shows the largest norm.' :
      '';
  return chart({
    title: 'Norm of the states, by layer and position',
    label: `The stronger the colour, the larger, on a logarithmic scale; largest: ${
               decimal(of.norms[peak])} after layer ` +
        `${Math.floor(peak / of.columns)} at ${
               spanText(of, peak % of.columns)}. Dots mark where sinks start.${merged}`,
    height: Math.min(520, 130 + 12 * of.layers),
    canvas: of.norms.length > 2000,
    legend: [['primary', 'primary'], ['secondary', 'secondary'], ['noise', 'noise']],
    option: (colours) => option(of, colours),
    text: (mark) => mark.series === 1 ? sinkText(of.sinks[mark.index]!, mark.index === 0) :
                                        cellText(of, mark.index),
    walk: {
      count: of.norms.length,
      mark: (i) => ({series: 0, index: i}),
      place: (i) => [i % of.columns, Math.floor(i / of.columns)],
    },
    table: () => ({
      columns: ['layer', 'largest norm', 'second', 'third', 'median'],
      rows: layerRows(of),
      words: [0, 1, 2, 3],
    }),
    csv: () => ({
      columns: ['layer', 'first_position', 'last_position', 'first_token', 'norm'],
      rows: of.norms.map((norm, i) => {
        const [first, end] = span(of, i % of.columns);
        return [Math.floor(i / of.columns), first, end - 1, of.texts[first], norm];
      }),
    }),
  });
}
