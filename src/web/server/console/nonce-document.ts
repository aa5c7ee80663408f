import { site } from '../../app/site.ts'

/** This document for libraries that add styles: those carry what the page's security policy asks for. */
export const nonceDocument: Document = new Proxy(document, {
  get(target, name) {
    if (name === 'createElement') return createElement
    const value: unknown = Reflect.get(target, name, target)
    return typeof value === 'function' ? (value as () => unknown).bind(target) : value
  },
  set: (target, name, value) => Reflect.set(target, name, value, target),
})

function createElement(name: string, options?: ElementCreationOptions): HTMLElement {
  const element = document.createElement(name, options)
  if (element instanceof HTMLStyleElement) element.nonce = site.nonce
  return element
}
