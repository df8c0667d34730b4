// sluice view: what happens when.
import {ask, askJson, askPicture, byId, choose, make, milliseconds, stream} from './api.js'
import {StageList, mark, palette, print} from './chain.js'
import {Picture} from './picture.js'
import {describe, drawBoard, drawCost, drawHistogram, valueText} from './panels.js'
import {note, ways, write} from './take.js'

const notice = text => { byId('notice').hidden = !text; byId('notice').textContent = text || '' }

// The page's stream: as long as it flows, the command is there.
async function live() {
  const leaving = new AbortController() // a page that is only put aside holds nothing
  addEventListener('pagehide', () => leaving.abort(), {once: true})
  addEventListener('pageshow', event => { if (event.persisted) location.reload() })
  try {
    await stream('alive', () => {}, leaving.signal)
  } catch (problem) {
    if (problem.status || problem.name === 'AbortError') return
  }
  notice('sluice view has ended. Start it again, and open the address that it prints.')
}

async function start() {
  let about
  try {
    about = await askJson('start')
  } catch (problem) {
    return notice(problem.status === 401 ? 'The token is missing or wrong: open the address that the command printed, with all that stands behind #.' : problem.message)
  }
  live()
  if (about.mode === 'watch') (await import('./watch.js')).watch(about)
  else tune(about)
}

function tune(about) {
  byId('tune').hidden = false
  const tables = new Map(about.stages.map(stage => [stage.name, stage]))
  const remembered = (() => { try { return JSON.parse(sessionStorage.getItem('sluice')) || {} } catch { return {} } })()
  const state = {file: Math.min(remembered.file || 0, about.files.length - 1), plane: null, way: remembered.way || 'command', good: true, head: null, chain: ''}
  const text = byId('text'), past = [], future = []
  const remember = () => sessionStorage.setItem('sluice', JSON.stringify({file: state.file, way: state.way, chain: text.value, wipe: picture.wipe}))

  const picture = new Picture({wants: () => look(), placed: () => { byId('value').textContent = valueText(picture); byId('about').textContent = describe(picture) }})
  const list = new StageList(tables, {
    changed: moving => { setText(print(list.stages)); if (!moving) keep(); refresh(moving) },
    shown: () => { state.plane = null; refresh() },
    size: () => picture.size || {width: 2, height: 2},
    white: () => ({u16: 65535, f16: picture.before.plane?.white || 255, f32: picture.before.plane?.white || 255, f64: picture.before.plane?.white || 255})[picture.before.plane?.type] || 255,
  })

  // ---- the chain's text ----

  function setText(value) {
    text.value = value
    grow()
    mark(value, [])
  }
  function grow() {
    text.style.height = 'auto'
    text.style.height = text.scrollHeight + 'px'
  }
  // What can be undone: texts of chains.
  function keep() {
    if (past[past.length - 1] !== text.value) { past.push(text.value); future.length = 0 }
    undoable()
    remember()
  }
  function undoable() {
    byId('undo').disabled = past.length < 2
    byId('redo').disabled = future.length === 0
  }
  function go(from, to) {
    if (from === past ? past.length < 2 : !future.length) return
    to.push(from.pop())
    setText(past[past.length - 1])
    list.take(text.value)
    undoable()
    refresh()
  }
  byId('undo').addEventListener('click', () => go(past, future))
  byId('redo').addEventListener('click', () => go(future, past))
  let typing
  text.addEventListener('input', () => {
    text.value = text.value.replace(/[\r\n]+/g, '')
    grow()
    mark(text.value, [])
    list.take(text.value)
    refresh()
    remember()
    clearTimeout(typing)
    typing = setTimeout(keep, 600)
  })
  new ResizeObserver(grow).observe(text.parentElement)
  text.addEventListener('keydown', event => { if (event.key === 'Enter') event.preventDefault() })

  const starts = {Edges: 'luminance,gauss:1.2,sobel', Sharper: 'unsharp:1.5', 'Black and white': 'luminance,threshold:otsu', 'Half the size': 'resize:by=0.5'}
  byId('starts').append(...Object.entries(starts).map(([name, chain]) => make('button', {title: chain, onclick: () => {
    setText(chain)
    list.take(chain)
    keep()
    refresh()
  }}, name)))

  // ---- pictures, one question at a time, of which the last counts ----

  let wanted = null, busy = false, settled
  const LARGE = 4e6 // samples that a whole picture is sent with; of larger ones means, and what is seen in full

  // The chain has changed. `moving`: a slider moves, and another change is near.
  function refresh(moving) {
    clearTimeout(settled)
    if (moving) settled = setTimeout(() => refresh(), 250)
    want({changed: true, moving})
  }
  // Others pixels are seen.
  function look() {
    for (const side of [picture.before, picture.after]) if (lacks(side)) return want({changed: false})
  }
  function lacks(side) {
    if (!side.whole) return false
    const every = picture.every(), seen = picture.visible(), part = side.part?.head
    if (side.whole.head.every <= every || !seen) return false
    return !(part && part.every <= every && part.x <= seen.x && part.y <= seen.y && part.x + part.width >= seen.x + seen.width && part.y + part.height >= seen.y + seen.height)
  }
  function want(what) {
    wanted = {changed: what.changed || wanted?.changed, moving: what.moving}
    if (!busy) pump()
  }
  async function pump() {
    busy = true
    document.body.setAttribute('aria-busy', 'true')
    while (wanted) {
      const what = wanted
      wanted = null
      try {
        await load(what)
      } catch (problem) {
        if (state.plane !== null && !problem.errors.length) { // a plane of another chain
          state.plane = null
          wanted = {changed: true}
        } else if (!wanted?.changed) failed(problem) // else it is about a chain that is another one by now
      }
    }
    busy = false
    document.body.setAttribute('aria-busy', 'false')
  }

  const coarse = plane => Math.max(1, Math.ceil(Math.sqrt(plane.width * plane.height * plane.channels / LARGE / (plane.channels > 1 ? 2 : 1))))

  // What is seen and a little around it.
  function around(seen, size) {
    const mx = Math.round(seen.width / 8), my = Math.round(seen.height / 8), x = Math.max(0, seen.x - mx), y = Math.max(0, seen.y - my)
    return {x, y, width: Math.min(size.width, seen.x + seen.width + mx) - x, height: Math.min(size.height, seen.y + seen.height + my) - y}
  }

  async function fetchSide(side, query, changed, moving) {
    const size = side.plane || picture.before.plane, seen = picture.visible()
    const every = size ? coarse(size) : undefined
    if (moving && size && seen && side.plane && seen.width * seen.height < 0.6 * size.width * size.height) {
      const part = await askPicture('picture', {...query, ...seen, every: picture.every(), moving: 1})
      if (part.head.plane.width === size.width && part.head.plane.height === size.height) return side.take(part), part.head
    }
    let head = side.whole?.head
    if (changed || !side.whole) {
      let whole = await askPicture('picture', {...query, every: every || 1})
      if (every === undefined && coarse(whole.head.plane) > 1) whole = await askPicture('picture', {...query, every: coarse(whole.head.plane)})
      side.take(whole)
      head = whole.head
      if (wanted?.changed) return head
    }
    picture.settleQuietly?.()
    if (lacks(side)) side.take(await askPicture('picture', {...query, ...around(picture.visible(), side.plane), every: picture.every()}))
    return head
  }

  async function load({changed, moving}) {
    const begun = performance.now(), chain = text.value, file = state.file, steps = list.steps(), plane = state.plane
    if (!picture.before.whole) {
      await fetchSide(picture.before, {file, chain: '', steps: 0}, true)
      if (!picture.after.plane) picture.settle()
    } else if (lacks(picture.before) && !moving) {
      await fetchSide(picture.before, {file, chain: '', steps: 0}, false)
    }
    if (file !== state.file) return
    if (!changed && !lacks(picture.after)) return picture.draw()
    const old = picture.after.plane
    const head = await fetchSide(picture.after, {file, chain, steps, plane}, changed, moving)
    if (file !== state.file) return
    state.good = true
    byId('frame').classList.remove('stale')
    if (!old || old.width !== head.plane.width || old.height !== head.plane.height) picture.settle()
    picture.drawNow()
    performance.measure('slider to picture', {start: begun})
    if (!changed) return
    if (!head.again || state.chain !== chain) byId('speed').textContent = head.again ? '' : 'chain ' + milliseconds(head.total_ms) + ', on screen ' + milliseconds(performance.now() - begun)
    state.head = head
    state.chain = chain
    mark(text.value, [])
    list.drawWrong([])
    document.body.dataset.shown = chain
    later(() => { picture.told.placed(); drawPlanes(head); drawHistogram(picture); if (!head.again || !head.part) drawCost(head, about.device); takeTimes(head); drawWay(); if (!moving) drawBoard(file, chain, byId('board').value) })
  }

  // Beside the picture, after it has been drawn.
  let side
  function later(what) {
    clearTimeout(side)
    side = setTimeout(what, 30)
  }

  function failed(problem) {
    if (problem.code === 'gone') return
    const whole = !problem.errors.length
    byId('frame').classList.toggle('stale', true)
    state.good = false
    if (whole && !picture.size) {
      byId('empty').hidden = false
      byId('empty').textContent = about.files[state.file] + ': ' + problem.message
      return
    }
    mark(text.value, whole ? [{detail: problem.message, position: -1, length: 0}] : problem.errors)
    list.drawWrong(problem.errors)
  }

  function takeTimes(head) {
    list.times.clear()
    let at = 0
    const on = list.stages.filter(stage => stage.on)
    for (const time of head.times) {
      const names = time.stage.split('+')
      for (const name of names) { const found = on.findIndex((stage, index) => index >= at && stage.name === name); if (found >= 0) at = found }
      if (on[at]) list.times.set(on[at], milliseconds(time.ms))
      at++
    }
    list.drawTimes()
  }

  function drawPlanes(head) {
    const pick = byId('plane'), names = head.planes.map(plane => plane.name)
    pick.hidden = names.length < 2
    if (!pick.hidden)
      pick.replaceChildren(...(head.mosaic || state.plane !== null && state.mosaic ? [make('option', {value: '', '.selected': state.plane === null}, 'all, as a mosaic')] : []),
        ...names.map((name, index) => make('option', {value: name, '.selected': state.plane === name || (state.plane === null && !head.mosaic && index === 0)}, name || 'picture')))
    if (state.plane === null) state.mosaic = head.mosaic
    byId('stretch-label').hidden = head.plane.type === 'u8' && !picture.stretched
  }
  byId('plane').addEventListener('change', event => { state.plane = event.target.value || null; picture.after.clear(); refresh() })
  byId('stretch').addEventListener('change', event => { picture.stretched = event.target.checked; picture.draw(); drawHistogram(picture) })

  // ---- what is shown ----

  const setMode = choose(byId('sides'), [['before', 'Before', '1'], ['wipe', 'Wipe', '2'], ['after', 'After', '3']], 'wipe', mode => { picture.mode = mode; picture.draw() })
  const setZoom = choose(byId('zooms'), [['fit', 'Fit', 'F'], ['100', '100 %', 'Z'], ['800', '800 %', 'X']], 'fit', zoom => picture.setZoom(zoom))
  const settle = picture.settle.bind(picture)
  picture.settle = () => { setZoom(picture.zoom); settle(); later(() => drawHistogram(picture)) }

  // ---- files ----

  const files = byId('file')
  byId('files').hidden = false
  const shared = about.files[0].slice(0, about.files[0].lastIndexOf('/') + 1)
  const short = about.files.every(path => path.startsWith(shared)) ? shared.length : 0
  files.replaceChildren(...about.files.map((path, index) => make('option', {value: index, title: path}, path.slice(short))))
  byId('earlier').hidden = byId('later').hidden = about.files.length < 2
  function setFile(index) {
    if (index < 0 || index >= about.files.length) return
    state.file = index
    files.value = index
    files.title = about.files[index]
    byId('earlier').disabled = index === 0
    byId('later').disabled = index === about.files.length - 1
    state.plane = null
    picture.before.clear()
    picture.after.clear()
    picture.place = null
    document.title = about.files[index].split('/').pop() + ' – sluice view'
    byId('empty').textContent = '…'
    clearTimeout(side)
    picture.draw()
    drawHistogram(picture)
    drawWay()
    for (const id of ['times', 'figures', 'board-cost', 'speed']) byId(id).replaceChildren()
    mark(text.value, [])
    remember()
    refresh()
  }
  files.addEventListener('change', () => setFile(Number(files.value)))
  byId('earlier').addEventListener('click', () => setFile(state.file - 1))
  byId('later').addEventListener('click', () => setFile(state.file + 1))

  // ---- to take away ----

  choose(byId('ways'), ways, state.way, way => { state.way = way; drawWay(); remember() })
  byId('format').replaceChildren(...about.formats.map(format => make('option', {'.selected': format === 'png'}, format)))
  byId('format').addEventListener('change', () => drawWay())
  function drawWay() {
    const path = about.files[state.file], from = picture.before.plane
    byId('way').textContent = write(state.way, {chain: text.value, path, format: byId('format').value, config: about.config, input: about.input, video: from && {1: 'GRAY8', 3: 'RGB', 4: 'RGBA'}[from.channels]})
    byId('said').textContent = note(state.way, path, text.value)
  }
  byId('copy').addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(byId('way').textContent)
      byId('said').textContent = 'Copied.'
    } catch {
      getSelection().selectAllChildren(byId('way'))
      byId('said').textContent = 'Marked: press Ctrl+C.'
    }
  })
  byId('save').addEventListener('click', async () => {
    const format = byId('format').value, name = about.files[state.file].split('/').pop().replace(/\.[^.]*$/, '')
    byId('said').textContent = 'Computing …'
    try {
      const blob = await (await ask('result', {file: state.file, chain: text.value, format})).blob()
      const link = make('a', {href: URL.createObjectURL(blob), download: name + '-result.' + format})
      link.click()
      setTimeout(() => URL.revokeObjectURL(link.href), 60000)
      byId('said').textContent = 'Saved as ' + link.download + '.'
    } catch (problem) {
      byId('said').textContent = problem.message
    }
  })
  byId('board').append(...about.boards.map(board => make('option', {value: board.name}, board.label)))
  byId('board').addEventListener('change', () => drawBoard(state.file, text.value, byId('board').value))

  // ---- keys ----

  const openPalette = palette(tables, list)
  document.addEventListener('keydown', event => {
    const inText = event.target.matches('textarea, input:not([type=range]):not([type=checkbox]):not([type=radio])')
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'z' && !inText) {
      event.preventDefault()
      return event.shiftKey ? go(future, past) : go(past, future)
    }
    if (inText || event.ctrlKey || event.altKey || event.metaKey || event.target.matches('select')) return
    const keys = {
      '[': () => setFile(state.file - 1), ']': () => setFile(state.file + 1), a: openPalette, '/': () => text.focus(),
      1: () => { setMode('before', true) }, 2: () => { setMode('wipe', true) }, 3: () => { setMode('after', true) },
      f: () => setZoom('fit', true), z: () => setZoom('100', true), x: () => setZoom('800', true),
    }
    const act = keys[event.key]
    if (!act) return
    event.preventDefault()
    act()
  })

  // ---- go ----

  setText(remembered.chain ?? about.chain)
  list.take(text.value)
  keep()
  setFile(state.file)
  window.sluice = {picture, list, state} // for tests, and for the curious
}

start()
