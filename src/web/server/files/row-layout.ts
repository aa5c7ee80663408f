/** Height of a row in pixels: two lines of text on phones, one elsewhere. */
export const rowHeight = 48

/** The columns of the table: checkbox, name, size, modification time, actions. */
export const rowGrid =
  'grid grid-cols-[2.25rem_minmax(0,1fr)_2.5rem] items-center gap-x-2 pr-1.5 pl-1 sm:grid-cols-[2.25rem_minmax(0,1fr)_6rem_9rem_2.5rem]'
