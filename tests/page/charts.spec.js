// Charts: a mark for every datum, and what hover, keyboard and tables say of it.
import {bodyOf, cellsOf, expect, figure, intervals, marks, open, showTable, test} from './site.js';

const levels = 'Sinks by first layer and lifetime';
const counts = () => bodyOf('/api/v1/runs/demo-a/summary').summary.levels.counts;

const linesOfTip = async (chart) =>
    (await chart.locator('.drawing > div').last().innerText()).split('\n');

async function expectTip(page, chart, mark, lines) {
  await page.mouse.move(mark.x, mark.y);
  await expect.poll(() => linesOfTip(chart)).toEqual(lines);
}

test('the level histogram has one cell a level', async ({page, site}) => {
  await open(page, `${site}/#/runs/demo-a`);
  const cells = new Set(counts().map(({lStart, lifetime}) => `${lStart} ${lifetime}`));
  expect(cells.size).toBe(10);
  await expect.poll(() => marks(figure(page, levels))).toHaveLength(cells.size);
  for (const [kind, count] of [['secondary', 5], ['primary', 2], ['noise', 4]]) {
    await figure(page, levels).getByRole('radio', {name: new RegExp(`^${kind}`)}).check();
    await expect.poll(() => marks(figure(page, levels)), kind).toHaveLength(count);
    await expect(page).toHaveURL(new RegExp(`kind=${kind}`));
  }
});

test('hovering a cell tells its level, counts and share', async ({page, site}) => {
  await open(page, `${site}/#/runs/demo-a`);
  const chart = figure(page, levels);
  await chart.scrollIntoViewIfNeeded();
  const cells = await marks(chart);
  // The leftmost of the topmost row is (3, 17).
  const first = cells.reduce((best, cell) => cell.x < best.x ? cell : best);
  await expectTip(page, chart, first, [
    'first layer 3, lifetime 17 layers', '41 primary (2.06% of those shown)'
  ]);
  // Cells to the right of it are 9 layers on, and 12 rows down: two kinds share (12, 5).
  const {width, height} = first;
  const both = cells.find(
      (cell) => Math.abs(cell.x - first.x - 9 * width) < width / 2 &&
          Math.abs(cell.y - first.y - 12 * height) < height / 2);
  await expectTip(page, chart, both, [
    'first layer 12, lifetime 5 layers', '1,234 secondary, 6 noise (62.4% of those shown)'
  ]);
});

test('a click on a level keeps that level only, and the address says so', async ({page, site}) => {
  await open(page, `${site}/#/runs/demo-a`);
  const chart = figure(page, levels);
  await chart.scrollIntoViewIfNeeded();
  const cells = await marks(chart);
  const first = cells.reduce((best, cell) => cell.x < best.x ? cell : best);
  await page.mouse.click(first.x + 9 * first.width, first.y + 12 * first.height);
  await expect(page.getByText('Only sinks that start at layer 12 and live 5 layers.'))
      .toBeVisible();
  await expect(figure(page, levels)).toBeVisible();
  await expect.poll(() => marks(figure(page, levels))).toHaveLength(1);
  await expect(page).toHaveURL(/level=12x5/);
  await page.getByRole('button', {name: 'All levels'}).click();
  await expect.poll(() => marks(figure(page, levels))).toHaveLength(10);
});

test('the regression shows every point, the fit and its interval', async ({page, site}) => {
  await open(page, `${site}/#/runs/demo-a`);
  const {regression} = bodyOf('/api/v1/runs/demo-a/summary').summary;
  const chart = figure(page, 'MLP norm and score');
  const drawn = await marks(chart);
  const dots = drawn.filter(({width}) => width < 12);
  expect(dots).toHaveLength(regression.scorePoints.length);
  expect(drawn.length - dots.length, 'the band').toBe(1);
  const [fit] = regression.score.fits;
  const told = (value) => String(Number(value.toPrecision(4)));
  await expect(chart.locator('.hint'))
      .toContainText(`y = ${told(fit.intercept.value)} + ${told(fit.slope.value)} ln x`);
  await expect(chart.locator('.hint'))
      .toContainText(
          `95% interval ${told(fit.slope.lower)} to ${told(fit.slope.upper)}, p < 0.001`);
  await showTable(chart);
  expect((await cellsOf(chart)).map(([x, , ...fitted]) => [x, ...fitted]))
      .toEqual(intervals.map(
          ([x, mean, lower, upper]) => [told(x), told(mean), `${told(lower)} to ${told(upper)}`]));
  await page.getByRole('radio', {name: 'lifetime'}).check();
  await expect(figure(page, 'MLP norm and lifetime')).toBeVisible();
});

test('a fit without points is told, and one that does not exist says why', async ({page, site}) => {
  await open(page, `${site}/#/runs/demo-b`);
  const section = page.getByRole('region', {name: 'Norm against score and lifetime'});
  await expect(section).toContainText('did not ask for the points');
  await expect(section).toContainText('R²');
  await section.getByRole('radio', {name: 'lifetime'}).check();
  await expect(section).toContainText('The fit is undefined: fewer than three points.');
  await expect(section).toContainText('Pearson undefined: no variance in y');
  await expect(page.getByRole('cell', {name: 'undefined: no sink with a score'})).toBeVisible();
});

test('compensation tells the block under the pointer with both intervals', async ({page, site}) => {
  await open(page, `${site}/#/runs/demo-a`);
  const chart = figure(page, 'Attention of primary and secondary sinks');
  await chart.scrollIntoViewIfNeeded();
  const block = bodyOf('/api/v1/runs/demo-a/summary').summary.compensation.blocks[13];
  const drawing = await chart.locator('.drawing').boundingBox();
  const inside = drawing.width - 62 - 18;
  await page.mouse.move(drawing.x + 62 + inside * 13 / 23, drawing.y + drawing.height / 2);
  const told = (value) => String(Number(value.toPrecision(4)));
  await expect.poll(() => linesOfTip(chart)).toEqual([
    'block 13',
    `primary 0.27 (95% interval ${told(block.primaryInterval.lower)} to ${
        told(block.primaryInterval.upper)})`,
    `secondary 0.24 (95% interval ${told(block.secondaryInterval.lower)} to ${
        told(block.secondaryInterval.upper)})`,
    'rest 0.49',
  ]);
  // 3 lines of 24 points and 2 bands.
  const drawn = await marks(chart);
  expect(drawn.filter(({width}) => width < 12)).toHaveLength(3 * 24);
  expect(drawn.filter(({width}) => width > 100)).toHaveLength(2);
});

test(
    'the norms of a sample have a cell a layer and position, and sinks on top',
    async ({page, site}) => {
      await open(page, `${site}/#/runs/demo-a`);
      const chart = figure(page, 'Norm of the states, by layer and position');
      const drawn = await marks(chart);
      expect(drawn.filter(({width}) => width > 20)).toHaveLength(24 * 13);
      expect(drawn.filter(({width}) => width < 14)).toHaveLength(5);
      await chart.locator('.keys').focus();
      await page.keyboard.press('Home');
      await expect(chart.locator('.readout')).toHaveText('layer 0, position 0 “<s>”; norm 5');
      for (let i = 0; i < 12; ++i) await page.keyboard.press('ArrowUp');
      for (let i = 0; i < 3; ++i) await page.keyboard.press('ArrowRight');
      await expect(chart.locator('.readout'))
          .toHaveText('layer 12, position 3 “,”; norm 153; secondary sink here');
    });

test('t-SNE maps and swap grids show what the studies found', async ({page, site}) => {
  await open(page, `${site}/#/runs/demo-a`);
  await expect.poll(() => marks(figure(page, 't-SNE of mlp out, block 12'))).toHaveLength(60);
  const grid = figure(page, 'Sinks suppressed when their own rows are swapped');
  await expect.poll(() => marks(grid)).toHaveLength(5 * 3);
  await expect(grid.locator('.hint')).toHaveText('Largest at block 12, mlp out: 90%.');
  await grid.locator('.keys').focus();
  await page.keyboard.press('End');
  await expect(grid.locator('.readout'))
      .toHaveText('block 12, mlp out; 90% suppressed (95% interval 80% to 100%, 30 sinks)');
  await expect(page.getByText('Partial: 12 of 40 samples were left')).toBeVisible();
  await expect(page.getByText('Decision layer: block 11, seen at mlp out.')).toBeVisible();
});

// planted_runs.py: head h of block b attends (b + h) / 28 to the primary sink.
test('heads are drawn by the number that is chosen', async ({page, site}) => {
  await open(page, `${site}/#/runs/demo-a`);
  const map = figure(page, 'Heads by primary sink');
  await expect(map.locator('.hint')).toContainText('Largest in block 23, head 3: 0.9286.');
  await map.locator('.keys').focus();
  await page.keyboard.press('End');
  await expect(map.locator('.readout')).toHaveText('block 23, head 3; primary sink 0.9286');
  await page.getByRole('radio', {name: 'value share', exact: true}).check();
  await expect(figure(page, 'Heads by value share').locator('.hint'))
      .toContainText('Largest in block 23, head 3: 0.4643.');
  await expect(page.getByText('1: 23.3').first()).toBeVisible();
});

test('every chart has a name and the same numbers as a table', async ({page, site}) => {
  await open(page, `${site}/#/runs/demo-a`);
  const charts = page.locator('figure.chart');
  expect(await charts.count()).toBeGreaterThan(15);
  for (const chart of await charts.all()) {
    await expect(chart).toHaveAttribute('aria-label', /.+\. .+/);
    await showTable(chart);
  }
  const table = figure(page, levels).getByRole('table');
  await expect(table.locator('tbody tr')).toHaveCount(10);
  await expect(table.locator('tbody tr', {hasText: '1,234'})).toHaveText(/^125.*1,234.*6.*62\.4%$/);
});
