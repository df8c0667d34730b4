// The picture before and after: zoom, wipe, place and value, and how samples become colours.
import {byId, make} from './api.js'

// ---- samples and colours ----

const integers = {u8: [0, 255], i8: [-128, 127], u16: [0, 65535], i16: [-32768, 32767]}
export const isInteger = type => !type.startsWith('f')

// Black and white of what is shown. Types of 8 and 16 bits: their range. i32 and floats: from 0 to white, or where samples are
// negative as far below 0 as above. Stretched: the least and the largest sample.
export function mapping(plane, seen, stretched) {
  if (stretched && seen.most > seen.least) return [seen.least, seen.most]
  if (integers[plane.type]) return integers[plane.type]
  const white = isInteger(plane.type) ? Math.max(1, -seen.least, seen.most) : plane.white
  return seen.least < 0 ? [-white, white] : [0, white]
}

export const tell = (number, type) => isInteger(type) ? String(Math.round(number)) : Number.isFinite(number) ? String(Number(number.toPrecision(4))) : String(number)

export function extremes(samples, channels) {
  const colours = channels % 2 ? channels : channels - 1
  let least = Infinity, most = -Infinity
  for (let at = 0; at < samples.length; at += channels)
    for (let k = 0; k < colours; k++) {
      const value = samples[at + k]
      if (value < least) least = value
      if (value > most) most = value
    }
  return {least, most}
}

// A layer's samples as a canvas.
export function paint(layer, [black, white]) {
  const {columns, rows, plane} = layer.head, {samples} = layer, n = columns * rows, channels = plane.channels
  const image = new ImageData(columns, rows), out = new Uint32Array(image.data.buffer)
  const factor = 255 / (white - black)
  const level = value => { const v = (value - black) * factor; return v <= 0 || v !== v ? 0 : v >= 255 ? 255 : Math.round(v) }
  const plain = plane.type === 'u8' && black === 0 && white === 255
  if (channels === 1 && plain) {
    for (let i = 0; i < n; i++) out[i] = 0xff000000 | samples[i] * 0x010101
  } else if (channels === 3 && plain) {
    for (let i = 0, at = 0; i < n; i++, at += 3) out[i] = 0xff000000 | samples[at + 2] << 16 | samples[at + 1] << 8 | samples[at]
  } else {
    const table = integers[plane.type] && n > 4096 ? new Uint8Array(65536) : null, low = integers[plane.type]?.[0]
    if (table) for (let i = 0; i <= integers[plane.type][1] - low; i++) table[i] = level(i + low)
    const get = table ? at => table[samples[at] - low] : at => level(samples[at])
    const alphaScale = 255 / (isInteger(plane.type) ? integers[plane.type]?.[1] || 1 : plane.white)
    for (let i = 0, at = 0; i < n; i++, at += channels) {
      const red = get(at), green = channels > 2 ? get(at + 1) : red, blue = channels > 2 ? get(at + 2) : red
      const alpha = channels % 2 ? 255 : Math.round(samples[at + channels - 1] * alphaScale)
      out[i] = alpha << 24 | blue << 16 | green << 8 | red
    }
  }
  const canvas = document.createElement('canvas')
  canvas.width = columns
  canvas.height = rows
  canvas.getContext('2d', {alpha: channels % 2 === 0}).putImageData(image, 0, 0)
  return canvas
}

// One side: the whole picture, at times coarse, and a finer part over it.
class Side {
  constructor() { this.clear() }
  clear() { this.whole = this.part = this.plane = null }

  take(picture) {
    const layer = {...picture, canvas: null}
    const {head} = picture, all = head.width === head.plane.width && head.height === head.plane.height
    if (this.plane && (this.plane.width !== head.plane.width || this.plane.height !== head.plane.height)) this.clear()
    this.plane = head.plane
    if (all) { this.whole = layer; this.part = null } else this.part = layer
    if (all || !this.seen) this.seen = extremes(picture.samples, head.plane.channels)
  }

  // The sample at a pixel, of the finest layer that has it; null: it is not here.
  at(x, y) {
    for (const layer of [this.part, this.whole]) {
      const head = layer?.head
      if (!head || x < head.x || y < head.y || x >= head.x + head.width || y >= head.y + head.height) continue
      const at = (Math.floor((y - head.y) / head.every) * head.columns + Math.floor((x - head.x) / head.every)) * head.plane.channels
      return {values: Array.from(layer.samples.subarray(at, at + head.plane.channels)), every: head.every}
    }
    return null
  }
}

export class Picture {
  // `told` has: wants(moving) when other pixels are seen, placed() when the place or what is seen has changed.
  constructor(told) {
    this.told = told
    this.before = new Side()
    this.after = new Side()
    this.mode = 'wipe'
    this.zoom = 'fit'
    this.scale = 1
    this.x = this.y = 0 // where the result's corner stands in the frame, in CSS pixels
    this.wipe = 0.5
    this.place = null   // the pixel whose value is told
    this.stretched = false
    this.frame = byId('frame')
    this.canvas = byId('canvas')
    this.listen()
    new ResizeObserver(() => this.resize()).observe(this.frame)
  }

  get size() { return this.after.plane || this.before.plane }

  resize() {
    const ratio = window.devicePixelRatio || 1, {clientWidth, clientHeight} = this.frame
    this.canvas.width = Math.round(clientWidth * ratio)
    this.canvas.height = Math.round(clientHeight * ratio)
    this.settle()
  }

  // ---- zoom and place ----

  // Small pictures by whole numbers: all pixels are as large as each other.
  fitScale() {
    const {clientWidth, clientHeight} = this.frame
    const scale = this.size ? Math.min(clientWidth / this.size.width, clientHeight / this.size.height, 8) : 1
    return scale < 1 ? scale : Math.floor(scale)
  }

  setZoom(zoom) {
    this.zoom = zoom
    if (zoom !== 'fit') this.zoomTo(Number(zoom) / 100)
    else this.settle()
  }

  // Keeps the pixel under a place of the frame where it is; without a place, the middle.
  zoomTo(scale, cx = this.frame.clientWidth / 2, cy = this.frame.clientHeight / 2) {
    const to = Math.min(64, Math.max(Math.min(1, this.fitScale() / 4), scale))
    if (this.place && cx === this.frame.clientWidth / 2 && to >= 8 && this.scale < 8) { // into the place that is told
      this.x = cx - (this.place.x + 0.5) * to
      this.y = cy - (this.place.y + 0.5) * to
    } else {
      this.x = cx - (cx - this.x) * to / this.scale
      this.y = cy - (cy - this.y) * to / this.scale
    }
    this.scale = to
    if (this.zoom === 'fit' || Number(this.zoom) / 100 !== to) this.zoom = [1, 8].includes(to) ? String(to * 100) : null
    this.settle()
  }

  move(dx, dy) {
    if (this.zoom === 'fit') return
    this.x += dx
    this.y += dy
    this.settle()
  }

  settle() {
    if (!this.size) return this.draw()
    const {clientWidth, clientHeight} = this.frame
    if (this.zoom === 'fit') this.scale = this.fitScale()
    const hold = (at, room, length) => length <= room ? (room - length) / 2 : Math.min(room / 2, Math.max(room / 2 - length, at))
    this.x = hold(this.x, clientWidth, this.size.width * this.scale)
    this.y = hold(this.y, clientHeight, this.size.height * this.scale)
    if (this.scale >= 1) { this.x = Math.round(this.x); this.y = Math.round(this.y) }
    this.draw()
    this.told.wants()
  }

  // The pixels that are seen.
  visible() {
    if (!this.size) return null
    const {clientWidth, clientHeight} = this.frame, {width, height} = this.size
    const x = Math.max(0, Math.floor(-this.x / this.scale)), y = Math.max(0, Math.floor(-this.y / this.scale))
    const right = Math.min(width, Math.ceil((clientWidth - this.x) / this.scale)), low = Math.min(height, Math.ceil((clientHeight - this.y) / this.scale))
    return {x, y, width: Math.max(1, right - x), height: Math.max(1, low - y)}
  }

  // So many pixels each way are one on the screen, at least.
  every() { return Math.max(1, Math.floor(1 / (this.scale * (window.devicePixelRatio || 1)))) }

  // ---- drawing ----

  map(side) { return mapping(side.plane, side.seen, this.stretched && side === this.after) }

  draw() {
    cancelAnimationFrame(this.pending)
    this.pending = requestAnimationFrame(() => { this.drawNow(); this.told.placed() })
  }

  drawNow() {
    const context = this.canvas.getContext('2d'), ratio = window.devicePixelRatio || 1
    const {clientWidth, clientHeight} = this.frame
    context.setTransform(ratio, 0, 0, ratio, 0, 0)
    context.clearRect(0, 0, clientWidth, clientHeight)
    byId('empty').hidden = !!this.size
    const both = this.mode === 'wipe' && this.before.whole && this.after.plane
    const at = Math.round(this.wipe * clientWidth)
    for (const id of ['wipe', 'label-before', 'label-after']) byId(id).hidden = !both
    byId('wipe').style.left = at + 'px'
    byId('wipe').setAttribute('aria-valuenow', Math.round(this.wipe * 100))
    if (!this.size) return
    if (this.mode === 'before' || both) this.drawSide(context, this.before, 0, both ? at : clientWidth)
    if (this.mode === 'after' || both || !this.before.whole) this.drawSide(context, this.after, both ? at : 0, clientWidth)
    if (this.scale >= 40) this.drawValues(context)
    else if (this.scale >= 8) this.drawLoupe(context)
  }

  // Where a side's pixels stand: the picture before is fitted into the result's place where the sizes differ.
  placeOf(side) {
    const plane = side.plane, size = this.size
    if (side === this.after || (plane.width === size.width && plane.height === size.height)) return {x: this.x, y: this.y, scale: this.scale}
    const scale = Math.min(size.width / plane.width, size.height / plane.height) * this.scale
    return {x: this.x + (size.width * this.scale - plane.width * scale) / 2, y: this.y + (size.height * this.scale - plane.height * scale) / 2, scale}
  }

  drawSide(context, side, left, right) {
    if (!side.plane || right <= left) return
    const place = this.placeOf(side)
    context.save()
    context.beginPath()
    context.rect(left, 0, right - left, this.frame.clientHeight)
    context.clip()
    if (side.plane.channels % 2 === 0) this.drawBoard(context, place, side.plane)
    for (const layer of [side.whole, side.part]) {
      if (!layer) continue
      const [black, white] = this.map(side)
      if (!layer.canvas || layer.black !== black || layer.white !== white) Object.assign(layer, {canvas: paint(layer, [black, white]), black, white})
      const head = layer.head, scale = place.scale * head.every
      context.imageSmoothingEnabled = scale < 1 || head.every > 1
      context.drawImage(layer.canvas, place.x + head.x * place.scale, place.y + head.y * place.scale, head.columns * scale, head.rows * scale)
    }
    context.restore()
  }

  // What is seen through alpha.
  drawBoard(context, place, plane) {
    const tile = make('canvas', {width: 16, height: 16}), c = tile.getContext('2d')
    c.fillStyle = '#fff'; c.fillRect(0, 0, 16, 16)
    c.fillStyle = '#ccc'; c.fillRect(0, 0, 8, 8); c.fillRect(8, 8, 8, 8)
    context.fillStyle = context.createPattern(tile, 'repeat')
    context.fillRect(place.x, place.y, plane.width * place.scale, plane.height * place.scale)
  }

  drawCell(context, side, px, py, x, y, size) {
    const found = side.at(px, py)
    if (!found || found.every > 1) return
    const [black, white] = this.map(side), type = side.plane.type, values = found.values
    const bright = values.slice(0, 3).reduce((sum, v) => sum + v, 0) / Math.min(3, values.length) > (black + white) / 2
    context.fillStyle = bright ? '#000' : '#fff'
    const lines = values.map(value => tell(value, type)), height = Math.min(12, size / (lines.length + 0.5))
    context.font = (height - 1) + 'px ui-monospace, "DejaVu Sans Mono", monospace'
    lines.forEach((line, k) => context.fillText(line, x + size / 2, y + size / 2 + (k - (lines.length - 1) / 2) * height, size - 2))
  }

  // Values in the pixels themselves.
  drawValues(context) {
    const seen = this.visible(), at = this.wipe * this.frame.clientWidth
    context.textAlign = 'center'
    context.textBaseline = 'middle'
    for (let y = seen.y; y < seen.y + seen.height; y++)
      for (let x = seen.x; x < seen.x + seen.width; x++) {
        const sx = this.x + x * this.scale, before = this.mode === 'before' || (this.mode === 'wipe' && sx + this.scale / 2 < at)
        const side = before && this.same() ? this.before : this.after
        this.drawCell(context, side, x, y, sx, this.y + y * this.scale, this.scale)
      }
  }

  same() { return this.before.plane && this.after.plane && this.before.plane.width === this.after.plane.width && this.before.plane.height === this.after.plane.height }

  // Values around the place, in a corner that is not under it.
  drawLoupe(context) {
    if (!this.place) return
    const side = this.mode === 'before' && this.same() ? this.before : this.after, cell = 34, columns = 7, rows = 5
    const width = columns * cell, height = rows * cell, {clientWidth, clientHeight} = this.frame
    if (!side.plane || clientWidth < width + 20 || clientHeight < height + 20) return
    const under = this.x + this.place.x * this.scale < width + 40 && this.y + this.place.y * this.scale > clientHeight - height - 40
    const left = under ? clientWidth - width - 12 : 12, top = clientHeight - height - 12
    const [black, white] = this.map(side)
    context.save()
    context.shadowColor = 'rgba(0,0,0,.5)'; context.shadowBlur = 10
    context.fillStyle = '#888'; context.fillRect(left - 1, top - 1, width + 2, height + 2)
    context.shadowBlur = 0
    context.textAlign = 'center'
    context.textBaseline = 'middle'
    for (let j = 0; j < rows; j++)
      for (let i = 0; i < columns; i++) {
        const px = this.place.x + i - 3, py = this.place.y + j - 2, found = side.at(px, py), x = left + i * cell, y = top + j * cell
        if (!found) continue
        const shade = found.values.map(v => Math.min(255, Math.max(0, Math.round((v - black) * 255 / (white - black)))))
        context.fillStyle = shade.length > 2 ? 'rgb(' + shade.slice(0, 3) + ')' : 'rgb(' + [shade[0], shade[0], shade[0]] + ')'
        context.fillRect(x, y, cell - 1, cell - 1)
        this.drawCell(context, side, px, py, x, y, cell - 1)
      }
    context.strokeStyle = '#e8590c'; context.lineWidth = 2
    context.strokeRect(left + 3 * cell - 1, top + 2 * cell - 1, cell + 1, cell + 1)
    context.strokeRect(this.x + this.place.x * this.scale - 1, this.y + this.place.y * this.scale - 1, this.scale + 2, this.scale + 2)
    context.restore()
  }

  // ---- pointers and keys ----

  point(event) {
    const box = this.frame.getBoundingClientRect()
    return {x: event.clientX - box.left, y: event.clientY - box.top}
  }

  setPlace(x, y) {
    const size = this.size
    this.place = size && x >= 0 && y >= 0 && x < size.width && y < size.height ? {x: Math.floor(x), y: Math.floor(y)} : null
    if (this.scale >= 8) this.draw()
    else this.told.placed()
  }

  listen() {
    const fingers = new Map(), canvas = this.canvas
    let spread = 0
    canvas.addEventListener('pointerdown', event => {
      canvas.setPointerCapture(event.pointerId)
      fingers.set(event.pointerId, this.point(event))
      spread = 0
    })
    canvas.addEventListener('pointermove', event => {
      const at = this.point(event), old = fingers.get(event.pointerId)
      if (old && fingers.size === 1) this.move(at.x - old.x, at.y - old.y)
      if (old) fingers.set(event.pointerId, at)
      if (fingers.size === 2) {
        const [a, b] = [...fingers.values()], now = Math.hypot(a.x - b.x, a.y - b.y)
        if (spread) this.zoomTo(this.scale * now / spread, (a.x + b.x) / 2, (a.y + b.y) / 2)
        spread = now
      }
      this.setPlace((at.x - this.x) / this.scale, (at.y - this.y) / this.scale)
    })
    for (const end of ['pointerup', 'pointercancel']) canvas.addEventListener(end, event => { fingers.delete(event.pointerId); spread = 0 })
    canvas.addEventListener('wheel', event => {
      event.preventDefault()
      const at = this.point(event)
      this.zoomTo(this.scale * Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), at.x, at.y)
    }, {passive: false})
    canvas.addEventListener('dblclick', event => {
      const at = this.point(event)
      if (this.scale < 1) this.zoomTo(1, at.x, at.y)
      else this.setZoom('fit')
    })
    canvas.addEventListener('keydown', event => this.key(event))
    const wipe = byId('wipe'), setWipe = value => { this.wipe = Math.min(1, Math.max(0, value)); this.draw() }
    wipe.addEventListener('pointerdown', event => wipe.setPointerCapture(event.pointerId))
    wipe.addEventListener('pointermove', event => { if (wipe.hasPointerCapture(event.pointerId)) setWipe(this.point(event).x / this.frame.clientWidth) })
    wipe.addEventListener('keydown', event => {
      const to = {ArrowLeft: this.wipe - 0.02, ArrowRight: this.wipe + 0.02, PageDown: this.wipe - 0.2, PageUp: this.wipe + 0.2, Home: 0, End: 1}[event.key]
      if (to === undefined) return
      event.preventDefault()
      setWipe(to)
    })
  }

  key(event) {
    const way = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]}[event.key]
    if (way && (event.shiftKey || this.zoom === 'fit')) {
      const from = this.place || {x: Math.floor((this.frame.clientWidth / 2 - this.x) / this.scale), y: Math.floor((this.frame.clientHeight / 2 - this.y) / this.scale)}
      this.setPlace(from.x + way[0], from.y + way[1])
    } else if (way) this.move(-40 * way[0], -40 * way[1])
    else if (event.key === '+' || event.key === '=') this.zoomTo(this.scale * 1.5)
    else if (event.key === '-') this.zoomTo(this.scale / 1.5)
    else return
    event.preventDefault()
  }
}
