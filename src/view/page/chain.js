// A chain as text and as a list of stages: both ways, and the controls of the list.
import {byId, make} from './api.js'

// ---- text and list ----

const split = (text, sign) => text === '' ? [] : text.split(sign)

// Stages as they are written; arguments without a name get it from the stage's table, in its order.
export function parse(text, tables) {
  return text.trim() === '' ? [] : text.split(',').map(part => {
    const [name, ...rest] = part.trim().split(':'), table = tables.get(name), args = []
    for (const arg of rest) {
      const at = arg.indexOf('=')
      const free = table && table.params.find(param => !args.some(other => other.name === param.name))
      args.push(at < 0 ? {name: free ? free.name : null, value: arg, bare: true} : {name: arg.slice(0, at), value: arg.slice(at + 1)})
    }
    return {name, args, on: true}
  })
}

export const printStage = stage => [stage.name, ...stage.args.map(arg => arg.bare ? arg.value : arg.name + '=' + arg.value)].join(':')
export const print = stages => stages.filter(stage => stage.on).map(printStage).join(',')

export const valueOf = (stage, name) => stage.args.find(arg => arg.name === name)?.value

// Sets an argument, or takes it away (null). What stood without a name behind it gets its own.
export function setValue(stage, name, value) {
  const at = stage.args.findIndex(arg => arg.name === name)
  if (value === null && at >= 0) {
    stage.args.splice(at, 1)
    stage.args.forEach((arg, index) => { if (index >= at && arg.name) arg.bare = false })
  } else if (at >= 0) {
    stage.args[at].value = value
  } else if (value !== null) {
    stage.args.push({name, value})
  }
}

// ---- sliders ----

// Where a slider begins and ends: the limits, or where these are far away what is near the value that people begin with.
export function slide(param, value, start, white) {
  const reference = Math.abs(Number(param.default ?? start ?? NaN)) || 0
  let low = param.min ?? -Infinity, high = param.max ?? Infinity
  if (!(high - low <= 300)) {
    let near = reference ? 8 * reference : white
    if (near > white && reference < white) near = white
    if (Math.abs(value) > near) near = 2 * Math.abs(value)
    high = Math.min(high, near)
    low = Math.max(low, value < 0 ? -high : 0)
  }
  return {low, high, curve: high - low > 50 && reference && reference < (high - low) / 6 ? 2 : 1, whole: param.type.startsWith('integer') || high - low >= 100}
}
export const fromSlider = (s, at) => {
  const value = s.low + (s.high - s.low) * Math.pow(at / 1000, s.curve)
  if (s.whole) return Math.round(value)
  const digits = Math.max(0, 3 - Math.ceil(Math.log10(s.high - s.low || 1)))
  return Math.max(s.low, Number(value.toFixed(Math.min(6, digits))))
}
export const toSlider = (s, value) => Math.round(1000 * Math.pow(Math.min(1, Math.max(0, (value - s.low) / (s.high - s.low || 1))), 1 / s.curve))

// ---- the list ----

// `told` has: changed(moving), shown(stage or 'source' or null), white().
export class StageList {
  constructor(tables, told) {
    this.tables = tables
    this.told = told
    this.stages = []
    this.open = null  // the stage whose parameters are shown
    this.shown = null // the stage whose own result is shown; 'source'; null: the last one's
    this.wrong = new Set()
    this.times = new Map()
    this.box = byId('stages')
  }

  // From text: stages that are switched off stay where they were.
  take(text) {
    const old = this.stages, fresh = parse(text, this.tables)
    const openAt = old.indexOf(this.open), shownAt = old.indexOf(this.shown)
    old.forEach((stage, index) => { if (!stage.on) fresh.splice(Math.min(index, fresh.length), 0, stage) })
    this.stages = fresh
    this.open = fresh[openAt] || null
    this.shown = this.shown === 'source' ? 'source' : fresh[shownAt] || null
    this.draw()
  }

  // How many stages run for what is shown.
  steps() {
    if (this.shown === 'source') return 0
    const upto = this.shown ? this.stages.indexOf(this.shown) + 1 : this.stages.length
    return this.stages.slice(0, upto).filter(stage => stage.on).length
  }

  add(name) {
    const table = this.tables.get(name), stage = parse(table.start || name, this.tables)[0], size = this.told.size()
    // what has to be given and has no beginning of its own are sizes: half the picture
    for (const param of table.params)
      if (param.required && valueOf(stage, param.name) === undefined) setValue(stage, param.name, String(Math.max(1, (/^h/.test(param.name) ? size.height : size.width) >> 1)))
    const at = this.open ? this.stages.indexOf(this.open) + 1 : this.stages.length
    this.stages.splice(at, 0, stage)
    this.open = stage
    this.shown = null
    this.draw()
    this.focus(stage, '.opener')
    this.told.changed()
  }

  remove(stage) {
    const at = this.stages.indexOf(stage)
    this.stages.splice(at, 1)
    if (this.open === stage) this.open = null
    if (this.shown === stage) this.shown = null
    this.draw()
    const next = this.stages[Math.min(at, this.stages.length - 1)]
    if (next) this.focus(next, '.opener')
    else byId('add').focus()
    this.told.changed()
  }

  move(stage, to) {
    const at = this.stages.indexOf(stage)
    if (to < 0 || to >= this.stages.length || to === at) return
    this.stages.splice(at, 1)
    this.stages.splice(to, 0, stage)
    this.draw()
    this.told.changed()
  }

  focus(stage, what) {
    this.element(stage)?.querySelector(what)?.focus()
  }

  element(stage) {
    return this.box.children[this.stages.indexOf(stage) + 1]
  }

  show(what) {
    this.shown = what
    for (const dot of this.box.querySelectorAll('.dot')) dot.checked = dot.what === what
    this.told.shown()
  }

  dot(what, label) {
    return make('input', {type: 'radio', class: 'dot', name: 'shown', '.what': what, '.checked': this.shown === what, 'aria-label': label, title: label,
      onchange: () => this.show(what)})
  }

  draw() {
    byId('starts').hidden = this.stages.length > 0
    if (this.shown && this.shown !== 'source' && !this.stages.includes(this.shown)) this.shown = null
    const ends = (what, label, hint) => {
      const dot = this.dot(what, hint)
      dot.id = 'dot-' + (what || 'result')
      return make('li', {}, dot, make('div', {class: 'end'}, make('label', {for: dot.id}, label)))
    }
    this.box.replaceChildren(ends('source', 'Picture', 'Show the picture as it is in the file'), ...this.stages.map(stage => this.drawStage(stage)),
      ends(null, 'Result', 'Show what comes out at the end'))
    this.drawTimes()
  }

  drawStage(stage) {
    const table = this.tables.get(stage.name), opened = this.open === stage
    const number = this.stages.indexOf(stage) + 1, label = stage.name || 'a stage'
    const button = (sign, text, click, key) => make('button', {class: 'icon tool', 'aria-label': text + ' ' + label, title: text + (key ? ' (' + key + ')' : ''), onclick: click}, sign)
    const grip = make('span', {class: 'grip', title: 'Drag to move', 'aria-hidden': 'true'}, '⋮⋮')
    const opener = make('button', {class: 'opener', 'aria-expanded': opened, title: table ? table.summary : 'no stage of this name',
      onclick: () => { this.open = opened ? null : stage; this.draw(); this.focus(stage, '.opener') },
      onkeydown: event => this.key(event, stage)},
    make('span', {class: 'name'}, label), make('span', {class: 'args'}, stage.args.map(arg => arg.bare ? arg.value : arg.name + '=' + arg.value).join(' ')), make('span', {class: 'took'}))
    const card = make('div', {class: 'card' + (opened ? ' open' : '') + (stage.on ? '' : ' off') + (!table || this.wrong.has(stage) ? ' wrong' : '')},
      make('div', {class: 'bar'}, grip, opener,
        button('↑', 'Move up', () => { this.move(stage, number - 2); this.focus(stage, '.opener') }, 'Alt+↑'),
        button('↓', 'Move down', () => { this.move(stage, number); this.focus(stage, '.opener') }, 'Alt+↓'),
        button('✕', 'Remove', () => this.remove(stage), 'Del'),
        make('input', {type: 'checkbox', role: 'switch', class: 'switch', '.checked': stage.on, 'aria-label': 'Use ' + label, title: stage.on ? 'Switch off' : 'Switch on',
          onchange: event => { stage.on = event.target.checked; this.draw(); this.focus(stage, '.switch'); this.told.changed() }})))
    if (opened && table) card.append(this.drawParams(stage, table))
    this.drag(grip, card, stage)
    return make('li', {'data-stage': stage.name}, this.dot(stage, 'Show what comes out of ' + label), card)
  }

  key(event, stage) {
    const at = this.stages.indexOf(stage)
    if (event.altKey && (event.key === 'ArrowUp' || event.key === 'ArrowDown')) this.move(stage, at + (event.key === 'ArrowUp' ? -1 : 1))
    else if (event.key === 'Delete' || event.key === 'Backspace') return void this.remove(stage)
    else if (event.key === 'ArrowUp' || event.key === 'ArrowDown') return void (event.preventDefault(), this.stages[at + (event.key === 'ArrowUp' ? -1 : 1)] && this.focus(this.stages[at + (event.key === 'ArrowUp' ? -1 : 1)], '.opener'))
    else return
    event.preventDefault()
    this.focus(stage, '.opener')
  }

  drag(grip, card, stage) {
    grip.addEventListener('pointerdown', event => {
      event.preventDefault()
      grip.setPointerCapture(event.pointerId)
      card.classList.add('dragged')
      const from = event.clientY
      let to = this.stages.indexOf(stage)
      const moved = e => {
        card.style.transform = 'translateY(' + (e.clientY - from) + 'px)'
        const middles = this.stages.map(other => { const r = this.element(other).querySelector('.bar').getBoundingClientRect(); return r.top + r.height / 2 })
        const at = this.stages.indexOf(stage)
        to = middles.filter((middle, index) => index !== at && middle < e.clientY).length
      }
      const ended = () => {
        card.classList.remove('dragged')
        card.style.transform = ''
        grip.removeEventListener('pointermove', moved)
        this.move(stage, to)
      }
      grip.addEventListener('pointermove', moved)
      grip.addEventListener('pointerup', ended, {once: true})
      grip.addEventListener('pointercancel', ended, {once: true})
    })
  }

  // Which stages stand at a mistake.
  drawWrong(errors) {
    let at = 0
    this.wrong.clear()
    for (const stage of this.stages) {
      if (stage.on) {
        const end = at + printStage(stage).length
        if (errors.some(error => error.position >= at && error.position <= end)) this.wrong.add(stage)
        at = end + 1
      }
      this.element(stage)?.querySelector('.card').classList.toggle('wrong', this.wrong.has(stage) || !this.tables.has(stage.name))
    }
  }

  // Which stages take how long; what one kernel does together stands at its last stage.
  drawTimes() {
    for (const stage of this.stages) {
      const took = this.element(stage)?.querySelector('.took')
      if (took) took.textContent = this.times.get(stage) || ''
    }
  }

  // ---- parameters ----

  drawParams(stage, table) {
    return make('div', {class: 'params'}, make('p', {class: 'summary'}, table.summary), ...table.params.map(param => this.drawParam(stage, table, param)))
  }

  drawParam(stage, table, param) {
    const given = valueOf(stage, param.name), value = given ?? param.default, start = valueOf(parse(table.start || table.name, this.tables)[0], param.name)
    const id = 'p' + this.stages.indexOf(stage) + '-' + param.name
    const set = (text, moving, redraw) => {
      setValue(stage, param.name, text)
      const card = this.element(stage)
      card.querySelector('.args').textContent = stage.args.map(arg => arg.bare ? arg.value : arg.name + '=' + arg.value).join(' ')
      if (redraw) { this.draw(); byId(id)?.focus() } else card.querySelector('[data-param="' + param.name + '"]').classList.toggle('unset', text === null)
      this.told.changed(moving)
    }
    const reset = param.required ? null : make('button', {class: 'icon reset', title: 'As if it were not given', 'aria-label': 'Reset ' + param.name,
      onclick: () => set(null, false, true)}, '↺')
    return make('div', {class: 'param' + (given === undefined ? ' unset' : ''), 'data-param': param.name},
      make('div', {class: 'line'}, make('label', {class: 'what', for: id}, param.name), reset),
      this.control(stage, param, value, start, id, set),
      make('p', {class: 'help', id: id + '-help'}, param.help))
  }

  control(stage, param, value, start, id, set) {
    const words = param.words || param.choices || [], about = {id, 'aria-describedby': id + '-help'}
    const isNumber = text => text !== undefined && text !== null && text !== '' && isFinite(Number(text))
    if (param.type === 'flag')
      return make('div', {class: 'controls one'}, make('input', {...about, type: 'checkbox', role: 'switch', class: 'switch', '.checked': value === '1', onchange: event => set(event.target.checked ? '1' : '0')}))
    if (param.type === 'choice') {
      const list = words.includes(value) || value === undefined || value === null ? words : [value, ...words]
      return make('div', {class: 'controls one'}, make('select', {...about, onchange: event => set(event.target.value || null)},
        value === undefined || value === null ? make('option', {value: ''}, '–') : null, ...list.map(word => make('option', {'.selected': word === value}, word))))
    }
    if (param.type === 'matrix') return this.matrix(stage, param, value, about, set, words)
    if (param.type === 'number' || param.type.startsWith('integer') || param.type === 'number or choice') {
      const box = make('div', {class: 'controls'})
      if (words.length) {
        box.classList.add('one')
        const pick = make('select', {...(isNumber(value) ? {'aria-label': param.name + ': a word or a number'} : about), onchange: event => set(event.target.value === '#' ? String(start && isNumber(start) ? start : Math.round(this.told.white() / 2)) : event.target.value, false, true)},
          make('option', {value: '#', '.selected': isNumber(value)}, 'a number'), ...words.map(word => make('option', {'.selected': word === value}, word)))
        box.append(pick)
        if (!isNumber(value)) return box
      }
      const inner = words.length ? make('div', {class: 'controls'}) : box
      if (value === undefined || value === null || isNumber(value)) {
        const s = slide(param, Number(value ?? 0), start, this.told.white())
        const entry = make('input', {type: 'number', step: s.whole ? 1 : 'any', min: param.min, max: param.max, '.value': value ?? '', placeholder: '–', 'aria-label': param.name + ' as a number', 'aria-describedby': id + '-help'})
        const range = make('input', {...about, type: 'range', min: 0, max: 1000, '.value': toSlider(s, Number(value ?? s.low)), 'aria-valuetext': String(value ?? 'not given')})
        range.addEventListener('input', () => { const v = String(fromSlider(s, Number(range.value))); entry.value = v; range.setAttribute('aria-valuetext', v); set(v, true) })
        range.addEventListener('change', () => set(String(fromSlider(s, Number(range.value)))))
        range.addEventListener('keydown', event => { // one step of what is meant, where that is more than one of the slider
          const way = {ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1}[event.key]
          if (!way || !s.whole || s.high - s.low > 1000) return
          event.preventDefault()
          const v = Math.min(s.high, Math.max(s.low, Math.round(Number(entry.value || s.low)) + way))
          range.value = toSlider(s, v)
          entry.value = v
          range.setAttribute('aria-valuetext', v)
          set(String(v))
        })
        entry.addEventListener('input', () => { if (entry.value !== '') { range.value = toSlider(s, Number(entry.value)); set(entry.value) } })
        entry.addEventListener('change', () => { if (entry.value === '' && !param.required) set(null, false, true) })
        inner.append(range, entry)
      } else {
        inner.classList.add('one')
        inner.append(make('input', {...about, type: 'text', '.value': value, onchange: event => set(event.target.value || null)}))
      }
      if (words.length) box.append(inner)
      return box
    }
    const list = words.length ? make('datalist', {id: id + '-list'}, ...words.map(word => make('option', {value: word}))) : null
    return make('div', {class: 'controls one'}, make('input', {...about, type: 'text', list: list ? id + '-list' : null, '.value': value ?? '', placeholder: param.default ?? '–', spellcheck: 'false',
      oninput: event => { if (event.target.value !== '') set(event.target.value) }, onchange: event => { if (event.target.value === '' && !param.required) set(null) }}), list)
  }

  // A named matrix, or a table of numbers.
  matrix(stage, param, value, about, set, words) {
    const named = words.includes(value) || /^@/.test(value || '') || value === undefined || value === null
    const box = make('div', {class: 'controls one'})
    const beginning = '0_0_0/0_1_0/0_0_0'
    if (words.length || named)
      box.append(make('select', {...(named ? about : {'aria-label': param.name + ': a name or numbers'}), onchange: event => set(event.target.value === '#' ? beginning : event.target.value, false, true)},
        make('option', {value: '#', '.selected': !named}, 'numbers'), ...[...words, ...(named && value && !words.includes(value) ? [value] : [])].map(word => make('option', {'.selected': word === value}, word))))
    if (named) return box
    const rows = value.split('/').map(row => row.split('_')), columns = Math.max(...rows.map(row => row.length))
    const read = () => [...table.children].map(entry => entry.value || '0').reduce((all, text, index) => all + (index === 0 ? '' : index % columns ? '_' : '/') + text, '')
    const table = make('div', {class: 'matrix'}, ...rows.flatMap((row, y) => Array.from({length: columns}, (_, x) => make('input', {...(x + y === 0 ? about : {}), type: 'text', inputmode: 'decimal', '.value': row[x] ?? '0',
      'aria-label': 'row ' + (y + 1) + ', column ' + (x + 1), oninput: event => { if (isFinite(Number(event.target.value)) && event.target.value.trim() !== '') set(read()) }}))))
    table.style.gridTemplateColumns = 'repeat(' + columns + ', 1fr)'
    const resize = by => {
      const side = Math.min(63, Math.max(1, Math.max(columns, rows.length) + by)), shift = by / 2, now = read().split('/').map(row => row.split('_'))
      set(Array.from({length: side}, (_, y) => Array.from({length: side}, (_, x) => now[y - shift]?.[x - shift] ?? '0').join('_')).join('/'), false, true)
    }
    box.append(table, words.length ? make('div', {class: 'matrix-size'}, columns + ' × ' + rows.length, make('button', {class: 'icon', 'aria-label': 'Smaller', onclick: () => resize(-2)}, '−'), make('button', {class: 'icon', 'aria-label': 'Larger', onclick: () => resize(2)}, '+')) : '')
    return box
  }
}

// ---- adding a stage ----

export function palette(tables, list) {
  const button = byId('add'), box = byId('palette'), find = byId('find'), found = byId('found')
  let at = 0
  const names = () => [...found.children].map(item => item.dataset.name)
  function fill() {
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean)
    const fit = [...tables.values()].filter(table => words.every(word => (table.name + ' ' + table.summary).toLowerCase().includes(word)))
    fit.sort((a, b) => (b.name.startsWith(words[0] || '\0') ? 1 : 0) - (a.name.startsWith(words[0] || '\0') ? 1 : 0))
    found.replaceChildren(...fit.map(table => make('li', {role: 'option', 'data-name': table.name, id: 'add-' + table.name, onclick: () => add(table.name)}, make('b', {}, table.name), make('small', {}, table.summary))))
    select(0)
  }
  function select(to) {
    at = Math.min(Math.max(to, 0), found.children.length - 1);
    [...found.children].forEach((item, index) => item.setAttribute('aria-selected', index === at))
    found.children[at]?.scrollIntoView({block: 'nearest'})
    if (found.children[at]) find.setAttribute('aria-activedescendant', found.children[at].id)
  }
  function show(open) {
    box.hidden = !open
    button.setAttribute('aria-expanded', open)
    if (open) { find.value = ''; fill(); find.focus(); box.scrollIntoView({block: 'nearest'}) }
  }
  function add(name) { show(false); list.add(name) }
  button.addEventListener('click', () => show(box.hidden))
  find.addEventListener('input', fill)
  find.addEventListener('keydown', event => {
    if (event.key === 'ArrowDown') select(at + 1)
    else if (event.key === 'ArrowUp') select(at - 1)
    else if (event.key === 'Enter' && names()[at]) add(names()[at])
    else if (event.key === 'Escape') { show(false); button.focus() }
    else return
    event.preventDefault()
  })
  return () => show(true)
}

// ---- the text, with its mistakes ----

// A place in bytes of UTF-8 as one of the text.
const place = (text, byte) => new TextDecoder().decode(new TextEncoder().encode(text).slice(0, byte)).length

export function mark(text, errors) {
  const marks = byId('marks'), parts = []
  let at = 0
  for (const error of errors.filter(e => e.position >= 0).sort((a, b) => a.position - b.position)) {
    const begin = Math.max(at, place(text, error.position)), end = Math.max(begin, place(text, error.position + Math.max(1, error.length)))
    parts.push(text.slice(at, begin), make('mark', {}, text.slice(begin, end) || ' '))
    at = end
  }
  marks.replaceChildren(...parts, text.slice(at) + '\n')
  byId('text').setAttribute('aria-invalid', errors.length > 0)
  byId('mistakes').replaceChildren(...errors.map(error => make('li', {}, make('button', {title: error.detail, onclick: () => {
    if (error.position < 0) return
    byId('text').focus()
    byId('text').setSelectionRange(place(text, error.position), place(text, error.position + error.length))
  }}, error.detail))))
}
