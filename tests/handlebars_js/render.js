// Renders one JSON line after another with Handlebars.js: {template, data, partials, private, strict, assumeObjects}
// in, {text} or {error} out. The helpers are those of twins.py.
'use strict';

const readline = require('node:readline');
const Handlebars = require('handlebars');

Handlebars.log = () => {};

const shown = (value) => (value === null || value === undefined ? '' : String(value));
const rest = (values) => Array.prototype.slice.call(values, 0, -1);

const helpers = {
  join() {
    return rest(arguments).map(shown).join('-');
  },
  upper() {
    return shown(rest(arguments)[0]).toUpperCase();
  },
  either() {
    const [first, second] = rest(arguments);
    return Handlebars.Utils.isEmpty(first) ? second : first;
  },
  pair() {
    const [first = null, second = null] = rest(arguments);
    return { first, second };
  },
  pairs() {
    const { hash } = arguments[arguments.length - 1];
    return Object.keys(hash).sort().map((key) => `${key}=${shown(hash[key])}`).join(' ');
  },
  safe() {
    return new Handlebars.SafeString(shown(rest(arguments)[0]));
  },
  wrap(options) {
    return `[${options.fn(this)}]`;
  },
  choose(value, options) {
    return Handlebars.Utils.isEmpty(value) ? options.inverse(this) : options.fn(this);
  },
  inside(value, options) {
    return options.fn(value === null ? undefined : value);
  },
  entries(list, options) {
    if (!Array.isArray(list)) return options.inverse(this);
    return list.map((item, index) => options.fn(item, { blockParams: [item, index, 'third'] })).join('|');
  },
  marked(mark, options) {
    const data = Handlebars.createFrame(options.data);
    data.mark = mark;
    return options.fn(this, { data });
  },
  verbatim(options) {
    return `<${options.fn(this)}>`;
  },
};

function render({ template, data, partials, private: own, strict, assumeObjects }) {
  try {
    const compiled = Handlebars.compile(template, { strict, assumeObjects });
    return { text: compiled(data, { partials: { ...partials }, helpers, data: { ...own } }) };
  } catch (error) {
    return { error: String(error.message) };
  }
}

readline
  .createInterface({ input: process.stdin })
  .on('line', (line) => process.stdout.write(`${JSON.stringify(render(JSON.parse(line)))}\n`));
