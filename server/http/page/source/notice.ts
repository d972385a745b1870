// What stands where content is waited for, missing or undefined.
import {ApiError, keepToken} from './api';
import {h, newId} from './dom';

export function loading(what: string): HTMLElement {
  return h('p', {class: 'loading', role: 'status'}, `Loading ${what} …`);
}

const headings: Record<string, string> = {
  unreachable: 'No answer',
  missing: 'Not there',
  'store off': 'This server keeps no runs',
  token: 'This server asks for a token',
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
      fix && known.trouble !== 'token' ? h('p', {}, fix) : null,
      known.trouble === 'token' ? tokenForm() : null,
      again ? h('button', {type: 'button', click: again}, 'Try again') : null);
}

// Asks for a token once; what it opens is asked for again with it.
function tokenForm(): HTMLElement {
  const id = newId('token');
  const input = h('input', {id, type: 'password', autocomplete: 'off', required: true});
  const submit = (event: Event) => {
    event.preventDefault();
    // Of what a header can hold.
    keepToken(input.value.replace(/[^\x21-\x7e]/g, ''));
    location.reload();
  };
  return h(
      'form', {submit}, h('label', {for: id}, 'Token '), input, ' ',
      h('button', {type: 'submit'}, 'Open'),
      h('p', {}, 'It stays in this tab, and is forgotten when the tab closes.'));
}

export function nothing(text: string): HTMLElement { return h('p', {class: 'nothing'}, text); }

// Stands for a number that does not exist.
export function undefinedBecause(reason: string|undefined): HTMLElement {
  return h('span', {class: 'undefined'}, `undefined: ${reason || 'no reason given'}`);
}
