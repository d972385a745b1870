// The regression: what the MLP wrote against score or lifetime, with a fit and its interval.
import {chart, walkInOrder} from '../chart';
import type {EChartsOption} from '../engine';
import {decimal, integer, interval, pValue} from '../format';
import {h} from '../dom';
import {choice} from '../kinds';
import {nothing, undefinedBecause} from '../notice';
import {table} from '../table';
import type {Palette} from '../theme';
import type {Correlation, Fit, Point, RegressionReport, RegressionResult} from '../types';
import {grid, xAxis, yAxis} from './axes';
import {along, curve, formOf, forms, type CurvePoint} from './fit';

export interface RegressionChoices {
  y: string;
  form: string;
  choose(y: string, form: string): void
}

function equation(fit: Fit): string {
  return formOf(fit)
      .formula.replace('{a}', decimal(fit.intercept?.value))
      .replace('{b}', decimal(fit.slope?.value))
      .replace('+ -', '− ');
}

function describe(fit: Fit|undefined): string {
  if (!fit) return 'No fit of this form.';
  if (fit.undefined) return `The fit is undefined: ${fit.undefined}.`;
  return `${equation(fit)}; R² ${decimal(fit.rSquared, 3)}, slope ${decimal(fit.slope?.value)} ` +
      `(95% interval ${interval(fit.slope?.lower, fit.slope?.upper)}, ${pValue(fit.slope?.p)}), ` +
      `${integer(fit.n)} sinks.`;
}

function correlationText(each: Correlation|undefined): HTMLElement|string {
  if (!each) return '-';
  if (each.undefined) return undefinedBecause(each.undefined);
  return `${decimal(each.value, 3)} (${pValue(each.p)}, ${integer(each.n)} pairs)`;
}

export function correlations(pairs: [string, Correlation|undefined][]): HTMLElement {
  return h(
      'p', {class: 'aside'},
      pairs.map(([name, value], i) => [i > 0 ? '; ' : '', `${name} `, correlationText(value)]));
}

export function fitTable(result: RegressionResult, caption: string): HTMLElement {
  return table(
      {
        columns: ['form', 'intercept a', 'slope b', '95% interval of b', 'p', 'R²', 'AIC', 'sinks'],
        rows: (result.fits ?? [])
                  .map(
                      (fit) => fit.undefined ?
                          [
                            formOf(fit).name, undefinedBecause(fit.undefined), '-', '-', '-', '-',
                            '-', integer(fit.n)
                          ] :
                          [
                            formOf(fit).name, decimal(fit.intercept?.value),
                            decimal(fit.slope?.value), interval(fit.slope?.lower, fit.slope?.upper),
                            pValue(fit.slope?.p), decimal(fit.rSquared, 3), decimal(fit.aic),
                            integer(fit.n)
                          ]),
      },
      caption);
}

// The stacked line that carries the band: invisible up to `lower`, filled from there to `upper`.
function band(points: CurvePoint[], colour: string) {
  const line = (data: number[][], filled: boolean) => ({
    type: 'line' as const,
    data,
    stack: 'interval',
    stackStrategy: 'all' as const,
    silent: true,
    symbol: 'none',
    lineStyle: {opacity: 0},
    tooltip: {show: false},
    ...(filled ? {areaStyle: {color: colour, opacity: 0.18}} : {}),
  });
  return [
    line(points.map((each) => [each.x, each.lower]), false),
    line(points.map((each) => [each.x, each.upper - each.lower]), true)
  ];
}

function option(
    points: Point[], fitted: CurvePoint[], logarithmic: boolean, yName: string,
    colours: Palette): EChartsOption {
  const dots = points.length > 400 ? 5 : 8;
  return {
    grid,
    xAxis: {
      ...xAxis(colours, 'MLP norm at the first layer'),
      type: logarithmic ? 'log' : 'value',
      scale: true,
      minorTick: {show: false}
    },
    yAxis: {...yAxis(colours, yName), type: 'value', scale: true},
    series: [
      {
        type: 'scatter',
        data: points.map((point) => [point.x ?? 0, point.y ?? 0]),
        symbolSize: dots,
        itemStyle: {color: colours.secondary, opacity: points.length > 400 ? 0.4 : 0.7},
        emphasis: {itemStyle: {opacity: 1, borderColor: colours.text, borderWidth: 2}}
      },
      {
        type: 'line',
        data: fitted.map((each) => [each.x, each.y]),
        symbol: 'none',
        silent: true,
        lineStyle: {color: colours.primary, width: 2},
        tooltip: {show: false}
      },
      ...band(fitted, colours.primary),
    ],
  };
}

function scatter(
    report: RegressionReport, choices: RegressionChoices, fit: Fit|undefined): HTMLElement {
  const isScore = choices.y === 'score';
  const points = [...(isScore ? report.scorePoints : report.lifetimePoints) ?? []].sort(
      (a, b) => (a.x ?? 0) - (b.x ?? 0));
  const unit = isScore ? 'score' : 'lifetime, layers';
  if (points.length === 0) {
    return h(
        'div', {class: 'chart'}, h('h3', {}, `MLP norm and ${choices.y}`),
        h('p', {}, describe(fit)),
        nothing(
            'The run did not ask for the points behind the fit (regression.points), so there is nothing to plot.'));
  }
  const found = fit && curve(fit, points);
  const fitted = fit && found ? along(fit, found) : [];
  return chart({
    title: `MLP norm and ${choices.y}`,
    label: describe(fit),
    canvas: points.length > 3000,
    option: (colours) => option(points, fitted, formOf(fit).logarithmic, unit, colours),
    text: (mark) => {
      const point = points[mark.index]!;
      return `MLP norm ${decimal(point.x)}\n${
          isScore ? `score ${decimal(point.y)}` : `lifetime ${integer(point.y)} layers`}`;
    },
    walk: walkInOrder(points.length, (i) => ({series: 0, index: i})),
    table: () => ({
      columns: ['MLP norm', unit, 'fit', '95% interval of the fit'],
      words: [],
      rows: points.map(({x = 0, y}) => {
        const at = found?.at(x);
        return [decimal(x), decimal(y), decimal(at?.y), interval(at?.lower, at?.upper)];
      }),
    }),
    csv: () => ({
      columns: ['mlp_norm', choices.y, 'fit', 'fit_lower', 'fit_upper'],
      rows: points.map(({x = 0, y}) => {
        const at = found?.at(x);
        return [x, y, at?.y, at?.lower, at?.upper];
      }),
    }),
  });
}

export function regressionCharts(
    report: RegressionReport, choices: RegressionChoices): HTMLElement {
  const result = (choices.y === 'score' ? report.score : report.lifetime) ?? {};
  const fit = result.fits?.find((each) => each.form === choices.form);
  return h(
      'div', {},
      h('div', {class: 'choices'},
        choice(
            'Against', [{value: 'score', text: 'score'}, {value: 'lifetime', text: 'lifetime'}],
            choices.y, (y) => choices.choose(y, choices.form)),
        choice(
            'Form', Object.entries(forms).map(([value, form]) => ({value, text: form.name})),
            choices.form, (form) => choices.choose(choices.y, form))),
      scatter(report, choices, fit),
      correlations([['Pearson', result.pearson], ['Spearman', result.spearman]]),
      Number(report.withoutScore ?? 0) > 0 && choices.y === 'score' ?
          h('p', {class: 'aside'},
            `${
                integer(
                    report
                        .withoutScore)} sinks are left out: no block reads them, so their score is undefined.`) :
          null,
      fitTable(result, `Fits of ${choices.y} by MLP norm`));
}
