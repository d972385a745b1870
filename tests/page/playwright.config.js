// Drives the built page in the system's Chromium. page_test.py sets what is tested:
//   SINKD_PAGE          the built index.html
//   SINKD_PAGE_ANSWERS  what the API answers, written by fixtures.py
//   SINKD_PAGE_REPORT   a file that sinkctl report wrote
// and served_test.py SINKD_PAGE_SERVED, for the page of a real server.
import {defineConfig} from '@playwright/test';

const served = process.env.SINKD_PAGE_SERVED;
const chromium = process.env.SINKD_CHROMIUM ?? '/usr/bin/chromium';

export default defineConfig({
  testDir: '.',
  testMatch: served ? 'served.spec.js' : '*.spec.js',
  testIgnore: served ? [] : 'served.spec.js',
  outputDir: process.env.SINKD_PAGE_OUT ?? 'test-results',
  fullyParallel: true,
  workers: 2,
  timeout: 60_000,
  reporter: 'list',
  use: {
    viewport: {width: 1200, height: 900},
    colorScheme: 'light',
    locale: 'en-US',
    timezoneId: 'UTC',
    launchOptions: {
      executablePath: chromium,
      args: [
        '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
        '--disable-background-networking', '--disable-component-update', '--disable-sync'
      ],
    },
  },
});
