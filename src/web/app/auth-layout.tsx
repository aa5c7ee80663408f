import type { ReactNode } from 'react'
import { FooterLinks } from './footer-links.tsx'
import { Logo } from './logo.tsx'
import { site } from './site.ts'

/** The frame of guest pages: one card in the middle. */
export function AuthLayout({ children }: { children: ReactNode }) {
  return (
    <div className="flex flex-1 flex-col items-center justify-center gap-6 p-4">
      <header className="flex max-w-full items-center gap-2.5 text-lg font-semibold tracking-tight">
        <Logo />
        <span className="truncate">{site.name}</span>
      </header>
      <main className="w-full max-w-sm rounded-card border border-line bg-surface p-6 shadow-sm">
        {children}
      </main>
      <FooterLinks />
    </div>
  )
}
