import { createFileRoute, Outlet } from '@tanstack/react-router'
import { Logo } from '../../app/logo.tsx'
import { site } from '../../app/site.ts'
import { loadTexts } from '../../app/texts.ts'

export const Route = createFileRoute('/auth')({
  loader: () => loadTexts('auth'),
  component: AuthLayout,
})

/** The layout of guest pages: one card in the middle. */
function AuthLayout() {
  return (
    <div className="flex min-h-dvh flex-col items-center justify-center gap-6 p-4">
      <header className="flex max-w-full items-center gap-2.5 text-lg font-semibold tracking-tight">
        <Logo />
        <span className="truncate">{site.name}</span>
      </header>
      <main className="w-full max-w-sm rounded-card border border-line bg-surface p-6 shadow-sm">
        <Outlet />
      </main>
    </div>
  )
}
