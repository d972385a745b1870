// A small grid of numbers: block by site.
import {chart} from '../chart';
import type {EChartsOption} from '../engine';
import type {Palette} from '../theme';
import {grid, textOn, xAxis, yAxis} from './axes';

export interface GridCell {
  column: number;
  row: number;
  value: number|undefined;
  label: string;
  text: string
}

export interface GridSpec {
  title: string;
  label: string;
  xName: string;
  columns: string[];
  rows: string[];
  cells: GridCell[];
  scale: [number, number];  // the values of the weakest and the strongest colour
}

function option(spec: GridSpec, colours: Palette): EChartsOption {
  const category = {type: 'category' as const, splitLine: {show: false}};
  return {
    grid: {...grid, left: 84},
    xAxis: {...xAxis(colours, spec.xName), ...category, data: spec.columns},
    yAxis: {...yAxis(colours, ''), ...category, data: spec.rows},
    visualMap: [{
      type: 'continuous',
      show: false,
      seriesIndex: 0,
      dimension: 2,
      min: spec.scale[0],
      max: spec.scale[1],
      inRange: {color: colours.ramps.secondary}
    }],
    series: [{
      type: 'heatmap',
      data: spec.cells.map(
          (cell) => ({
            value: [cell.column, cell.row, cell.value ?? 0],
            itemStyle: cell.value === undefined ? {color: 'transparent'} : {},
            label: {
              formatter: cell.label,
              color: cell.value === undefined ?
                  colours.text :
                  textOn(
                      colours.ramps.secondary,
                      (cell.value - spec.scale[0]) / (spec.scale[1] - spec.scale[0]), colours),
            },
          })),
      label: {show: true, fontSize: 11},
      itemStyle: {borderColor: colours.surface, borderWidth: 1},
      emphasis: {itemStyle: {borderColor: colours.text, borderWidth: 2}},
    }],
  };
}

export function gridChart(spec: GridSpec): HTMLElement {
  return chart({
    title: spec.title,
    label: spec.label,
    height: 90 + 34 * spec.rows.length,
    option: (colours) => option(spec, colours),
    text: (mark) => spec.cells[mark.index]!.text,
    walk: {
      count: spec.cells.length,
      mark: (i) => ({series: 0, index: i}),
      place: (i) => [spec.cells[i]!.column, spec.cells[i]!.row],
    },
    table: () => ({
      columns: ['', ...spec.columns.map((each) => `${spec.xName} ${each}`)],
      rows: spec.rows.map(
          (name, row) =>
              [name,
               ...spec.columns.map(
                   (_, column) =>
                       spec.cells.find((cell) => cell.row === row && cell.column === column)
                           ?.label ??
                       '-')]),
    }),
    csv: () => ({
      columns: [spec.xName, 'site', 'value'],
      rows: spec.cells.map((cell) => [spec.columns[cell.column], spec.rows[cell.row], cell.value]),
    }),
  });
}
