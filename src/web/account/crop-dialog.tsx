import { type PointerEvent, useEffect, useId, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '../components/button.tsx'
import { Dialog } from '../components/dialog.tsx'
import { FormError } from '../components/field.tsx'

/** Pixels of the square that is kept, and the most it is zoomed. */
const side = 512
const mostZoom = 4

/** Which square of a picture: how near, and where between its edges, 0 to 1. */
type Cut = { zoom: number; x: number; y: number }
const whole: Cut = { zoom: 1, x: 0.5, y: 0.5 }

const between0And1 = (value: number) => Math.min(1, Math.max(0, value))

/** The square in pixels of the picture. */
function squareOf({ width, height }: ImageBitmap, { zoom, x, y }: Cut) {
  const length = Math.min(width, height) / zoom
  return { left: (width - length) * x, top: (height - length) * y, length }
}

type CropProps = {
  picture: ImageBitmap
  onClose: () => void
  /** The square as a file. */
  onCrop: (square: Blob) => void
  busy: boolean
  error: unknown
}

/** Lets somebody choose a square of a picture, by dragging or by sliders. */
export function CropDialog({ picture, onClose, onCrop, busy, error }: CropProps) {
  const { t } = useTranslation('account')
  const canvas = useRef<HTMLCanvasElement>(null)
  const [cut, setCut] = useState(whole)
  const save = () => {
    // Browsers that cannot write WebP write PNG.
    canvas.current?.toBlob((square) => square && onCrop(square), 'image/webp', 0.9)
  }
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={t('crop.title')}
      text={t('crop.text')}
      width="small"
      actions={
        <>
          <Button onClick={onClose}>{t('strings:action.cancel')}</Button>
          <Button look="primary" busy={busy} onClick={save}>
            {t('crop.save')}
          </Button>
        </>
      }
    >
      <div className="flex flex-col items-center gap-4">
        <Preview ref={canvas} picture={picture} cut={cut} onCut={setCut} />
        <Slider
          label={t('crop.zoom')}
          value={(cut.zoom - 1) / (mostZoom - 1)}
          onChange={(value) => setCut({ ...cut, zoom: 1 + value * (mostZoom - 1) })}
        />
        <Slider label={t('crop.across')} value={cut.x} onChange={(x) => setCut({ ...cut, x })} />
        <Slider label={t('crop.down')} value={cut.y} onChange={(y) => setCut({ ...cut, y })} />
        <FormError error={error} />
      </div>
    </Dialog>
  )
}

type PreviewProps = {
  ref: React.RefObject<HTMLCanvasElement | null>
  picture: ImageBitmap
  cut: Cut
  onCut: (cut: Cut) => void
}

function Preview({ ref, picture, cut, onCut }: PreviewProps) {
  const { t } = useTranslation('account')
  useEffect(() => {
    const context = ref.current?.getContext('2d')
    if (!context) return
    const { left, top, length } = squareOf(picture, cut)
    context.clearRect(0, 0, side, side)
    context.drawImage(picture, left, top, length, length, 0, 0, side, side)
  }, [ref, picture, cut])
  const drag = (event: PointerEvent<HTMLCanvasElement>) => {
    if (!event.currentTarget.hasPointerCapture(event.pointerId)) return
    const { length } = squareOf(picture, cut)
    const scale = length / event.currentTarget.clientWidth
    const moved = (by: number, room: number, at: number) =>
      room > 0 ? between0And1(at - (by * scale) / room) : at
    onCut({
      ...cut,
      x: moved(event.movementX, picture.width - length, cut.x),
      y: moved(event.movementY, picture.height - length, cut.y),
    })
  }
  return (
    <canvas
      ref={ref}
      width={side}
      height={side}
      role="img"
      aria-label={t('crop.preview')}
      className="size-56 cursor-move touch-none rounded-full bg-raised"
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={drag}
    />
  )
}

function Slider({
  label,
  value,
  onChange,
}: {
  label: string
  value: number
  onChange: (value: number) => void
}) {
  const id = useId()
  return (
    <div className="grid w-full grid-cols-[8rem_minmax(0,1fr)] items-center gap-3 text-sm">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        type="range"
        min={0}
        max={1}
        step={0.01}
        value={value}
        onChange={(event) => onChange(Number(event.target.value))}
        className="h-9 w-full accent-brand"
      />
    </div>
  )
}
