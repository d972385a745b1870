// Access: by keyboard, on a narrow screen, in light and dark, and what axe finds.
import {expect, figure, marks, open, seriousFaults, settled, showTables, test} from './site.js';

const views = [
  '#/runs', '#/runs/demo-a', '#/runs/demo-b', '#/runs/nightly-00', '#/compare?a=demo-a&b=demo-b',
  '#/compare', '#/models', '#/models/planted', '#/groups', '#/try',
  '#/audit', '#/audit?policy=smoke&candidate=demo-a'
];

for (const view of views) {
  for (const scheme of ['light', 'dark']) {
    test(`axe finds no serious fault in ${view}, ${scheme}`, async ({page, site}) => {
      await page.emulateMedia({colorScheme: scheme});
      await open(page, `${site}/${view}`);
      await showTables(page);
      expect(await seriousFaults(page)).toEqual([]);
    });
  }

  test(`${view} is no wider than 390 pixels`, async ({page, site}) => {
    await page.setViewportSize({width: 390, height: 844});
    await open(page, `${site}/${view}`);
    await showTables(page);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
    expect(await seriousFaults(page)).toEqual([]);
  });
}

test('a narrow window redraws its charts', async ({page, site}) => {
  await open(page, `${site}/#/runs/demo-a`);
  const chart = figure(page, 'Sinks by first layer and lifetime');
  const wide = (await marks(chart))[0].width;
  await page.setViewportSize({width: 390, height: 844});
  await expect.poll(async () => (await marks(chart))[0].width).toBeLessThan(wide / 2);
  await expect.poll(() => marks(chart)).toHaveLength(10);
});

test('the page is walked by keyboard alone', async ({page, site}) => {
  await open(page, `${site}/#/runs`);
  await page.keyboard.press('Tab');
  await expect(page.getByRole('link', {name: 'Skip to the content'})).toBeFocused();
  for (const name of ['sinkd', 'Runs', 'Models', 'Try', 'Compare', 'Groups', 'Audit']) {
    await page.keyboard.press('Tab');
    await expect(page.getByRole('link', {name, exact: true})).toBeFocused();
  }
  await page.getByRole('link', {name: 'demo-a'}).focus();
  await page.keyboard.press('Enter');
  await settled(page);
  await expect(page.locator('main')).toBeFocused();
  const chart = figure(page, 'Sinks by first layer and lifetime');
  await chart.locator('.keys').focus();
  const readout = chart.locator('.readout');
  await page.keyboard.press('ArrowRight');
  await expect(readout).toHaveText(
      'first layer 3, lifetime 17 layers; 41 primary (2.06% of those shown)');
  await page.keyboard.press('End');
  await expect(readout).toHaveText(
      'first layer 18, lifetime 3 layers; 5 noise (0.252% of those shown)');
  // The tooltip goes where the keys go.
  await expect(chart.locator('.drawing > div').last())
      .toContainText('first layer 18, lifetime 3 layers');
  await page.keyboard.press('Home');
  await page.keyboard.press('ArrowLeft');
  await expect(readout).toContainText('first layer 3, lifetime 17');
});

test('the theme follows the system and the switch, charts with it', async ({page, site}) => {
  const colours = async () => ({
    ground: await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor),
    mark: (await marks(figure(page, 'Sinks by first layer and lifetime')))[0].fill,
  });
  await open(page, `${site}/#/runs/demo-a`);
  const light = await colours();
  await page.emulateMedia({colorScheme: 'dark'});
  await expect.poll(async () => (await colours()).mark).not.toBe(light.mark);
  const dark = await colours();
  expect(dark.ground).not.toBe(light.ground);
  await page.getByLabel('Theme').selectOption('light');
  await expect.poll(colours).toEqual(light);
  await page.reload();
  await settled(page);
  expect(await colours(), 'kept').toEqual(light);
  await page.emulateMedia({colorScheme: 'light'});
  await page.getByLabel('Theme').selectOption('dark');
  await expect.poll(colours).toEqual(dark);
});
