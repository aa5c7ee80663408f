import { browserApi } from '../api/client.ts'

/** Signs the user out and shows the sign-in page. */
export async function signOut(): Promise<void> {
  await browserApi.auth.logout.$post()
  location.assign('/auth/login')
}
