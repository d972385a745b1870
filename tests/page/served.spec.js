// The page as a real sinkd serves it, of runs that it holds: SINKD_PAGE_SERVED is a file with the
// server's address and, of each run, what was planted in it (served_test.py).
import {readFileSync} from 'node:fs';

import {cellsOf, expect, figure, marks, open, seriousFaults, settled, showTable, test} from './site.js';

const served = JSON.parse(readFileSync(process.env.SINKD_PAGE_SERVED, 'utf8'));
const levels = 'Sinks by first layer and lifetime';

// [first layer, lifetime, secondary, primary, noise] of every cell, in order.
function plantedRows(run) {
  const cells = new Map();
  for (const [start, lifetime, kind, count] of served.levels[run]) {
    const key = `${start} ${lifetime}`;
    const cell = cells.get(key) ?? {start, lifetime, secondary: 0, primary: 0, noise: 0};
    cell[kind] += count;
    cells.set(key, cell);
  }
  return [...cells.values()]
      .sort((a, b) => a.start - b.start || a.lifetime - b.lifetime)
      .map(({start, lifetime, secondary, primary, noise}) =>
               [start, lifetime, secondary, primary, noise].map(String));
}

for (const run of ['published', 'full']) {
  test(`the levels of run ${run} are those that were planted`, async ({page}) => {
    await open(page, `${served.site}/#/runs/${run}`);
    const chart = figure(page, levels);
    const rows = plantedRows(run);
    expect(rows.length).toBeGreaterThan(5);
    await expect.poll(() => marks(chart)).toHaveLength(rows.length);
    await showTable(chart);
    expect((await cellsOf(chart)).map((row) => row.slice(0, 5))).toEqual(rows);
  });
}

test('every view works on what the server answers, and axe finds no serious fault',
     async ({page}) => {
       for (const view of ['#/runs', '#/runs/full', '#/runs/empty-00', '#/models',
                           `#/models/${served.model}`, '#/compare?a=full&b=published',
                           '#/groups?grouping=RUN', '#/groups',
                           '#/audit?policy=smoke&candidate=full']) {
         await open(page, `${served.site}/${view}`);
         await expect(page.getByRole('alert'), view).toHaveCount(0);
         expect(await seriousFaults(page), view).toEqual([]);
       }
     });

test('what differs within a group is listed', async ({page}) => {
  await open(page, `${served.site}/#/groups`);
  await expect(page.getByRole('row', {name: /^scores|scores/}).first()).toContainText('not asked for');
});

test('an audit of the server is shown rule by rule', async ({page}) => {
  await open(page, `${served.site}/#/audit?policy=release-gate&candidate=full&baseline=full`);
  await expect(page.getByRole('table', {name: 'Rules'}).locator('tbody tr')).toHaveCount(16);
  await open(page, `${served.site}/#/compare?a=full&b=full`);
  const moved = page.getByRole('table', {name: 'Differences by test'})
                    .locator('tr', {hasText: 'whose primary sink moved'});
  await expect(moved).toContainText('0');
});

test('a text is tried, and its sinks are those that were planted', async ({page}) => {
  const {text, positions, sinks} = served.tried;
  expect(sinks.length).toBeGreaterThan(2);
  await open(page, `${served.site}/#/try`);
  await page.getByLabel('Text', {exact: true}).fill(text);
  await page.getByRole('button', {name: 'Run'}).click();
  await expect(page.getByText('Done.')).toBeVisible({timeout: 30_000});
  await settled(page);
  await expect(page.locator('.facts div', {hasText: /^tokens/}).locator('dd'))
      .toHaveText(String(positions));
  const rows = await cellsOf(page.getByRole('table', {name: 'Sinks of this sample'}));
  expect(rows.slice(1).map(([position, , ...level]) => [position, ...level.slice(0, 3)]))
      .toEqual(sinks.map((sink) => sink.map(String)));
  await page.locator(`.sink[data-position="${sinks[0][0]}"]`).click();
  const grid = page.locator('figure.chart').filter({hasText: `at position ${sinks[0][0]} gets`});
  await expect(grid.locator('.hint')).toContainText('Largest in block');
  await expect(figure(page, 'Attention of each sink, block by block')).toBeVisible();
  expect(await seriousFaults(page)).toEqual([]);

  await page.getByRole('radio', {name: 'a chat'}).check();
  await page.getByLabel('Content').fill(text);
  await page.getByRole('button', {name: 'Run'}).click();
  await expect(page.getByText('Done.')).toBeVisible({timeout: 30_000});
  await expect(page.locator('.tokens')).toContainText('<|assistant|>');
});

test('a sample is drawn with its text and norms', async ({page}) => {
  await open(page, `${served.site}/#/runs/full`);
  await expect(page.getByText(`${served.positions} tokens; primary sink's window`)).toBeVisible();
});

test('runs are paged through by the server\'s tokens', async ({page}) => {
  await open(page, `${served.site}/#/runs`);
  await expect(page.getByRole('row')).toHaveCount(1 + 25);
  await page.getByRole('link', {name: 'Older'}).click();
  await expect(page.getByRole('row')).toHaveCount(1 + served.runs - 25);
});
