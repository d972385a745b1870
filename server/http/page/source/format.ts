// Numbers and times as people read them. The API's int64 come as strings.

export type Int64 = string|number;

const whole = new Intl.NumberFormat('en-US', {maximumFractionDigits: 0});

export function toNumber(value: Int64|undefined): number {
  return value === undefined ? 0 : Number(value);
}

export function integer(value: Int64|undefined): string {
  return value === undefined ? '-' : whole.format(Number(value));
}

// "1 token", "1,234 tokens".
export function counted(value: Int64|undefined, one: string, many = `${one}s`): string {
  return `${integer(value ?? 0)} ${Number(value ?? 0) === 1 ? one : many}`;
}

// Four significant digits; powers of ten only where zeros would be counted.
export function decimal(value: number|string|undefined, digits = 4): string {
  if (value === undefined) return '-';
  const number = Number(value);
  if (!Number.isFinite(number)) return String(value);
  const size = Math.abs(number);
  if (size !== 0 && (size < 1e-3 || size >= 1e6)) return number.toExponential(digits - 2);
  if (size >= 10 ** (digits - 1)) return whole.format(number);
  return String(Number(number.toPrecision(digits)));
}

export function percent(share: number|undefined): string {
  return share === undefined ? '-' : `${decimal(100 * share, 3)}%`;
}

export function pValue(p: number|undefined): string {
  if (p === undefined) return '-';
  return p < 0.001 ? 'p < 0.001' : `p = ${p.toFixed(3)}`;
}

export function interval(lower: number|undefined, upper: number|undefined): string {
  return lower === undefined || upper === undefined ? '-' :
                                                      `${decimal(lower)} to ${decimal(upper)}`;
}

export function bytes(value: Int64|undefined): string {
  if (value === undefined) return '-';
  const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];
  let size = Number(value);
  let unit = 0;
  while (size >= 1024 && unit < units.length - 1) {
    size /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? size : size.toFixed(1)} ${units[unit]}`;
}

// "2026-11-30 02:25 UTC".
export function time(value: string|undefined): string {
  if (!value) return '-';
  const date = new Date(value);
  if (Number.isNaN(date.getTime())) return value;
  return `${date.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

// The id of "runs/ID" or "models/ID".
export function idOf(name: string|undefined): string {
  return (name ?? '').replace(/^[a-z]+\//, '');
}

// "SINK_KIND_SECONDARY" with the prefix "SINK_KIND_": "secondary".
export function word(value: string|undefined, prefix: string): string {
  return (value ?? 'unspecified').replace(prefix, '').toLowerCase().replaceAll('_', ' ');
}

// Text whose marks of direction, which would turn round what stands beside it, are written out.
export function straight(text: string): string {
  return text.replace(
      /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
      (mark) => `\\u{${mark.codePointAt(0)!.toString(16)}}`);
}

// A token's text with what cannot be seen made visible.
export function visible(text: string|undefined): string {
  if (!text) return '∅';
  return straight(text).replaceAll('\n', '⏎').replaceAll('\t', '⇥').replace(
      /^ +| +$/g, (blank) => '·'.repeat(blank.length));
}
