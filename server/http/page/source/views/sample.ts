// The samples of one run: a page of records, and one of them whole.
import {get, report} from '../api';
import {curveCharts} from '../charts/attention';
import {portraitChart} from '../charts/portrait';
import {markedText} from '../charts/text';
import {h, replace} from '../dom';
import {counted, decimal, integer, toNumber, visible} from '../format';
import {kindName} from '../kinds';
import {nothing} from '../notice';
import {currentRoute, remember} from '../route';
import {table} from '../table';
import type {SampleRecord, StoredRecord} from '../types';
import {fill} from './view';

const pageSize = 20;

function nameOf(stored: StoredRecord): string {
  return stored.record?.sampleId || stored.error?.sampleId || stored.sampleKey ||
      `sample ${stored.sequence}`;
}

function sinkRows({primary, sinks = []}: SampleRecord) {
  return [...(primary ? [primary] : []), ...sinks].map(
      (sink, i) =>
          [sink.position, `“${visible(sink.tokenText)}”`,
           i === 0 && primary ? 'the primary sink' : kindName(sink.kind), sink.lStart,
           sink.lifetime, sink.score === undefined ? 'undefined' : decimal(sink.score),
           decimal(sink.mlpNorm), decimal(sink.stateNorm)]);
}

export function sinkTable(record: SampleRecord): HTMLElement {
  return table(
      {
        columns: [
          'position', 'token', 'kind', 'first layer', 'lifetime, layers', 'score', 'MLP norm',
          'state norm'
        ],
        rows: sinkRows(record),
        words: [1, 2]
      },
      'Sinks of this sample');
}

function oneSample(stored: StoredRecord): HTMLElement {
  const {record, error} = stored;
  if (!record) {
    return h(
        'div', {class: 'notice'}, h('h3', {}, nameOf(stored)),
        h('p', {}, `This sample has no record: ${error?.status?.message ?? 'no reason given'}`));
  }
  return h(
      'div', {}, h('h3', {}, nameOf(stored)),
      h('p', {class: 'hint'},
        `${counted(record.positions, 'token')}; primary sink's window: layers ${
            record.windowStart} to ${(record.windowEnd ?? 1) - 1}`,
        record.undecided ? '; undecided: some margin is too small for bfloat16' : ''),
      record.portrait ?
          [portraitChart(record), markedText(record)] :
          nothing(
              'No text and no norms are kept of this sample: a run keeps portraits of its first samples only, and when asked (portrait).'),
      curveCharts(record), h('details', {open: !record.portrait},
        h('summary', {}, `Its sinks: ${integer((record.sinks ?? []).length)} past the primary one`),
        sinkTable(record)));
}

function picker(
    records: StoredRecord[], chosen: StoredRecord,
    choose: (stored: StoredRecord) => void): HTMLElement {
  const select =
      h('select', {change: () => choose(records[select.selectedIndex]!)}, records.map((stored) => {
        const sinks = stored.record?.sinks ?? [];
        const told = stored.record ?
            `${counted(stored.record.positions, 'token')}, ${
                counted(
                    sinks.filter((sink) => kindName(sink.kind) === 'secondary').length,
                    'secondary sink')}` :
            'failed';
        return h(
            'option', {selected: stored === chosen},
            `${nameOf(stored)} - ${told}${stored.record?.portrait ? ', with text' : ''}`);
      }));
  return h('label', {class: 'inline'}, 'Sample ', select);
}

// `after` is the sequence the page begins after.
async function page(runPath: string, after: number, signal: AbortSignal): Promise<StoredRecord[]> {
  const answer = await get<{records?: StoredRecord[]}>(
      `${runPath}/records`, {afterSequence: after, limit: pageSize}, signal);
  return answer.records ?? [];
}

function turn(records: StoredRecord[], after: number, go: (after: number) => void): HTMLElement|
    null {
  if (report) return null;
  return h(
      'span', {class: 'paging'},
      after > 0 ? h('button', {type: 'button', click: () => go(Math.max(0, after - pageSize))},
                    'Earlier samples') :
                  null,
      records.length === pageSize ?
          h('button', {type: 'button', click: () => go(toNumber(records.at(-1)!.sequence))},
            'Later samples') :
          null);
}

export function sampleSection(runPath: string, signal: AbortSignal): HTMLElement {
  const section = h('section', {'aria-label': 'Samples'}, h('h2', {}, 'One sample'));
  const body = section.appendChild(h('div'));
  const show = (after: number, wanted: number) => fill(body, 'samples', signal, async () => {
    const records = await page(runPath, after, signal);
    if (records.length === 0) return nothing('This run holds no samples here.');
    const whole = h('div');
    const choose = (stored: StoredRecord) => {
      remember({after: after ? String(after) : undefined, sample: String(stored.sequence)});
      replace(whole, oneSample(stored));
    };
    const first = records.find((stored) => toNumber(stored.sequence) === wanted) ??
        records.find((stored) => stored.record?.portrait) ?? records[0]!;
    replace(whole, oneSample(first));
    return h(
        'div', {},
        h('div', {class: 'choices'}, picker(records, first, choose),
          turn(records, after, (next) => void show(next, 0))),
        whole);
  });
  const {parameters} = currentRoute();
  void show(toNumber(parameters.get('after') ?? 0), toNumber(parameters.get('sample') ?? 0));
  return section;
}
