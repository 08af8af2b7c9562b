// Lessons on the page: a card in the panel, a list to choose from, and sheets to print.
'use strict';
globalThis.verve = globalThis.verve || {};

(function (verve) {
  const {element} = verve, LETTERS = 'ABC';

  function choices(place, lesson, chosen) {
    const group = element('div', 'choices', place);
    group.setAttribute('role', 'group');
    group.setAttribute('aria-label', lesson.question);
    return lesson.choices.map((text, i) => {
      const button = element('button', 'choice', group);
      element('kbd', '', button).textContent = i + 1;
      button.append(text);
      button.setAttribute('aria-keyshortcuts', String(i + 1));
      button.addEventListener('click', () => chosen(i));
      return button;
    });
  }

  /**
   * `place` is the section of the panel. Returns {open(id), close(), answer(i), current}; `live` has panel, send and
   * share. A lesson that is opened sends its link, unless the address has a scene of its own.
   */
  function makeLessons(live, place, list, dialog) {
    const {lessons} = verve;
    let buttons = [];

    function go(id) {
      location.hash = id ? `lesson=${id}` : `scene=${encodeURIComponent(live.scene.name)}`;
    }

    function show(lesson) {
      const index = lessons.indexOf(lesson);
      place.textContent = '';
      const head = element('div', 'lesson-head', place);
      element('span', 'lesson-number', head).textContent = `Lesson ${index + 1} of ${lessons.length}`;
      const steps = element('span', 'lesson-steps', head);
      for (const [label, text, to] of [['The lesson before', '‹', lessons[index - 1]], ['The next lesson', '›', lessons[index + 1]]]) {
        const button = element('button', 'icon', steps);
        button.textContent = text;
        button.setAttribute('aria-label', label);
        button.disabled = !to;
        if (to) button.addEventListener('click', () => go(to.id));
      }
      const close = element('button', 'icon', steps);
      close.textContent = '✕';
      close.setAttribute('aria-label', 'Leave the lesson');
      close.addEventListener('click', () => go(null));
      element('h2', 'lesson-title', place).textContent = lesson.title;
      element('p', 'lesson-sentence', place).innerHTML = lesson.sentence;
      element('p', 'formula', place).innerHTML = lesson.formula;
      element('p', 'muted', place).textContent = lesson.legend;
      const task = element('p', 'lesson-task', place);
      task.innerHTML = lesson.task;
      element('p', 'lesson-question', place).textContent = lesson.question;
      const answer = element('p', 'lesson-answer', place);
      answer.setAttribute('role', 'status');
      buttons = choices(place, lesson, choose);
      place.append(answer);
      if (live.docs) {
        const more = element('a', 'lesson-docs muted', place);
        Object.assign(more, {href: `${live.docs}lessons/${lesson.id}.html`, textContent: 'This lesson in the documentation', target: '_top'});
      }
      live.answered = null;
    }

    function choose(i) {
      const {lesson} = live, answer = place.querySelector('.lesson-answer');
      if (!lesson || i >= lesson.choices.length) return;
      live.answered = i;
      buttons.forEach((button, k) => {
        button.dataset.state = k === lesson.right ? 'right' : k === i ? 'wrong' : '';
        button.setAttribute('aria-pressed', String(k === i));
      });
      answer.innerHTML = `<b>${i === lesson.right ? 'Yes.' : `No: ${lesson.choices[lesson.right]}.`}</b> ${lesson.answer}`;
    }

    function open(id, scene) {
      const lesson = lessons.find(l => l.id === id) || null, same = live.lesson === lesson;
      live.lesson = lesson;
      document.body.classList.toggle('in-lesson', Boolean(lesson));
      place.hidden = !lesson;
      live.panel.only(lesson ? lesson.dials : null);
      if (!lesson) return false;
      if (!same) {
        show(lesson);
        live.setDrawer(true);
      }
      if (!scene) {
        const wanted = new URLSearchParams(lesson.link);
        live.setLooks({strain: (wanted.get('look') || '').includes('strain'), wireframe: false});
        live.setAccounts(wanted.get('accounts') === 'on');
        live.share.source = {scene: wanted.get('scene')};
        const {play} = live.wanted;
        live.send({type: 'open', link: lesson.link + (play ? `&play=${play}` : '')});
      }
      return true;
    }

    lessons.forEach((lesson, i) => {
      const button = element('button', 'lesson-item', element('li', '', list));
      element('b', '', button).textContent = `${i + 1}. ${lesson.title}`;
      element('span', 'sentence', button).innerHTML = lesson.sentence;
      button.dataset.lesson = lesson.id;
      button.addEventListener('click', () => {
        dialog.close();
        go(lesson.id);
      });
    });

    return {open, choose, go};
  }

  /** A page for each lesson and one of answers, for paper. */
  function buildSheets(place) {
    place.textContent = '';
    for (const [i, lesson] of verve.lessons.entries()) {
      const sheet = element('article', 'sheet', place);
      element('p', 'sheet-head', sheet).textContent = `Verve · Lesson ${i + 1} · #lesson=${lesson.id}`;
      element('h2', '', sheet).textContent = lesson.title;
      element('p', '', sheet).innerHTML = lesson.sentence;
      element('p', 'formula', sheet).innerHTML = lesson.formula;
      element('p', 'muted', sheet).textContent = lesson.legend;
      element('p', '', sheet).innerHTML = `<b>Do.</b> ${lesson.task}`;
      element('p', '', sheet).textContent = 'What I saw:';
      for (let line = 0; line < 3; ++line) element('div', 'line', sheet);
      element('p', '', sheet).innerHTML = `<b>Question.</b> ${lesson.question}`;
      const list = element('ul', 'boxes', sheet);
      for (const choice of lesson.choices) element('li', '', list).textContent = choice;
      element('p', '', sheet).textContent = 'Because:';
      for (let line = 0; line < 2; ++line) element('div', 'line', sheet);
    }
    const answers = element('article', 'sheet', place);
    element('h2', '', answers).textContent = 'Answers';
    const list = element('ol', '', answers);
    for (const lesson of verve.lessons)
      element('li', '', list).innerHTML = `<b>${LETTERS[lesson.right]}: ${lesson.choices[lesson.right]}.</b> ${lesson.answer}`;
  }

  Object.assign(verve, {makeLessons, buildSheets});
})(globalThis.verve);
