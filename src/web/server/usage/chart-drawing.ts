import type uPlot from 'uplot'

export type MarkShape = 'circle' | 'up' | 'square' | 'diamond'
/** Something that happened; `at` in seconds since 1970, `colour` the name of a design token. */
export type Mark = { at: number; shape: MarkShape; colour: string }

/** Returns the value of a design token. */
export const token = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(name).trim()

/** Draws a dashed line at a value. */
export function drawLimit(plot: uPlot, value: number): void {
  const { ctx, bbox } = plot
  const y = Math.round(plot.valToPos(value, 'y', true))
  draw(ctx, () => {
    ctx.strokeStyle = token('--bad')
    ctx.lineWidth = devicePixelRatio
    ctx.setLineDash([6 * devicePixelRatio, 4 * devicePixelRatio])
    ctx.beginPath()
    ctx.moveTo(bbox.left, y)
    ctx.lineTo(bbox.left + bbox.width, y)
    ctx.stroke()
  })
}

/** More lines than this would hide the curves. */
const maxLines = 12

/**
 * Draws the shape of each mark that is in view at the bottom: kinds differ not by colour alone. Each has a vertical line;
 * of many marks crashes alone.
 */
export function drawMarks(plot: uPlot, marks: readonly Mark[]): void {
  const { ctx, bbox } = plot
  const { min, max } = plot.scales.x ?? {}
  const shown = marks.filter(({ at }) => at >= (min ?? 0) && at <= (max ?? 0))
  for (const { at, shape, colour } of shown) {
    const x = Math.round(plot.valToPos(at, 'x', true))
    draw(ctx, () => {
      ctx.strokeStyle = ctx.fillStyle = token(colour)
      ctx.lineWidth = devicePixelRatio
      if (shown.length <= maxLines || shape === 'diamond') {
        ctx.setLineDash([2 * devicePixelRatio, 3 * devicePixelRatio])
        ctx.beginPath()
        ctx.moveTo(x, bbox.top)
        ctx.lineTo(x, bbox.top + bbox.height)
        ctx.stroke()
        ctx.setLineDash([])
      }
      drawShape(ctx, shape, x, bbox.top + bbox.height - 5 * devicePixelRatio)
    })
  }
}

function draw(ctx: CanvasRenderingContext2D, run: () => void): void {
  ctx.save()
  run()
  ctx.restore()
}

/** Corners of each shape around its middle; a circle has none. */
const corners: Record<Exclude<MarkShape, 'circle'>, [x: number, y: number][]> = {
  up: [
    [0, -1],
    [1, 1],
    [-1, 1],
  ],
  square: [
    [-0.85, -0.85],
    [0.85, -0.85],
    [0.85, 0.85],
    [-0.85, 0.85],
  ],
  diamond: [
    [0, -1.3],
    [1.3, 0],
    [0, 1.3],
    [-1.3, 0],
  ],
}

function drawShape(ctx: CanvasRenderingContext2D, shape: MarkShape, x: number, y: number): void {
  const size = 4 * devicePixelRatio
  ctx.beginPath()
  if (shape === 'circle') ctx.arc(x, y, size, 0, 2 * Math.PI)
  else for (const [dx, dy] of corners[shape]) ctx.lineTo(x + dx * size, y + dy * size)
  ctx.closePath()
  ctx.fill()
}

/** Returns the path of a shape in a box from -1.5 to 1.5, for a legend. */
export const shapePath = (shape: MarkShape): string =>
  shape === 'circle'
    ? 'M-1 0a1 1 0 1 0 2 0a1 1 0 1 0 -2 0Z'
    : `M${corners[shape].map((corner) => corner.join(' ')).join('L')}Z`
