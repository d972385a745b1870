// One run: what it is, its summary, one of its samples, its studies.
import {get, report} from '../api';
import {studySection} from '../charts/studies';
import {h} from '../dom';
import {bytes, decimal, idOf, integer, time, word} from '../format';
import {nothing} from '../notice';
import {address, remember} from '../route';
import {facts} from '../table';
import type {Study} from '../study_types';
import type {GroupSummary, Run} from '../types';
import {stateChip} from './models';
import {labelChips} from './runs';
import {sampleSection} from './sample';
import {summarySections} from './summary';
import {fill, type View} from './view';

export function runPath(id: string): string { return `/api/v1/runs/${encodeURIComponent(id)}`; }

function head(run: Run): HTMLElement {
  const {detection} = run.spec ?? {};
  return h(
      'div', {}, h('p', {}, stateChip(run.state, 'RUN_STATE_'), ' ', labelChips(run.labels)),
      facts([
        ['model', h('a', {href: address(['models', idOf(run.model)])}, idOf(run.model))],
        ['made', time(run.createTime)],
        ['last changed', time(run.updateTime)],
        [
          'samples',
          integer(run.samples) +
              (Number(run.failedSamples ?? 0) > 0 ? `, ${integer(run.failedSamples)} failed` : '')
        ],
        ['tokens', integer(run.tokens)],
        ['secondary sinks', integer(run.secondarySinks)],
        ['primary past the primary', integer(run.primarySinks)],
        ['noise', integer(run.noiseSinks)],
        ['kept', bytes(run.sizeBytes)],
        [
          'a sink has',
          `|cosine| over ${decimal(detection?.cosineThreshold)}, norm at least ${
              decimal(detection?.minNormRatio ?? 0)} × median`
        ],
        ['kinds by', `the ${word(detection?.kindRule, 'KIND_RULE_')} rule`],
      ]),
      report ? null :
               h('p', {},
                 h('a', {class: 'button', href: address(['compare'], {a: idOf(run.name)})},
                   'Compare with another run')));
}

function levelNote(level: string, all: () => void): HTMLElement {
  const [lStart, lifetime] = level.split('x');
  return h(
      'p', {class: 'warning'},
      `Only sinks that start at layer ${lStart} and live ${lifetime} layers. `,
      h('button', {type: 'button', click: all}, 'All levels'));
}

function summaryPart(id: string, parameters: URLSearchParams, signal: AbortSignal): HTMLElement {
  const body = h('div');
  const show = (level: string) => {
    remember({level});
    const [lStart, lifetime] = level.split('x');
    return fill(body, 'the summary', signal, async () => {
      const {summary} = await get<GroupSummary>(
          `${runPath(id)}/summary`, level ? {lStart, lifetime} : {}, signal);
      if (!summary) return nothing('This run holds no records to sum up.');
      const select = report || level ?
          undefined :
          (start: number, life: number) =>
              void show(`${start}x${life}`).then(() => body.scrollIntoView());
      return h(
          'div', {}, level ? levelNote(level, () => void show('')) : null,
          summarySections(summary, select));
    });
  };
  void show(parameters.get('level')?.match(/^\d+x\d+$/)?.[0] ?? '');
  return body;
}

function studies(id: string, signal: AbortSignal): HTMLElement {
  const body = h('div');
  void fill(body, 'studies', signal, async () => {
    const {studies: kept = []} =
        await get<{studies?: Study[]}>(`${runPath(id)}/studies`, {}, signal);
    if (kept.length === 0) return nothing('No studies are kept with this run.');
    return h('div', {}, kept.map(studySection));
  });
  return h('section', {'aria-label': 'Studies'}, h('h2', {}, 'Studies'), body);
}

export const runView: View = async ({main, parameters, signal}, id) => {
  const body = h('div');
  main.append(
      h('p', {class: 'path'}, h('a', {href: address(['runs'])}, 'Runs')), h('h1', {}, id), body);
  await fill(body, 'the run', signal, async () => {
    const {run = {}} = await get<{run?: Run}>(runPath(id), {}, signal);
    return h(
        'div', {}, head(run), summaryPart(id, parameters, signal),
        sampleSection(runPath(id), signal), studies(id, signal));
  });
};
