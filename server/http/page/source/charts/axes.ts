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

export const grid = {left: 62, right: 18, top: 14, bottom: 46};

// Text on a coloured cell, readable on any colour.
export function cellLabel(colours: Palette) {
  return {color: colours.text, textBorderColor: colours.surface, textBorderWidth: 2.5};
}

// Whole numbers from `first` to `last`, as labels of a category axis.
export function labels(first: number, last: number): string[] {
  return Array.from({length: Math.max(0, last - first + 1)}, (_, i) => String(first + i));
}
