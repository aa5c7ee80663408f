import { cacheNames, keptHeader, keptPage, keptTexts } from './caches.ts'
import { isDueAgain, isKept, isPage, maxKeptAnswers } from './kept-answers.ts'

/** Addresses of the code of players' pages; the build writes them here. */
declare const codeFiles: readonly string[]

type WorkEvent = Event & { waitUntil: (work: Promise<unknown>) => void }
type RequestEvent = WorkEvent & { request: Request; respondWith: (answer: Promise<Response>) => void }
/** What the types of pages leave out, which TypeScript cannot have beside those of workers. */
type Worker = {
  addEventListener: ((type: 'install' | 'activate', listener: (event: WorkEvent) => void) => void) &
    ((type: 'fetch', listener: (event: RequestEvent) => void) => void) &
    ((type: 'message', listener: (event: MessageEvent) => void) => void)
  skipWaiting: () => Promise<void>
  clients: { claim: () => Promise<void> }
}
const worker = globalThis as unknown as Worker

worker.addEventListener('install', (event) => event.waitUntil(loadCode()))
worker.addEventListener('activate', (event) =>
  event.waitUntil(removeOldCode().then(() => worker.clients.claim())),
)
worker.addEventListener('message', ({ data }) => {
  if (data === 'activate') void worker.skipWaiting()
})
worker.addEventListener('fetch', (event) => {
  const answer = answerTo(event)
  if (answer) event.respondWith(answer)
})

/** Loads the code that is not there yet, one file after the other: pages that are open go first. */
async function loadCode(): Promise<void> {
  const code = await caches.open(cacheNames.code)
  for (const file of codeFiles) {
    if (!(await code.match(file))) await code.add(file)
  }
}

/** Removes the code of earlier versions, which no page runs any more once this worker is active. */
async function removeOldCode(): Promise<void> {
  const code = await caches.open(cacheNames.code)
  const current = new Set(codeFiles)
  for (const { url } of await code.keys()) {
    const { pathname } = new URL(url)
    if (!current.has(pathname)) await code.delete(pathname)
  }
}

/** Answers with what is kept while the panel cannot be reached; null leaves the request to the browser. */
function answerTo(event: RequestEvent): Promise<Response> | null {
  const { request } = event
  const { origin, pathname } = new URL(request.url)
  if (request.method !== 'GET' || origin !== location.origin) return null
  if (pathname.startsWith('/assets/')) return codeFile(request)
  if (request.mode === 'navigate')
    return isPage(pathname) ? fetchOr(request, () => findKept('page', keptPage)) : null
  if (pathname === keptTexts) return fetchOr(request, () => findKept('page', keptTexts))
  // An administrator who acts for a user asks so: nothing of that session stays.
  if (request.cache === 'no-store' || !isKept(pathname)) return null
  return fetchOr(
    request,
    async () => marked(await findKept('data', request)),
    (answer) => event.waitUntil(keepAnswer(request, answer)),
  )
}

const findKept = (cache: keyof typeof cacheNames, request: Request | string) =>
  caches.match(request, { cacheName: cacheNames[cache], ignoreVary: true })

/** Marks an answer as kept, so that pages say so. */
function marked(answer: Response | undefined): Response | undefined {
  if (!answer) return undefined
  const headers = new Headers(answer.headers)
  headers.set(keptHeader, 'true')
  return new Response(answer.body, { status: answer.status, headers })
}

const codeFile = async (request: Request) => (await findKept('code', request)) ?? fetch(request)

/** Asks the panel, and returns what is kept where it cannot be reached. */
async function fetchOr(
  request: Request,
  find: () => Promise<Response | undefined>,
  keep: (answer: Response) => void = () => undefined,
): Promise<Response> {
  try {
    const answer = await fetch(request)
    if (answer.ok) keep(answer.clone())
    return answer
  } catch (error) {
    const kept = await find()
    if (kept) return kept
    throw error
  }
}

const lastKept = new Map<string, number>()
let kept = 0
/** How many are kept between two looks at how many there are. */
const countEvery = 50

async function keepAnswer(request: Request, answer: Response): Promise<void> {
  const { url } = request
  if (!isDueAgain(new URL(url).pathname, Date.now() - (lastKept.get(url) ?? 0))) return
  lastKept.set(url, Date.now())
  const data = await caches.open(cacheNames.data)
  await data.put(url, answer)
  kept += 1
  if (kept % countEvery !== 0) return
  // What was put last stands at the end.
  const all = await data.keys()
  for (const oldest of all.slice(0, -maxKeptAnswers)) await data.delete(oldest)
}
