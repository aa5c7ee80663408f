import { site } from '../../app/site.ts'

/** Runs it; styles that it adds to the page carry the nonce that the page's content policy asks for. */
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

/** A `style` that is written as an attribute is refused by the policy; the same as a property is not. */
export function allowSpanStyles(): void {
  HTMLSpanElement.prototype.setAttribute = function set(this: HTMLSpanElement, name, value) {
    if (name === 'style') this.style.cssText = value
    else Element.prototype.setAttribute.call(this, name, value)
  }
}
