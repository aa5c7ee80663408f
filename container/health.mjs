// Ends with 0 while the panel can serve, for the health check of the image.
const answer = await fetch(`http://127.0.0.1:${process.env.PORT}/health`, {
  signal: AbortSignal.timeout(9000),
}).catch((error) => ({ ok: false, text: () => `The panel does not answer: ${error.message}` }))
console.log(await answer.text())
process.exit(answer.ok ? 0 : 1)
