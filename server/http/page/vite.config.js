// Builds source/ into one index.html that asks the network for nothing but the JSON API.
import {defineConfig} from 'vite';

const inline = () => ({
  name: 'inline',
  enforce: 'post',
  generateBundle(_options, bundle) {
    const page = bundle['index.html'];
    const take = (name) => {
      const {code, source} = bundle[name.replace(/^\.?\//, '')];
      delete bundle[name.replace(/^\.?\//, '')];
      return code ?? source;
    };
    page.source = page.source
                      .replace(
                          /<link rel="stylesheet"[^>]*href="([^"]+)"[^>]*>/,
                          (_match, name) => `<style>${take(name)}</style>`)
                      .replace(
                          /<script type="module"[^>]*src="([^"]+)"[^>]*><\/script>/,
                          (_match, name) => `<script type="module">${
                              take(name).replaceAll('</script', '<\\/script')}</script>`);
    const left = Object.keys(bundle).filter((name) => name !== 'index.html');
    if (left.length > 0) this.error(`not inlined: ${left.join(', ')}`);
  },
});

export default defineConfig({
  base: './',
  plugins: [inline()],
  build: {
    target: 'es2022',
    assetsInlineLimit: Number.MAX_SAFE_INTEGER,
    cssCodeSplit: false,
    modulePreload: false,
    chunkSizeWarningLimit: 2000,
    rollupOptions: {output: {inlineDynamicImports: true}},
  },
});
