// What the specs share: a server of fixtures, a page that may log no error, and readers of charts.
import {expect, test as base} from '@playwright/test';
import {readFileSync} from 'node:fs';
import {createServer} from 'node:http';
import {createRequire} from 'node:module';

import {policy} from '../../server/http/page/embed.js';

const require = createRequire(import.meta.url);
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const html = readFileSync(process.env.SINKD_PAGE);
export const answers = JSON.parse(readFileSync(process.env.SINKD_PAGE_ANSWERS, 'utf8'));

// The answer whose query is met and asks for most.
export function answerTo(url) {
  const meets = (answer) => answer.path === url.pathname &&
      Object.entries(answer.query).every(([key, value]) => url.searchParams.get(key) === value);
  const size = (answer) => Object.keys(answer.query).length;
  return answers.filter(meets).sort((a, b) => size(b) - size(a))[0] ??
      answers.find((answer) => answer.path === '*');
}

export const bodyOf = (path, query = '') =>
    answerTo(new URL(`http://fixtures${path}${query}`)).body;
export const storeOff = answers.find((answer) => answer.path === 'store off');
export const analysis = answers.find((answer) => answer.path === 'analyze').body;
export const intervals = answers.find((answer) => answer.path === 'intervals').body;

function serve(request, response) {
  const url = new URL(request.url, 'http://fixtures');
  if (url.pathname === '/') {
    response
        .writeHead(
            200,
            {'Content-Type': 'text/html; charset=utf-8', 'Content-Security-Policy': policy(html)})
        .end(html);
    return;
  }
  if (request.method === 'POST') {
    response.writeHead(200, {'Content-Type': 'application/jsonl'});
    // Bytes as they come may end anywhere.
    const lines = Buffer.from(analysis.map((line) => `${JSON.stringify(line)}\n`).join(''));
    for (let start = 0; start < lines.length; start += 777)
      response.write(lines.subarray(start, start + 777));
    response.end();
    return;
  }
  const {status, body} = answerTo(url);
  response.writeHead(status, {'Content-Type': 'application/json'}).end(JSON.stringify(body));
}

export const test = base.extend({
  site: [
    async ({}, use) => {
      const server = createServer(serve);
      await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
      await use(`http://127.0.0.1:${server.address().port}`);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
    {scope: 'worker'}
  ],

  // Errors that a test causes itself are taken from this list by it; the rest fail it.
  errors: [
    async ({page}, use) => {
      const errors = [];
      page.on('console', (message) => {
        if (['error', 'warning'].includes(message.type())) errors.push(message.text());
      });
      page.on('pageerror', (error) => errors.push(String(error)));
      await use(errors);
      expect(errors, 'errors on the console').toEqual([]);
    },
    {auto: true}
  ],
});

// Opens a view and waits until nothing loads any more.
export async function open(page, address) {
  await page.goto(address);
  await settled(page);
}

export async function settled(page) {
  await expect(page.locator('main h1')).toBeVisible();
  await expect(page.getByText(/^Loading .* …$/)).toHaveCount(0);
  await page.waitForFunction(
      () => [...document.querySelectorAll('.drawing')].every((each) => each.childElementCount > 0));
}

export const figure = (page, title) =>
    page.locator('figure.chart', {has: page.getByRole('heading', {name: title, exact: true})});

// The drawn marks of a chart in SVG: shapes that are filled and no text, with their places. The one
// that fills the whole drawing is its background.
export async function marks(chart) {
  return chart.locator('.drawing svg').evaluate((svg) => {
    const whole = svg.getBoundingClientRect();
    return [...svg.querySelectorAll('path, rect, circle')].flatMap((shape) => {
      const fill = getComputedStyle(shape).fill;
      const box = shape.getBoundingClientRect();
      if (shape.closest('defs, clipPath') || fill === 'none' || fill.endsWith(', 0)') ||
          box.width === 0)
        return [];
      if (box.width >= whole.width - 2) return [];
      return [{
        fill,
        x: box.x + box.width / 2,
        y: box.y + box.height / 2,
        width: box.width,
        height: box.height
      }];
    });
  });
}

// Opens a chart's table, which is filled a moment later.
export async function showTable(chart) {
  await chart.locator('summary').click();
  await expect(chart.getByRole('table').locator('tbody tr').first()).toBeVisible();
}

export async function showTables(page) {
  for (const chart of await page.locator('figure.chart').all()) await showTable(chart);
}

// The text of every cell, row by row.
export const cellsOf = (chart) => chart.locator('tbody tr').evaluateAll(
    (all) => all.map((row) => [...row.cells].map((cell) => cell.textContent)));

export async function seriousFaults(page) {
  await page.evaluate(axe);
  const {violations} = await page.evaluate(() => globalThis.axe.run(document, {
    runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
  }));
  return violations.filter(({impact}) => ['serious', 'critical'].includes(impact))
      .map(({id, nodes}) => `${id}: ${nodes.map((node) => node.html.slice(0, 200)).join(' | ')}`);
}

export {expect};
