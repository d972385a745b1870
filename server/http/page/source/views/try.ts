// Try: one text or chat through a loaded model, and what its sinks look like. Nothing is stored.
import {Alpha} from '../alpha';
import {post} from '../api';
import {sweepCharts} from '../chart';
import {curveCharts, tokenChart} from '../charts/attention';
import {levelChart} from '../charts/levels';
import {attentionMap, portraitChart} from '../charts/portrait';
import {markedText} from '../charts/text';
import {contents} from '../contents';
import {h, newId, replace} from '../dom';
import {counted, decimal, idOf, integer, toNumber, visible} from '../format';
import {choice, kindName, kindNames} from '../kinds';
import {failure, nothing} from '../notice';
import {remember} from '../route';
import {facts} from '../table';
import type {AlphaChunk, AnalyzeResponse, AnalyzeStarted, LevelReport, Model, SampleRecord, Status, Summary} from '../types';
import {listModels} from './models';
import {sinkTable} from './sample';
import {fill, type View} from './view';

interface Turn {
  role: string;
  content: string
}

// What was typed outlives the view, but not the tab.
const typed = {
  kind: 'text',
  text: '',
  turns: [{role: 'user', content: ''}] as Turn[],
  reply: true,
  heads: true,
};

const roles = ['system', 'user', 'assistant'];

function turnFields(turns: Turn[], changed: () => void): HTMLElement[] {
  return turns.map((turn, i) => {
    const id = newId('turn');
    return h(
        'fieldset', {class: 'turn'}, h('legend', {}, `Turn ${i + 1}`),
        h('label', {}, 'Role ',
          h('select', {change: (event) => turn.role = (event.target as HTMLSelectElement).value},
            roles.map(
                (role) => h('option', {value: role, selected: role === turn.role}, role)))),
        h('label', {for: id}, 'Content'),
        area(id, 3, turn.content, (text) => turn.content = text),
        turns.length > 1 ? h('button', {
          type: 'button',
          'aria-label': `Remove turn ${i + 1}`,
          click: () => {
            turns.splice(i, 1);
            changed();
          }
        },
                             'Remove') :
                           null);
  });
}

function area(
    id: string, rows: number, text: string, changed: (text: string) => void): HTMLTextAreaElement {
  const element = h('textarea', {
    id,
    rows,
    spellcheck: 'false',
    input: () => changed(element.value),
    keydown: (event) => {
      const {key, ctrlKey, metaKey} = event as KeyboardEvent;
      if (key === 'Enter' && (ctrlKey || metaKey)) element.form?.requestSubmit();
    }
  });
  element.value = text;
  return element;
}

function input(): HTMLElement {
  const place = h('div');
  const chat = () => {
    const change = () => show('chat');
    replace(
        place, turnFields(typed.turns, change),
        h('div', {class: 'choices'},
          h('button', {
            type: 'button',
            click: () => {
              const last = typed.turns.at(-1)?.role;
              typed.turns.push({role: last === 'user' ? 'assistant' : 'user', content: ''});
              change();
            }
          },
            'Add a turn'),
          check('Open the assistant’s turn at the end', typed.reply, (on) => typed.reply = on)));
  };
  const text = () => {
    const id = newId('text');
    replace(
        place, h('label', {for: id}, 'Text'),
        area(id, 7, typed.text, (changed) => typed.text = changed));
  };
  const show = (kind: string) => {
    typed.kind = kind;
    (kind === 'chat' ? chat : text)();
  };
  show(typed.kind);
  return h(
      'div', {},
      choice(
          'Input', [{value: 'text', text: 'a text'}, {value: 'chat', text: 'a chat'}], typed.kind,
          show),
      place);
}

function check(text: string, on: boolean, changed: (on: boolean) => void): HTMLElement {
  const box = h('input', {type: 'checkbox', checked: on, change: () => changed(box.checked)});
  return h('label', {class: 'inline'}, box, text);
}

function messages(model: string): object[] {
  const spec = {
    model,
    scores: {curves: true, allPositions: typed.heads},
    levels: {},
    portrait: {samples: 1}
  };
  const sample = typed.kind === 'chat' ?
      {chat: {messages: typed.turns, addGenerationPrompt: typed.reply}} :
      {text: {text: typed.text}};
  return [{spec}, {sample}];
}

// What a stream has told so far.
class Answer {
  started: AnalyzeStarted = {};
  record?: SampleRecord;
  error?: Status;
  summary?: Summary;
  alpha?: Alpha;

  take(message: AnalyzeResponse): void {
    const {started, record, alpha, sampleError, summary} = message;
    if (started) this.started = started;
    if (alpha) this.takeAlpha(alpha);
    if (sampleError) this.error = sampleError.status ?? {};
    if (summary) this.summary = summary;
    if (record && !this.record) this.record = record;
    else if (record) this.record!.sinks = [...this.record!.sinks ?? [], ...record.sinks ?? []];
  }

  private takeAlpha(chunk: AlphaChunk): void {
    const {blocks = 0, heads = 0} = this.started;
    this.alpha ??= new Alpha(blocks, heads, toNumber(chunk.positions));
    this.alpha.add(chunk);
  }
}

// The text, and what the token that one chooses gets of each head.
function tokens(record: SampleRecord, alpha: Alpha|undefined, choose: (position: number) => void):
    {element: HTMLElement, show: (position: number) => void} {
  const texts = record.portrait?.tokenTexts ?? [];
  const text = markedText(record, alpha && choose);
  if (!alpha) return {element: text, show: () => undefined};
  const place = h('div');
  const field = h('input', {
    type: 'number',
    min: 0,
    max: alpha.positions - 1,
    required: true,
    change: () => {
      if (field.checkValidity()) choose(Number(field.value));
    }
  });
  const show = (position: number) => {
    field.value = String(position);
    text.querySelectorAll('.chosen').forEach((each) => each.classList.remove('chosen'));
    text.querySelector(`[data-position="${position}"]`)?.classList.add('chosen');
    replace(place, tokenChart(alpha, position, texts[position]));
    sweepCharts();
  };
  return {
    element: h(
        'div', {}, text,
        h('p', {class: 'choices'}, h('label', {class: 'inline'}, 'Token at position ', field),
          h('span', {class: 'hint'}, 'or click a token above, or a column of a map below')),
        place),
    show
  };
}

function levelPart(report: LevelReport): HTMLElement {
  const place = h('div');
  const show = (kind: string) => replace(
      place,
      levelChart(report, {kind, choose: show}) ??
          nothing('No position past the primary sink became a sink.'));
  show('all');
  return place;
}

function head({record, started}: Answer): HTMLElement {
  const {primary, sinks = []} = record!;
  return facts([
    ['tokens', integer(record!.positions)],
    [
      'primary sink',
      primary ?
          `“${visible(primary.tokenText)}” at position ${primary.position}, layers ${
              record!.windowStart} to ${(record!.windowEnd ?? 1) - 1}` :
          'none'
    ],
    ['its score', decimal(primary?.score)],
    [
      'other sinks',
      kindNames.map((kind) => `${sinks.filter((sink) => kindName(sink.kind) === kind).length} ${kind}`)
          .join(', ')
    ],
    ['computed', record!.arithmetic || `${started.computeType ?? '-'} on ${started.device ?? '-'}`],
  ]);
}

function section(title: string, ...content: (Node|null)[]): HTMLElement|null {
  if (!content.some(Boolean)) return null;
  return h('section', {'aria-label': title}, h('h2', {}, title), content);
}

function results(answer: Answer): HTMLElement {
  const {record, alpha, summary} = answer;
  const choose = (position: number) => show(position);
  const {element, show} = tokens(record!, alpha, choose);
  show(record!.primary?.position ?? 0);
  const {portrait} = record!;
  const parts = h(
      'div', {}, section('Text and sinks', element),
      section(
          'Maps', portraitChart(record!, alpha && choose),
          alpha && portrait ? attentionMap(record!, portrait, alpha, choose) : null),
      section('Curves', curveCharts(record!)),
      section(
          'Levels', summary?.levels ? levelPart(summary.levels) : null, sinkTable(record!)));
  return h(
      'div', {}, head(answer),
      record!.undecided ?
          h('p', {class: 'warning'}, 'Undecided: some margin is too small for bfloat16.') :
          null,
      (summary?.notes ?? []).map((note) => h('p', {class: 'warning'}, note)),
      contents(parts), parts);
}

function modelField(models: Model[], chosen: string): HTMLSelectElement {
  const ready = models.filter((model) => model.state === 'MODEL_STATE_READY');
  const first = ready.find((model) => idOf(model.name) === chosen) ?? ready[0];
  return h(
      'select', {name: 'model', required: true}, models.map((model) => {
        const isReady = ready.includes(model);
        return h(
            'option', {value: model.name, disabled: !isReady, selected: model === first},
            `${idOf(model.name)}${isReady ? '' : ' (not loaded)'}`);
      }));
}

// Runs what the form holds; shows the result, or why there is none.
async function run(model: string, out: HTMLElement, signal: AbortSignal): Promise<void> {
  const answer = new Answer();
  await post<AnalyzeResponse>(
      '/api/v1/analyze', messages(model), (message) => answer.take(message), signal);
  if (answer.error) {
    replace(
        out,
        h('div', {class: 'notice', role: 'alert'}, h('h2', {}, 'This sample was not analysed'),
          h('p', {}, answer.error.message ?? 'no reason given'),
          answer.error.details?.map((each) => each.metadata?.fix && h('p', {}, each.metadata.fix))));
  } else if (answer.record) {
    replace(out, results(answer));
  } else {
    replace(out, nothing('The server sent no record.'));
  }
  sweepCharts();
}

function form(models: Model[], chosen: string, left: AbortSignal): HTMLElement {
  const model = modelField(models, chosen);
  const out = h('div');
  const status = h('p', {class: 'loading', role: 'status'});
  const start = h('button', {type: 'submit', class: 'main'}, 'Run');
  let running: AbortController|undefined;
  const stop = h('button', {type: 'button', hidden: true, click: () => running?.abort()}, 'Stop');
  left.addEventListener('abort', () => running?.abort());
  const submit = async (event: Event) => {
    event.preventDefault();
    if (running) return;
    remember({model: idOf(model.value)});
    const {signal} = running = new AbortController();
    stop.hidden = false;
    start.disabled = true;
    status.textContent = 'Running …';
    replace(out);
    try {
      await run(model.value, out, signal);
      status.textContent = 'Done.';
    } catch (error) {
      status.textContent = signal.aborted ? 'Stopped.' : '';
      if (!signal.aborted) replace(out, failure(error));
    }
    running = undefined;
    stop.hidden = true;
    start.disabled = false;
  };
  return h(
      'div', {},
      h('form', {class: 'try', submit: (event) => void submit(event)},
        h('label', {class: 'inline'}, 'Model ', model), input(),
        h('div', {class: 'choices'}, start, stop,
          check('Attention of every head', typed.heads, (on) => typed.heads = on),
          h('span', {class: 'hint'}, 'Ctrl+Enter runs. Nothing is stored.'))),
      status, out);
}

export const tryView: View = async ({main, parameters, signal}) => {
  const body = h('div');
  main.append(h('h1', {}, 'Try'), body);
  await fill(body, 'models', signal, async () => {
    const models = await listModels(signal);
    if (!models.some((model) => model.state === 'MODEL_STATE_READY')) {
      return nothing(
          `No model is loaded (of ${counted(models.length, 'model')}): sinkctl load MODEL loads one.`);
    }
    return form(models, parameters.get('model') ?? '', signal);
  });
};
