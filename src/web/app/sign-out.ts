import { request } from '../api/request.ts'

/** The session is over, and whoever comes next can sign in. */
export async function signOut(): Promise<void> {
  await request('POST', '/auth/logout')
  location.assign('/auth/login')
}
