// The sections of one summary, in the order the paper asks its questions.
import {labels} from '../charts/axes';
import {compensationCharts} from '../charts/compensation';
import {headCharts} from '../charts/heads';
import {levelChart} from '../charts/levels';
import {lineChart} from '../charts/lines';
import {regressionCharts} from '../charts/regression';
import {h, replace} from '../dom';
import {decimal, integer, percent, visible} from '../format';
import {kindName} from '../kinds';
import {nothing} from '../notice';
import {currentRoute, remember} from '../route';
import {facts, table} from '../table';

import type {GateReport, LevelReport, RegressionReport, ScoreStatistics, SinkRateReport, Summary} from '../types';

type Select = ((lStart: number, lifetime: number) => void)|undefined;

function levels(report: LevelReport, select: Select): HTMLElement {
  const drawing = h('div');
  const show = (kind: string) => {
    remember({kind: kind === 'all' ? undefined : kind});
    const content = levelChart(report, {kind, choose: show, select});
    replace(
        drawing,
        content ??
            nothing(
                kind === 'all' ? 'No position past the primary sink became a sink.' :
                                 `No sinks of kind ${kind}.`),
        content || kind === 'all' ?
            null :
            h('button', {type: 'button', click: () => show('all')}, 'Show all kinds'));
  };
  show(currentRoute().parameters.get('kind') ?? 'all');
  const bins = report.positionBins ?? [];
  return h(
      'div', {}, drawing, facts([
        ['secondary sinks per 1,000 tokens', decimal(report.secondaryPer1000Tokens)],
        [
          'samples with a secondary sink',
          `${integer(report.samplesWithSecondary)} (${percent(report.shareOfSamplesWithSecondary)})`
        ],
        ['distinct levels', integer(report.distinctLevels)],
        [
          'entropy of levels',
          report.entropy === undefined ? 'undefined: no secondary sinks' :
                                         `${decimal(report.entropy)} nats`
        ],
      ]),
      h('div', {class: 'pair'},
        report.topTokens?.length ?
            table(
                {
                  columns: ['token', 'id', 'secondary sinks'],
                  words: [0],
                  rows: report.topTokens.map(
                      (each) =>
                          [`“${visible(each.text)}”`, String(each.tokenId), integer(each.count)]),
                },
                'Tokens that most often are secondary sinks') :
            null,
        bins.some((each) => Number(each) > 0) ? lineChart({
          title: 'Where in their sample',
          label: 'Secondary sinks by tenth of the sample.',
          xName: 'tenth of the sample',
          bars: true,
          x: labels(1, bins.length),
          yName: 'secondary sinks',
          height: 220,
          lines: [{name: 'secondary sinks', colour: 'secondary', values: bins.map(Number)}],
        }) :
                                                null));
}

function regression(report: RegressionReport): HTMLElement {
  const drawing = h('div');
  const show = (y: string, form: string) => {
    remember({y: y === 'score' ? undefined : y, form: form === 'LINEAR_LOG' ? undefined : form});
    replace(drawing, regressionCharts(report, {
              y,
              form: `REGRESSION_FORM_${form}`,
              choose: (nextY, nextForm) => show(nextY, nextForm.replace('REGRESSION_FORM_', ''))
            }));
  };
  const {parameters} = currentRoute();
  show(
      parameters.get('y') === 'lifetime' ? 'lifetime' : 'score',
      parameters.get('form') ?? 'LINEAR_LOG');
  return drawing;
}

function scores(primary: ScoreStatistics|undefined, byKind: ScoreStatistics[]): HTMLElement {
  const row = (name: string, each: ScoreStatistics) => Number(each.count ?? 0) === 0 ?
      [name, '0', integer(each.undefined), 'undefined: no sink with a score', '-', '-', '-'] :
      [
        name, integer(each.count), integer(each.undefined), decimal(each.mean),
        decimal(each.deviation), decimal(each.minimum), decimal(each.maximum)
      ];
  return table(
      {
        columns: [
          'sinks', 'with a score', 'that no block reads', 'mean', 'deviation', 'smallest', 'largest'
        ],
        rows: [
          ...(primary ? [row('the primary sink of each sample', primary)] : []),
          ...byKind.map((each) => row(kindName(each.kind), each))
        ],
      },
      'Scores: attention received, mean over heads and the blocks that read the sink');
}

function sinkRate(report: SinkRateReport): HTMLElement {
  const rates = report.rates ?? [];
  return lineChart({
    title: 'Sink rate by position',
    xName: 'position',
    x: labels(0, rates.length - 1),
    yName: 'sink rate',
    height: 220,
    bars: true,
    label: `Share of (sample, block, head) whose attention to a position is over epsilon; ${
               integer(report.samples)} samples` +
        (Number(report.leftOut ?? 0) > 0 ? `, ${integer(report.leftOut)} shorter ones left out` :
                                           '') +
        `. At position 0: ${percent(rates[0])}.`,
    lines: [{name: 'sink rate', colour: 'primary', values: rates}],
  });
}

function gateChart(report: GateReport, blocks: number[]|undefined): HTMLElement {
  const heads = report.heads ?? 1;
  const byBlock = (values: number[] = []) =>
      Array.from({length: Math.floor(values.length / heads)}, (_, block) => {
        const row = values.slice(block * heads, (block + 1) * heads);
        return row.reduce((sum, value) => sum + value, 0) / heads;
      });
  const all = byBlock(report.all);
  return lineChart({
    title: 'How much of attention\'s output its gates let through',
    xName: 'block',
    x: blocks?.length ? blocks : labels(0, all.length - 1),
    yName: 'mean gate',
    label: `Means over heads and ${integer(report.samples)} samples; of secondary sinks over ${
        integer(report.samplesWithSecondary)}.`,
    lines: [
      {name: 'all positions', colour: 'noise', values: all},
      {name: 'primary sink', colour: 'primary', values: byBlock(report.primary)},
      {name: 'secondary sinks', colour: 'secondary', values: byBlock(report.secondary)},
    ],
  });
}

function section(title: string, content: HTMLElement|string): HTMLElement {
  return h(
      'section', {'aria-label': title}, h('h2', {}, title),
      typeof content === 'string' ? nothing(content) : content);
}

// `select` is told of a level that is clicked.
export function summarySections(summary: Summary, select: Select): HTMLElement[] {
  const {
    levels: levelReport,
    regression: regressionReport,
    compensation,
    sinkRate: rate,
    learnedSinks,
    attentionBlocks,
    gates,
    heads
  } = summary;
  const notAsked = 'The run did not ask for this analysis.';
  const mass = learnedSinks?.mass ?? [];
  return [
    ...(summary.notes ?? []).map((note) => h('p', {class: 'warning'}, note)),
    section('Levels', levelReport ? levels(levelReport, select) : notAsked),
    section(
        'Scores',
        summary.scores ? scores(summary.scores.primaryPosition, summary.scores.byKind ?? []) :
                         notAsked),
    section(
        'Norm against score and lifetime',
        regressionReport ? regression(regressionReport) : notAsked),
    section(
        'Compensation', compensation?.blocks?.length ? compensationCharts(compensation) : notAsked),
    section('Sink rate', rate?.rates?.length ? sinkRate(rate) : notAsked),
    ...(mass.length > 0 ?
            [section('Learned sinks', lineChart({
                       title: 'Attention that goes to learned sinks',
                       xName: 'block',
                       x: attentionBlocks?.length ? attentionBlocks : labels(0, mass.length - 1),
                       yName: 'share of the softmax',
                       label: `Means over ${integer(learnedSinks?.samples)} samples.`,
                       lines: [{name: 'learned sinks', colour: 'accent', values: mass}],
                     }))] :
            []),
    ...(heads?.entropy?.length ? [section('Heads', headCharts(heads, attentionBlocks))] : []),
    ...(gates?.all?.length ? [section('Gates', gateChart(gates, attentionBlocks))] : []),
  ];
}
