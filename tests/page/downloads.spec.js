// Downloads: a chart as SVG, PNG and CSV.
import {readFile} from 'node:fs/promises';

import {bodyOf, expect, figure, open, showTable, showTables, test} from './site.js';

const levels = 'Sinks by first layer and lifetime';

async function download(page, chart, kind) {
  const coming = page.waitForEvent('download');
  await chart.getByRole('button', {name: `as ${kind}`}).click();
  const file = await coming;
  return {name: file.suggestedFilename(), bytes: await readFile(await file.path())};
}

// What a browser makes of an SVG opened on its own: its texts, and the sizes of its coloured shapes.
async function opened(page, svg) {
  return page.evaluate((text) => {
    const parsed = new DOMParser().parseFromString(text, 'image/svg+xml');
    const root = document.body.appendChild(document.importNode(parsed.documentElement, true));
    const shapes = [...root.querySelectorAll('svg path, svg rect')]
                       .map((shape) => shape.getBoundingClientRect())
                       .filter(({width}) => width > 0);
    const texts = [...root.querySelectorAll('text')].map((each) => each.textContent);
    const title = root.querySelector('title').textContent;
    const outside = root.outerHTML.includes('inherit');
    root.remove();
    return {title, texts, outside, shapes: shapes.map(({width, height}) => [width, height])};
  }, svg);
}

const counts = () => bodyOf('/api/v1/runs/demo-a/summary').summary.levels.counts;

test('the CSV of a chart holds its numbers to the last digit', async ({page, site}) => {
  await open(page, `${site}/#/runs/demo-a`);
  const kinds = {SINK_KIND_PRIMARY: 'primary', SINK_KIND_SECONDARY: 'secondary', SINK_KIND_NOISE: 'noise'};
  const chart = figure(page, levels);
  await showTable(chart);
  const {name, bytes} = await download(page, chart, 'CSV');
  expect(name).toBe('demo-a-sinks-by-first-layer-and-lifetime.csv');
  const [head, ...rows] = bytes.toString().trimEnd().split('\r\n');
  expect(head).toBe('l_start,lifetime,kind,count');
  expect(new Set(rows)).toEqual(new Set(counts().map(
      ({lStart, lifetime, kind, count}) => `${lStart},${lifetime},${kinds[kind]},${count}`)));

  const curve = figure(page, 'Attention of primary and secondary sinks');
  await showTable(curve);
  const lines = (await download(page, curve, 'CSV')).bytes.toString().trimEnd().split('\r\n');
  expect(lines[0]).toBe(
      'block,primary,primary lower,primary upper,secondary,secondary lower,secondary upper,rest');
  const {blocks} = bodyOf('/api/v1/runs/demo-a/summary').summary.compensation;
  expect(lines.slice(1).map((line) => line.split(',').map(Number))).toEqual(blocks.map((each, i) => [
    i, each.primary, each.primaryInterval.lower, each.primaryInterval.upper, each.secondary,
    each.secondaryInterval.lower, each.secondaryInterval.upper, each.rest
  ]));
});

test('texts in a CSV are no formulas and hide nothing', async ({page, site}) => {
  await open(page, `${site}/#/runs/demo-a`);
  const chart = figure(page, 'Norm of the states, by layer and position');
  await showTable(chart);
  const text = (await download(page, chart, 'CSV')).bytes.toString();
  const {portrait} = bodyOf('/api/v1/runs/demo-a/records').records[0].record;
  expect(portrait.tokenTexts.slice(9, 12)).toEqual(['=1+1', ' it\u202e', ' "was"']);
  expect(text).toContain(`\r\n0,9,9,'=1+1,${portrait.stateNorms[9]}\r\n`);
  expect(text).toContain(`\r\n0,10,10, it\\u{202e},${portrait.stateNorms[10]}\r\n`);
  expect(text).toContain(`\r\n0,11,11," ""was""",${portrait.stateNorms[11]}\r\n`);
});

for (const scheme of ['light', 'dark']) {
  test(`a chart is downloaded as drawn, in ${scheme}`, async ({page, site}) => {
    await page.emulateMedia({colorScheme: scheme});
    await open(page, `${site}/#/runs/demo-a`);
    const chart = figure(page, levels);
    await showTable(chart);
    const svg = (await download(page, chart, 'SVG')).bytes.toString();
    const seen = await opened(page, svg);
    expect(seen.title).toBe(levels);
    expect(seen.outside, 'no font of the page around it').toBe(false);
    expect(seen.texts).toEqual(
        expect.arrayContaining([levels, 'secondary', 'primary', 'noise', 'first layer', '1.2K']));
    const [width, height] = await chart.locator('.drawing').evaluate(
        (drawing) => [drawing.clientWidth + 24, drawing.clientHeight + 34 + 24 + 12]);
    expect(svg).toContain(`viewBox="0 0 ${width} ${height}"`);

    const {name, bytes} = await download(page, chart, 'PNG');
    expect(name).toBe('demo-a-sinks-by-first-layer-and-lifetime.png');
    expect(bytes.subarray(1, 4).toString()).toBe('PNG');
    expect([bytes.readUInt32BE(16), bytes.readUInt32BE(20)]).toEqual([2 * width, 2 * height]);
    // The ground of the picture is that of the page's cards.
    const ground = await page.evaluate(async (source) => {
      const image = new Image();
      image.src = source;
      await image.decode();
      const canvas = document.createElement('canvas');
      const context = canvas.getContext('2d');
      context.drawImage(image, 0, 0);
      return [...context.getImageData(2, 2, 1, 1).data].slice(0, 3);
    }, `data:image/png;base64,${bytes.toString('base64')}`);
    expect(ground).toEqual(scheme === 'light' ? [255, 255, 255] : [26, 32, 38]);
  });
}

test('every chart has all three', async ({page, site}) => {
  // Browsers hold back a page that saves many files at once, so these are taken before.
  await page.addInitScript(() => {
    globalThis.made = [];
    URL.createObjectURL = (blob) => (globalThis.made.push(blob), 'data:,');
    HTMLAnchorElement.prototype.click = () => {};
  });
  await open(page, `${site}/#/runs/demo-a`);
  await showTables(page);
  const charts = await page.locator('figure.chart').count();
  await page.evaluate(
      () => document.querySelectorAll('.downloads button').forEach((button) => button.click()));
  await page.waitForFunction((files) => globalThis.made.length === files, 3 * charts);
  const files = await page.evaluate(
      () => Promise.all(globalThis.made.map(
          async (blob) => ({type: blob.type, size: blob.size, text: await blob.text()}))));
  const of = (type) => files.filter((file) => file.type === type);
  const titles = await page.locator('figure.chart h3').allTextContents();
  expect(of('image/png').map(({size}) => size > 1000)).toEqual(titles.map(() => true));
  const drawn = [];
  for (const {text} of of('image/svg+xml')) drawn.push(await opened(page, text));
  expect(new Set(drawn.map(({title, texts}) => `${title} ${texts[0]}`)))
      .toEqual(new Set(titles.map((title) => `${title} ${title}`)));
  expect(drawn.map(({shapes}) => shapes.length > 2)).toEqual(titles.map(() => true));
  for (const {text} of of('text/csv')) {
    const rows = text.trimEnd().split('\r\n').map((row) => row.split(','));
    expect(rows.length, text).toBeGreaterThan(1);
    expect(rows[0].length, text).toBeGreaterThan(1);
  }
});
