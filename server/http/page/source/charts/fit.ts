// A fit as a curve with the 95% interval of its mean, from its coefficients and points.
import type {Fit, Point} from '../types';

interface Form {
  name: string;
  formula: string;
  u(x: number): number;
  y(v: number): number;
  logarithmic: boolean
}

const same = (x: number) => x;

export const forms: Record<string, Form> = {
  REGRESSION_FORM_LINEAR_LOG: {
    name: 'y = a + b ln x',
    formula: 'y = {a} + {b} ln x',
    u: Math.log,
    y: same,
    logarithmic: true
  },
  REGRESSION_FORM_LOG_LINEAR: {
    name: 'ln y = a + b x',
    formula: 'ln y = {a} + {b} x',
    u: same,
    y: Math.exp,
    logarithmic: false
  },
  REGRESSION_FORM_LOG_LOG: {
    name: 'ln y = a + b ln x',
    formula: 'ln y = {a} + {b} ln x',
    u: Math.log,
    y: Math.exp,
    logarithmic: true
  },
  REGRESSION_FORM_LINEAR:
      {name: 'y = a + b x', formula: 'y = {a} + {b} x', u: same, y: same, logarithmic: false},
};

export function formOf(fit: Fit|undefined): Form {
  return forms[fit?.form ?? ''] ?? forms.REGRESSION_FORM_LINEAR_LOG!;
}

export interface CurvePoint {
  x: number;
  y: number;
  lower: number;
  upper: number
}

export interface Curve {
  at(x: number): CurvePoint;  // the fit and the 95% interval of its mean
  range: [number, number];    // of x, over the points it was made of
}

// Undefined when the fit does not exist, or too few of the points are its own.
export function curve(fit: Fit, points: Point[]): Curve|undefined {
  const form = formOf(fit);
  const a = fit.intercept?.value;
  const b = fit.slope?.value;
  if (fit.undefined || a === undefined || b === undefined) return undefined;
  const own = points.filter((point) => usable(form, point)).map((point) => point.x!);
  if (own.length < 3) return undefined;
  const mean = own.reduce((sum, x) => sum + form.u(x), 0) / own.length;
  const spread = own.reduce((sum, x) => sum + (form.u(x) - mean) ** 2, 0);
  // Student's t of n - 2 degrees of freedom, as the slope's own interval used it; a perfect fit has
  // none.
  const t = (fit.slope!.upper! - b) / fit.slope!.standardError!;
  const deviation = Number.isFinite(t) ? t * (fit.residualDeviation ?? 0) : 0;
  return {
    range: own.reduce(
        ([low, high], x): [number, number] => [Math.min(low, x), Math.max(high, x)],
        [Infinity, -Infinity]),
    at: (x) => {
      const v = a + b * form.u(x);
      const half = deviation * Math.sqrt(1 / own.length + (form.u(x) - mean) ** 2 / spread);
      return {x, y: form.y(v), lower: form.y(v - half), upper: form.y(v + half)};
    },
  };
}

// Points along a curve, even in what the fit is linear in.
export function along(fit: Fit, {at, range: [least, most]}: Curve, steps = 60): CurvePoint[] {
  const even = formOf(fit).logarithmic ? (share: number) => least * (most / least) ** share :
                                         (share: number) => least + (most - least) * share;
  return Array.from({length: steps + 1}, (_, i) => at(even(i / steps)));
}

function usable(form: Form, point: Point): boolean {
  const {x, y} = point;
  if (x === undefined || y === undefined) return false;
  return (form.u === same || x > 0) && (form.y === same || y > 0);
}
