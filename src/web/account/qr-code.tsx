import qrcode from 'qrcode-generator'
import { useMemo } from 'react'

/** Modules of empty space around the code, which scanners need. */
const quietZone = 4

/** Draws a text as a QR code in the browser. Always dark on light, for scanners. */
export function QrCode({ text, label }: { text: string; label: string }) {
  const { size, path } = useMemo(() => draw(text), [text])
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${size} ${size}`}
      shapeRendering="crispEdges"
      className="size-48 shrink-0 rounded-control bg-white"
    >
      <path d={path} className="fill-black" />
    </svg>
  )
}

function draw(text: string): { size: number; path: string } {
  const code = qrcode(0, 'M')
  code.addData(text)
  code.make()
  const count = code.getModuleCount()
  const squares: string[] = []
  for (let row = 0; row < count; row += 1) {
    for (let column = 0; column < count; column += 1) {
      if (code.isDark(row, column)) squares.push(`M${column + quietZone} ${row + quietZone}h1v1h-1z`)
    }
  }
  return { size: count + 2 * quietZone, path: squares.join('') }
}
