// What one takes away of a chart: its drawing as SVG or PNG, with heading and legend, and its
// numbers as CSV.
import type {ChartSpec} from './chart';
import {csvText} from './csv';
import {h} from './dom';
import {echarts, type EChartsOption} from './engine';
import {currentRoute} from './route';
import {palette, type Palette} from './theme';

const kSvg = 'http://www.w3.org/2000/svg';
const kFont = 'system-ui, Noto Sans, Liberation Sans, sans-serif';
const kMargin = 12;
const kHeading = 34;
const kLegend = 24;
const kPixels = 2;  // of a PNG, for each of the screen

function node(name: string, attributes: Record<string, string|number>, text = ''): SVGElement {
  const element = document.createElementNS(kSvg, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  element.textContent = text;
  return element;
}

// The drawing alone, made anew: the one on the page may be a canvas.
function drawing(option: EChartsOption, width: number, height: number): Element {
  const chart = echarts.init(null, null, {renderer: 'svg', ssr: true, width, height});
  chart.setOption(option);
  // XML has no place for these.
  const text = chart.renderToSVGString().replace(/[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, '');
  chart.dispose();
  return document.importNode(
      new DOMParser().parseFromString(text, 'image/svg+xml').documentElement, true);
}

function legendOf(spec: ChartSpec, colours: Palette): SVGElement {
  const group = node('g', {});
  let x = kMargin;
  for (const [kind, text] of spec.legend ?? []) {
    const [name] = kind.split(' ') as [keyof Palette];
    group.append(
        node('rect', {x, y: kHeading, width: 11, height: 11, rx: 3, fill: String(colours[name])}),
        node('text', {x: x + 16, y: kHeading + 10, 'font-size': 12, fill: colours.text}, text));
    x += 16 + 7 * text.length + 18;
  }
  return group;
}

export type OptionOf = (colours: Palette, width: number, font: string) => EChartsOption;

function svgOf(spec: ChartSpec, option: OptionOf, width: number, height: number): SVGElement {
  const colours = palette();
  const top = kHeading + (spec.legend ? kLegend : 0);
  const [wide, high] = [width + 2 * kMargin, height + top + kMargin];
  const inner = drawing(option(colours, width, kFont), width, height);
  inner.setAttribute('x', String(kMargin));
  inner.setAttribute('y', String(top));
  const outer = node('svg', {
    width: wide,
    height: high,
    viewBox: `0 0 ${wide} ${high}`,
    role: 'img',
    'font-family': kFont
  });
  outer.append(
      node('title', {}, spec.title), node('desc', {}, spec.label),
      node('rect', {width: wide, height: high, fill: colours.surface}),
      node(
          'text', {x: kMargin, y: 24, 'font-size': 15, 'font-weight': 650, fill: colours.text},
          spec.title),
      legendOf(spec, colours), inner);
  return outer;
}

async function pngOf(svg: SVGElement, text: string): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = document.createElement('canvas');
  canvas.width = kPixels * Number(svg.getAttribute('width'));
  canvas.height = kPixels * Number(svg.getAttribute('height'));
  canvas.getContext('2d')!.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => blob ? resolve(blob) : reject(new Error('no PNG was made')));
  });
}

function fileName(title: string, ending: string): string {
  const words = [...currentRoute().path.slice(1), title].join(' ').toLowerCase();
  return `${words.replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '')}.${ending}`;
}

function save(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  h('a', {href: url, download: name}).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

// Buttons; `size` is that of the drawing on the page.
export function downloads(
    spec: ChartSpec, option: OptionOf, size: () => [number, number]): HTMLElement {
  const make: Record<string, () => Promise<Blob>> = {
    SVG: async () => new Blob(
        [new XMLSerializer().serializeToString(svgOf(spec, option, ...size()))],
        {type: 'image/svg+xml'}),
    PNG: async () => {
      const svg = svgOf(spec, option, ...size());
      return pngOf(svg, new XMLSerializer().serializeToString(svg));
    },
    CSV: async () => new Blob([csvText(spec.csv())], {type: 'text/csv'}),
  };
  const said = h('span', {role: 'status'});
  const give = async (kind: string) => {
    try {
      save(await make[kind]!(), fileName(spec.title, kind.toLowerCase()));
      said.textContent = '';
    } catch (error) {
      said.textContent = `This browser could not make the ${kind}: ${String(error)}`;
    }
  };
  return h(
      'p', {class: 'downloads'}, 'Download ',
      Object.keys(make).map(
          (kind) =>
              h('button', {
                type: 'button',
                'aria-label': `Download ${spec.title} as ${kind}`,
                click: () => void give(kind)
              },
                kind)),
      said);
}
