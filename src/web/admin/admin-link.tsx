import { Link, useNavigate } from '@tanstack/react-router'
import type { ComponentProps, ReactNode } from 'react'

/** Search parameters of a page of administrators. */
export type AdminSearch = Record<string, string | number | undefined>

type AdminLinkProps = Omit<ComponentProps<'a'>, 'href'> & {
  /** Path below `/admin/`. */
  to: string
  search?: AdminSearch
  children: ReactNode
}

/** A link to a page of administrators. */
export const AdminLink = ({ to, search = {}, ...rest }: AdminLinkProps) => (
  <Link
    {...rest}
    to="/admin/$"
    params={{ _splat: to }}
    search={search as never}
    // Pages above the current one are not the current one.
    activeOptions={{ exact: true, includeSearch: false }}
  />
)

/** Returns the function that opens a page of administrators. */
export function useAdminNavigate() {
  const navigate = useNavigate()
  return (to: string, search: AdminSearch = {}) =>
    void navigate({ to: '/admin/$', params: { _splat: to }, search: search as never })
}

export const linkStyle = 'font-medium text-brand-text underline-offset-2 hover:underline'
