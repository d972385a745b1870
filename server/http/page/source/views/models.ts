// Models and their state.
import {get, report} from '../api';
import {h} from '../dom';
import {bytes, idOf, integer, word} from '../format';
import {nothing} from '../notice';
import {address} from '../route';
import {cards, facts} from '../table';
import type {Model} from '../types';
import {fill, type View} from './view';

interface ListModelsResponse {
  models?: Model[];
  nextPageToken?: string
}

export async function listModels(signal: AbortSignal): Promise<Model[]> {
  const models: Model[] = [];
  let pageToken: string|undefined;
  do {
    const page: ListModelsResponse =
        await get('/api/v1/models', {pageSize: 1000, pageToken}, signal);
    models.push(...page.models ?? []);
    pageToken = page.nextPageToken || undefined;
  } while (pageToken && !report);
  return models;
}

export function stateChip(state: string|undefined, prefix: string): HTMLElement {
  const name = word(state, prefix);
  return h('span', {class: `chip ${name}`}, name);
}

const held = (model: Model) => model.device ?
    `${model.device}, ${word(model.computeType, 'COMPUTE_TYPE_')}, ${bytes(model.weightBytes)}` :
    'not loaded';

export const modelsView: View = async ({main, signal}) => {
  const body = h('div');
  main.append(h('h1', {}, 'Models'), body);
  await fill(body, 'models', signal, async () => {
    const models = await listModels(signal);
    if (models.length === 0) return nothing('The server\'s model root holds no model.');
    return cards(
        {
          columns: [
            'model', 'state', 'architecture', 'blocks', 'hidden size', 'longest sample, tokens',
            'held'
          ],
          rows: models.map(
              (model) =>
                  [h('a', {href: address(['models', idOf(model.name)])}, idOf(model.name)),
                   stateChip(model.state, 'MODEL_STATE_'), model.architecture ?? '-',
                   integer(model.blocks), integer(model.hiddenSize), integer(model.maxPositions),
                   model.failure ? h('span', {class: 'undefined'}, model.failure) : held(model)]),
          words: [0, 1, 2, 6],
        },
        'Models');
  });
};

export const modelView: View = async ({main, signal}, id) => {
  const body = h('div');
  main.append(
      h('p', {class: 'path'}, h('a', {href: address(['models'])}, 'Models')), h('h1', {}, id),
      body);
  await fill(body, 'the model', signal, async () => {
    const {model = {}} =
        await get<{model?: Model}>(`/api/v1/models/${encodeURIComponent(id)}`, {}, signal);
    return h(
        'div', {}, facts([
          ['state', stateChip(model.state, 'MODEL_STATE_')],
          ['architecture', model.architecture ?? '-'],
          ['blocks', integer(model.blocks)],
          ['hidden size, channels', integer(model.hiddenSize)],
          ['heads', `${integer(model.heads)} query, ${integer(model.kvHeads)} key/value`],
          ['vocabulary, tokens', integer(model.vocabularySize)],
          ['longest sample, tokens', integer(model.maxPositions)],
          ['held', held(model)],
          ['residency', model.residency ? word(model.residency, 'RESIDENCY_') : '-'],
          ['chat template', model.hasChatTemplate ? 'yes' : 'no'],
        ]),
        model.failure ? h('p', {class: 'warning'}, `Last failure: ${model.failure}`) : null,
        (model.warnings ?? []).map((warning) => h('p', {class: 'warning'}, warning)),
        h('p', {}, h('a', {href: address(['runs'], {model: model.name})}, 'Runs of this model'),
          model.state === 'MODEL_STATE_READY' && !report ?
              [' · ', h('a', {href: address(['try'], {model: id})}, 'Try it on a text')] :
              null));
  });
};
