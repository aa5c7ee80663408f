import { createFileRoute, Outlet } from '@tanstack/react-router'
import { AuthLayout } from '../../app/auth-layout.tsx'
import { loadTexts } from '../../app/texts.ts'

export const Route = createFileRoute('/auth')({
  loader: () => loadTexts('auth'),
  component: () => (
    <AuthLayout>
      <Outlet />
    </AuthLayout>
  ),
})
