// A fit as a curve with the 95% interval of its mean, from its coefficients and points.
import type {Fit, Point} from '../types';

interface Form {name: string; formula: string; u(x: number): number; y(v: number): number; logarithmic: boolean}

const same = (x: number) => x;

export const forms: Record<string, Form> = {
  REGRESSION_FORM_LINEAR_LOG: {name: 'y = a + b ln x', formula: 'y = {a} + {b} ln x', u: Math.log, y: same, logarithmic: true},
  REGRESSION_FORM_LOG_LINEAR: {name: 'ln y = a + b x', formula: 'ln y = {a} + {b} x', u: same, y: Math.exp, logarithmic: false},
  REGRESSION_FORM_LOG_LOG: {name: 'ln y = a + b ln x', formula: 'ln y = {a} + {b} ln x', u: Math.log, y: Math.exp, logarithmic: true},
  REGRESSION_FORM_LINEAR: {name: 'y = a + b x', formula: 'y = {a} + {b} x', u: same, y: same, logarithmic: false},
};

export function formOf(fit: Fit | undefined): Form {
  return forms[fit?.form ?? ''] ?? forms.REGRESSION_FORM_LINEAR_LOG!;
}

export interface CurvePoint {x: number; y: number; lower: number; upper: number}

// Empty when the fit does not exist.
export function curve(fit: Fit, points: Point[], steps = 60): CurvePoint[] {
  const form = formOf(fit);
  const a = fit.intercept?.value;
  const b = fit.slope?.value;
  if (fit.undefined || a === undefined || b === undefined) return [];
  const us = points.filter((point) => usable(form, point)).map((point) => form.u(point.x!));
  if (us.length < 3) return [];
  const mean = us.reduce((sum, u) => sum + u, 0) / us.length;
  const spread = us.reduce((sum, u) => sum + (u - mean) ** 2, 0);
  const [least, most] = us.reduce(([low, high], u) => [Math.min(low, u), Math.max(high, u)], [Infinity, -Infinity]);
  // Student's t of n - 2 degrees of freedom, as the slope's own interval used it.
  const t = (fit.slope!.upper! - b) / fit.slope!.standardError!;
  const deviation = fit.residualDeviation ?? 0;
  const inverse = form.u === Math.log ? Math.exp : same;
  return Array.from({length: steps + 1}, (_, i) => {
    const u = least + (most - least) * i / steps;
    const v = a + b * u;
    const half = Number.isFinite(t) ? t * deviation * Math.sqrt(1 / us.length + (u - mean) ** 2 / spread) : 0;
    return {x: inverse(u), y: form.y(v), lower: form.y(v - half), upper: form.y(v + half)};
  });
}

function usable(form: Form, point: Point): boolean {
  const {x, y} = point;
  if (x === undefined || y === undefined) return false;
  return (form.u === same || x > 0) && (form.y === same || y > 0);
}
