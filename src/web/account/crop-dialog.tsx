import { type PointerEvent, useEffect, useId, useRef, useState } from 'react'
import { useTranslation } from '../app/use-translation.ts'
import { Button } from '../components/button.tsx'
import { Dialog } from '../components/dialog.tsx'
import { FormError } from '../components/field.tsx'

/** Width and height of the saved avatar. */
const cropSizePx = 512
const maxZoom = 4

/** The part of a picture to keep: its zoom, and its position between the edges from 0 to 1. */
type Crop = { zoom: number; x: number; y: number }
const initialCrop: Crop = { zoom: 1, x: 0.5, y: 0.5 }

const clamp = (value: number) => Math.min(1, Math.max(0, value))

/** Returns the cropped square in pixels of the picture. */
function cropSquare({ width, height }: ImageBitmap, { zoom, x, y }: Crop) {
  const length = Math.min(width, height) / zoom
  return { left: (width - length) * x, top: (height - length) * y, length }
}

type CropProps = {
  picture: ImageBitmap
  onClose: () => void
  /** Receives the cropped square as a file. */
  onSave: (square: Blob) => void
  busy: boolean
  error: unknown
}

/** Lets the user crop a picture to a square, by dragging or with sliders. */
export function CropDialog({ picture, onClose, onSave, busy, error }: CropProps) {
  const { t } = useTranslation('account')
  const canvas = useRef<HTMLCanvasElement>(null)
  const [crop, setCrop] = useState(initialCrop)
  const save = () => {
    // Browsers that cannot encode WebP write PNG.
    canvas.current?.toBlob((square) => square && onSave(square), 'image/webp', 0.9)
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
          <Button variant="primary" busy={busy} onClick={save}>
            {t('crop.save')}
          </Button>
        </>
      }
    >
      <div className="flex flex-col items-center gap-4">
        <Preview ref={canvas} picture={picture} crop={crop} onCropChange={setCrop} />
        <Slider
          label={t('crop.zoom')}
          value={(crop.zoom - 1) / (maxZoom - 1)}
          onChange={(value) => setCrop({ ...crop, zoom: 1 + value * (maxZoom - 1) })}
        />
        <Slider label={t('crop.across')} value={crop.x} onChange={(x) => setCrop({ ...crop, x })} />
        <Slider label={t('crop.down')} value={crop.y} onChange={(y) => setCrop({ ...crop, y })} />
        <FormError error={error} />
      </div>
    </Dialog>
  )
}

type PreviewProps = {
  ref: React.RefObject<HTMLCanvasElement | null>
  picture: ImageBitmap
  crop: Crop
  onCropChange: (crop: Crop) => void
}

function Preview({ ref, picture, crop, onCropChange }: PreviewProps) {
  const { t } = useTranslation('account')
  useEffect(() => {
    const context = ref.current?.getContext('2d')
    if (!context) return
    const { left, top, length } = cropSquare(picture, crop)
    context.clearRect(0, 0, cropSizePx, cropSizePx)
    context.drawImage(picture, left, top, length, length, 0, 0, cropSizePx, cropSizePx)
  }, [ref, picture, crop])
  const drag = (event: PointerEvent<HTMLCanvasElement>) => {
    if (!event.currentTarget.hasPointerCapture(event.pointerId)) return
    const { length } = cropSquare(picture, crop)
    const scale = length / event.currentTarget.clientWidth
    const movedBy = (by: number, room: number, at: number) =>
      room > 0 ? clamp(at - (by * scale) / room) : at
    onCropChange({
      ...crop,
      x: movedBy(event.movementX, picture.width - length, crop.x),
      y: movedBy(event.movementY, picture.height - length, crop.y),
    })
  }
  return (
    <canvas
      ref={ref}
      width={cropSizePx}
      height={cropSizePx}
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
