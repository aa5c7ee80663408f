import { browserApi } from '../api/client.ts'
import { forgetAccount } from '../offline/offline.ts'

/** Signs the user out and shows the sign-in page. */
export async function signOut(): Promise<void> {
  await browserApi.auth.logout.$post()
  await forgetAccount()
  location.assign('/auth/login')
}
