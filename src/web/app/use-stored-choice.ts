import { useState } from 'react'

/** Keeps a choice in local storage; the first one is the default. */
export function useStoredChoice<Value extends string>(
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
