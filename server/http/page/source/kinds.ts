// The kinds of sinks, in the order they are shown, and the choice of one of them.
import {h, newId} from './dom';
import {integer, type Int64} from './format';
import type {Kind} from './types';

export type KindName = 'secondary'|'primary'|'noise';

export const kindNames: KindName[] = ['secondary', 'primary', 'noise'];

export function kindName(kind: Kind|undefined): KindName {
  if (kind === 'SINK_KIND_PRIMARY') return 'primary';
  return kind === 'SINK_KIND_NOISE' ? 'noise' : 'secondary';
}

export function swatch(kind: string): HTMLElement {
  return h('span', {class: `swatch ${kind}`, 'aria-hidden': 'true'});
}

export interface Option {
  value: string;
  text: string;
  swatch?: string;
  count?: Int64
}

// One of a few, as radio buttons.
export function choice(
    legend: string, options: Option[], chosen: string,
    choose: (value: string) => void): HTMLElement {
  const name = newId('choice');
  return h(
      'fieldset', {class: 'choice'}, h('legend', {}, legend),
      options.map(
          (option) =>
              h('label', {}, h('input', {
                  type: 'radio',
                  name,
                  value: option.value,
                  checked: option.value === chosen,
                  change: () => choose(option.value)
                }),
                option.swatch ? swatch(option.swatch) : null, option.text,
                option.count === undefined ? null :
                                             h('span', {class: 'count'}, integer(option.count)))));
}

export function legend(entries: [string, string][]): HTMLElement {
  return h(
      'ul', {class: 'legend', 'aria-label': 'Legend'},
      entries.map(([kind, text]) => h('li', {}, swatch(kind), text)));
}
