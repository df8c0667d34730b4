// What stands beside the picture: its histogram, and what the chain costs.
import {askJson, byId, bytes, make, milliseconds} from './api.js'
import {extremes, isInteger, mapping, tell} from './picture.js'

const BINS = 256, MOST = 1 << 20 // samples that are counted

// Counts of what is seen of a side, between the ends of its mapping: an array for each colour.
function count(side, seen, [low, high]) {
  const layer = side.part || side.whole
  if (!layer) return null
  const head = layer.head, channels = head.plane.channels, colours = channels > 2 ? 3 : 1
  const left = Math.max(0, Math.floor((seen.x - head.x) / head.every)), top = Math.max(0, Math.floor((seen.y - head.y) / head.every))
  const right = Math.min(head.columns, Math.ceil((seen.x + seen.width - head.x) / head.every)), bottom = Math.min(head.rows, Math.ceil((seen.y + seen.height - head.y) / head.every))
  if (right <= left || bottom <= top) return null
  const skip = Math.max(1, Math.ceil((right - left) * (bottom - top) / MOST)), counts = Array.from({length: colours}, () => new Uint32Array(BINS))
  const factor = head.plane.type === 'u8' && low === 0 && high === 255 ? 1 : (BINS - 1e-9) / (high - low || 1)
  for (let y = top; y < bottom; y += skip)
    for (let x = left, at = (y * head.columns + left) * channels; x < right; x++, at += channels)
      for (let k = 0; k < colours; k++) {
        const bin = Math.floor((layer.samples[at + k] - low) * factor)
        counts[k][bin < 0 ? 0 : bin >= BINS ? BINS - 1 : bin | 0]++
      }
  return counts
}

export function drawHistogram(picture) {
  const canvas = byId('histogram'), context = canvas.getContext('2d'), {width, height} = canvas, after = picture.after
  context.clearRect(0, 0, width, height)
  byId('least').textContent = byId('most').textContent = ''
  if (!after.plane || (!after.whole && !after.part)) return
  const style = getComputedStyle(document.documentElement), ends = picture.map(after), seen = picture.visible()
  const counts = count(after, seen, ends)
  if (!counts) return
  byId('least').textContent = tell(ends[0], after.plane.type)
  byId('most').textContent = tell(ends[1], after.plane.type)
  // Square roots, so that a few bins that have nearly all leave the others visible.
  const highest = Math.sqrt(Math.max(...counts.map(bins => Math.max(...bins)))) || 1
  const line = bins => {
    context.beginPath()
    context.moveTo(0, height)
    bins.forEach((n, bin) => {
      const y = height - Math.sqrt(n) / highest * (height - 4)
      context.lineTo(bin * width / BINS, y)
      context.lineTo((bin + 1) * width / BINS, y)
    })
    context.lineTo(width, height)
  }
  const colours = counts.length > 1 ? ['#e03131', '#2f9e44', '#1c7ed6'] : [style.getPropertyValue('--accent')]
  context.globalCompositeOperation = 'source-over'
  counts.forEach((bins, k) => {
    context.globalAlpha = counts.length > 1 ? 0.5 : 0.75
    context.fillStyle = colours[k]
    line(bins)
    context.fill()
  })
  context.globalAlpha = 1
  canvas.setAttribute('aria-label', 'Histogram of what is seen, ' + tell(ends[0], after.plane.type) + ' to ' + tell(ends[1], after.plane.type))
}

const row = (list, name, value) => list.append(make('dt', {}, name), make('dd', {}, value))

export function drawCost(head, device) {
  const most = Math.max(...head.times.map(time => time.ms), 1e-9)
  byId('times').replaceChildren(...head.times.map(time => {
    const bar = make('i')
    bar.style.width = 100 * time.ms / most + '%'
    return make('li', {title: time.launches + (time.launches === 1 ? ' launch' : ' launches')}, bar, make('span', {}, time.stage.split('+').join(' + ')), make('span', {}, milliseconds(time.ms)))
  }))
  const list = byId('figures')
  list.replaceChildren()
  row(list, 'Whole chain', milliseconds(head.total_ms) + (head.part ? ' (what is seen)' : ''))
  row(list, 'Device', device)
  row(list, 'Launches', String(head.launches))
  row(list, 'Moved', bytes(head.bytes_moved))
  row(list, 'Copied', bytes(head.bytes_copied))
  row(list, 'Memory', bytes(head.peak_bytes))
  if (head.decode_ms) row(list, 'Decoded in', milliseconds(head.decode_ms))
  if (head.stored_luma) row(list, 'Taken', 'the file’s own Y')
  if (head.reduced > 1) row(list, 'Decoded at', '1/' + head.reduced + ' of its sides')
  if (head.warning) row(list, 'Warning', head.warning)
}

// What the chain would cost on a board that is not there.
export async function drawBoard(file, chain, board) {
  const box = byId('board-cost')
  if (!board) return box.replaceChildren()
  let plan
  try {
    plan = await askJson('plan', {file, chain, board})
  } catch (problem) {
    return box.replaceChildren(make('p', {class: 'quiet'}, problem.message))
  }
  if (byId('board').value !== board) return
  const passes = plan.steps.flatMap(step => step.passes.map(pass => ({...pass, stage: step.stage})))
  const most = Math.max(...passes.map(pass => pass.bound.seconds), 1e-12)
  box.replaceChildren(
    make('ul', {class: 'bars'}, ...passes.map(pass => {
      const bar = make('i')
      bar.style.width = 100 * pass.bound.seconds / most + '%'
      return make('li', {title: pass.kernel + ', bound by ' + pass.bound.by}, bar, make('span', {}, pass.stage + ' '), make('span', {}, (pass.bound.unit ? '≥ ' : '? ') + milliseconds(pass.bound.seconds * 1000) + ' · ' + pass.bound.by))
    })),
    make('p', {class: 'quiet'}, plan.board.seconds === null ? 'Cycles of one of these kernels have not been counted.'
      : 'At least ' + milliseconds(plan.board.seconds * 1000) + ' on ' + plan.board.label + ' (' + plan.board.gpu + '), ' + plan.launches + (plan.launches === 1 ? ' launch, ' : ' launches, ') + bytes(plan.bytes_moved) + ' moved, ' + bytes(plan.peak_bytes) + ' of memory.'))
}

// What a plane is, and how its samples are shown.
export function describe(picture) {
  const side = picture.mode === 'before' && picture.before.plane ? picture.before : picture.after, plane = side.plane || picture.before.plane
  if (!plane) return ''
  const colours = ['', 'grey', 'grey and alpha', 'RGB', 'RGBA'][plane.channels]
  const [low, high] = side.seen ? (side === picture.after ? picture.map(side) : mapping(plane, side.seen, false)) : [0, 255]
  const plain = plane.type === 'u8' && low === 0 && high === 255
  return plane.width + ' × ' + plane.height + ' · ' + colours + ' · ' + plane.type + (plain ? '' : ', ' + tell(low, plane.type) + ' … ' + tell(high, plane.type) + ' shown as black … white')
    + ' · ' + (picture.scale * 100 >= 10 ? Math.round(picture.scale * 100) : (picture.scale * 100).toFixed(1)) + ' %'
}

export const valueText = picture => {
  const place = picture.place
  if (!place) return '\u00a0'
  const value = (side, same) => {
    const found = side.plane && same && side.at(place.x, place.y)
    return found ? (found.every > 1 ? '≈ ' : '') + found.values.map(v => tell(v, side.plane.type)).join(' ') : '–'
  }
  return place.x + ', ' + place.y + '   ' + value(picture.before, picture.same()) + '  →  ' + value(picture.after, true)
}

export {extremes, isInteger}
