// A chart as the page shows it: a figure with a heading, the drawing, a line that tells the mark
// under pointer or keyboard, and the same numbers as a table and to download.
//
// The drawing takes the focus as a whole; arrow keys walk its marks, Home and End go to the first
// and the last, Escape leaves.
import type {Data} from './csv';
import {add, h, newId, type Child} from './dom';
import {echarts, type EChartsOption} from './engine';
import {downloads} from './export';
import {legend} from './kinds';
import {table, type Table} from './table';
import {onThemeChange, palette, type Palette} from './theme';

export interface Mark {
  series: number;
  index: number
}

// How arrow keys move among marks: their places, x to the right and y up.
export interface Walk {
  count: number;
  mark(i: number): Mark;
  place(i: number): [number, number];
}

export interface ChartSpec {
  title: string;
  // One sentence for those who cannot see the drawing.
  label: string;
  // For a drawing so many pixels wide.
  option(colours: Palette, width: number): EChartsOption;
  text(mark: Mark): string;
  walk: Walk;
  table: () => Table;
  csv: () => Data;  // all of it, and to the last digit
  height?: number;
  canvas?: boolean;             // for tens of thousands of marks
  legend?: [string, string][];  // swatch and text
  before?: Child;               // between heading and drawing: choices, which show the swatches
  select?(mark: Mark): void;  // a click, or Enter
}

type Drawing = ReturnType<typeof echarts.init>;

const drawings = new Map < HTMLElement, {
  drawing: Drawing;
  redraw(): void
}
> ();

const resizes = new ResizeObserver((entries) => {
  for (const entry of entries) {
    const found = drawings.get(entry.target as HTMLElement);
    if (!found || found.drawing.getWidth() === entry.target.clientWidth) continue;
    found.drawing.resize();
    found.redraw();
  }
});

onThemeChange(() => drawings.forEach((each) => each.redraw()));

// Frees drawings whose elements have left the page.
export function sweepCharts(): void {
  for (const [element, {drawing}] of drawings) {
    if (element.isConnected) continue;
    resizes.unobserve(element);
    // A canvas that is drawn in several frames would go on after its end; drawing nothing stops it.
    drawing.clear();
    drawing.getZr().refreshImmediately();
    drawing.dispose();
    drawings.delete(element);
  }
}

export function walkInOrder(count: number, mark: (i: number) => Mark): Walk {
  return {count, mark, place: (i) => [i, 0]};
}

export function chart(spec: ChartSpec): HTMLElement {
  const heading = newId('chart');
  const drawn =
      h('div', {class: 'drawing', 'aria-hidden': 'true', style: `height:${spec.height ?? 320}px`});
  const readout = h('p', {class: 'readout', 'aria-live': 'polite'});
  const keys =
      h('div', {
        class: 'keys',
        tabindex: 0,
        role: 'group',
        'aria-roledescription': 'chart',
        'aria-labelledby': heading,
        'aria-description': `${spec.label} Arrow keys walk its ${spec.walk.count} marks.`
      },
        drawn);
  const figure =
      h('figure', {class: 'chart', 'aria-label': `${spec.title}. ${spec.label}`},
        h('h3', {id: heading}, spec.title), h('p', {class: 'hint'}, spec.label), spec.before,
        spec.legend && !spec.before ? legend(spec.legend) : null, keys, readout, tableBeside(spec, drawn));
  requestAnimationFrame(() => draw(spec, drawn, keys, readout));
  return figure;
}

function tableBeside(spec: ChartSpec, drawn: HTMLElement): HTMLElement {
  const details = h('details', {}, h('summary', {}, `Table and downloads: ${spec.title}`));
  details.addEventListener('toggle', () => {
    if (!details.open || details.childElementCount > 1) return;
    const size = (): [number, number] => [drawn.clientWidth || 800, drawn.clientHeight];
    const option = (colours: Palette, width: number, font: string) =>
        ({...optionOf(spec, colours, width, font), tooltip: {show: false}});
    add(details, [downloads(spec, option, size), table(spec.table(), spec.title)]);
  });
  return details;
}

function optionOf(
    spec: ChartSpec, colours: Palette, width: number, fontFamily = 'inherit'): EChartsOption {
  return {
    animation: false,
    textStyle: {fontFamily, color: colours.text},
    ...spec.option(colours, width),
  } as EChartsOption;
}

function tooltipText(spec: ChartSpec, parameters: unknown): HTMLElement|string {
  const first = (Array.isArray(parameters) ? parameters[0] : parameters) as {
    seriesIndex?: number;
    dataIndex?: number
  };
  if (first?.dataIndex === undefined) return '';
  return h('span', {}, spec.text({series: first.seriesIndex ?? 0, index: first.dataIndex}));
}

function draw(spec: ChartSpec, drawn: HTMLElement, keys: HTMLElement, readout: HTMLElement): void {
  if (!drawn.isConnected) return;
  const drawing = echarts.init(drawn, null, {renderer: spec.canvas ? 'canvas' : 'svg'});
  const redraw = () => {
    const colours = palette();
    const option = optionOf(spec, colours, drawing.getWidth());
    drawing.setOption(
        {
          ...option,
          tooltip: {
            confine: true,
            transitionDuration: 0,
            backgroundColor: colours.surface,
            borderColor: colours.line,
            textStyle: {color: colours.text, fontSize: 13},
            extraCssText: 'white-space:pre-line;max-width:22rem;overflow-wrap:anywhere',
            ...(option.tooltip as object),
            formatter: (parameters: unknown) => tooltipText(spec, parameters),
          },
        } as EChartsOption,
        true);
  };
  redraw();
  drawings.set(drawn, {drawing, redraw});
  resizes.observe(drawn);
  if (spec.select) {
    drawing.on(
        'click', (event) => spec.select!({series: event.seriesIndex ?? 0, index: event.dataIndex}));
  }
  listen(spec, drawing, keys, readout);
}

function listen(spec: ChartSpec, drawing: Drawing, keys: HTMLElement, readout: HTMLElement): void {
  let at = -1;
  let shown: Mark|undefined;
  const leave = () => {
    if (shown)
      drawing.dispatchAction({type: 'downplay', seriesIndex: shown.series, dataIndex: shown.index});
    drawing.dispatchAction({type: 'hideTip'});
    shown = undefined;
  };
  const show = (i: number) => {
    leave();
    at = i;
    shown = spec.walk.mark(i);
    drawing.dispatchAction({type: 'highlight', seriesIndex: shown.series, dataIndex: shown.index});
    drawing.dispatchAction({type: 'showTip', seriesIndex: shown.series, dataIndex: shown.index});
    readout.textContent = spec.text(shown).replaceAll('\n', '; ');
  };
  keys.addEventListener('keydown', (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || spec.walk.count === 0) return;
    if (event.key === 'Escape')
      leave();
    else if (event.key === 'Enter' && shown && spec.select)
      spec.select(shown);
    else {
      const next = step(spec.walk, at, event.key);
      if (next === undefined) return;
      show(next);
    }
    event.preventDefault();
  });
  keys.addEventListener('blur', leave);
}

const directions: Record<string, [number, number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, 1],
  ArrowDown: [0, -1]
};

// The mark that `key` leads to from mark `from`; -1 is none yet.
function step(walk: Walk, from: number, key: string): number|undefined {
  if (key === 'Home') return 0;
  if (key === 'End') return walk.count - 1;
  const direction = directions[key];
  if (!direction) return undefined;
  if (from < 0) return 0;
  const [x, y] = walk.place(from);
  let best = from;
  let least = Infinity;
  for (let i = 0; i < walk.count; ++i) {
    const [otherX, otherY] = walk.place(i);
    const along = (otherX - x) * direction[0] + (otherY - y) * direction[1];
    const across = Math.abs((otherX - x) * direction[1]) + Math.abs((otherY - y) * direction[0]);
    if (along <= 0 || along + 1000 * across >= least) continue;
    least = along + 1000 * across;
    best = i;
  }
  return best;
}
