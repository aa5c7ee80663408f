import { site } from '../../app/site.ts'

/** Runs a function; style elements it creates get the nonce of the content policy. */
export function withStyleNonce(run: () => void): void {
  const create = document.createElement.bind(document)
  const createWithNonce = (name: string, options?: ElementCreationOptions) => {
    const element = create(name, options)
    if (element instanceof HTMLStyleElement) element.nonce = site.nonce
    return element
  }
  document.createElement = createWithNonce as typeof document.createElement
  try {
    run()
  } finally {
    Reflect.deleteProperty(document, 'createElement')
  }
}

/** The content policy blocks style attributes but not styles set by script, so the attribute is turned into these. */
export function allowSpanStyles(): void {
  HTMLSpanElement.prototype.setAttribute = function set(this: HTMLSpanElement, name, value) {
    if (name === 'style') this.style.cssText = value
    else Element.prototype.setAttribute.call(this, name, value)
  }
}
