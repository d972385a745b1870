// The level histogram: first layer by lifetime, coloured by kind.
import type {ChartSpec} from '../chart';
import {chart} from '../chart';
import type {EChartsOption} from '../engine';
import {decimal, integer, percent, toNumber} from '../format';
import {choice, kindName, kindNames, type KindName} from '../kinds';
import type {Palette} from '../theme';
import type {LevelReport} from '../types';
import {grid, labels, textOn, xAxis, yAxis} from './axes';

export interface Extent {
  start: [number, number];
  lifetime: [number, number];
  most: number
}

interface Cell {
  lStart: number;
  lifetime: number;
  counts: Record<KindName, number>;
  total: number;
  kind: KindName;  // the most frequent
}

export interface LevelChoices {
  kind: string;  // a KindName, or "all"
  choose?: (kind: string) => void;
  select?: (lStart: number, lifetime: number) => void;
  extent?: Extent;
  title?: string;
}

function cellsOf(report: LevelReport, kind: string): Cell[] {
  const cells = new Map<string, Cell>();
  for (const each of report.counts ?? []) {
    const name = kindName(each.kind);
    if (kind !== 'all' && kind !== name) continue;
    const [lStart, lifetime] = [each.lStart ?? 0, each.lifetime ?? 0];
    const key = `${lStart} ${lifetime}`;
    const cell = cells.get(key) ??
        {lStart, lifetime, counts: {secondary: 0, primary: 0, noise: 0}, total: 0, kind: name};
    cell.counts[name] += toNumber(each.count);
    cell.total += toNumber(each.count);
    if (cell.counts[name] > cell.counts[cell.kind]) cell.kind = name;
    cells.set(key, cell);
  }
  return [...cells.values()];
}

// What two histograms need to be drawn to one scale.
export function extentOf(reports: LevelReport[], kind: string): Extent {
  const cells = reports.flatMap((report) => cellsOf(report, kind));
  const range = (values: number[]): [number, number] => [Math.min(...values), Math.max(...values)];
  if (cells.length === 0) return {start: [0, 1], lifetime: [1, 2], most: 1};
  return {
    start: range(cells.map((cell) => cell.lStart)),
    lifetime: range(cells.map((cell) => cell.lifetime)),
    most: Math.max(...cells.map((cell) => cell.total)),
  };
}

// "1.2K".
const short = new Intl.NumberFormat('en-US', {notation: 'compact', maximumFractionDigits: 1});

function breakdown(cell: Cell): string {
  return kindNames.filter((name) => cell.counts[name] > 0)
      .map((name) => `${integer(cell.counts[name])} ${name}`)
      .join(', ');
}

function cellText(cell: Cell, all: number): string {
  return `first layer ${cell.lStart}, lifetime ${cell.lifetime} layer${
             cell.lifetime === 1 ? '' : 's'}\n` +
      `${breakdown(cell)} (${percent(cell.total / all)} of those shown)`;
}

function seriesOf(
    kind: KindName, cells: Cell[], extent: Extent, colours: Palette, labelled: boolean) {
  return {
    type: 'heatmap' as const,
    name: kind,
    data: cells.filter((cell) => cell.kind === kind)
              .map((cell) => ({
                     value: [
                       cell.lStart - extent.start[0], cell.lifetime - extent.lifetime[0],
                       Math.log1p(cell.total)
                     ],
                     label: {
                       formatter: short.format(cell.total),
                       color: textOn(
                           colours.ramps[kind], Math.log1p(cell.total) / Math.log1p(extent.most),
                           colours),
                     },
                   })),
    label: {show: labelled, fontSize: 10},
    itemStyle: {borderColor: colours.surface, borderWidth: 1},
    emphasis: {itemStyle: {borderColor: colours.text, borderWidth: 2}},
  };
}

function levelOption(
    cells: Cell[], extent: Extent, colours: Palette, width: number): EChartsOption {
  const columns = extent.start[1] - extent.start[0] + 1;
  const category = {type: 'category' as const, splitLine: {show: false}};
  return {
    grid,
    xAxis: {...xAxis(colours, 'first layer'), ...category, data: labels(...extent.start)},
    yAxis: {...yAxis(colours, 'lifetime, layers'), ...category, data: labels(...extent.lifetime)},
    visualMap: kindNames.map((kind, i) => ({
                               type: 'continuous' as const,
                               show: false,
                               seriesIndex: i,
                               dimension: 2,
                               min: 0,
                               max: Math.log1p(extent.most),
                               inRange: {color: colours.ramps[kind]},
                             })),
    series: kindNames.map((kind) => seriesOf(kind, cells, extent, colours, width / columns >= 32)),
  };
}

function describe(report: LevelReport, cells: Cell[]): string {
  const most = cells.reduce((best, cell) => cell.total > best.total ? cell : best, cells[0]!);
  return `${integer(cells.length)} level${
             cells.length === 1 ? '' : 's'}; the most frequent starts at layer ${most.lStart} ` +
      `and lives ${most.lifetime} layer${most.lifetime === 1 ? '' : 's'} (${
             integer(most.total)} sinks). ` +
      `${decimal(report.secondaryPer1000Tokens)} secondary sinks per 1,000 tokens.`;
}

export function levelKinds(
    report: LevelReport, kind: string, choose: (kind: string) => void): HTMLElement {
  return choice(
      'Kind',
      [
        {
          value: 'all',
          text: 'all',
          count: toNumber(report.primary) + toNumber(report.secondary) + toNumber(report.noise)
        },
        ...kindNames.map(
            (name) => ({value: name, text: name, swatch: name, count: report[name] ?? 0})),
      ],
      kind, choose);
}

// Null when there is no sink to show.
export function levelChart(report: LevelReport, choices: LevelChoices): HTMLElement|null {
  const cells = cellsOf(report, choices.kind);
  if (cells.length === 0) return null;
  const extent = choices.extent ?? extentOf([report], choices.kind);
  const all = cells.reduce((sum, cell) => sum + cell.total, 0);
  const inSeries = kindNames.map((kind) => cells.filter((cell) => cell.kind === kind));
  const walk = [...cells].sort((a, b) => a.lStart - b.lStart || a.lifetime - b.lifetime);
  const cellAt = (series: number, index: number) => inSeries[series]![index]!;
  const spec: ChartSpec = {
    title: choices.title ?? 'Sinks by first layer and lifetime',
    label: describe(report, cells),
    height: Math.min(440, 150 + 18 * (extent.lifetime[1] - extent.lifetime[0] + 1)),
    option: (colours, width) => levelOption(cells, extent, colours, width),
    text: (mark) => cellText(cellAt(mark.series, mark.index), all),
    walk: {
      count: walk.length,
      mark: (i) => ({
        series: kindNames.indexOf(walk[i]!.kind),
        index: inSeries[kindNames.indexOf(walk[i]!.kind)]!.indexOf(walk[i]!)
      }),
      place: (i) => [walk[i]!.lStart, walk[i]!.lifetime],
    },
    table: () => ({
      columns: ['first layer', 'lifetime, layers', ...kindNames, 'share'],
      rows: walk.map(
          (cell) =>
              [cell.lStart, cell.lifetime, ...kindNames.map((kind) => integer(cell.counts[kind])),
               percent(cell.total / all)]),
      words: [],
    }),
    csv: () => ({
      columns: ['l_start', 'lifetime', 'kind', 'count'],
      rows: walk.flatMap(
          (cell) => kindNames.filter((kind) => cell.counts[kind] > 0)
                        .map((kind) => [cell.lStart, cell.lifetime, kind, cell.counts[kind]])),
    }),
    legend: kindNames.map((kind) => [kind, kind]),
    before: choices.choose ? levelKinds(report, choices.kind, choices.choose) : null,
  };
  if (choices.select) {
    const {select} = choices;
    spec.select = (mark) => {
      const cell = cellAt(mark.series, mark.index);
      select(cell.lStart, cell.lifetime);
    };
  }
  return chart(spec);
}
