// Tables: those of a view, and those that stand beside every chart.
import {h, type Child} from './dom';

export interface Table {
  columns: string[];
  rows: Child[][];
  // Columns of words; all others are numbers, and stand to the right.
  words?: number[];
}

const kMostRows = 2000;

export function table(content: Table, caption: string): HTMLElement {
  const words = new Set(content.words ?? [0]);
  const shown = content.rows.slice(0, kMostRows);
  const left = content.rows.length - shown.length;
  return h(
      'div', {
        class: shown.length > 20 ? 'scroll long' : 'scroll',
        tabindex: 0,
        role: 'region',
        'aria-label': caption
      },
      h('table', {},
        h('caption', {}, caption,
          left > 0 ? `; the first ${kMostRows} of ${content.rows.length} rows` : ''),
        h('thead', {},
          h('tr', {},
            content.columns.map(
                (name, i) =>
                    h('th', {scope: 'col', class: words.has(i) ? undefined : 'number'}, name)))),
        h('tbody', {},
          shown.map(
              (row) =>
                  h('tr', {},
                    row.map(
                        (cell, i) => i === 0 ?
                            h('th', {scope: 'row', class: words.has(i) ? undefined : 'number'},
                              cell) :
                            h('td', {class: words.has(i) ? undefined : 'number'}, cell)))))));
}

// A table whose rows become cards where the window is narrow.
export function cards(content: Table, caption: string): HTMLElement {
  const words = new Set(content.words ?? [0]);
  return h(
      'table', {class: 'cards', role: 'table', 'aria-label': caption},
      h('thead', {role: 'rowgroup'},
        h('tr', {role: 'row'},
          content.columns.map(
              (name, i) => h(
                  'th',
                  {scope: 'col', role: 'columnheader', class: words.has(i) ? undefined : 'number'},
                  name)))),
      h('tbody', {role: 'rowgroup'},
        content.rows.map(
            (row) =>
                h('tr', {role: 'row'},
                  row.map(
                      (cell, i) =>
                          h('td', {
                            role: 'cell',
                            'data-label': content.columns[i]!,
                            class: words.has(i) ? undefined : 'number'
                          },
                            cell))))));
}

// Name and value pairs.
export function facts(pairs: [string, Child][]): HTMLElement {
  return h(
      'dl', {class: 'facts'},
      pairs.map(([name, value]) => h('div', {}, h('dt', {}, name), h('dd', {}, value))));
}
