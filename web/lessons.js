// Ten lessons, as data: each one screen with a sentence, a formula, something to do, and a question that is answered before
// the answer is shown. `link` is what the address of the scene has behind its # (docs/live.md), `dials` are those shown.
'use strict';
globalThis.verve = globalThis.verve || {};

verve.lessons = [
  {
    id: 'damping', title: 'What damping is',
    sentence: 'Damping takes energy out of a wobble on purpose, the same share in equal times, and leaves the flight and the ' +
              'rotation of the body alone.',
    formula: '<i>H</i>(<i>t</i>) − <i>K</i> = (<i>H</i>(0) − <i>K</i>) · 2<sup>−<i>t</i>/<i>t</i><sub>½</sub></sup>',
    legend: 'H total energy, K energy of the rigid motion, t½ half-life',
    link: 'scene=cube&methods=cpd&half_life=1', dials: ['half_life', 'energy'],
    task: 'Watch the curve of H fall. Then set <b>Half-life</b> to 0.3 s, press <kbd>R</kbd> and compare.',
    question: 'How much of the wobble’s energy is left after three half-lives?',
    choices: ['an eighth', 'a third', 'nothing'], right: 0,
    answer: 'Half of a half of a half: an eighth. A wobble that is damped like this never ends, it only becomes too small to ' +
            'see. The cube goes on spinning: K is not damped.'
  },
  {
    id: 'steps', title: 'Springs and time steps',
    sentence: 'A computer moves a body in small steps of time; an explicit step that is too long for the stiffest spring throws ' +
              'every vertex farther than it came.',
    formula: '<i>h</i> &lt; 2 ∕ <i>ω</i>, &ensp; <i>ω</i> = √(<i>k</i> ∕ <i>m</i>)',
    legend: 'h time step, ω frequency of the stiffest spring k with its mass m',
    link: 'scene=cube_rest&methods=symplectic_euler,cpd&step=0.01', dials: ['step', 'stiffness'],
    task: 'Raise <b>Time step</b> from 10 to 20 ms and look at the left cube. Set it back and press <kbd>R</kbd>.',
    question: 'The springs become four times as stiff. How long may the step be now?',
    choices: ['as long as before', 'half as long', 'a quarter as long'], right: 1,
    answer: 'Half: ω grows as the root of k. That is why stiff bodies are stepped implicitly: the cube on the right solves for ' +
            'the end of each step and takes any step.'
  },
  {
    id: 'pbd', title: 'PBD and its iterations',
    sentence: 'Position Based Dynamics moves vertices until every spring has its length again, one spring after the other; how ' +
              'stiff that is depends on how often it goes round.',
    formula: 'Δ<i>x</i> = − <i>s</i> <i>C</i>(<i>x</i>) ∇<i>C</i>, &ensp; <i>C</i> = |<i>x</i><sub>1</sub> − <i>x</i><sub>2</sub>| − <i>ℓ</i>',
    legend: 'C how far a spring is off, ℓ its length at rest, s its share',
    link: 'scene=chain&methods=pbd&iterations=2&stiffness=0.2', dials: ['iterations'],
    task: 'Raise <b>Iterations</b> from 2 to 50 and watch how long the chain hangs.',
    question: 'Where did you set the stiffness of the chain?',
    choices: ['with the material', 'with gravity', 'with the iterations'], right: 2,
    answer: 'With the iterations: the same springs, solved more often, became stiffer. With PBD stiffness is a matter of ' +
            'patience, and a finer mesh is softer.'
  },
  {
    id: 'xpbd', title: 'XPBD',
    sentence: 'Extended PBD remembers the force of each spring, so that enough iterations lead to the stiffness of the material ' +
              'and no further.',
    formula: 'Δ<i>λ</i> = (−<i>C</i> − <i>α̃</i> <i>λ</i>) ∕ (∇<i>C</i> <i>M</i><sup>−1</sup> ∇<i>C</i><sup>T</sup> + <i>α̃</i>), &ensp; <i>α̃</i> = 1 ∕ (<i>k</i> <i>h</i>²)',
    legend: 'λ force of a spring times h², k its stiffness, h time step',
    link: 'scene=chain&methods=pbd,xpbd&iterations=60&stiffness=0.1', dials: ['iterations', 'stiffness'],
    task: 'With 60 iterations the left chain is a rod, the right one hangs as long as its springs say. Set ' +
          '<b>Stiffness</b> to 1.',
    question: 'Which chain answers to the stiffness of the material?',
    choices: ['XPBD', 'PBD', 'both'], right: 0,
    answer: 'XPBD. But look at the badges: both lose energy in every step. The right stiffness is not yet the right motion.'
  },
  {
    id: 'pd', title: 'Projective Dynamics',
    sentence: 'Every element says alone where it would like to be, then one linear solve with a matrix that never changes finds ' +
              'the positions that please all of them best.',
    formula: 'min<sub><i>x</i></sub> &ensp; ½ ‖<i>x</i> − <i>y</i>‖²<sub><i>M</i>∕<i>h</i>²</sub> + Σ ½ <i>w</i> ‖<i>A x</i> − <i>p</i>‖²',
    legend: 'y where the body would fly by itself, p what an element wants (local step)',
    link: 'scene=cube_rest&methods=pd&iterations=1&look=strain', dials: ['iterations', 'stiffness'],
    task: 'Colours show stretch. Press <kbd>R</kbd> with 1 iteration and with 10. Then press <kbd>H</kbd> for the numbers of one step.',
    question: 'Why is each iteration so fast?',
    choices: ['it skips elements', 'the matrix is factored once', 'it uses short steps'], right: 1,
    answer: 'The matrix holds masses, stiffness and the time step, but no positions. It is factored once; an iteration is a ' +
            'local step in parallel and two triangular solves.'
  },
  {
    id: 'loss', title: 'Why energy dies',
    sentence: 'An implicit Euler step looks at the forces where it ends, so every swing arrives a little smaller than it left: ' +
              'damping that nobody asked for.',
    formula: '<i>a</i><sub><i>n</i>+1</sub> ∕ <i>a</i><sub><i>n</i></sub> = 1 ∕ √(1 + (<i>ω h</i>)²)',
    legend: 'a amplitude of a swing of frequency ω, h time step',
    link: 'scene=cube_rest&methods=pd,cpd', dials: ['step', 'stiffness'],
    task: 'Read the badge of PD after one second. Set <b>Time step</b> to 8 ms, press <kbd>R</kbd> and read it again.',
    question: 'Which swings does it kill first?',
    choices: ['the slow ones', 'all alike', 'the fast ones'], right: 2,
    answer: 'The fast ones: ωh is larger. What is left looks like a body under water. Shorter steps help, and cost as much ' +
            'more as they are shorter.'
  },
  {
    id: 'cpd', title: 'CPD and its dials',
    sentence: 'Constrained PD asks each step for more than a good shape: momentum, angular momentum and energy must be what the ' +
              'ledger says, and so they become dials.',
    formula: '<i>P</i>(<i>x</i>) = <i>P</i>*, &ensp; <i>L</i>(<i>x</i>) = <i>L</i>*, &ensp; <i>H</i>(<i>x</i>) = <i>H</i>*',
    legend: 'three constraints with their multipliers λ, seven numbers in all',
    link: 'scene=bear&methods=cpd,pd', dials: ['energy', 'momentum', 'spin'],
    task: 'Drag a bear and throw it. Then press <b>×2</b> beside Energy.',
    question: 'A bear at rest far from everything gets twice its energy. Does it fly away?',
    choices: ['no, it wobbles', 'yes, faster', 'it depends'], right: 0,
    answer: 'It wobbles. P is held too, and a body without momentum stays where it is, whatever its energy. Energy, momentum ' +
            'and rotation are three different dials.'
  },
  {
    id: 'racket', title: 'The turn of the tennis racket',
    sentence: 'A body that spins about its middle axis of inertia turns over again and again, though nothing touches it.',
    formula: '<i>I</i><sub>1</sub> &lt; <i>I</i><sub>2</sub> &lt; <i>I</i><sub>3</sub>: &ensp; rotation about <i>I</i><sub>2</sub> is unstable',
    legend: 'I moments of inertia about the three principal axes',
    link: 'scene=t_pipe_intermediate&methods=cpd,pd', dials: ['spin', 'half_life'],
    task: 'Wait for the first turn. Look at |L| while it happens.',
    question: 'While it turns over, what does |L| do?',
    choices: ['it changes sign', 'it stays the same', 'it falls to zero'], right: 1,
    answer: 'It stays the same, and so does its direction: the body turns over around a vector that stands still in space. ' +
            'A method that loses energy ends this: what is left is the slowest rotation with that L.'
  },
  {
    id: 'contact', title: 'Contact and restitution',
    sentence: 'A bounce gives back the speed of the approach times the restitution; what an elastic body does not give back at ' +
              'once is in its wobble.',
    formula: '<i>v</i>′ = <i>e</i> <i>v</i>, &ensp; <i>h</i>′ = <i>e</i>² <i>h</i>',
    legend: 'v speed, h height of the bounce, e restitution',
    link: 'scene=ball&methods=cpd,pd&accounts=on', dials: ['gravity', 'half_life', 'friction'],
    task: 'Follow the stacked accounts through a bounce: kinetic, elastic, contact and back.',
    question: 'The left ball (e = 1) comes up lower than it started. Where is the rest?',
    choices: ['lost in the impact', 'in the floor', 'in its wobble'], right: 2,
    answer: 'In its wobble: H is flat all the time. A later bounce may give it back as height. By PD on the right the ball ' +
            'lies still: there the rest is gone.'
  },
  {
    id: 'truth', title: 'What is not exact',
    sentence: 'Holding P, L and H does not make a motion right: energy can still move from the swing that should have it into ' +
              'others that should not.',
    formula: '<i>H</i> = Σ<sub>modes</sub> <i>H</i><sub><i>i</i></sub> &ensp; is held, &ensp; each <i>H</i><sub><i>i</i></sub> is not',
    legend: 'Hᵢ energy of one way to vibrate',
    link: 'scene=cube&methods=cpd,cpd_euler&accounts=on', dials: ['step'],
    task: 'Both keep 100 %. Watch the accounts for ten seconds: where does energy still go to and fro between kinetic and elastic?',
    question: 'How can you tell how wrong a motion is?',
    choices: ['by its energy', 'beside fine steps', 'not at all'], right: 1,
    answer: 'Beside the same scene in steps so short that the method no longer matters. The right cube has all of its energy, ' +
            'but hardly any in its pulsation. <code>verve truth</code> measures that for every method.'
  }
];
