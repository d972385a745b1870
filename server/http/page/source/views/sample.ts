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

interface RecordPage {
  records: StoredRecord[];
  nextPageToken: string;  // empty on the last page
}

async function readPage(
    runPath: string, pageToken: string, signal: AbortSignal): Promise<RecordPage> {
  const {records = [], nextPageToken = ''} =
      await get<Partial<RecordPage>>(`${runPath}/records`, {pageToken, pageSize}, signal);
  return {records, nextPageToken};
}

// `tokens` are those of the pages from the first one, "", to the one that is shown.
function turn(
    tokens: string[], next: string, go: (tokens: string[]) => void): HTMLElement|null {
  if (report) return null;
  return h(
      'span', {class: 'paging'},
      tokens.length > 1 ?
          h('button', {type: 'button', click: () => go(tokens.slice(0, -1))}, 'Earlier samples') :
          null,
      next ?
          h('button', {type: 'button', click: () => go([...tokens, next])}, 'Later samples') :
          null);
}

export function sampleSection(runPath: string, signal: AbortSignal): HTMLElement {
  const section = h('section', {'aria-label': 'Samples'}, h('h2', {}, 'One sample'));
  const body = section.appendChild(h('div'));
  const show = (tokens: string[], wanted: number) => fill(body, 'samples', signal, async () => {
    const token = tokens.at(-1)!;
    const {records, nextPageToken} = await readPage(runPath, token, signal);
    if (records.length === 0) return nothing('This run holds no samples here.');
    const whole = h('div');
    const choose = (stored: StoredRecord) => {
      remember({page: token || undefined, sample: String(stored.sequence)});
      replace(whole, oneSample(stored));
    };
    const first = records.find((stored) => toNumber(stored.sequence) === wanted) ??
        records.find((stored) => stored.record?.portrait) ?? records[0]!;
    replace(whole, oneSample(first));
    return h(
        'div', {},
        h('div', {class: 'choices'}, picker(records, first, choose),
          turn(tokens, nextPageToken, (next) => void show(next, 0))),
        whole);
  });
  const {parameters} = currentRoute();
  const token = parameters.get('page');
  void show(token ? ['', token] : [''], toNumber(parameters.get('sample') ?? 0));
  return section;
}
