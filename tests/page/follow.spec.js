// Long pages list their contents, and a run that is still open is followed.
import {bodyOf, expect, figure, open, seriousFaults, settled, showTable, test} from './site.js';

test('a long page lists its contents, and leads there by keyboard', async ({page, site}) => {
  await open(page, `${site}/#/runs/demo-a`);
  const list = page.getByRole('navigation', {name: 'On this page'});
  await expect(list.getByRole('button')).toHaveText([
    'Levels', 'Scores', 'Norm against score and lifetime', 'Compensation', 'Sink rate',
    'Learned sinks', 'Heads', 'One sample', 'Studies'
  ]);
  await list.getByRole('button', {name: 'Studies'}).press('Enter');
  const heading = page.getByRole('heading', {name: 'Studies'});
  await expect(heading).toBeInViewport();
  await expect(heading).toBeFocused();
  expect(await seriousFaults(page)).toEqual([]);
  await page.setViewportSize({width: 390, height: 844});
  await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  await open(page, `${site}/#/groups`);
  await expect(list, 'short').toHaveCount(0);
});

// What the server answers of demo-b, which the test changes, and how often it is asked.
async function changing(page) {
  const {run} = structuredClone(bodyOf('/api/v1/runs/demo-b'));
  const {summary} = structuredClone(bodyOf('/api/v1/runs/demo-b/summary'));
  const asked = {run: 0, summary: 0};
  await page.route('**/api/v1/runs/demo-b', (route) => {
    asked.run += 1;
    return route.fulfill({json: {run}});
  });
  await page.route('**/api/v1/runs/demo-b/summary', (route) => {
    asked.summary += 1;
    return route.fulfill({json: {group: 'runs/demo-b', summary}});
  });
  return {run, summary, asked};
}

test('an open run is followed until it is complete', async ({page, site, errors}) => {
  await page.clock.install();
  const {run, summary, asked} = await changing(page);
  await open(page, `${site}/#/runs/demo-b`);
  await expect(page.getByText('This run is open')).toBeVisible();
  const fact = (name) => page.locator('.facts').first().locator('div', {hasText: name}).locator('dd');
  await expect(fact(/^samples/)).toHaveText('100');

  // Nothing new: no summary is asked for.
  const look = async () => {
    const before = asked.run;
    await expect(async () => {
      await page.clock.fastForward(5000);
      expect(asked.run).toBeGreaterThan(before);
    }).toPass();
  };
  await look();
  expect(asked.summary).toBe(1);

  run.samples = '150';
  summary.levels.secondaryPer1000Tokens = 77.5;
  await look();
  await expect(fact(/^samples/)).toHaveText('150');
  await expect(page.getByText('77.5', {exact: true})).toBeVisible();
  await settled(page);

  // Who reads a table keeps it.
  await showTable(figure(page, 'Sinks by first layer and lifetime'));
  run.samples = '160';
  summary.levels.secondaryPer1000Tokens = 88.5;
  await look();
  await expect(fact(/^samples/)).toHaveText('160');
  await expect(page.getByText('77.5', {exact: true})).toBeVisible();
  await figure(page, 'Sinks by first layer and lifetime').locator('summary').click();
  await page.locator('main').focus();

  // A server that is away for a moment is asked again.
  await page.route('**/api/v1/runs/demo-b', (route) => {
    asked.run += 1;
    return route.fulfill({status: 503, json: {message: 'draining'}});
  }, {times: 1});
  await look();

  run.samples = '170';
  run.state = 'RUN_STATE_COMPLETE';
  await look();
  await expect(page.getByText('This run has been completed.')).toBeVisible();
  await expect(page.getByText('88.5', {exact: true})).toBeVisible();
  const {run: last} = {...asked};
  await page.clock.fastForward(60_000);
  await settled(page);
  expect(asked.run).toBe(last);
  expect(errors.splice(0).every((error) => error.includes('503'))).toBe(true);
});

test('a run that one leaves is followed no more', async ({page, site}) => {
  await page.clock.install();
  const {asked} = await changing(page);
  await open(page, `${site}/#/runs/demo-b`);
  await page.getByRole('link', {name: 'Models', exact: true}).click();
  await settled(page);
  await page.clock.fastForward(60_000);
  expect(asked.run).toBe(1);
});
