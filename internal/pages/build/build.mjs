// Makes ../thirdparty: the third-party files of the pages, each compressed, and their licences.
// Run it after a change of versions in package.json: npm ci && npm run build
import { build } from 'esbuild';
import { existsSync, readFileSync, readdirSync, rmSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const here = dirname(fileURLToPath(import.meta.url));
const modules = join(here, 'node_modules');
const thirdparty = join(here, '..', 'thirdparty');

const result = await build({
  absWorkingDir: here,
  entryPoints: { 'graphiql-bundle': 'graphiql.mjs' },
  bundle: true,
  minify: true,
  format: 'iife',
  target: 'es2020',
  define: { 'process.env.NODE_ENV': '"production"' },
  legalComments: 'none', // LICENSES.txt has the whole texts
  outdir: 'out',
  write: false,
  metafile: true,
});

rmSync(thirdparty, { recursive: true, force: true });
mkdirSync(thirdparty, { recursive: true });
for (const file of result.outputFiles) {
  const name = file.path.split(sep).pop();
  put(name, name.endsWith('.css') ? withoutFonts(file.text) : file.text);
}
const swagger = join(modules, 'swagger-ui-dist');
put('swagger-ui.js', withoutSourceMap(readFileSync(join(swagger, 'swagger-ui-bundle.js'), 'utf8')));
put('swagger-ui.css', withoutSourceMap(readFileSync(join(swagger, 'swagger-ui.css'), 'utf8')));
put('LICENSES.txt', licences());

function put(name, text) {
  writeFileSync(join(thirdparty, `${name}.gz`), gzipSync(text, { level: 9 }));
  console.log(name, text.length);
}

// The fonts are two thirds of the style sheet; the pages use those of the system.
function withoutFonts(css) {
  return css.replace(/@font-face\s*\{[^}]*\}/g, '');
}

function withoutSourceMap(text) {
  return text.replace(/\n?(\/\/|\/\*)# sourceMappingURL=.*\s*$/, '\n');
}

// The licence of every package that is in the files above.
function licences() {
  const folders = new Set([swagger]);
  for (const input of Object.keys(result.metafile.inputs)) {
    const found = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input);
    if (found) folders.add(join(here, found[0]));
  }
  return [...folders].sort().map(licence).join('\n');
}

function licence(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const texts = readdirSync(folder)
    .filter((f) => /^(licen[cs]e|notice|copying)|\.LICENSE\.txt$/i.test(f) && !f.endsWith('.map'))
    .filter((f) => existsSync(join(folder, f)))
    .map((f) => readFileSync(join(folder, f), 'utf8').trim());
  return `${'='.repeat(78)}\n${name} ${version} (${license})\n\n${texts.join('\n\n')}\n`;
}
