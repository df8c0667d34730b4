// The chain, to be taken to where it is used.

const plain = /^[A-Za-z0-9_.,:=@%+\/-]+$/
const shell = text => plain.test(text) ? text : "'" + text.replaceAll("'", "'\\''") + "'"
const python = text => "'" + text.replaceAll('\\', '\\\\').replaceAll("'", "\\'") + "'"
// Not what a chain consists of, which is easier to read as it is.
const percent = text => encodeURIComponent(text).replace(/%(2C|3A|2F|40|3D)/g, code => decodeURIComponent(code))

export const ways = [['command', 'Command'], ['yaml', 'YAML'], ['curl', 'curl'], ['gstreamer', 'GStreamer'], ['python', 'Python']]

const decoders = {jpg: 'jpegdec', jpeg: 'jpegdec', png: 'pngdec', webp: 'webpdec'}
const encoders = {jpg: 'jpegenc', png: 'pngenc'}

export function write(way, {chain, path, format, config, input, video}) {
  const result = 'result.' + format.split(':')[0], extension = (path.match(/\.([A-Za-z0-9]+)$/) || [])[1]?.toLowerCase()
  switch (way) {
  case 'command':
    return ['sluice run', config && '--config ' + shell(config), input && '--input ' + shell(input), chain && '-c ' + shell(chain), format.includes(':') && '-f ' + shell(format), '-o ' + result, shell(path)].filter(Boolean).join(' ')
  case 'yaml':
    return 'version: 1\nwatch:\n  - input: /srv/in\n    output: /srv/out\n    chain: ' + JSON.stringify(chain) + '\n    format: ' + format + '\n' + (input ? '    read: ' + JSON.stringify(input) + '\n' : '')
  case 'curl':
    return 'curl -f --unix-socket /run/sluice/http.sock --data-binary ' + shell('@' + path) + ' \\\n  ' + shell('http://localhost/v1/process?chain=' + percent(chain) + '&format=' + percent(format) + (input ? '&input=' + percent(input) : '')) + ' \\\n  -o ' + result
  case 'gstreamer':
    return 'gst-launch-1.0 -q filesrc location=' + shell(path) + ' ! ' + (decoders[extension] || 'decodebin') + ' ! videoconvert ! ' + (video ? 'video/x-raw,format=' + video + ' ! ' : '') + '\\\n  sluice chain=' + shell(chain || '""') + (config ? ' config=' + shell(config) : '') + ' ! videoconvert ! ' + (encoders[format.split(':')[0]] || 'pngenc') + ' ! filesink location=' + (encoders[format.split(':')[0]] ? result : 'result.png')
  case 'python':
    return 'import numpy, sluice\nfrom PIL import Image\n\nphoto = numpy.asarray(Image.open(' + python(path) + '))\nresult = sluice.Chain(' + python(chain) + ')(photo)\nImage.fromarray(result).save(' + python(encoders[format.split(':')[0]] ? result : 'result.png') + ')\n'
  }
}

// What is different there, in a sentence.
export const note = (way, path, chain) => [
  /\.jpe?g$/i.test(path) && {
    gstreamer: 'GStreamer decodes JPEGs in its own way: colours may be off by one.',
    python: 'Pillow gives a JPEG’s colours, not its own Y: luminance may be off by one.',
  }[way],
  chain.includes('@') && {
    yaml: 'The kernels and banks that @names mean have to be in that file, too.',
    curl: 'The kernels and banks that @names mean have to be in the daemon’s configuration.',
    python: 'The kernels and banks that @names mean are given to sluice.Chain.',
  }[way]].filter(Boolean).join(' ')
