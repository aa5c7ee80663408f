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
const dockerfile: Load = () =>
  stream(import('@codemirror/legacy-modes/mode/dockerfile').then((mode) => mode.dockerFile))

const byEnding: Record<string, Load> = {
  json,
  json5: javascript,
  mcmeta: json,
  yml: yaml,
  yaml,
  properties,
  cfg: properties,
  conf: properties,
  ini: properties,
  env: properties,
  toml,
  sh: shell,
  bash: shell,
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
}

/** Returns a loader for the language of a file, by its name; null for plain text. */
export function languageOf(name: string): Load | null {
  if (/^dockerfile/i.test(name)) return dockerfile
  const ending = name.slice(name.lastIndexOf('.') + 1).toLowerCase()
  return Object.hasOwn(byEnding, ending) ? (byEnding[ending] ?? null) : null
}
