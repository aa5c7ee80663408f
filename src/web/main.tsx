import './app.css'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { queryClient } from './api/query-client.ts'
import { startPromptEffects } from './app/prompt-effects.ts'
import { site } from './app/site.ts'
import { startTexts } from './app/texts.ts'
import { startTheme } from './app/theme.ts'
import { startOffline } from './offline/offline.ts'
import { router } from './app/router.ts'

// Radix adds a style that locks scrolling behind a dialog, and reads the nonce for it from this global.
Object.assign(globalThis, { __webpack_nonce__: site.nonce })
startTheme()
startPromptEffects()
document.documentElement.dataset.blur = site.blur ? 'on' : 'off'
await startTexts()

const root = document.getElementById('app')
if (!root) throw new Error('The page has no place for the application.')
// The server saw another host than the panel's; only the browser knows whether a proxy has changed it.
const notice = root.querySelector<HTMLElement>('[data-panel-origin]')
if (!notice || notice.dataset.panelOrigin === window.location.origin) {
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </StrictMode>,
  )
  startOffline()
}
