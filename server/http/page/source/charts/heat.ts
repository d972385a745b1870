// A grid of many numbers by two names, as colours: the stronger, the larger.
import {chart} from '../chart';
import type {EChartsOption} from '../engine';
import {decimal} from '../format';
import type {Palette} from '../theme';
import {grid, xAxis, yAxis} from './axes';

export interface HeatSpec {
  title: string;
  label: string;
  xName: string;
  yName: string;
  columns: string[];
  rows: string[];
  values: (number|undefined)[];  // [rows, columns]
  valueName: string;
  wideRows?: boolean;  // names of rows are words
}

const defined = (value: number|undefined) => value !== undefined && Number.isFinite(value);

function option(spec: HeatSpec, colours: Palette): EChartsOption {
  const category = {type: 'category' as const, splitLine: {show: false}};
  const y = yAxis(colours, spec.wideRows ? '' : spec.yName);
  const most = spec.values.reduce((high: number, each) => Math.max(high, each || 0), 0);
  return {
    grid: {...grid, left: spec.wideRows ? 116 : grid.left},
    xAxis: {...xAxis(colours, spec.xName), ...category, data: spec.columns},
    yAxis: {
      ...y,
      ...category,
      data: spec.rows,
      axisLabel: spec.wideRows ? {...y.axisLabel, width: 100, overflow: 'truncate'} : y.axisLabel
    },
    visualMap: [{
      type: 'continuous',
      show: false,
      seriesIndex: 0,
      dimension: 2,
      min: 0,
      max: most || 1,
      inRange: {color: colours.ramps.heat}
    }],
    series: [{
      type: 'heatmap',
      data: spec.values.map((value, i) => ({
                              value: [
                                i % spec.columns.length, Math.floor(i / spec.columns.length),
                                defined(value) ? value! : 0
                              ],
                              itemStyle: defined(value) ? {} : {color: 'transparent'},
                            })),
      progressive: 0,
      itemStyle: {borderColor: colours.surface, borderWidth: 0.5},
      emphasis: {itemStyle: {borderColor: colours.text, borderWidth: 2}},
    }],
  };
}

export function heatChart(spec: HeatSpec): HTMLElement {
  const width = spec.columns.length;
  const told = (value: number|undefined) => defined(value) ? decimal(value) : 'undefined';
  return chart({
    title: spec.title,
    label: spec.label,
    height: Math.min(640, 90 + 14 * Math.max(spec.rows.length, 6)),
    canvas: spec.values.length > 2000,
    option: (colours) => option(spec, colours),
    text: ({index}) => `${spec.xName} ${spec.columns[index % width]}, ${spec.yName} ${
        spec.rows[Math.floor(index / width)]}\n${spec.valueName} ${told(spec.values[index])}`,
    walk: {
      count: spec.values.length,
      mark: (i) => ({series: 0, index: i}),
      place: (i) => [i % width, Math.floor(i / width)],
    },
    table: () => ({
      columns: [spec.yName, ...spec.columns.map((each) => `${spec.xName} ${each}`)],
      rows: spec.rows.map(
          (name, row) => [name, ...spec.values.slice(row * width, (row + 1) * width).map(told)]),
    }),
    csv: () => ({
      columns: [spec.xName, spec.yName, spec.valueName],
      rows: spec.values.map(
          (value, i) =>
              [spec.columns[i % width], spec.rows[Math.floor(i / width)],
               defined(value) ? value : undefined]),
    }),
  });
}
