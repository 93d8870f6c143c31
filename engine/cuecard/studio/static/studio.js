// The studio in the browser: keys, theme, folds, copy, search and live reload. Everything else is in the pages.
"use strict"
const root = document.documentElement
const one = (selector) => document.querySelector(selector)
const all = (selector) => [...document.querySelectorAll(selector)]

// Theme ---------------------------------------------------------------
const dark = () => root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches
const sayTheme = () => { const button = one("#theme"); if (button) button.textContent = dark() ? "☾ Dark theme" : "☀ Light theme" }
const turnTheme = () => {
  root.dataset.theme = dark() ? "light" : "dark"
  try { localStorage.setItem("cuecard-theme", root.dataset.theme) } catch { /* it lasts as long as the page */ }
  sayTheme()
}

// What a person has folded, scrolled to or is writing stays, whatever comes in ----
const address = () => location.pathname + location.search
let kept = null
const named = (row) => row.querySelector("summary code")?.textContent // an id changes with the text of a block
const keep = () => {
  keepFocus()
  kept = {
    at: address(),
    open: new Map(all("#page details[id]").flatMap((each) => [[named(each), each.open], [each.id, each.open]])),
    inner: new Map(all("#page pre[tabindex], #page .scroll").map((each, n) => [n, each.scrollTop])),
    find: one("#find")?.value,
    top: scrollY,
  }
}
const restore = (same) => {
  if (!kept) return
  if (same) {
    for (const each of all("#page details[id]")) each.open = kept.open.get(each.id) ?? kept.open.get(named(each)) ?? each.open
    all("#page pre[tabindex], #page .scroll").forEach((each, n) => { each.scrollTop = kept.inner.get(n) || 0 })
    scrollTo({ top: kept.top, behavior: "instant" })
  } else if (kept.at.split("?")[0] !== location.pathname) scrollTo({ top: 0, behavior: "instant" }) // another screen
  if (kept.find && one("#find")) { one("#find").value = kept.find; find(kept.find) }
  kept = null
}
// Whoever writes goes on at the same letter: htmx keeps no selection from the first one, and texts that are put back move it to the end.
// Whoever goes by keyboard goes on at the same link or button, or at what has come into its place.
let focus = null
const pressable = (region) => [...region.querySelectorAll("a[href], button:not(:disabled), summary, [tabindex='0']")].filter((each) => each.checkVisibility())
const look = (at) => [at.tagName, at.name, label(at)].join()
const keepFocus = () => {
  const at = document.activeElement, region = at?.closest("#page *")?.parentElement.closest("[id]")
  if (!region) { focus = null; return }
  const place = typeof at.selectionStart === "number" ? [at.selectionStart, at.selectionEnd, at.selectionDirection] : null
  focus = { at, place, look: look(at), region: region.id, nth: place ? -1 : pressable(region).indexOf(at), screen: location.pathname }
}
const restoreFocus = () => {
  if (!focus || focus.at.isConnected) return
  const { at: { id }, place, nth, screen } = focus, same = id && document.getElementById(id)
  if (same && place) { same.focus({ preventScroll: true }); same.setSelectionRange(...place) }
  if (nth < 0 || document.activeElement !== document.body) return
  const there = pressable(document.getElementById(focus.region) || one("#page")), twins = there.filter((each) => look(each) === focus.look)
  const nearest = twins.sort((a, b) => Math.abs(there.indexOf(a) - nth) - Math.abs(there.indexOf(b) - nth))[0]
  const field = document.getElementById(focus.region)?.closest(".field")?.querySelector("input:not([type=hidden]), textarea, select")
  const next = nearest || (screen === location.pathname && (there[Math.min(nth, there.length - 1)] || field))
  if (next) next.focus({ preventScroll: true })
}
addEventListener("htmx:afterSettle", restoreFocus) // behind all who put texts back, as they listen at the document
// Fields that have changed since they were last sent: a page that was asked for before takes nothing from them.
const unsent = new Set()
document.addEventListener("input", ({ target }) => { if (target.id && target.matches("#form :is(input, textarea, select), #main :is(input, textarea):not([type=checkbox], #find, #entry *)")) unsent.add(target) })
const sending = (elt) => { for (const each of unsent) if (each.form?.contains(elt)) unsent.delete(each) }
const rewrite = (screen) => {
  for (const each of [...unsent].filter((one) => !one.isConnected)) {
    const { id, value, checked } = each, at = document.getElementById(id)
    unsent.delete(each)
    if (!at || screen !== location.pathname || (at.value === value && at.checked === checked)) continue
    Object.assign(at, { value, checked })
    at.dispatchEvent(new Event("input", { bubbles: true }))
  }
}
const say = () => { const told = one("#page .say.first"); if (told) one("#said").textContent = told.textContent }
const widen = () => { const wide = matchMedia("(min-width: 1240px)").matches; for (const each of all("details.wide-open")) if (wide) each.open = true }

// Search on this screen: rows that do not hold the words are set aside ----
const find = (words) => {
  if (one("#find")?.dataset.server) return // of very many rows, the server finds those that are wanted
  const wanted = words.trim().toLowerCase()
  for (const row of all("[data-rows] > *")) row.hidden = Boolean(wanted) && !row.textContent.toLowerCase().includes(wanted)
  for (const each of all("details.cat")) { const some = [...each.querySelectorAll("li")].some((row) => !row.hidden); each.hidden = Boolean(wanted) && !some; if (wanted && some) each.open = true }
  for (const told of all(".found-none")) told.hidden = !wanted || all("[data-rows] > *").some((row) => !row.hidden)
}
const fold = (open) => { for (const each of all("#main details.sec")) each.open = open }

const toast = (text) => { const box = one("#toast"); box.firstElementChild.textContent = text; box.hidden = false }
const copy = async (text, what) => {
  try { await navigator.clipboard.writeText(text); toast(`${what} copied`) } catch { toast("The browser does not let this page copy; select the text instead") }
}

// Live: the files have changed, or a conversation has grown ----
let source = null
let missed = false
const busy = () => { const at = document.activeElement; return at?.matches("#main :is(input:not([type=search]), textarea, select, [contenteditable])") }
// What takes longer than people notice is named in the band; the page stays as it is meanwhile.
let waiting = 0
let before = null
const wait = (word) => {
  clearTimeout(waiting)
  const live = one("#live")
  if (before && live === before.live) { live.textContent = before.text; live.className = before.look }
  before = null
  if (word) waiting = setTimeout(() => { if (!live) return; before = { live, text: live.textContent, look: live.className }; live.textContent = word; live.classList.add("held"); one("#said").textContent = word }, 400)
}
// What is on its way, in the order in which it was asked for. What a person asks for comes first: a refresh gives way to it, and is due
// afterwards; an earlier look gives way to a later one. What writes is never given up, but its page is not shown in place of a later one.
// What is written meanwhile is sent once the answer has come, by every form; what is pressed in one that is being written, is pressed then.
const underway = new Set()
let due = false
let pressed = null
let again = null
const writes = () => [...underway].some((each) => each.page && !each.looks && !each.anew)
const anew = (elt) => elt === one("#page") || elt.id === "renew"
document.addEventListener("htmx:confirm", (event) => {
  const { elt, target } = event.detail
  if (elt.id === "form" && [...underway].some((each) => each.page && !each.anew)) { event.preventDefault(); return } // what was written before went along, the rest follows
  if (elt.id !== "form" && elt.closest("#form") && !anew(elt) && writes()) { event.preventDefault(); again = elt; return }
  if (!anew(elt)) for (const each of underway) if (each.anew || (each.looks && target.id === "page")) each.stop()
})
document.addEventListener("htmx:beforeRequest", ({ detail: { elt, target, xhr, requestConfig } }) => {
  const page = target.id === "page", { onload, onabort } = xhr
  const over = () => { underway.delete(ask); if (![...underway].some((each) => !each.anew)) wait(""); setTimeout(() => { pressAgain(); catchUp() }) }
  const stop = () => { if (ask.come) { onabort(); due ||= ask.anew; over() } else xhr.abort() }
  const passed = () => !xhr.status || !target.isConnected || (page && [...underway].findLast((each) => each.page) !== ask)
  const ask = { anew: anew(elt), page, looks: page && requestConfig.verb === "get", stop }
  underway.add(ask)
  if (page || elt.id === "form") sending(elt)
  if (!ask.anew) wait(elt.closest("[data-wait]")?.dataset.wait || "making the page")
  xhr.onload = () => {
    ask.come = () => { if (passed()) { if (page) hear(xhr); stop() } else try { onload() } finally { over() } }
    if (!pressed || (!page && pressed.matches("[type=range]"))) ask.come() // what is pressed does not go from under the mouse; a slider asks while it is dragged
  }
  xhr.addEventListener("abort", () => { due ||= ask.anew })
  for (const end of ["abort", "error", "timeout"]) xhr.addEventListener(end, over)
})
const hear = (xhr) => { const told = xhr.getResponseHeader("hx-trigger-after-settle"); if (told) toast(JSON.parse(told).told.value); else if (xhr.status >= 400) refused(xhr) }
const refused = (xhr) => { const told = new DOMParser().parseFromString(xhr.responseText, "text/html").querySelector("#main .say.first"); toast(told ? told.textContent : `The studio answered ${xhr.status}`) }
addEventListener("unhandledrejection", (event) => { if (event.reason === undefined) event.preventDefault() }) // a request that htmx gave up
const later = () => { missed = true; one("#live").textContent = "new state: press to show" }
const label = (at) => at.id || at.getAttribute("aria-label") || at.textContent
const pressAgain = () => {
  if (!again || writes()) return
  const wanted = again, twins = wanted.isConnected ? [wanted] : all("#form :is(button, select, input)").filter((each) => each.name === wanted.name && label(each) === label(wanted))
  again = null
  if (twins.length !== 1) toast("The screen has changed meanwhile: press it again") // an entity of that number may be another one now
  else if (wanted.matches("button")) twins[0].click()
  else twins[0].dispatchEvent(new Event("change", { bubbles: true }))
}
const catchUp = () => { if (!underway.size && due) { due = false; refresh() } }
const released = () => { if (!pressed) for (const each of [...underway]) each.come?.() }
addEventListener("pointerdown", (event) => { pressed = event.button === 0 && !event.target.closest("select") ? event.target : null }, true) // a list that opens takes the release
for (const end of ["pointerup", "pointercancel", "pointermove", "keydown"]) addEventListener(end, (event) => { if (pressed && !event.buttons) { pressed = null; setTimeout(released) } }, true)
const refresh = () => {
  if (underway.size) { due = true; return }
  if (typeof form === "function" && form()) { if (dirty()) { preview(); return } } // what somebody has written stays, and is laid over the new files
  else if (busy()) { later(); return }
  missed = false
  if (one("#renew")) { one("#renew").click(); return } // what is written in the form goes along
  htmx.ajax("GET", address(), { target: "#page", select: "#page", swap: "outerHTML show:none", source: one("#page") })
}
// A conversation has grown: whoever looks at its end sees it, nobody else's page moves.
const atEnd = () => { const tail = one("#tail"); return tail && tail.getBoundingClientRect().top < innerHeight }
const listing = () => location.pathname === "/timeline" && !one("#page").dataset.run
const grown = (told) => {
  const page = one("#page"), news = one("#news"), more = told.steps - Number(page.dataset.steps)
  if (listing()) { refresh(); return }
  if (page.dataset.run !== told.run || more < 0) return
  if (atEnd() && !busy()) { refresh(); return }
  if (more && news) { news.textContent = `${more} new step${more === 1 ? "" : "s"}`; news.hidden = false }
}
const follow = () => {
  source = new EventSource(`/events?mark=${one("#page").dataset.mark ?? ""}`)
  let lost = false
  source.onopen = () => { if (lost) refresh(); lost = false }
  source.onerror = () => { lost = true; const live = one("#live"); if (live) { live.textContent = "waiting for the studio"; live.classList.add("held") } }
  source.addEventListener("anew", refresh)
  source.addEventListener("files", (event) => { if (JSON.parse(event.data).agent === one("#page").dataset.agent) refresh() })
  source.addEventListener("steps", (event) => grown(JSON.parse(event.data)))
  source.addEventListener("runs", () => { if (listing()) refresh() })
}
addEventListener("pagehide", () => source?.close())
addEventListener("pageshow", (event) => { if (event.persisted) follow() })

document.addEventListener("htmx:beforeSwap", (event) => {
  keep()
  const { target, serverResponse, xhr, requestConfig } = event.detail
  if (anew(requestConfig.elt) && busy() && !(typeof form === "function" && form())) { // meanwhile somebody has begun to write
    event.detail.shouldSwap = false
    later()
    return
  }
  if (!target || target.id === "page" || serverResponse.includes(`id="${target.id}"`)) return
  event.detail.shouldSwap = false // a page that says what is wrong: what stands here stays
  refused(xhr)
})
const invalid = () => { for (const each of all("#form .errs, #entry .errs")) { const field = document.getElementById(each.id.slice(2)); if (each.firstElementChild) field?.setAttribute("aria-invalid", "true"); else field?.removeAttribute("aria-invalid") } }
document.addEventListener("htmx:afterSettle", () => {
  const same = kept && (kept.at === address() || Boolean(one("#form"))), screen = kept?.at.split("?")[0]
  restore(same)
  rewrite(screen)
  invalid()
  sayTheme()
  widen()
  say()
})
// A swap of the same screen keeps the folds, too: what was opened in one step is compared with the next.

// Inputs: what is written and not sent yet outlives a reload ----
const DRAFT = "cuecard-draft"
let written = 0
let sent = 0
const stored = (act) => { try { return act(sessionStorage) } catch { return null /* then a reload within a third of a second loses it */ } }
const draft = () => stored((store) => JSON.parse(store.getItem(DRAFT)))
const keepDraft = () => { const form = one("#form"); if (form) stored((store) => store.setItem(DRAFT, JSON.stringify({ at: address(), values: [...new FormData(form)] }))) }
const takeDraft = () => {
  const [held, form] = [draft(), one("#form")]
  if (!held || !form || held.at !== address()) return
  const values = new Map(held.values)
  const changed = [...form.elements].filter((each) => each.name?.includes(".") && each.type !== "hidden").filter((each) => {
    if (each.type === "checkbox") { const on = values.has(each.name); if (on === each.checked) return false; each.checked = on; return true }
    const text = values.get(each.name) ?? each.value
    if (text === each.value) return false
    each.value = text
    return true
  })
  changed[0]?.dispatchEvent(new Event("change", { bubbles: true }))
}
document.addEventListener("input", (event) => { if (event.target.closest("#form")) { written += 1; keepDraft() } })
document.addEventListener("htmx:beforeRequest", () => { sent = written })
document.addEventListener("htmx:afterSettle", () => { if (sent === written) stored((store) => store.removeItem(DRAFT)); else keepDraft() })

// Switches: the form holds which tools are found, in order; a slider and its number say the same ----
document.addEventListener("change", (event) => {
  const { target } = event
  if (target.matches(".sw[data-tool]")) {
    const form = one("#switched"), { found } = form.elements, { tool } = target.dataset
    const names = found.value.split(",").filter((each) => each && each !== tool)
    found.value = (target.checked ? [...names, tool] : names).join(",")
    form.requestSubmit()
  }
  if (target.matches(".slides input, .slides select")) slid(target.id, target.value)
  if (target.matches("#phrase select")) one("#add-phrase .mono").textContent = target.selectedOptions[0].dataset.file
})
// Keys and clicks that follow each other at once are one change; a page that came in between does not undo it.
let sliding = 0
const slid = (id, value) => { clearTimeout(sliding); sliding = setTimeout(() => { const at = document.getElementById(id); if (!at) return; at.value = value; twin(at); if (at.form.reportValidity()) at.form.requestSubmit() }, 150) }
document.addEventListener("submit", (event) => { if (event.target.matches(".slides")) clearTimeout(sliding) }) // by Enter, it is asked for already
const twin = (at) => { const other = at.dataset.for ? document.getElementById(at.dataset.for) : one(`[data-for="${at.id}"]`); if (other && at.value) other.value = at.value }
document.addEventListener("input", (event) => { if (event.target.closest(".slides")) twin(event.target) }, true) // before the figures are asked for
document.addEventListener("told", (event) => toast(event.detail.value))

// Clicks ----
document.addEventListener("click", (event) => {
  const at = event.target.closest("button, a, #live")
  if (!at) return
  if (at.id === "theme") turnTheme()
  if (at.id === "help") one("#keys").showModal()
  if (at.id === "live" && missed) { document.activeElement.blur(); refresh() }
  if (at.dataset.fold !== undefined) fold(at.dataset.fold === "open")
  if (at.matches("#toast button")) one("#toast").hidden = true
  if (at.matches(".copy")) copy(at.closest(".body, .ways > li").querySelector("pre").textContent, "Text")
  if (at.matches(".copy-address")) copy(location.href, "Address")
  if (at.matches("a.node")) { event.preventDefault(); const twin = all(".nexts a").find((each) => each.getAttribute("href") === at.getAttribute("href")); if (twin) twin.click() }
  if (at.matches(".copy-all")) copy(all("#main pre.text").map((each) => each.textContent).join(""), "What was sent")
  if (at.matches(".list a[href^='#'], .legend a[href^='#']")) { const row = document.getElementById(decodeURIComponent(at.hash.slice(1))); if (row) row.open = true }
})
document.addEventListener("change", (event) => { if (event.target.matches(".where select")) event.target.form.requestSubmit() })
document.addEventListener("input", (event) => { if (event.target.id === "find") find(event.target.value) })

// Two steps to compare: B is the step that is shown, A the one that it is compared with ----
const choose = (name, at = document.activeElement) => {
  const place = at.closest("[data-place]")?.dataset.place || one("#steps [aria-current]")?.textContent
  if (!place) return
  const there = new URL(location.href)
  there.searchParams.set(name, place)
  location.assign(there)
}

addEventListener("click", (event) => {
  if (!event.shiftKey || !event.target.closest("[data-place] a")) return
  event.preventDefault()
  event.stopPropagation()
  choose("a", event.target)
}, true) // before htmx follows the link

// Keys: single ones act outside fields, and can be turned off ----
const acts = { t: turnTheme, "?": () => one("#keys").showModal(), f: () => fold(false), F: () => fold(true), "/": () => (one("#find") || one("#main input[type=search]"))?.focus(),
  ArrowLeft: () => one("#before[href]")?.click(), ArrowRight: () => one("#after[href]")?.click(),
  x: () => { const cells = all(".ruler a"); const now = cells.findIndex((each) => each.matches("[aria-current]")); (cells.find((each, n) => n > now && each.matches(".broke")) || one(".ruler a.broke"))?.click() },
  e: () => (document.activeElement.closest("details.sec") || one("details.sec[open]") || one("details.sec"))?.querySelector("a.editor")?.click(),
  a: () => choose("a"), b: () => choose("step") }
const off = () => { try { return localStorage.getItem("cuecard-keys") === "off" } catch { return false } }
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || one("#keys").open || off()) return
  if (event.target.closest("input, select, textarea, [contenteditable]")) { if (event.key === "Escape") event.target.blur(); return }
  if (event.key.startsWith("Arrow") && event.target.closest("pre[tabindex], .scroll")) return
  const act = /^[1-9]$/.test(event.key) ? () => one(`.screens [data-key="${event.key}"]`)?.click() : acts[event.key]
  if (act) { event.preventDefault(); act() }
})
one("#single").checked = !off()
one("#single").addEventListener("change", (event) => { try { localStorage.setItem("cuecard-keys", event.target.checked ? "on" : "off") } catch { /* it lasts as long as the page */ } })

sayTheme()
widen()
document.addEventListener("DOMContentLoaded", takeDraft) // by then htmx listens
follow()
