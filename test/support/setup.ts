import { afterAll, afterEach } from 'vitest'
import { resetEnvironment, resetProcess } from './reset.ts'

// The files of a worker share its process. Hooks of a test file run before these.
afterEach(resetProcess)
afterAll(resetEnvironment)
