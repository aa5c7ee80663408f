import { classNames } from './class-names.ts'

const sizes = { small: 'size-7 text-xs', medium: 'size-9 text-sm', large: 'size-24 text-3xl' }

/** Returns the path of an uploaded avatar; null for others, which the page must not load. */
export function avatarPath(image: string | undefined): string | null {
  if (!image) return null
  const { origin, pathname } = new URL(image, location.origin)
  return origin === location.origin && pathname.startsWith('/avatars/') ? pathname : null
}

const initialsOf = (name: string) =>
  name
    .split(/[\s._-]+/)
    .filter(Boolean)
    .slice(0, 2)
    .map((word) => String.fromCodePoint(word.codePointAt(0) ?? 0).toUpperCase())
    .join('')

/** Shows a user's avatar or initials. It is decorative, so put the name beside it. */
export function Avatar({
  image,
  name,
  size = 'medium',
}: {
  image?: string | undefined
  name: string
  size?: keyof typeof sizes
}) {
  const picture = avatarPath(image)
  const shape = classNames('shrink-0 rounded-full', sizes[size])
  if (picture) return <img src={picture} alt="" className={classNames(shape, 'object-cover')} />
  return (
    <span
      aria-hidden
      // Not text: no user would call the button around it so.
      data-initials={initialsOf(name)}
      className={classNames(
        shape,
        'flex items-center justify-center bg-brand-soft font-semibold text-brand-text select-none before:content-[attr(data-initials)]',
      )}
    />
  )
}
