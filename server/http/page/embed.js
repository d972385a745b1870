// Turns the built page into a C++ file with its bytes:  node embed.js index.html page_bytes.cc
import {createHash} from 'node:crypto';
import {readFileSync, writeFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {gzipSync} from 'node:zlib';

// The Content-Security-Policy under which the page works: its own script, nothing else.
export function policy(html) {
  const scripts =
      [...html.toString().matchAll(/<script type="module"[^>]*>([\s\S]*?)<\/script>/g)].map(
          ([, script]) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`);
  return `default-src 'none'; script-src ${scripts.join(' ')}; style-src 'unsafe-inline'; ` +
      'img-src data:; connect-src \'self\'; base-uri \'none\'; form-action \'none\'; frame-ancestors \'none\'';
}

function literal(bytes) {
  const lines = [];
  for (let start = 0; start < bytes.length; start += 8192) {
    const line = bytes.subarray(start, start + 8192)
                     .toString('latin1')
                     .replace(
                         /[^ !#->@-[\]-~]/g,
                         (byte) => `\\${byte.charCodeAt(0).toString(8).padStart(3, '0')}`);
    lines.push(`    "${line}"`);
  }
  return lines.join('\n');
}

function source(html) {
  const gzip = gzipSync(html, {level: 9});
  const digest = createHash('sha256').update(html).digest('hex').slice(0, 32);
  return `// Written by embed.js.
#include "server/http/page/page.h"

namespace sinkd {
namespace {

constexpr char kHtml[] =
${literal(html)};

constexpr char kGzip[] =
${literal(gzip)};

constexpr char kPolicy[] =
${literal(Buffer.from(policy(html)))};

}  // namespace

Page BuiltPage() {
  return {.html = {kHtml, sizeof(kHtml) - 1},
          .gzip = {kGzip, sizeof(kGzip) - 1},
          .digest = "${digest}",
          .policy = kPolicy};
}

}  // namespace sinkd
`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(process.argv[3], source(readFileSync(process.argv[2])));
}
