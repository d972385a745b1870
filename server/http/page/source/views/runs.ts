// Runs: a filter, a page of them, and the choice of two to compare.
import {get, report} from '../api';
import {h} from '../dom';
import {bytes, idOf, integer, time} from '../format';
import {nothing} from '../notice';
import {address} from '../route';
import {cards} from '../table';
import type {Run} from '../types';
import {stateChip} from './models';
import {fill, type View} from './view';

interface ListRunsResponse {
  runs?: Run[];
  nextPageToken?: string
}

const pageSize = 25;

export function labelChips(labels: Record<string, string>|undefined): HTMLElement {
  return h(
      'span', {class: 'labels'},
      Object.entries(labels ?? {})
          .map(
              ([key, value]) =>
                  h('a', {class: 'label', href: address(['runs'], {label: `${key}=${value}`})},
                    `${key}=${value}`)));
}

function dayStart(day: string|null): string|undefined {
  return day ? `${day}T00:00:00Z` : undefined;
}

// The API's query for the address of this view.
function queryOf(parameters: URLSearchParams): Record<string, string|number|undefined> {
  const query: Record<string, string|number|undefined> = {
    pageSize,
    pageToken: parameters.get('page') ?? undefined,
    model: parameters.get('model') ?? undefined,
    createdFrom: dayStart(parameters.get('from')),
    createdBefore: dayStart(parameters.get('before')),
  };
  for (const each of parameters.getAll('label')) {
    const [key, ...value] = each.split('=');
    query[`label.${key}`] = value.join('=');
  }
  return query;
}

function field(name: string, label: string, value: string, type = 'text', hint = '', more = {}) {
  return h(
      'label', {}, label,
      h('input', {name, type, value, placeholder: hint, autocomplete: 'off', ...more}));
}

function filterForm(parameters: URLSearchParams): HTMLElement {
  const form =
      h('form', {class: 'filter', 'aria-label': 'Filter runs'},
        field('model', 'Model', idOf(parameters.get('model') ?? ''), 'text', 'smollm2-135m'),
        field(
            'label', 'Labels', parameters.getAll('label').join(' '), 'text',
            'stage=release team=nlp',
            {pattern: '\\s*(\\S+=\\S+\\s*)*', title: 'key=value, several with blanks between'}),
        field('from', 'Made from (UTC)', parameters.get('from') ?? '', 'date'),
        field('before', 'Made before (UTC)', parameters.get('before') ?? '', 'date'),
        h('button', {type: 'submit'}, 'Filter'),
        h('a', {class: 'button', href: address(['runs'])}, 'Clear'));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const data = new FormData(form);
    const next = new URLSearchParams();
    const model = String(data.get('model')).trim();
    if (model) next.set('model', `models/${idOf(model)}`);
    for (const label of String(data.get('label')).split(/\s+/).filter(Boolean))
      next.append('label', label);
    for (const name of ['from', 'before'])
      if (data.get(name)) next.set(name, String(data.get(name)));
    location.hash = address(['runs'], next);
  });
  return form;
}

function runTable(runs: Run[], pick: (id: string, picked: boolean) => void): HTMLElement {
  return cards(
      {
        columns: [
          'compare', 'run', 'state', 'model', 'made', 'samples', 'tokens', 'secondary', 'primary',
          'noise', 'size'
        ],
        rows: runs.map((run) => {
          const id = idOf(run.name);
          const failed = Number(run.failedSamples ?? 0);
          return [
            h('input', {
              type: 'checkbox',
              'aria-label': `Compare ${id}`,
              change: (event) => pick(id, (event.target as HTMLInputElement).checked)
            }),
            h('span', {}, h('a', {href: address(['runs', id])}, id), ' ', labelChips(run.labels)),
            stateChip(run.state, 'RUN_STATE_'), idOf(run.model), time(run.createTime),
            integer(run.samples) + (failed ? ` (${integer(failed)} failed)` : ''),
            integer(run.tokens), integer(run.secondarySinks), integer(run.primarySinks),
            integer(run.noiseSinks), bytes(run.sizeBytes)
          ];
        }),
        words: [0, 1, 2, 3, 4],
      },
      'Runs, newest first');
}

// A link that leads to the comparison once two runs are picked.
function comparison(): {element: HTMLElement; pick(id: string, picked: boolean): void} {
  const picked: string[] = [];
  const element = h('p', {class: 'compare-bar', 'aria-live': 'polite'});
  const show = () => {
    element.replaceChildren(
        picked.length === 2 ?
            h('a', {class: 'button', href: address(['compare'], {a: picked[0], b: picked[1]})},
              `Compare ${picked[0]} and ${picked[1]}`) :
            picked.length === 0 ? 'Pick two runs to see them side by side.' :
            picked.length === 1 ? 'One more run, please.' :
                                  'Two runs only, please.');
  };
  show();
  return {
    element,
    pick: (id, isPicked) => {
      if (isPicked)
        picked.push(id);
      else
        picked.splice(picked.indexOf(id), 1);
      show();
    }
  };
}

export const runsView: View = async ({main, parameters, signal}) => {
  const body = h('div');
  main.append(h('h1', {}, 'Runs'), ...(report ? [] : [filterForm(parameters)]), body);
  await fill(body, 'runs', signal, async () => {
    const answer = await get<ListRunsResponse>('/api/v1/runs', queryOf(parameters), signal);
    const runs = answer.runs ?? [];
    const narrowed = ['model', 'label', 'from', 'before'].some((name) => parameters.has(name));
    if (runs.length === 0) {
      return nothing(
          narrowed ? 'No run meets this filter.' :
                     'No runs yet: sinkctl analyze MODEL --run NAME keeps one.');
    }
    const compare = comparison();
    const next = new URLSearchParams(parameters);
    if (answer.nextPageToken) next.set('page', answer.nextPageToken);
    return h(
        'div', {}, runs.length > 1 || parameters.has('page') ? compare.element : null,
        runTable(runs, compare.pick),
        h('nav', {class: 'paging', 'aria-label': 'Pages of runs'},
          parameters.has('page') ?
              h('button', {type: 'button', click: () => history.back()}, 'Newer') :
              null,
          answer.nextPageToken ? h('a', {class: 'button', href: address(['runs'], next)}, 'Older') :
                                 null));
  });
};
