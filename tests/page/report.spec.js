// The file that sinkctl report writes, opened from disk without a network.
import {pathToFileURL} from 'node:url';

import {expect, figure, marks, open, seriousFaults, settled, test} from './site.js';

const file = String(pathToFileURL(process.env.SINKD_PAGE_REPORT));

const asked = [];

test.beforeEach(async ({context}) => {
  asked.length = 0;
  await context.setOffline(true);
  context.on('request', (request) => {
    if (!/^(file|data|blob):/.test(request.url())) asked.push(request.url());
  });
});

test.afterEach(() => expect(asked, 'asked of the network').toEqual([]));

test('a report shows its runs, their charts and samples from disk', async ({page}) => {
  await open(page, file);
  await expect(page.getByRole('row')).toHaveCount(1 + 2);
  await expect(page.getByText('written by sinkctl')).toBeVisible();
  await page.getByRole('link', {name: 'demo-a', exact: true}).click();
  await settled(page);
  await expect.poll(() => marks(figure(page, 'Sinks by first layer and lifetime')))
      .toHaveLength(10);
  const dots = async () =>
      (await marks(figure(page, 'MLP norm and score'))).filter(({width}) => width < 12);
  await expect.poll(dots).toHaveLength(120);
  await expect.poll(() => marks(figure(page, 't-SNE of mlp out, block 12'))).toHaveLength(60);
  await expect(page.locator('.tokens button')).toHaveCount(5);
  await expect(page.getByRole('table', {
    name: /Tokens that most often/
  })).toContainText('</script>');
  await expect(page.locator('.tokens')).toContainText('<img src=x onerror=alert(1)>');
  await page.getByRole('link', {name: 'planted'}).click();
  await expect(page.getByText('3 tensors are not used')).toBeVisible();
  expect(await seriousFaults(page)).toEqual([]);
});

test('a report of two runs compares them', async ({page}) => {
  await open(page, `${file}#/compare?a=demo-a&b=demo-b`);
  await expect(page.getByRole('row', {
    name: /^secondary sinks 1,831/
  })).toHaveText(/1,831.*1,152.*−679/);
});

test('a report says what it does not hold', async ({page}) => {
  await page.goto(`${file}#/runs/none`);
  await expect(page.getByRole('alert'))
      .toContainText('This report does not hold what the address asks for.');
});
