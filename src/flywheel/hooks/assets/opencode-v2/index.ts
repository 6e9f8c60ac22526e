// Flywheel in opencode 2.x: sessions start with the briefing, prompts get what bears on them, and what happens is told.
// Nothing here throws, prints or waits longer than the deadline; where no daemon answers, the hook client takes over.
// @ts-nocheck

import { spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { request } from "node:http"

// The installation puts the hook client's command in the place of the next line: interpreter, options, script.
const COMMAND = []

// --- link: the same lines in both plugins
const TEXT = 2000 // characters of one text in a payload
const ANSWER = 60000 // characters of an answer

/** What hook.conf beside the hook client says: the socket, and the milliseconds that an answer may take. */
function settings() {
  const script = COMMAND[COMMAND.length - 1]
  const conf = readFileSync(script.slice(0, script.lastIndexOf("/")) + "/hook.conf", "utf8")
  const value = (name) => conf.match(new RegExp(`^${name}=(.*)$`, "m"))?.[1] ?? ""
  return { socket: value("socket"), deadline: Math.min(Math.max(Number(value("deadline_ms")) || 200, 1), 10000) }
}

/** Sends an event. The answer's body, "" for none in time, null where nobody took the event. */
function post(event, body) {
  return new Promise((resolve) => {
    const { socket, deadline } = settings()
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body), "x-flywheel-hook": "1" }
    const call = request({ socketPath: socket, path: `/v1/hook/opencode/${event}`, method: "POST", headers, agent: false })
    const settle = (found) => {
      clearTimeout(timer)
      resolve(found)
    }
    const timer = setTimeout(() => {
      settle("")
      call.destroy()
    }, deadline)
    call.on("error", () => settle(null))
    call.on("response", (answer) => {
      const ours = answer.statusCode === 200 && answer.headers["x-flywheel-hook"] === "1"
      let text = ""
      answer.setEncoding("utf8")
      answer.on("data", (part) => (text = text.length > ANSWER ? text : text + part))
      answer.on("error", () => settle(""))
      answer.on("aborted", () => settle(""))
      answer.on("end", () => settle(ours && text.length <= ANSWER ? text : ""))
    })
    call.end(body)
  })
}

/** Lets the hook client deliver the event: it spools it and starts a daemon, as hook.conf says. */
function handOver(event, body) {
  const [program, ...words] = COMMAND
  const client = spawn(program, [...words, event, "opencode"], { stdio: ["pipe", "ignore", "ignore"], detached: true })
  client.on("error", () => {})
  client.stdin.on("error", () => {})
  client.stdin.end(body)
  client.unref()
}

/** Delivers an event in one way or the other; the answer's body, or null. Never rejects. */
async function deliver(event, payload) {
  try {
    if (!COMMAND.length) return null
    const body = JSON.stringify({ hook_event_name: event, hook_source: "flywheel", ...payload })
    const found = await post(event, body).catch(() => null)
    if (found === null) handOver(event, body)
    return found
  } catch {
    return null
  }
}

/** What to inject: a text, "" for nothing, null where no daemon answered. Never rejects. */
async function ask(event, payload) {
  const found = await deliver(event, payload)
  if (!found) return found
  try {
    const text = JSON.parse(found).additionalContext
    return typeof text === "string" ? text : ""
  } catch {
    return ""
  }
}

/** The short texts of a tool's input. */
function brief(input) {
  const short = {}
  for (const [key, value] of Object.entries(input ?? {})) if (typeof value === "string") short[key] = value.slice(0, TEXT)
  return short
}

/** Calls; whatever goes wrong stays here. */
async function quietly(work) {
  try {
    await work()
  } catch {}
}
// --- end of link

const SESSIONS = 256 // that are remembered
const NONCE = `${process.pid}-${Date.now()}` // tells the starts of two runs of opencode apart
const TURN_ENDS = ["session.execution.succeeded", "session.execution.failed", "session.execution.interrupted", "session.idle"]

async function setup(ctx) {
  const sessions = new Map()

  /** What is known of a session: its parent, folder, the texts in its system prompt, and why it starts. */
  function known(id) {
    let session = sessions.get(id)
    if (!session) {
      const cwd = ctx.location?.directory ?? process.cwd()
      session = { id, parent: undefined, cwd, source: "startup", starts: 0, briefing: undefined, prompts: [] }
      sessions.set(id, session)
      if (sessions.size > SESSIONS) sessions.delete(sessions.keys().next().value)
    }
    return session
  }

  async function lookUp(id) {
    const session = known(id)
    if (session.parent !== undefined) return session
    const late = new Promise((resolve) => setTimeout(resolve, 200).unref?.())
    const found = await Promise.race([Promise.resolve(ctx.session.get({ sessionID: id })).catch(() => {}), late])
    const info = found?.data ?? found
    session.parent = info?.parentID ?? ""
    session.cwd = info?.location?.directory ?? info?.directory ?? session.cwd
    return session
  }

  const about = (session) => ({ session_id: session.id, cwd: session.cwd, parent_id: session.parent || "" })
  const tell = (event, session, more) => void deliver(event, { ...about(session), ...more })

  /** The briefing of the session, asked for once: every request carries the same bytes, so that caches hold. */
  function briefing(session) {
    session.briefing ??= ask("SessionStart", {
      ...about(session), source: session.source, twin: `${NONCE}-${session.starts++}`,
    })
    return session.briefing
  }

  async function onPrompt(event) {
    const session = await lookUp(event.sessionID)
    if (session.parent) return
    if ((await session.briefing) === null) session.briefing = undefined // a daemon may run by now
    await briefing(session)
    const prompt = String(event.prompt?.text ?? "").slice(0, 10 * TEXT)
    const text = prompt && (await ask("UserPromptSubmit", { ...about(session), prompt, twin: event.messageID }))
    if (text) session.prompts.push(text)
  }

  /** A prompt's text stays behind the briefing until a compaction: what stands before it keeps its place. */
  async function onContext(event) {
    if (event.kind && event.kind !== "primary") return
    const session = await lookUp(event.sessionID)
    if (session.parent) return
    for (const text of [await briefing(session), ...session.prompts]) if (text) event.system.push({ type: "text", text })
  }

  async function onTool(event) {
    const failed = event.status === "error" || event.error !== undefined
    const error = failed ? String(event.error?.message ?? event.error ?? "").slice(0, TEXT) : ""
    const more = { tool_name: event.tool, tool_use_id: event.id ?? event.callID, tool_input: brief(event.input), error }
    tell(failed ? "PostToolUseFailure" : "PostToolUse", await lookUp(event.sessionID), more)
  }

  async function onEvent(event) {
    const id = event.data?.sessionID ?? event.properties?.sessionID
    if (!id) return
    const session = await lookUp(id)
    const twin = String(Date.now())
    if (TURN_ENDS.includes(event.type)) tell("Stop", session, { twin })
    if (event.type === "session.compaction.ended" || event.type === "session.compacted") {
      Object.assign(session, { briefing: undefined, source: "compact", prompts: [] })
      tell("PostCompact", session, { twin })
    }
    if (event.type === "session.deleted") {
      tell("SessionEnd", session, { reason: "deleted" })
      sessions.delete(id)
    }
  }

  const over = new AbortController()
  await quietly(() => ctx.session.hook("prompt", (event) => quietly(() => onPrompt(event))))
  await quietly(() => ctx.session.hook("context", (event) => quietly(() => onContext(event))))
  await quietly(() => ctx.tool.hook("execute.after", (event) => quietly(() => onTool(event))))
  void quietly(async () => {
    const wanted = [...TURN_ENDS, "session.compaction.ended", "session.compacted", "session.deleted"]
    for await (const event of ctx.event.subscribe({ signal: over.signal })) {
      if (over.signal.aborted) return
      if (wanted.includes(event.type)) await quietly(() => onEvent(event))
    }
  })
  return () => over.abort()
}

export default { id: "flywheel", setup }
