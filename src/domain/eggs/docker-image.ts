const imagePattern = /^~?[\w./\-:@ ]+$/

/**
 * Whether text names a container image: at most 191 characters, word characters, dot, slash, hyphen,
 * colon, at sign and space, with an optional leading tilde ("local, do not pull").
 * Spec: server input, `docker_image`.
 */
export function isDockerImage(text: string): boolean {
  return text.length <= 191 && imagePattern.test(text)
}
