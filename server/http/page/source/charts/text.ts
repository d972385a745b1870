// A sample's text with its sinks marked; what a mark means is told on hover and on keyboard focus.
import {h, newId} from '../dom';
import {straight, toNumber, visible} from '../format';
import {kindName, legend} from '../kinds';
import type {SampleRecord, Sink} from '../types';
import {sinkText} from './portrait';

const kMostTokens = 20000;

type Choose = ((position: number) => void)|undefined;

function mark(
    sink: Sink, primary: boolean, text: string, tip: HTMLElement, choose: Choose): HTMLElement {
  const told = sinkText(sink, primary);
  const show = (event: Event) => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    tip.textContent = told;
    tip.hidden = false;
    const width = Math.min(320, document.documentElement.clientWidth - 24);
    tip.style.width = `${width}px`;
    tip.style.left =
        `${Math.max(12, Math.min(box.left, document.documentElement.clientWidth - width - 12))}px`;
    const below = box.bottom + 6;
    tip.style.top =
        `${below + tip.offsetHeight > innerHeight ? box.top - tip.offsetHeight - 6 : below}px`;
  };
  const hide = () => {
    tip.hidden = true;
  };
  const keys = (event: Event) => {
    if ((event as KeyboardEvent).key === 'Escape') hide();
  };
  return h(
      'button', {
        type: 'button',
        class: `sink ${primary ? 'primary' : kindName(sink.kind)}`,
        'aria-label': told.replaceAll('\n', '; '),
        'data-position': sink.position,
        click: () => choose?.(sink.position ?? 0),
        mouseenter: show,
        mouseleave: hide,
        focus: show,
        blur: hide,
        keydown: keys
      },
      text || ' ');
}

function pieces(
    record: SampleRecord, texts: string[], tip: HTMLElement, choose: Choose): (Node|string)[] {
  const sinks = new Map((record.sinks ?? []).map((sink) => [sink.position ?? 0, sink]));
  const first = record.primary?.position;
  const out: (Node|string)[] = [];
  let plain = '';
  const flush = () => {
    if (plain) out.push(plain);
    plain = '';
  };
  const prompt = toNumber(record.promptTokens);
  texts.slice(0, kMostTokens).map(straight).forEach((text, position) => {
    if (position === prompt && toNumber(record.responseTokens) > 0) {
      flush();
      out.push(h('span', {class: 'boundary'}, 'response'));
    }
    const sink = position === first ? record.primary : sinks.get(position);
    if (!sink && choose) {
      out.push(h('span', {class: 'token', 'data-position': position}, text));
      return;
    }
    if (!sink) {
      plain += text;
      return;
    }
    flush();
    const blank = text.trim() === '';
    if (text.includes('\n')) {
      out.push(mark(sink, position === first, visible(text), tip, choose), text.replace(/[^\n]/g, ''));
    } else {
      out.push(mark(sink, position === first, blank ? visible(text) : text, tip, choose));
    }
  });
  flush();
  return out;
}

// Needs the portrait's token texts. `choose` is told of a token that is clicked.
export function markedText(record: SampleRecord, choose?: Choose): HTMLElement {
  const texts = record.portrait?.tokenTexts ?? [];
  const tip = h('div', {class: 'tip', id: newId('tip'), hidden: true, 'aria-hidden': 'true'});
  const left = texts.length - kMostTokens;
  return h(
      'section', {class: 'chart', 'aria-label': 'The text with its sinks marked'},
      h('h3', {}, 'The text with its sinks marked'),
      h('p', {class: 'hint'},
        'Tab goes from sink to sink; ⏎, ⇥ and · stand for line ends, tabs and blanks that are sinks.'),
      legend([['primary', 'primary'], ['secondary', 'secondary'], ['noise', 'noise']]),
      h('div', {
        class: 'tokens',
        click: (event) => {
          const {position} = (event.target as HTMLElement).dataset;
          if ((event.target as HTMLElement).matches('.token')) choose?.(Number(position));
        }
      },
        pieces(record, texts, tip, choose)),
      left > 0 ? h('p', {class: 'aside'}, `${left} tokens more are not shown.`) : null, tip);
}
