// What the page asks the command, with the token from behind the address's #; and small helpers.
const token = location.hash.slice(1)

// An answer that is no good: `code`, and `errors` with places where a chain is wrong.
export class Problem extends Error {
  constructor(status, body) {
    super(body.detail || 'no answer')
    this.status = status
    this.code = body.code || ''
    this.errors = body.errors || []
  }
}

const url = (path, query) => {
  const given = Object.entries(query || {}).filter(([, value]) => value !== undefined && value !== null)
  return '/api/' + path + (given.length ? '?' + given.map(([name, value]) => name + '=' + encodeURIComponent(value)).join('&') : '')
}

export async function ask(path, query, options = {}) {
  let answer
  try {
    answer = await fetch(url(path, query), {...options, headers: {'Sluice-Token': token}})
  } catch (error) {
    if (error.name === 'AbortError') throw error
    throw new Problem(0, {code: 'gone', detail: 'The command does not answer.'})
  }
  if (answer.ok) return answer
  const text = await answer.text()
  let body
  try { body = JSON.parse(text) } catch { body = {detail: text.trim()} }
  throw new Problem(answer.status, body)
}

export const askJson = async (path, query, options) => (await ask(path, query, options)).json()

// f16 as numbers, since not all browsers have arrays of it.
function Float16(body, at) {
  return Float32Array.from(new Uint16Array(body, at), bits => {
    const size = bits >> 10 & 31, fraction = bits & 1023
    const value = size === 0 ? fraction * 2 ** -24 : size < 31 ? (fraction + 1024) * 2 ** (size - 25) : fraction ? NaN : Infinity
    return bits & 0x8000 ? -value : value
  })
}

const arrays = {f16: Float16, u8: Uint8Array, i8: Int8Array, u16: Uint16Array, i16: Int16Array, i32: Int32Array, f32: Float32Array, f64: Float64Array}

// A part of a picture: what is said of it, and its samples.
export async function askPicture(path, query) {
  const body = await (await ask(path, query)).arrayBuffer()
  const length = new DataView(body).getUint32(0, true)
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(body, 4, length)))
  return {head, samples: new arrays[head.plane.type](body, 4 + length)}
}

// Calls `told` with each line of an answer that does not end; returns when it has ended.
export async function stream(path, told, signal) {
  const reader = (await ask(path, {}, {signal})).body.getReader(), decoder = new TextDecoder()
  let rest = ''
  for (;;) {
    const {done, value} = await reader.read()
    if (done) return
    const lines = (rest + decoder.decode(value, {stream: true})).split('\n')
    rest = lines.pop()
    lines.forEach(told)
  }
}

// An element with attributes, properties (.name) and events (onname), and what is in it.
export function make(tag, attributes, ...children) {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || (value === false && !name.startsWith('aria-') && !name.startsWith('.'))) continue
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value)
    else if (name.startsWith('.')) element[name.slice(1)] = value
    else element.setAttribute(name, value === true && !name.startsWith('aria-') ? '' : value)
  }
  element.append(...children.filter(child => child !== null && child !== undefined))
  return element
}

export const byId = id => document.getElementById(id)

// Buttons of which one is taken: [[value, label, title]…]. Returns what takes another one.
export function choose(box, list, value, changed) {
  const buttons = list.map(([own, label, title]) => make('button', {type: 'button', role: 'radio', title, 'data-value': own, onclick: () => set(own, true)}, label))
  function set(wanted, tell) {
    const any = buttons.some(button => button.dataset.value === wanted)
    buttons.forEach((button, index) => {
      const taken = button.dataset.value === wanted
      button.setAttribute('aria-checked', taken)
      button.tabIndex = taken || (!any && index === 0) ? 0 : -1
    })
    if (tell) changed(wanted)
  }
  box.replaceChildren(...buttons)
  box.addEventListener('keydown', event => {
    const step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[event.key]
    if (!step) return
    event.preventDefault()
    event.stopPropagation()
    const next = buttons[(buttons.indexOf(document.activeElement) + step + buttons.length) % buttons.length]
    next.focus()
    set(next.dataset.value, true)
  })
  set(value)
  return set
}

export const bytes = count => {
  const units = ['B', 'KiB', 'MiB', 'GiB']
  let unit = 0
  while (count >= 1024 && unit < 3) { count /= 1024; unit++ }
  return (unit && count < 100 ? count.toPrecision(2) : Math.round(count)) + ' ' + units[unit]
}

export const milliseconds = ms => ms >= 1000 ? (ms / 1000).toPrecision(3) + ' s' : ms >= 100 ? Math.round(ms) + ' ms' : ms >= 0.01 ? ms.toPrecision(2) + ' ms' : ms > 0 ? Math.max(1, Math.round(ms * 1000)) + ' µs' : '0 ms'
