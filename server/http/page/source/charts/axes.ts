// Axes in the page's look.
import type {Palette} from '../theme';

export function axisStyle(colours: Palette) {
  return {
    nameLocation: 'middle' as const,
    nameTextStyle: {color: colours.soft, fontSize: 12},
    axisLabel: {color: colours.soft, fontSize: 11, hideOverlap: true},
    axisLine: {lineStyle: {color: colours.line}},
    axisTick: {show: false},
    splitLine: {lineStyle: {color: colours.line, opacity: 0.6}},
  };
}

export function xAxis(colours: Palette, name: string) {
  return {...axisStyle(colours), name, nameGap: 28};
}

export function yAxis(colours: Palette, name: string, gap = 42) {
  return {...axisStyle(colours), name, nameGap: gap};
}

export const grid = {
  left: 62,
  right: 18,
  top: 14,
  bottom: 46
};

function channels(colour: string): number[] {
  return (colour.match(/[\d.]+/g) ?? []).slice(0, 3).map(Number);
}

// WCAG's relative luminance.
function luminance(rgb: number[]): number {
  const [r, g, b] = rgb.map((channel) => {
    const share = channel / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!;
}

// The colour for text on a cell that has the colour of `ramp` at `share`, 0 to 1.
export function textOn(ramp: string[], share: number, colours: Palette): string {
  const at = Math.min(Math.max(share, 0), 1) * (ramp.length - 1);
  const below = Math.min(Math.floor(at), ramp.length - 2);
  const [low, high] = [channels(ramp[below]!), channels(ramp[below + 1]!)];
  const cell = luminance(low.map((channel, i) => channel + (at - below) * (high[i]! - channel)));
  const contrast = (colour: string) => {
    const text = luminance(channels(colour));
    return (Math.max(text, cell) + 0.05) / (Math.min(text, cell) + 0.05);
  };
  return contrast(colours.text) >= contrast(colours.surface) ? colours.text : colours.surface;
}

// Whole numbers from `first` to `last`, as labels of a category axis.
export function labels(first: number, last: number): string[] {
  return Array.from({length: Math.max(0, last - first + 1)}, (_, i) => String(first + i));
}
