// What stands where content is waited for, missing or undefined.
import {ApiError} from './api';
import {h} from './dom';

export function loading(what: string): HTMLElement {
  return h('p', {class: 'loading', role: 'status'}, `Loading ${what} …`);
}

const headings: Record<string, string> = {
  unreachable: 'No answer',
  missing: 'Not there',
  'store off': 'This server keeps no runs',
  refused: 'The server refuses this',
  failed: 'Something went wrong',
};

export function failure(error: unknown, again?: () => void): HTMLElement {
  const known = error instanceof ApiError ? error : new ApiError('failed', String(error));
  const fix = known.trouble === 'store off' && !known.fix ?
      'Start sinkd with a store to keep runs; models and their state are shown without one.' :
      known.fix;
  return h(
      'div', {class: 'notice', role: 'alert', 'data-trouble': known.trouble},
      h('h2', {}, headings[known.trouble]!), h('p', {}, known.message),
      fix ? h('p', {}, fix) : null,
      again ? h('button', {type: 'button', click: again}, 'Try again') : null);
}

export function nothing(text: string): HTMLElement { return h('p', {class: 'nothing'}, text); }

// Stands for a number that does not exist.
export function undefinedBecause(reason: string|undefined): HTMLElement {
  return h('span', {class: 'undefined'}, `undefined: ${reason || 'no reason given'}`);
}
