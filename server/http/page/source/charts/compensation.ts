// Compensation: the attention of primary and secondary sinks block by block, and the primary's
// norm.
import {h} from '../dom';
import {decimal, integer, interval, toNumber} from '../format';
import type {CompensationReport} from '../types';
import {labels} from './axes';
import {lineChart} from './lines';
import {correlations} from './regression';

function extreme(values: (number|undefined)[], better: (a: number, b: number) => boolean): number {
  return values.reduce(
      (best: number, value, i) => better(value ?? NaN, values[best] ?? NaN) ? i : best, 0);
}

// A count by whole number, as bars without gaps.
function countBars(
    title: string, label: string, xName: string, counts: Record<string, unknown>,
    colour: 'primary'|'secondary') {
  const keys = Object.keys(counts).map(Number);
  const x = labels(Math.min(...keys), Math.max(...keys));
  return lineChart({
    title,
    label,
    xName,
    yName: 'count',
    bars: true,
    x,
    height: 200,
    lines: [{name: 'count', colour, values: x.map((key) => Number(counts[key] ?? 0))}]
  });
}

function mode(counts: Record<string, unknown>): string {
  return Object.entries(counts).reduce(
      (best, each) => Number(each[1]) > Number(best[1]) ? each : best)[0];
}

export function attentionChart(
    report: CompensationReport, title = 'Attention of primary and secondary sinks'): HTMLElement {
  // Blocks without softmax attention have none of these.
  const blocks = (report.blocks ?? [])
                     .map((block, at) => ({...block, at}))
                     .filter((block) => block.primary !== undefined);
  const most = extreme(blocks.map((block) => block.secondary), (a, b) => a > b);
  return lineChart({
    title,
    label: `Means over ${integer(report.samples)} samples. Secondary mass is largest in block ${
               blocks[most]?.at}, ` +
        `${decimal(blocks[most]?.secondary)}, where the primary sink gets ${
               decimal(blocks[most]?.primary)}.`,
    xName: 'block',
    x: blocks.map((block) => block.at),
    yName: 'attention received',
    lines: [
      {
        name: 'primary',
        colour: 'primary',
        values: blocks.map((block) => block.primary),
        intervals: blocks.map((block) => block.primaryInterval)
      },
      {
        name: 'secondary',
        colour: 'secondary',
        values: blocks.map((block) => block.secondary),
        intervals: blocks.map((block) => block.secondaryInterval)
      },
      {name: 'rest', colour: 'noise', values: blocks.map((block) => block.rest)},
    ],
  });
}

export function compensationCharts(report: CompensationReport): HTMLElement {
  const blocks = report.blocks ?? [];
  const norms = blocks.map((block) => block.primaryNorm);
  const peak = extreme(norms, (a, b) => a > b);
  const weakest = report.weakestBlock ?? {};
  const starts = report.startMinusWeakest ?? {};
  return h(
      'div', {}, attentionChart(report), correlations([
        ['Between primary and secondary mass: Pearson', report.pearson],
        ['Spearman', report.spearman]
      ]),
      report.pearsonInterval ?
          h('p', {class: 'aside'},
            `95% intervals: Pearson ${
                interval(report.pearsonInterval.lower, report.pearsonInterval.upper)}, ` +
                `Spearman ${
                    interval(report.spearmanInterval?.lower, report.spearmanInterval?.upper)}.`) :
          null,
      lineChart({
        title: 'The primary sink\'s norm',
        label: `Largest after block ${peak}: ${decimal(norms[peak])}.`,
        xName: 'block',
        x: labels(0, blocks.length - 1),
        yName: 'norm of the state',
        height: 200,
        lines: [{name: 'norm', colour: 'primary', values: norms}],
      }),
      h('div', {class: 'pair'},
        Object.keys(weakest).length > 0 ?
            countBars(
                'Where the primary sink is weakest',
                `Samples by the block that reads it and attends to it least; most often block ${
                    mode(weakest)}.`,
                'block', weakest, 'primary') :
            null,
        Object.keys(starts).length > 0 ?
            countBars(
                'Where secondary sinks start',
                `${
                    integer(Object.values(starts).reduce(
                        (sum: number, each) => sum + toNumber(each),
                        0))} secondary sinks by their first layer ` +
                    `minus the block where the primary sink is weakest; most often ${
                        mode(starts)}.`,
                'blocks after the weakest', starts, 'secondary') :
            null));
}
