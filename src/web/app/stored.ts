import { useState } from 'react'

/** A choice that this device remembers; the first one while none was made. */
export function useStored<Value extends string>(
  key: string,
  choices: readonly [Value, ...Value[]],
): [value: Value, set: (value: Value) => void] {
  const [value, setValue] = useState(() => {
    const stored = localStorage.getItem(key)
    return choices.find((choice) => choice === stored) ?? choices[0]
  })
  const set = (next: Value) => {
    localStorage.setItem(key, next)
    setValue(next)
  }
  return [value, set]
}
