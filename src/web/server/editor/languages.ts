import { LanguageSupport, StreamLanguage, type StreamParser } from '@codemirror/language'

type Load = () => Promise<LanguageSupport>

const stream = async (parser: Promise<StreamParser<unknown>>): Promise<LanguageSupport> =>
  new LanguageSupport(StreamLanguage.define(await parser))

const json: Load = async () => (await import('@codemirror/lang-json')).json()
const yaml: Load = async () => (await import('@codemirror/lang-yaml')).yaml()
const properties: Load = () =>
  stream(import('@codemirror/legacy-modes/mode/properties').then((mode) => mode.properties))
const toml: Load = () => stream(import('@codemirror/legacy-modes/mode/toml').then((mode) => mode.toml))
const shell: Load = () => stream(import('@codemirror/legacy-modes/mode/shell').then((mode) => mode.shell))
const javascript: Load = () =>
  stream(import('@codemirror/legacy-modes/mode/javascript').then((mode) => mode.javascript))
const typescript: Load = () =>
  stream(import('@codemirror/legacy-modes/mode/javascript').then((mode) => mode.typescript))
const lua: Load = () => stream(import('@codemirror/legacy-modes/mode/lua').then((mode) => mode.lua))
const python: Load = () => stream(import('@codemirror/legacy-modes/mode/python').then((mode) => mode.python))
const xml: Load = () => stream(import('@codemirror/legacy-modes/mode/xml').then((mode) => mode.xml))
const html: Load = () => stream(import('@codemirror/legacy-modes/mode/xml').then((mode) => mode.html))
const css: Load = () => stream(import('@codemirror/legacy-modes/mode/css').then((mode) => mode.css))
const sql: Load = () => stream(import('@codemirror/legacy-modes/mode/sql').then((mode) => mode.standardSQL))
const java: Load = () => stream(import('@codemirror/legacy-modes/mode/clike').then((mode) => mode.java))
const csharp: Load = () => stream(import('@codemirror/legacy-modes/mode/clike').then((mode) => mode.csharp))
const cpp: Load = () => stream(import('@codemirror/legacy-modes/mode/clike').then((mode) => mode.cpp))
const kotlin: Load = () => stream(import('@codemirror/legacy-modes/mode/clike').then((mode) => mode.kotlin))
const groovy: Load = () => stream(import('@codemirror/legacy-modes/mode/groovy').then((mode) => mode.groovy))
const ruby: Load = () => stream(import('@codemirror/legacy-modes/mode/ruby').then((mode) => mode.ruby))
const perl: Load = () => stream(import('@codemirror/legacy-modes/mode/perl').then((mode) => mode.perl))
const go: Load = () => stream(import('@codemirror/legacy-modes/mode/go').then((mode) => mode.go))
const rust: Load = () => stream(import('@codemirror/legacy-modes/mode/rust').then((mode) => mode.rust))
const powershell: Load = () =>
  stream(import('@codemirror/legacy-modes/mode/powershell').then((mode) => mode.powerShell))
const nginx: Load = () => stream(import('@codemirror/legacy-modes/mode/nginx').then((mode) => mode.nginx))
const diff: Load = () => stream(import('@codemirror/legacy-modes/mode/diff').then((mode) => mode.diff))
const dockerfile: Load = () =>
  stream(import('@codemirror/legacy-modes/mode/dockerfile').then((mode) => mode.dockerFile))

const byEnding: Record<string, Load> = {
  json,
  json5: javascript,
  jsonc: javascript,
  mcmeta: json,
  yml: yaml,
  yaml,
  properties,
  cfg: properties,
  conf: properties,
  ini: properties,
  env: properties,
  lang: properties,
  desktop: properties,
  service: properties,
  toml,
  sh: shell,
  bash: shell,
  zsh: shell,
  bashrc: shell,
  profile: shell,
  js: javascript,
  mjs: javascript,
  cjs: javascript,
  ts: typescript,
  lua,
  py: python,
  xml,
  html,
  htm: html,
  css,
  sql,
  java,
  cs: csharp,
  c: cpp,
  h: cpp,
  cpp,
  hpp: cpp,
  kt: kotlin,
  kts: kotlin,
  groovy,
  gradle: groovy,
  rb: ruby,
  pl: perl,
  go,
  rs: rust,
  ps1: powershell,
  diff,
  patch: diff,
}

/** Files with a format of their own, whatever their ending says. */
const byName: [pattern: RegExp, load: Load][] = [
  [/^dockerfile/i, dockerfile],
  [/^nginx.*\.conf$/i, nginx],
  [/^\.env(\.|$)/, properties],
  [/^(gradlew|start|run)$/, shell],
]

/** The programs of a first line such as `#!/usr/bin/env python3`. */
const byProgram: [pattern: RegExp, load: Load][] = [
  [/\b(ba|da|z|a)?sh\b/, shell],
  [/\bpython/, python],
  [/\b(node|deno|bun)\b/, javascript],
  [/\blua/, lua],
  [/\bperl\b/, perl],
  [/\bruby\b/, ruby],
]

const firstMatch = (text: string, loads: [pattern: RegExp, load: Load][]) =>
  loads.find(([pattern]) => pattern.test(text))?.[1] ?? null

/** Returns a loader for the language of a file, by its name or its first line; null for plain text. */
export function languageOf(name: string, firstLine = ''): Load | null {
  const named = firstMatch(name, byName)
  if (named) return named
  const ending = name.slice(name.lastIndexOf('.') + 1).toLowerCase()
  if (name.includes('.') && Object.hasOwn(byEnding, ending)) return byEnding[ending] ?? null
  return firstLine.startsWith('#!') ? firstMatch(firstLine, byProgram) : null
}
