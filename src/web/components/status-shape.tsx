import { classNames } from './class-names.ts'

/** Shapes of states: `disc` runs, `ring` does not, `half` is under way, `diamond` warns, `triangle` has failed, `bar` is barred. */
export type Shape = 'disc' | 'ring' | 'half' | 'diamond' | 'triangle' | 'bar'

const paths: Record<Shape, string> = {
  disc: 'M5 1a4 4 0 1 0 0 8a4 4 0 1 0 0-8Z',
  ring: 'M5 1a4 4 0 1 0 0 8a4 4 0 1 0 0-8ZM5 2.6a2.4 2.4 0 1 1 0 4.8a2.4 2.4 0 1 1 0-4.8Z',
  half: 'M5 1a4 4 0 1 0 0 8a4 4 0 1 0 0-8ZM5 2.4v5.2a2.6 2.6 0 1 1 0-5.2Z',
  diamond: 'M5 .4 9.6 5 5 9.6.4 5Z',
  triangle: 'M5 .8 9.7 9.2H.3Z',
  bar: 'M5 .8a4.2 4.2 0 1 0 0 8.4a4.2 4.2 0 1 0 0-8.4ZM2.6 4.2h4.8v1.6H2.6Z',
}

/** The shape of a state in the colour of its text; decorative, since a text says the state. */
export const StatusShape = ({ shape, className }: { shape: Shape; className?: string }) => (
  <svg
    aria-hidden
    viewBox="0 0 10 10"
    data-shape={shape}
    className={classNames('size-2.5 shrink-0 animate-state', className)}
  >
    <path d={paths[shape]} fill="currentColor" fillRule="evenodd" />
  </svg>
)
