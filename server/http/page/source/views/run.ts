// One run: what it is, its summary, one of its samples, its studies.
import {ApiError, get, report} from '../api';
import {sweepCharts} from '../chart';
import {studySection} from '../charts/studies';
import {contents} from '../contents';
import {h, replace} from '../dom';
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

interface Part {
  element: HTMLElement;
  refresh(): Promise<void>;
}

// Refreshed, it stays as it is until the new summary is there, and while somebody works with it.
function summaryPart(id: string, parameters: URLSearchParams, signal: AbortSignal): Part {
  const body = h('div');
  let shown = parameters.get('level')?.match(/^\d+x\d+$/)?.[0] ?? '';
  const load = async (level: string) => {
    const [lStart, lifetime] = level.split('x');
    const {summary} =
        await get<GroupSummary>(`${runPath(id)}/summary`, level ? {lStart, lifetime} : {}, signal);
    if (!summary) return nothing('This run holds no records to sum up.');
    const select = report || level ?
        undefined :
        (start: number, life: number) =>
            void show(`${start}x${life}`).then(() => body.scrollIntoView());
    return h(
        'div', {}, level ? levelNote(level, () => void show('')) : null,
        summarySections(summary, select));
  };
  const show = (level: string) => {
    shown = level;
    remember({level});
    return fill(body, 'the summary', signal, () => load(level));
  };
  const inUse = () =>
      body.contains(document.activeElement) || body.querySelector('details[open]') !== null;
  const refresh = async () => {
    if (inUse()) return;
    const level = shown;
    const content = await load(level);
    if (signal.aborted || level !== shown || inUse()) return;
    replace(body, content);
    sweepCharts();
  };
  void show(shown);
  return {element: body, refresh};
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

const kLookAgain = 5000;  // milliseconds
const kRest = 10;         // summing up takes at most a tenth of the time

const pause = (time: number) => new Promise((resolve) => setTimeout(resolve, time));

// Looks at an open run again and again, and tells what it has become.
async function follow(
    first: Run, signal: AbortSignal, tell: (run: Run, before: Run) => Promise<void>) {
  let run = first;
  while (run.state === 'RUN_STATE_OPEN') {
    await pause(kLookAgain);
    if (signal.aborted) return;
    if (document.hidden) continue;
    try {
      const before = run;
      run = (await get<{run?: Run}>(runPath(idOf(first.name)), {}, signal)).run ?? run;
      const began = performance.now();
      await tell(run, before);
      await pause(kRest * (performance.now() - began));
    } catch (error) {
      if (error instanceof ApiError && error.trouble === 'missing') return;
    }
  }
}

function whole(run: Run, parameters: URLSearchParams, signal: AbortSignal): HTMLElement {
  const id = idOf(run.name);
  const top = h('div', {}, head(run));
  const summary = summaryPart(id, parameters, signal);
  const samples = h('div', {}, sampleSection(runPath(id), signal));
  const said = h('p', {class: 'hint'});
  const body = h('div', {}, summary.element, samples, studies(id, signal));
  if (run.state === 'RUN_STATE_OPEN' && !report) {
    said.textContent = 'This run is open: the page follows it.';
    void follow(run, signal, async (now, before) => {
      replace(top, head(now));
      if (now.state !== 'RUN_STATE_OPEN') said.textContent = 'This run has been completed.';
      if (now.samples === before.samples && now.state === before.state) return;
      if (Number(before.samples ?? 0) === 0) replace(samples, sampleSection(runPath(id), signal));
      await summary.refresh();
    });
  }
  return h('div', {}, top, said, contents(body), body);
}

export const runView: View = async ({main, parameters, signal}, id) => {
  const body = h('div');
  main.append(
      h('p', {class: 'path'}, h('a', {href: address(['runs'])}, 'Runs')), h('h1', {}, id), body);
  await fill(body, 'the run', signal, async () => {
    const {run = {}} = await get<{run?: Run}>(runPath(id), {}, signal);
    return whole({name: `runs/${id}`, ...run}, parameters, signal);
  });
};
