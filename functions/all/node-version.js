// Ends the process with one line where Node is too old for the panel. JavaScript without newer syntax, since an old Node
// must read it; the code of the panel is loaded after it.
const needed = [22, 18]
const [major, minor] = process.versions.node.split('.').map(Number)

if (major < needed[0] || (major === needed[0] && minor < needed[1])) {
  console.error(
    `Roost needs Node ${needed.join('.')} or newer, and ${process.execPath} is ${process.version}: install a newer one.`,
  )
  process.exit(1)
}
