import { conflict, displayError } from '../../errors.ts'

/** 409: there is another move. */
export const moveIsTaken = () =>
  conflict('move_in_taken', 'A move is prepared or runs already. Cancel it first.')

/** 409: the upload was cancelled while it came in. */
export const uploadIsCancelled = () => conflict('move_in_cancelled', 'The upload was cancelled.')

/** 409: there is no dump that waits. */
export const moveIsAtOtherStage = () =>
  conflict('move_in_stage', 'The move is at another stage by now. Load the page again.')

/** 409: the dump lies on another machine. */
export const dumpIsElsewhere = (machine: string) =>
  conflict('move_in_elsewhere', `The dump lies on the machine ${machine}. Continue there.`, {
    values: { machine },
  })

/** 409: the move was not checked, or the check refused rows. */
export const moveIsRefused = () =>
  conflict('move_in_refused', 'The move cannot start before a check that refuses no row.')

/** 400: the disk has too little space; both in MiB. */
export const diskIsTooFull = (needed: number, free: number) =>
  displayError(
    'move_in_disk_full',
    `The disk of the panel is too full: the move needs ${needed} MiB for a while, and ${free} are free.`,
    { values: { needed, free } },
  )
