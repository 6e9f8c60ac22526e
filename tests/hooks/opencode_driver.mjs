// Runs one of our opencode plugins without opencode: steps from stdin, what became of their outputs to stdout.
import { pathToFileURL } from "node:url"

let text = ""
for await (const part of process.stdin) text += part
const { plugin, generation, steps, parents } = JSON.parse(text)
const module = await import(pathToFileURL(plugin))
const get = async (id) => ({ data: { id, parentID: parents[id], directory: "/w/shop" } })
const results = []
const spent = []

async function timed(work) {
  const began = performance.now()
  await work()
  spent.push(performance.now() - began)
}

if (generation === 1) {
  const hooks = await module.Flywheel({ client: { session: { get: ({ path }) => get(path.id) } }, directory: "/w/shop" })
  const twice = await module.Flywheel({ client: { session: { get: ({ path }) => get(path.id) } }, directory: "/w/shop" })
  for (const [name, input, output] of steps) {
    await timed(() => hooks[name](input, output))
    await twice[name](input, output)
    results.push(output ?? null)
  }
} else {
  const hooks = {}
  const events = []
  let wake = () => {}
  const hook = async (name, callback) => void (hooks[name] = callback)
  const end = await module.default.setup({
    location: { directory: "/w/shop" },
    session: { hook, get: ({ sessionID }) => get(sessionID) },
    tool: { hook },
    event: {
      async *subscribe() {
        for (;;) {
          while (events.length) yield events.shift()
          await new Promise((resolve) => (wake = resolve))
        }
      },
    },
  })
  for (const [name, event] of steps) {
    if (name === "event") {
      events.push(event)
      wake()
      await new Promise((resolve) => setTimeout(resolve, 0))
    } else await timed(() => hooks[name](event))
    results.push(event)
  }
  end()
  wake()
}
process.stdout.write(JSON.stringify({ results, spent }))
