import * as z from 'zod'

/** An object of these members alone; each other one is refused by its own name, with the rule `prohibited`. */
export const closedObject = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.object(shape).catchall(z.custom<undefined>(() => false, 'prohibited'))
