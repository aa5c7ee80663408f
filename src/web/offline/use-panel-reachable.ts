import { useSyncExternalStore } from 'react'
import { isPanelReachable, onConnectionChange } from './connection.ts'

/** Returns whether the panel answered the last request itself; renders again when that changes. */
export const usePanelReachable = (): boolean => useSyncExternalStore(onConnectionChange, isPanelReachable)
