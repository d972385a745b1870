// Studies of why sinks form, one view a study.
import {h} from '../dom';
import {counted, decimal, integer, percent, visible, word} from '../format';
import {nothing, undefinedBecause} from '../notice';
import {table} from '../table';
import type {AblateRow, ClusterReport, Estimate, PcaDirection, SteerRow, Study, StudyReport, SwapReport, SwapRow} from '../study_types';
import {gridChart} from './grid';
import {lineChart, type Line} from './lines';
import {tsneChart} from './tsne';

const site = (name: string|undefined) => word(name, 'SITE_');
const unique = <T>(values: T[]): T[] => [...new Set(values)];

function estimate(value: Estimate|undefined, show: (value: number|undefined) => string = decimal):
    HTMLElement|string {
  if (!value) return '-';
  if (value.value === undefined) return undefinedBecause(value.undefined);
  return show(value.value) +
      (value.lower === undefined ? '' : ` (${show(value.lower)} to ${show(value.upper)})`);
}

function line(name: string, colour: Line['colour'], values: (Estimate|undefined)[]): Line {
  return {
    name,
    colour,
    values: values.map((each) => each?.value),
    intervals: values,
    undefined: values.map((each) => each?.undefined)
  };
}

function swapGrid(
    rows: SwapRow[], title: string, of: (row: SwapRow) => Estimate | undefined): HTMLElement {
  const blocks = unique(rows.map((row) => row.block ?? 0)).sort((a, b) => a - b);
  const sites = unique(rows.map((row) => site(row.site))).reverse();
  const values = rows.map((row) => of(row)?.value ?? 0);
  const most = rows[values.indexOf(Math.max(...values))];
  return gridChart({
    title,
    label: most ?
        `Largest at block ${most.block}, ${site(most.site)}: ${percent(of(most)?.value)}.` :
        '',
    xName: 'block',
    columns: blocks.map(String),
    rows: sites,
    scale: [0, 1],
    cells: rows.map((row) => {
      const share = of(row);
      const told = share?.value === undefined ?
          `undefined: ${share?.undefined ?? 'no reason given'}` :
          `${percent(share.value)} suppressed (95% interval ${percent(share.lower)} to ${
              percent(share.upper)}, ${counted(share.n, 'sink')})`;
      return {
        column: blocks.indexOf(row.block ?? 0),
        row: sites.indexOf(site(row.site)),
        value: share?.value,
        label: share?.value === undefined ? '-' : percent(share.value),
        text: `block ${row.block}, ${site(row.site)}\n${told}`
      };
    }),
  });
}

function swap(report: SwapReport): HTMLElement {
  const rows = report.rows ?? [];
  if (rows.length === 0) return nothing(`undefined: ${report.undefined ?? 'no rows'}`);
  return h(
      'div', {},
      swapGrid(
          rows, 'Sinks suppressed when their own rows are swapped',
          (row) => row.targets?.suppressed),
      h('div', {class: 'pair'},
        swapGrid(
            rows, 'Other sinks suppressed by the same swap', (row) => row.untouched?.suppressed),
        swapGrid(
            rows, 'Sinks suppressed when control rows are swapped',
            (row) => row.controlSwap?.suppressed)),
      table(
          {
            columns: [
              'block', 'site', 'suppressed', 'change of |cosine|', 'change of norm',
              'change of lifetime, layers', 'change of loss, nats'
            ],
            rows: rows.map(
                (row) =>
                    [row.block, site(row.site), estimate(row.targets?.suppressed, percent),
                     estimate(row.targets?.cosineChange), estimate(row.targets?.normChange),
                     estimate(row.targets?.lifetimeChange), estimate(row.lossChange)]),
            words: [1],
          },
          'What swapping does to the targets'));
}

function cluster(report: ClusterReport, study: StudyReport): HTMLElement {
  const rows = report.rows ?? [];
  const blocks = unique(rows.map((row) => row.block ?? 0)).sort((a, b) => a - b);
  const sites = unique(rows.map((row) => site(row.site))).reverse();
  return h(
      'div', {},
      h('p', {},
        report.undefined ?
            undefinedBecause(report.undefined) :
            report.decisionLayer === undefined ?
            'No site separates targets from controls for good: there is no decision layer.' :
            `Decision layer: block ${report.decisionLayer}, seen at ${site(report.decisionSite)}.`),
      rows.length > 0 ? gridChart({
        title: 'How well targets and controls lie apart (AUC)',
        xName: 'block',
        columns: blocks.map(String),
        rows: sites,
        scale: [0.5, 1],
        label: 'Cross-validated AUC of a nearest-centroid score; 0.5 is chance, 1 apart.',
        cells: rows.map((row) => ({
                          column: blocks.indexOf(row.block ?? 0),
                          row: sites.indexOf(site(row.site)),
                          value: row.auc,
                          label: row.auc === undefined ? '-' : row.auc.toFixed(2),
                          text: `block ${row.block}, ${site(row.site)}\n` +
                              (row.undefined ? `undefined: ${row.undefined}` :
                                               `AUC ${decimal(row.auc)}\nadjusted Rand ${
                                                   decimal(row.adjustedRand)}\nsilhouette ${
                                                   decimal(row.silhouette)}`),
                        })),
      }) :
                                               null,
      h('div', {class: 'pair'},
        (report.maps ?? []).map((map) => tsneChart(map, study.positions ?? []))));
}

function steer(report: NonNullable<StudyReport['steer']>): HTMLElement {
  const rows = report.rows ?? [];
  if (rows.length === 0) return nothing(`undefined: ${report.undefined ?? 'no rows'}`);
  const plain = rows.find((row) => row.tau === undefined);
  const steered = rows.filter((row) => row !== plain);
  const told = (row: SteerRow) => row === plain ? 'as it is' : decimal(row.tau);
  return h(
      'div', {}, lineChart({
        title: `Lifetime when the MLP of block ${report.block} is steered`,
        xName: 'norm',
        x: steered.map(told),
        yName: 'lifetime, layers',
        label: `${counted(report.steered, 'position')} steered; as it is, their lifetime is ${
            decimal(plain?.lifetime?.value)} layers.`,
        lines: [
          line('steered', 'secondary', steered.map((row) => row.lifetime)),
          line('a random direction', 'noise', steered.map((row) => row.randomLifetime))
        ]
      }),
      table(
          {
            columns: [
              'norm', 'share that is a sink', 'score', 'lifetime of other sinks, change',
              'change of loss, nats'
            ],
            rows: rows.map(
                (row) =>
                    [told(row), estimate(row.sinks, percent), estimate(row.score),
                     estimate(row.untouchedLifetimeChange), estimate(row.lossChange)])
          },
          'What steering does'));
}

function directions(list: PcaDirection[], name: string) {
  return list.map((each, i) => {
    const best =
        [...each.trials ?? []].sort((a, b) => Math.abs(b.cosine ?? 0) - Math.abs(a.cosine ?? 0))[0];
    return [
      `${name} ${i + 1}`, percent(each.explainedVariance), each.effective ? 'yes' : 'no',
      decimal(best?.cosine), decimal(best?.scale), decimal(best?.outputNorm)
    ];
  });
}

function pca(report: NonNullable<StudyReport['pca']>): HTMLElement {
  if (!report.components?.length)
    return nothing(`undefined: ${report.undefined ?? 'no components'}`);
  return table(
      {
        columns:
            ['direction', 'variance', 'effective', 'strongest cosine', 'at scale', 'output norm'],
        rows: [
          ...directions(report.components, 'component'),
          ...directions(report.random ?? [], 'random')
        ],
        words: [0, 2]
      },
      `Principal components of mlp in, block ${report.block}`);
}

function align(report: NonNullable<StudyReport['align']>): HTMLElement {
  const rows = (report.rows ?? []).filter((row) => row.lStart === undefined);
  const sites = report.sites ?? unique(rows.map((row) => row.site ?? ''));
  const of = (group: string) =>
      sites.map((name) => rows.find((row) => row.site === name && row.group === group)?.cosine);
  return lineChart({
    title: 'Cosine with the primary sink\'s, site by site',
    label: 'Means over positions, at their first layer.',
    xName: 'site',
    x: sites.map(site),
    yName: 'cosine',
    lines: [
      line('target', 'secondary', of('POSITION_GROUP_TARGET')),
      line('control', 'noise', of('POSITION_GROUP_CONTROL'))
    ]
  });
}

function byBlock(report: StudyReport): HTMLElement|null {
  if (report.entropy) {
    const rows = report.entropy.rows ?? [];
    return lineChart({
      title: 'Matrix entropy of the states',
      label: 'Means over samples.',
      xName: 'block',
      x: rows.map((row) => row.block ?? 0),
      yName: 'nats',
      lines: [
        line('all rows', 'secondary', rows.map((row) => row.entropy)),
        line('without sinks', 'noise', rows.map((row) => row.withoutSinks))
      ]
    });
  }
  if (!report.norms) return null;
  const rows = report.norms.rows ?? [];
  return h(
      'div', {class: 'pair'},
      (['key', 'value', 'state'] as const)
          .map((what) => lineChart({
                 title: `Norm of the ${what}s`,
                 label: 'Means over positions.',
                 xName: 'block',
                 x: rows.map((row) => row.block ?? 0),
                 yName: 'norm',
                 lines: [
                   line('primary', 'primary', rows.map((row) => row.primary?.[what])),
                   line('secondary', 'secondary', rows.map((row) => row.secondary?.[what])),
                   line('rest', 'noise', rows.map((row) => row.rest?.[what]))
                 ]
               })));
}

function massive(report: NonNullable<StudyReport['massive']>): HTMLElement {
  return table(
      {
        columns: [
          'block', 'entry', 'channel', 'sample', 'position', 'token', 'median of all',
          'largest of the rest'
        ],
        rows: (report.rows ?? [])
                  .flatMap(
                      (row) => (row.entries ?? [])
                                   .map(
                                       (entry) =>
                                           [row.block, decimal(entry.value), entry.channel,
                                            integer(entry.sampleIndex), entry.position,
                                            `“${visible(entry.tokenText)}”`, decimal(row.median),
                                            decimal(row.largestOfRest)])),
        words: [5],
      },
      'Largest entries of the states');
}

function ablatedPlace(row: AblateRow): string {
  const group = word(row.group, 'ABLATED_GROUP_');
  const name = row.lStart !== undefined ? `level (${row.lStart}, ${row.lifetime})` :
      row.block !== undefined           ? `block ${row.block}, head ${row.head}` :
                                          group;
  const role = word(row.role, 'ABLATION_ROLE_');
  return role === 'self' ? name : `${name}: ${role}`;
}

// The loss after what is ablated: of the positions that a group has, and of its controls.
function ablatedCurves(rows: AblateRow[]): HTMLElement[] {
  const own = rows.filter(
      (row) => word(row.role, 'ABLATION_ROLE_') === 'self' && row.block === undefined &&
          (row.curve?.length ?? 0) > 0);
  const colours = ['primary', 'secondary', 'noise'] as const;
  return own.map((row) => {
    const beside = rows.filter(
        (each) => each.ablation === row.ablation && each.group === row.group &&
            each.lStart === row.lStart && each.lifetime === row.lifetime);
    const widest =
        beside.map((each) => each.curve ?? []).reduce((a, b) => b.length > a.length ? b : a, []);
    return lineChart({
      title: `${word(row.ablation, 'ABLATION_')}, ${ablatedPlace(row)}: change of the loss`,
      label: 'Means over samples, by distance from what is ablated.',
      xName: 'distance, positions',
      x: widest.map(
          ({firstDistance = 0, lastDistance = 0}) =>
              firstDistance === lastDistance ? `${firstDistance}` : `${firstDistance}–${lastDistance}`),
      yName: 'nats',
      lines: beside.map(
          (each, i) =>
              line(word(each.role, 'ABLATION_ROLE_'), colours[i] ?? 'noise',
                   widest.map((_, at) => each.curve?.[at]?.lossChange)))
    });
  });
}

function ablate(report: NonNullable<StudyReport['ablate']>): HTMLElement {
  const rows = report.rows ?? [];
  if (rows.length === 0) return nothing(`undefined: ${report.undefined ?? 'no rows'}`);
  return h(
      'div', {}, h('p', {}, 'Loss of the model as it is: ', estimate(report.loss), ' nats.'),
      h('div', {class: 'pair'}, ablatedCurves(rows)),
      table(
          {
            columns: [
              'ablation', 'of', 'change of loss, nats', 'KL, nats', 'other first choice',
              'suppressed', 'others vanished', 'appeared'
            ],
            rows: rows.map(
                (row) =>
                    [word(row.ablation, 'ABLATION_'), ablatedPlace(row), estimate(row.lossChange),
                     estimate(row.divergence), estimate(row.choicesChanged, percent),
                     row.suppressed ? estimate(row.suppressed, percent) : '',
                     estimate(row.vanished, percent), estimate(row.appeared)]),
            words: [0, 1],
          },
          'What the model loses'));
}

const names: Record<string, string> = {
  align: 'Alignment',
  pca: 'Principal components',
  cluster: 'Clusters and the decision layer',
  swap: 'Token swap',
  steer: 'Steering',
  entropy: 'Matrix entropy',
  norms: 'Norms',
  massive: 'Massive activations',
  ablate: 'Ablations',
};

export function studySection(study: Study): HTMLElement {
  const report = study.report ?? {};
  const kind = Object.keys(names).find((name) => name in report) ?? '';
  const body = report.swap ? swap(report.swap) :
      report.cluster       ? cluster(report.cluster, report) :
      report.steer         ? steer(report.steer) :
      report.pca           ? pca(report.pca) :
      report.align         ? align(report.align) :
      report.massive       ? massive(report.massive) :
      report.ablate        ? ablate(report.ablate) :
                             byBlock(report);
  return h(
      'section', {class: 'study'}, h('h3', {}, names[kind] ?? 'A study'),
      h('p', {class: 'hint'},
        [
          counted(report.samples, 'sample'), counted(report.tokens, 'token'),
          counted(report.sinks, 'sink'), counted(report.targets, 'target'),
          counted(report.controls, 'control')
        ].join(', '),
        report.targetLStart === undefined ? '' : `; targets start at layer ${report.targetLStart}`),
      report.partial ?
          h('p', {class: 'warning'}, `Partial: ${report.partialReason ?? 'time ran out'}`) :
          null,
      body ?? nothing('This study is of a kind that the page does not know.'));
}
