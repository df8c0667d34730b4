// A running daemon: what it does, what came out last, and what failed.
import {ask, askJson, askPicture, byId, make, milliseconds, stream} from './api.js'
import {extremes, mapping, paint} from './picture.js'

const QUARTER = 900, EVERY = 2 // seconds: what the charts show, and how often they are asked for
const LATEST = 24, FAILED = 100

const time = seconds => seconds === null || seconds === undefined ? '–' : seconds < 1 ? Math.round(seconds * 1000) + ' ms' : seconds < 90 ? seconds.toPrecision(2) + ' s'
  : seconds < 5400 ? Math.round(seconds / 60) + ' min' : seconds < 172800 ? Math.round(seconds / 3600) + ' h' : Math.round(seconds / 86400) + ' d'
const moment = text => { const at = new Date(text); return at.toDateString() === new Date().toDateString() ? at.toLocaleTimeString() : at.toLocaleString() }
const rate = n => n === null || n === undefined ? '–' : n >= 100 ? String(Math.round(n)) : Number(n.toPrecision(2)) + ''
const size = count => { const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']; let unit = 0; while (count >= 1024 && unit < 4) { count /= 1024; unit++ } return (unit ? count.toPrecision(3) : count) + ' ' + units[unit] }

// ---- metrics ----

// Prometheus' text: {name: [[labels, value]…]}.
export function parseMetrics(text) {
  const found = {}
  for (const line of text.split('\n')) {
    const match = /^([a-zA-Z_:]+)(?:\{(.*)\})? (\S+)$/.exec(line)
    if (!match) continue
    const labels = {}
    for (const [, name, value] of (match[2] || '').matchAll(/([a-zA-Z_]+)="((?:[^"\\]|\\.)*)"/g)) labels[name] = value.replace(/\\(.)/g, (_, c) => c === 'n' ? '\n' : c)
    ;(found[match[1]] ||= []).push([labels, Number(match[3])])
  }
  return found
}
const sum = (metrics, name, fits = () => true) => (metrics[name] || []).filter(([labels]) => fits(labels)).reduce((all, [, value]) => all + value, 0)

// ---- charts ----

function chart(canvas, points, value, label) {
  const ratio = window.devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight, context = canvas.getContext('2d')
  canvas.width = width * ratio
  canvas.height = height * ratio
  context.scale(ratio, ratio)
  const style = getComputedStyle(document.documentElement), now = Date.now() / 1000
  const drawn = points.map(point => [point.at, value(point)]).filter(([, v]) => v !== null && isFinite(v)), most = Math.max(...drawn.map(([, v]) => v), 0)
  const span = Math.min(QUARTER, Math.max(120, now - (drawn[0]?.[0] ?? now))) // as long as there is something to show
  context.strokeStyle = style.getPropertyValue('--line')
  for (let minutes = 0; minutes * 60 <= span; minutes += span < 300 ? 1 : span < 600 ? 2 : 5) {
    const x = Math.max(0, Math.round(width - minutes * 60 / span * width)) + (minutes ? 0.5 : -0.5)
    context.beginPath(); context.moveTo(x, 0); context.lineTo(x, height - 12); context.stroke()
    context.fillStyle = style.getPropertyValue('--quiet'); context.font = '10px system-ui'; context.textAlign = x < 20 ? 'left' : minutes ? 'center' : 'right'
    context.fillText(minutes ? minutes + ' min' : 'now', x, height - 1)
  }
  if (!drawn.length || !most) return
  const low = height - 14, place = ([at, v]) => [width - (now - at) / span * width, low - v / most * (height - 30)]
  const stretches = [] // without gaps
  drawn.forEach((point, index) => { if (index && point[0] - drawn[index - 1][0] < 4 * EVERY) stretches[stretches.length - 1].push(place(point)); else stretches.push([place(point)]) })
  context.strokeStyle = context.fillStyle = style.getPropertyValue('--accent'); context.lineWidth = 1.6; context.lineJoin = context.lineCap = 'round'
  for (const stretch of stretches) {
    const path = new Path2D(), [first] = stretch, last = stretch[stretch.length - 1]
    stretch.forEach(([x, y], index) => index ? path.lineTo(x, y) : path.moveTo(x, y))
    path.lineTo(...last) // one alone is a point
    context.stroke(path)
    path.lineTo(last[0], low); path.lineTo(first[0], low)
    context.globalAlpha = 0.13; context.fill(path); context.globalAlpha = 1
  }
  context.fillStyle = style.getPropertyValue('--quiet'); context.textAlign = 'left'
  context.fillText('up to ' + label(most), 2, 10)
}

// ---- small pictures ----

const thumbs = new Map() // by what was asked: a promise of a canvas, or of the reason why there is none
// A file that was done again has other pictures: `time` says when. Small ones are asked for one after the other, since the daemon
// is asked about each, and those that are not `wanted` any more when their turn comes are not.
let turn = Promise.resolve()
function thumb(file, which, time, side = 160, wanted) {
  const key = which + '\n' + file + '\n' + side + '\n' + time
  if (!thumbs.has(key)) {
    if (thumbs.size > 200) thumbs.delete(thumbs.keys().next().value)
    const get = async () => {
      if (wanted && !wanted()) return thumbs.delete(key), ''
      try {
        const picture = await askPicture('thumb', {file, which, side})
        return paint(picture, mapping(picture.head.plane, extremes(picture.samples, picture.head.plane.channels), false))
      } catch (problem) { return problem.message }
    }
    thumbs.set(key, wanted ? turn = turn.then(get) : get())
  }
  return thumbs.get(key)
}

function thumbBox(file, which, label, time, sides) {
  const box = make('button', {class: 'thumb', title: label + ': ' + file, 'aria-label': label + ' of ' + file + ', larger', onclick: () => enlarge(file, time, sides)})
  const seen = new IntersectionObserver(entries => {
    if (!entries.some(entry => entry.isIntersecting)) return
    seen.disconnect()
    thumb(file, which, time, 160, () => box.isConnected).then(made => {
      if (typeof made === 'string') return box.replaceChildren(make('span', {class: 'quiet', title: made}, 'no picture'))
      const copy = make('canvas', {width: made.width, height: made.height})
      copy.getContext('2d').drawImage(made, 0, 0)
      box.replaceChildren(copy)
    })
  })
  seen.observe(box)
  return box
}

async function enlarge(file, time, sides = {original: 'before', result: 'after'}) {
  const dialog = byId('larger'), box = dialog.querySelector('div')
  box.className = Object.keys(sides).length > 1 ? 'pair' : ''
  box.replaceChildren(make('p', {class: 'quiet'}, '…'))
  dialog.querySelector('h2').textContent = file
  dialog.showModal()
  const made = await Promise.all(Object.keys(sides).map(which => thumb(file, which, time, 900)))
  box.replaceChildren(...made.map((one, index) => make('figure', {}, typeof one === 'string' ? make('p', {class: 'quiet'}, one) : one, make('figcaption', {}, Object.values(sides)[index]))))
}

// ---- the page ----

export function watch(about) {
  const root = byId('watch'), box = (id, title, ...inner) => make('section', {id, 'aria-labelledby': id + '-title'}, make('h2', {id: id + '-title'}, title), ...inner)
  root.hidden = false
  document.title = 'sluiced – sluice view'
  root.append(
    make('div', {id: 'now', class: 'cards'}),
    make('div', {class: 'charts'},
      box('rates', 'Pictures a second', make('canvas', {class: 'chart', role: 'img', 'aria-label': 'Pictures a second over the last quarter of an hour'})),
      box('times-of-jobs', 'Time of a job', make('canvas', {class: 'chart', role: 'img', 'aria-label': 'Mean time of a job over the last quarter of an hour'}))),
    box('folders', 'Folders', make('div', {class: 'list'})),
    box('failures', 'Failed', make('p', {class: 'quiet none'}, 'Nothing has failed.'), make('div', {class: 'list'})),
    box('latest', 'Latest results', make('p', {class: 'quiet none'}, 'None yet.'), make('div', {class: 'shelf'})),
    make('div', {class: 'charts'},
      box('workers', 'Workers and chains', make('div', {class: 'list'})),
      box('steps', 'Time by step', make('ul', {class: 'bars'})),
      box('users', 'Users', make('p', {class: 'quiet none'}, 'Nobody is connected.'), make('div', {class: 'list'}))),
    make('dialog', {id: 'larger', 'aria-labelledby': 'larger-title'}, make('div', {class: 'pair'}), make('h2', {id: 'larger-title'}), make('button', {onclick: () => byId('larger').close()}, 'Close')))

  const remembered = (() => { try { return JSON.parse(sessionStorage.getItem('sluice-watch')) || [] } catch { return [] } })()
  const points = remembered.filter(point => point.at > Date.now() / 1000 - QUARTER)
  let last = null, status = null, failed = [], done = new Map(), counted = {done: -1, failed: -1}, named = [], streams = false, stirred, drawn = 0, changed = false

  // ---- drawing ----

  const card = (name, value, more, mood) => make('div', {class: 'card-now' + (mood ? ' ' + mood : '')}, make('span', {class: 'quiet'}, name), make('b', {}, value), make('small', {class: 'quiet'}, more || '\u00a0'))

  function drawNow() {
    const q = status.queue, point = points.findLast(one => one.mean !== null)
    byId('now').replaceChildren(
      card('State', status.state, status.ready ? 'for ' + time(status.uptime_s) : 'not ready', status.ready ? 'good' : 'bad'),
      card('Pictures a second', rate(status.rate?.per_second), status.left_s ? time(status.left_s) + ' left' : status.left_s === 0 ? 'nothing is left' : ''),
      card('Time of a job', point ? milliseconds(point.mean * 1000) : '–', 'in the worker, mean'),
      card('In the queue', String(q.waiting + q.running + q.retrying), q.running + ' running' + (q.retrying ? ', ' + q.retrying + ' to be tried again' : '') + (q.of_clients ? ', ' + q.of_clients + ' of clients' : '')),
      card('Done', String(status.done), 'since the start'),
      card('Failed', String(status.failed), status.folders.reduce((all, f) => all + (f.in_failed || 0), 0) + ' in the folders', status.folders.some(f => f.in_failed) ? 'bad' : ''))
  }

  function drawFolders() {
    const chains = new Map((status.worker?.chains || []).map(chain => [chain.chain, chain]))
    for (const {name, chain} of named) if (name && chains.has(chain)) chains.set(name, chains.get(chain))
    byId('folders').querySelector('.list').replaceChildren(...status.folders.map(f => {
      const chain = chains.get(f.chain)
      return make('article', {class: 'folder ' + f.state, 'data-folder': f.input},
        make('div', {class: 'folder-head'}, make('i', {class: 'lamp', 'aria-hidden': 'true'}), make('b', {}, f.input), make('span', {class: 'quiet'}, '→ ' + f.output), make('span', {class: 'state', title: f.reason}, f.state)),
        f.message ? make('p', {class: 'why'}, f.message + (f.next_try ? ' (tried again at ' + new Date(f.next_try).toLocaleTimeString() + ')' : '')) : null,
        make('div', {class: 'numbers'}, ...[['waiting', f.waiting], ['queued', f.queued], ['running', f.running], ['retrying', f.retrying], ['done', f.done], ['failed', f.failed]].map(([name, n]) => make('span', {class: n ? name === 'failed' && 'bad' : 'zero', 'data-number': name}, make('b', {}, String(n)), ' ' + name)),
          make('span', {}, make('b', {}, rate(f.rate?.per_second)), ' a second'), f.left_s ? make('span', {}, make('b', {}, time(f.left_s)), ' left') : null),
        make('p', {class: 'quiet chain'}, f.chain || '(formats alone)', chain ? ' · on ' + chain.tier + (chain.why ? ', ' + chain.why : '') + (chain.preparing ? ', preparing ' + chain.preparing.done + ' of ' + chain.preparing.of : '') : '', ' · ' + f.mode))
    }))
  }

  function drawWorkers() {
    byId('workers').querySelector('.list').replaceChildren(...status.workers.map(w => make('article', {class: 'worker'},
      make('b', {}, w.quarantine ? 'quarantine' : 'worker ' + w.pid), make('span', {class: 'quiet'}, ' ' + w.state + (w.device ? ', ' + w.device : '') + ', ' + w.jobs + ' jobs' + (w.uptime_s ? ', up ' + time(w.uptime_s) : '') + (w.preparing ? ', preparing ' + w.preparing.done + ' of ' + w.preparing.of : '')))),
    ...(status.worker?.chains || []).map(c => make('article', {class: 'worker'}, make('code', {}, c.chain || '(formats alone)'), make('span', {class: 'quiet'}, ' on ' + c.tier))))
    byId('users').querySelector('.none').hidden = status.users.length > 0
    byId('users').querySelector('.list').replaceChildren(...status.users.map(u => {
      const bar = make('i')
      bar.style.width = Math.min(100, 100 * u.bytes / (status.shared?.limit || 1)) + '%'
      return make('article', {class: 'user'}, make('b', {}, 'user ' + u.uid), make('span', {class: 'quiet'}, ' ' + u.connections + ' connections, ' + u.jobs + ' jobs, ' + size(u.bytes) + ' of ' + size(status.shared?.limit || 0)), make('span', {class: 'share'}, bar))
    }))
  }

  function drawCharts() {
    chart(byId('rates').querySelector('canvas'), points, point => point.rate, rate)
    chart(byId('times-of-jobs').querySelector('canvas'), points, point => point.mean, seconds => milliseconds(seconds * 1000))
  }

  function drawSteps(metrics) {
    const steps = ['read', 'decode', 'device', 'encode', 'write'].map(span => {
      const n = sum(metrics, 'sluice_span_duration_seconds_count', labels => labels.span === span)
      return [span, n ? sum(metrics, 'sluice_span_duration_seconds_sum', labels => labels.span === span) / n : 0]
    }).filter(([, seconds]) => seconds > 0)
    const most = Math.max(...steps.map(([, seconds]) => seconds), 1e-9)
    byId('steps').querySelector('ul').replaceChildren(...steps.map(([name, seconds]) => {
      const bar = make('i')
      bar.style.width = 100 * seconds / most + '%'
      return make('li', {}, bar, make('span', {}, name), make('span', {}, milliseconds(seconds * 1000)))
    }))
  }

  // What stays is kept as it is, so that nobody loses the place where he was.
  function keepList(parent, items, key, draw) {
    const old = new Map([...parent.children].map(child => [child.dataset.key, child]))
    const fresh = items.map(item => { const id = key(item), child = old.get(id) || draw(item); child.dataset.key = id; return child })
    if (fresh.length !== parent.children.length || fresh.some((child, index) => parent.children[index] !== child)) parent.replaceChildren(...fresh)
  }

  function drawFailures() {
    byId('failures').querySelector('.none').hidden = failed.length > 0
    keepList(byId('failures').querySelector('.list'), failed, f => (f.original || f.file) + f.time, f => {
      const said = make('p', {class: 'quiet said', hidden: true}), file = f.original || f.file
      const again = make('button', {class: 'main', onclick: async () => {
        again.disabled = true
        try {
          const answer = await askJson('daemon/requeue', {file}, {method: 'POST'})
          said.textContent = answer.requeued ? 'It is in the queue again.' : 'It waits or runs already.'
        } catch (problem) { said.textContent = problem.message; again.disabled = false }
        said.hidden = false
        counted.failed = -1
      }}, 'Try again')
      const why = make('button', {onclick: async () => {
        try {
          const now = await askJson('daemon/files', {file})
          said.textContent = [now.state !== 'failed' && now.state, now.message !== f.message && now.message, now.stage && 'at the step ' + now.stage, now.chain && 'chain ' + now.chain, now.attempts && now.attempts + (now.attempts === 1 ? ' attempt' : ' attempts')].filter(Boolean).join(' · ')
        } catch (problem) { said.textContent = problem.message }
        said.hidden = false
      }}, 'Why')
      return make('article', {class: 'failure', 'data-name': f.name}, thumbBox(file, 'original', 'The picture', f.time, {original: 'as far as it can be read'}),
        make('div', {}, make('b', {}, f.name), make('span', {class: 'quiet'}, ' in ' + f.folder + (f.time ? ', ' + moment(f.time) : '')), make('p', {}, make('span', {class: 'reason'}, f.reason || 'failed'), ' ' + (f.message || '')), said),
        make('div', {class: 'row'}, why, again))
    })
  }

  function drawLatest() {
    const latest = [...done.values()].sort((a, b) => a.time < b.time ? 1 : a.time > b.time ? -1 : 0).slice(0, LATEST)
    done = new Map(latest.map(f => [f.file, f]))
    byId('latest').querySelector('.none').hidden = latest.length > 0
    keepList(byId('latest').querySelector('.shelf'), latest, f => f.file + f.time, f => make('figure', {class: 'result', 'data-name': f.name},
      make('div', {class: 'pair'}, thumbBox(f.original || f.file, 'original', 'Before', f.time), thumbBox(f.original || f.file, 'result', 'After', f.time)),
      make('figcaption', {title: f.file}, f.name, make('small', {class: 'quiet'}, ' ' + moment(f.time) + (f.seconds ? ', ' + milliseconds(f.seconds * 1000) : '')))))
  }

  // ---- asking ----

  async function askDone() {
    // The ledger is told oldest first, folder by folder; what follows comes as events.
    let after = null
    for (let page = 0; page < 5; page++) {
      const list = await askJson('daemon/files', {state: 'done', limit: 1000, after})
      for (const f of list.files) if (f.file && !(done.get(f.file)?.time >= f.time)) done.set(f.file, f)
      drawLatest()
      after = list.next
      if (after === null || after === undefined) return
    }
  }

  // What happens, as it happens: results, and what makes it worth asking for the numbers now.
  async function follow() {
    let kind = ''
    try {
      await stream('daemon/events', line => {
        streams = true
        if (line.startsWith('event: ')) kind = line.slice(7)
        if (!line.startsWith('data: ')) return
        const data = JSON.parse(line.slice(6))
        if (kind === 'done' && data.folder && data.name) {
          const file = data.folder + '/' + data.name
          done.set(file, {...data, file})
        }
        // Of many results in a second not each is drawn: each drawing asks for up to 48 small pictures.
        if (kind !== 'begun' && kind !== 'done') changed = true
        if (kind !== 'begun' && !stirred) stirred = setTimeout(() => { stirred = null; drawn = Date.now(); drawLatest(); if (changed) tick(true); changed = false }, Math.max(150, drawn + EVERY * 1000 - Date.now()))
      }, leaving.signal)
    } catch (problem) {
      if (problem.name === 'AbortError' || problem.status === 404) return // an older daemon has no events; its files are asked for
    }
    streams = false
    setTimeout(follow, 3000)
  }

  async function tick(once) {
    try {
      status = await askJson('daemon/status')
      const metrics = parseMetrics(await (await ask('daemon/metrics')).text()), now = Date.now() / 1000
      const seen = {at: now, jobs: sum(metrics, 'sluice_jobs_total'), seconds: sum(metrics, 'sluice_job_duration_seconds_sum'), count: sum(metrics, 'sluice_job_duration_seconds_count')}
      if (last && seen.jobs >= last.jobs) {
        const jobs = seen.count - last.count
        points.push({at: now, rate: (seen.jobs - last.jobs) / (now - last.at), mean: jobs > 0 ? (seen.seconds - last.seconds) / jobs : null})
        while (points.length && points[0].at < now - QUARTER) points.shift()
        sessionStorage.setItem('sluice-watch', JSON.stringify(points))
      }
      last = seen
      drawNow(); drawFolders(); drawWorkers(); drawCharts(); drawSteps(metrics)
      if (status.failed !== counted.failed || status.folders.reduce((all, f) => all + (f.in_failed || 0), 0) !== counted.lie) {
        failed = (await askJson('daemon/files', {state: 'failed', limit: FAILED})).files
        counted.failed = status.failed
        counted.lie = status.folders.reduce((all, f) => all + (f.in_failed || 0), 0)
        drawFailures()
      }
      if (!streams && status.done !== counted.done) { counted.done = status.done; await askDone() }
      byId('speed').textContent = about.socket
      byId('notice').hidden = true
    } catch (problem) {
      if (problem.code === 'gone') return // the command has ended, and the page says so
      byId('notice').hidden = false
      byId('notice').textContent = problem.message
    }
    if (once !== true) setTimeout(tick, document.hidden ? 5000 : EVERY * 1000)
  }
  addEventListener('resize', drawCharts)
  const leaving = new AbortController()
  addEventListener('pagehide', () => leaving.abort(), {once: true})
  tick()
  follow()
  askDone().catch(() => {})
  askJson('daemon/chains').then(list => { named = list.chains || list }).catch(() => {})
}
