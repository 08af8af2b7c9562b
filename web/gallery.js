// The gallery: every scene with a picture, a title that says what happens, its method, in groups, with a search.
'use strict';
globalThis.verve = globalThis.verve || {};

(function (verve) {
  const {element} = verve;

  /** Groups in the order of the page; scenes by the names they have in files. */
  const GROUPS = [
    ['First', {
      bear: 'A bear that is pushed and caught', garden: 'A garden in gusts of wind', ball: 'A ball that goes on bouncing',
      bears: 'Two bears collide', t_pipe_intermediate: 'The turn of the tennis racket', cloth: 'A cloth on two corners',
      bin: 'Fifty soft things in a bin'}],
    ['In free flight', {
      cube: 'A cube that pulsates and spins', cube_rest: 'A cube that only pulsates', torus: 'A ring turns hard and spins faster',
      t_pipe_major: 'A rotation that is stable', hippo: 'A crushed hippo springs back', car: 'A soft car is thrown',
      examples: 'Cars that know another pose', matching: 'Four ways back to a shape', free_fall: 'Free fall'}],
    ['Swings and hangs', {
      pendulum: 'A rubber pendulum', chain: 'A chain like a whip', rope: 'Three ropes, string to rod',
      tense_string: 'A weight on a light string', cantilever: 'Four bars of one stiffness', twisting_bar: 'A bar wound up once',
      stiffening: 'A bar that stops giving way', muscles: 'Finger, leaf, artery, heart'}],
    ['Cloth and sheets', {
      trampoline: 'A trampoline that never rests', curtain: 'Curtains with limits', inextensible_cloth: 'A cloth that cannot stretch',
      hung_cloth: 'A sheet of 19 360 springs', woven: 'Warp and weft', panels: 'Sheets that fold at seams',
      fabrics: 'Silk to sheet steel', cylinder: 'Tubes that buckle', flag: 'A flag in the wind', balloon: 'A balloon, blown up'}],
    ['Materials', {
      materials: 'Seven bears of seven materials', volume_mix: 'Cork, rubber, jelly, water', fibres: 'Threads that do not stretch',
      necking: 'What draws in a waist'}],
    ['Contact', {
      lesson_ball: 'One ball by four methods', stack: 'Five boxes stay standing', incline: 'Friction on a slope', crush: 'A block is crushed flat',
      strip: 'A strip over a bar', drape: 'A cloth over a ball', pile: 'Two hundred blocks and stones'}],
    ['Tearing and flow', {flag_torn: 'A flag tears in a storm', tug: 'A block is torn in two', clay: 'Clay keeps a print'}]
  ];
  const TITLES = Object.assign({}, ...GROUPS.map(([, scenes]) => scenes));

  /** What a person calls a scene; those from files by their own names. */
  const sceneTitle = name => TITLES[name] || name.replaceAll('_', ' ');

  function thumbnail(place, name) {
    const {names, columns, width, height} = verve.thumbnails, index = names.indexOf(name);
    if (index < 0) return;
    const rows = Math.ceil(names.length / columns), x = index % columns, y = Math.floor(index / columns);
    place.style.backgroundImage = 'url(thumbnails.webp), linear-gradient(var(--sky-top), var(--sky-bottom))';
    place.style.backgroundSize = `${100 * columns}% ${100 * rows}%, 100% 100%`;
    place.style.backgroundPosition =
        `${columns > 1 ? 100 * x / (columns - 1) : 0}% ${rows > 1 ? 100 * y / (rows - 1) : 0}%, 0 0`;
    place.style.aspectRatio = `${width} / ${height}`;
  }

  /** `list` gets the groups, `search` is a field; `choose(name)` opens a scene. */
  function buildGallery(list, search, empty, scenes, choose) {
    list.textContent = '';
    const known = new Map(scenes.map(scene => [scene.name, scene])), groups = [];
    const others = scenes.filter(scene => !TITLES[scene.name]).map(scene => [scene.name, sceneTitle(scene.name)]);
    for (const [title, entries] of [...GROUPS.map(([t, e]) => [t, Object.entries(e)]), ['More', others]]) {
      const found = entries.filter(([name]) => known.has(name));
      if (!found.length) continue;
      const group = element('section', 'group', list);
      element('h3', '', group).textContent = title;
      const items = element('ul', '', group);
      const cards = found.map(([name, human]) => {
        const {description, method} = known.get(name), item = element('li', '', items);
        const button = element('button', 'scene', item);
        thumbnail(element('span', 'thumbnail', button), name);
        element('b', '', button).textContent = human;
        element('span', 'sentence', button).textContent = description;
        element('span', 'scene-method', button).textContent = `by ${verve.methodName(method)}`;
        button.dataset.scene = name;
        button.addEventListener('click', () => choose(name));
        return {item, words: `${title} ${name} ${human} ${description} ${method}`.toLowerCase().replaceAll('_', ' ')};
      });
      groups.push({group, cards});
    }
    const filter = () => {
      const wanted = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      let count = 0;
      for (const {group, cards} of groups) {
        for (const {item, words} of cards) item.hidden = !wanted.every(word => words.includes(word));
        const left = cards.filter(card => !card.item.hidden).length;
        group.hidden = !left;
        count += left;
      }
      empty.hidden = count > 0;
    };
    search.oninput = filter;
    search.onkeydown = e => {
      if (e.key !== 'Enter') return;
      e.preventDefault();
      const first = list.querySelector('.group:not([hidden]) li:not([hidden]) button');
      if (first) first.click();
    };
    filter();
  }

  Object.assign(verve, {buildGallery, sceneTitle, thumbnail, sceneGroups: GROUPS, galleryNames: () => Object.keys(TITLES)});
})(globalThis.verve);
