/** Saves a text as a file download. */
export const saveFile = (name: string, type: string, text: string): void =>
  saveBlob(name, new Blob([text], { type }))

/** Saves bytes as a file download. */
export function saveBlob(name: string, blob: Blob): void {
  const url = URL.createObjectURL(blob)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // The download no longer needs the URL by then.
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}
