const imagePattern = /^~?[\w./\-:@ ]+$/

/**
 * Whether text names a container image: at most 191 word characters, dots, slashes, hyphens, colons, at signs and
 * spaces, with an optional leading tilde (do not pull). Spec: docs/eggs.md#images.
 */
export function isDockerImage(text: string): boolean {
  return text.length <= 191 && imagePattern.test(text)
}
