// What the pages of the site take from the scripts of the live page, as JSON: lessons, groups of scenes with their titles,
// where their pictures are, and what methods are called.
import {readFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';

globalThis.verve = {element() {}};
for (const name of ['lessons', 'scenes', 'gallery', 'views'])
  new Function(readFileSync(fileURLToPath(new URL(`../web/${name}.js`, import.meta.url)), 'utf8'))();
const {lessons, thumbnails, sceneGroups, METHOD_NAMES} = globalThis.verve;
console.log(JSON.stringify({lessons, thumbnails, groups: sceneGroups, methods: METHOD_NAMES}));
