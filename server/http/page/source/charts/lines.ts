// Lines over blocks (or another whole-numbered axis), with intervals where there are any.
import {chart, walkInOrder} from '../chart';
import type {EChartsOption} from '../engine';
import {decimal, interval} from '../format';
import type {Palette} from '../theme';
import type {Interval} from '../types';
import {grid, xAxis, yAxis} from './axes';

export interface Line {
  name: string;
  colour: 'primary'|'secondary'|'noise'|'accent';
  values: (number|undefined)[];
  intervals?: (Interval|undefined)[];
  undefined?: (string|undefined)[];  // reasons
}

export interface LineSpec {
  title: string;
  label: string;
  xName: string;
  x: (string|number)[];
  yName: string;
  lines: Line[];
  bars?: boolean;
  height?: number;
  legend?: [string, string][];  // instead of one entry a line
}

const gap = (value: number|undefined) =>
    value === undefined || !Number.isFinite(Number(value)) ? '-' : Number(value);

function band(line: Line, colour: string) {
  const part = (data: (number|string)[], filled: boolean) => ({
    type: 'line' as const,
    data,
    stack: `interval of ${line.name}`,
    stackStrategy: 'all' as const,
    silent: true,
    symbol: 'none',
    lineStyle: {opacity: 0},
    ...(filled ? {areaStyle: {color: colour, opacity: 0.18}} : {}),
  });
  const intervals = line.intervals ?? [];
  return [
    part(intervals.map((each) => gap(each?.lower)), false),
    part(
        intervals.map(
            (each) => each?.upper === undefined || each.lower === undefined ?
                '-' :
                each.upper - each.lower),
        true),
  ];
}

function option(spec: LineSpec, colours: Palette): EChartsOption {
  const kind = spec.bars ?
      {type: 'bar' as const, barMaxWidth: 28} :
      {type: 'line' as const, symbol: 'circle', symbolSize: 5, showSymbol: spec.x.length <= 60};
  return {
    grid,
    tooltip: {
      trigger: 'axis',
      axisPointer: {type: spec.bars ? 'shadow' : 'line', lineStyle: {color: colours.soft}}
    },
    xAxis: {
      ...xAxis(colours, spec.xName),
      type: 'category',
      data: spec.x.map(String),
      boundaryGap: spec.bars ?? false,
      splitLine: {show: false}
    },
    yAxis: {...yAxis(colours, spec.yName), type: 'value', scale: !spec.bars},
    series: [
      ...spec.lines.map((line) => ({
                          ...kind,
                          name: line.name,
                          data: line.values.map(gap),
                          itemStyle: {color: colours[line.colour]},
                          lineStyle: {width: 2}
                        })),
      ...spec.lines.filter((line) => line.intervals?.some(Boolean))
          .flatMap((line) => band(line, colours[line.colour])),
    ],
  };
}

function valueText(line: Line, i: number): string {
  const value = line.values[i];
  const reason = line.undefined?.[i];
  if (value === undefined) return reason ? `undefined: ${reason}` : '-';
  const range = line.intervals?.[i];
  return decimal(value) +
      (range?.lower === undefined ? '' : ` (95% interval ${interval(range.lower, range.upper)})`);
}

export function lineChart(spec: LineSpec): HTMLElement {
  return chart({
    title: spec.title,
    label: spec.label,
    height: spec.height ?? 260,
    legend: spec.legend ??
        (spec.lines.length > 1 ? spec.lines.map((line) => [line.colour, line.name]) : undefined),
    option: (colours) => option(spec, colours),
    text: (mark) => [`${spec.xName} ${spec.x[mark.index]}`,
                     ...spec.lines.map((line) => `${line.name} ${valueText(line, mark.index)}`)]
                        .join('\n'),
    walk: walkInOrder(spec.x.length, (i) => ({series: 0, index: i})),
    table: () => ({
      columns: [
        spec.xName,
        ...spec.lines.flatMap((line) => line.intervals ? [line.name, '95% interval'] : [line.name])
      ],
      rows: spec.x.map((x, i) => [x, ...spec.lines.flatMap((line) => {
                         const value = line.values[i] === undefined ? valueText(line, i) :
                                                                      decimal(line.values[i]);
                         return line.intervals ?
                             [value, interval(line.intervals[i]?.lower, line.intervals[i]?.upper)] :
                             [value];
                       })]),
      words: [],
    }),
    csv: () => ({
      columns: [
        spec.xName,
        ...spec.lines.flatMap(
            (line) => line.intervals ? [line.name, `${line.name} lower`, `${line.name} upper`] :
                                       [line.name])
      ],
      rows: spec.x.map((x, i) => [x, ...spec.lines.flatMap((line) => {
                         const range = line.intervals?.[i];
                         return line.intervals ? [line.values[i], range?.lower, range?.upper] :
                                                 [line.values[i]];
                       })]),
    }),
  });
}
