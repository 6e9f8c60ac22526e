// Flywheel in opencode 1.x: sessions start with the briefing, prompts get what bears on them, and what happens is told.
// Nothing here throws, prints or waits longer than the deadline; where no daemon answers, the hook client takes over.

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
const AUXILIARY = /^You are an? (title generator|[\w -]*summari[sz]ation (agent|assistant))|tasked with summari[sz]ing/
const NONCE = `${process.pid}-${Date.now()}` // tells the starts of two runs of opencode apart

// A plugin that is installed twice is called twice with the same objects.
const seen = (globalThis[Symbol.for("flywheel.opencode")] ??= new WeakSet())
const again = (thing) => seen.has(thing) || (seen.add(thing), false)

export const Flywheel = async ({ client, directory }) => {
  const sessions = new Map()

  /** What is known of a session: its parent, folder, briefing, and why it starts. */
  function known(id) {
    let session = sessions.get(id)
    if (!session) {
      session = { id, parent: undefined, cwd: directory, source: "startup", starts: 0, briefing: undefined }
      sessions.set(id, session)
      if (sessions.size > SESSIONS) sessions.delete(sessions.keys().next().value)
    }
    return session
  }

  function note(info) {
    const session = known(info.id)
    session.parent = info.parentID ?? ""
    session.cwd = info.directory ?? session.cwd
    return session
  }

  /** The session, looked up where no event told of it: it is older than this run. */
  async function lookUp(id) {
    const session = known(id)
    if (session.parent !== undefined) return session
    const late = new Promise((resolve) => setTimeout(resolve, 200).unref?.())
    const found = await Promise.race([client.session.get({ path: { id } }).catch(() => {}), late])
    session.parent = ""
    return found?.data ? note(found.data) : session
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

  const events = {
    "session.created": ({ info }) => note(info),
    "session.updated": ({ info }) => note(info),
    "session.idle": ({ sessionID }) => tell("Stop", known(sessionID), { twin: String(Date.now()) }),
    "session.compacted": ({ sessionID }) => {
      const session = known(sessionID)
      session.briefing = undefined
      session.source = "compact"
      tell("PostCompact", session, { twin: String(Date.now()) })
    },
    "session.deleted": ({ info }) => {
      tell("SessionEnd", note(info), { reason: "deleted" })
      sessions.delete(info.id)
    },
    "message.part.updated": ({ part }) => {
      if (part.type !== "tool" || part.state?.status !== "error") return
      const error = String(part.state.error ?? "").slice(0, TEXT)
      const more = { tool_name: part.tool, tool_use_id: part.callID, tool_input: brief(part.state.input), error }
      tell("PostToolUseFailure", known(part.sessionID), more)
    },
  }

  return {
    event: ({ event }) => quietly(() => again(event) || events[event.type]?.(event.properties)),

    "chat.message": (input, output) =>
      quietly(async () => {
        if (again(output)) return
        const session = await lookUp(input.sessionID)
        if (session.parent) return
        if ((await session.briefing) === null) session.briefing = undefined // a daemon may run by now
        await briefing(session)
        const typed = output.parts.filter((part) => part.type === "text" && !part.synthetic && !part.ignored)
        const prompt = typed.map((part) => part.text).join("\n").slice(0, 10 * TEXT)
        const text = prompt && (await ask("UserPromptSubmit", { ...about(session), prompt, twin: output.message.id }))
        const last = output.parts[output.parts.length - 1]
        if (!text || !last) return
        const { sessionID, messageID } = last
        output.parts.push({ id: `${last.id}0`, sessionID, messageID, type: "text", synthetic: true, text })
      }),

    "experimental.chat.system.transform": (input, output) =>
      quietly(async () => {
        if (again(output) || !input.sessionID || AUXILIARY.test(output.system.join("\n").slice(0, 400))) return
        const session = await lookUp(input.sessionID)
        const text = session.parent ? "" : await briefing(session)
        if (text) output.system.push(text)
      }),

    "tool.execute.after": (input, output) =>
      quietly(() => {
        if (again(output)) return
        const more = { tool_name: input.tool, tool_use_id: input.callID, tool_input: brief(input.args) }
        tell("PostToolUse", known(input.sessionID), { ...more, exit: output.metadata?.exit })
      }),
  }
}
