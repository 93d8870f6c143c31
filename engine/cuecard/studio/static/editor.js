// The editor in the browser: drafts that outlive tabs, reloads and the studio, and the keys and buttons of the form.
"use strict"
const DRAFTS = "cuecard-entry:"
const form = () => one("#entry")
const local = (act) => { try { return act(localStorage) } catch { return null } }
// Each tab has drafts of its own, so that two tabs with one entry take nothing from each other.
const tab = (() => {
  try {
    const held = sessionStorage.getItem("cuecard-tab") || crypto.randomUUID()
    sessionStorage.setItem("cuecard-tab", held)
    return held
  } catch { return "only" }
})()
const begin = () => `${DRAFTS}${form().dataset.subject}#`
const mine = () => begin() + tab
const texts = () => [...new FormData(form())].filter(([name]) => name.startsWith("f."))
const told = () => JSON.stringify(texts())
const others = () => local((store) => Object.keys(store).filter((key) => key.startsWith(begin()) && key !== mine())) || []
const held = (key) => local((store) => JSON.parse(store.getItem(key)))

const dirty = () => Boolean(form()) && (form().dataset.changed !== undefined || form().saved !== told())
const mark = () => {
  const is = dirty()
  for (const name of ["#drop", "#is-draft"]) if (one(name)) one(name).hidden = !is
  if (!is) one("#kept").textContent = ""
}
const keepEntry = () => {
  const done = local((store) => { store.setItem(mine(), JSON.stringify({ at: Date.now(), base: one("#base").value, file: one("#file").value, values: texts() })); return true })
  one("#kept").textContent = done ? "kept in this browser since your last key press" : "this browser keeps no drafts: save before you leave"
}
const forget = (values) => local((store) => { for (const key of [mine(), ...others()]) if (JSON.stringify(held(key)?.values) === values) store.removeItem(key) })
const addPhrase = (text = "") => {
  const list = one("#phrases"), last = list.lastElementChild.cloneNode(true), number = list.children.length + 1
  const field = last.querySelector("input"), score = last.querySelector("span")
  field.value = text
  field.setAttribute("aria-label", `Phrase ${number}`)
  field.id = `f-phrases-${number}`
  score.id = `p-${number}`
  score.textContent = ""
  list.append(last)
  return field
}
const fill = (values) => {
  const phrases = values.filter(([name]) => name === "f.phrases").map(([, text]) => text)
  if (one("#phrases")) {
    while (one("#phrases").children.length < phrases.length) addPhrase()
    all("#phrases input").forEach((each, n) => { each.value = phrases[n] ?? "" })
  }
  for (const [name, text] of values) if (name !== "f.phrases" && form().elements[name]) form().elements[name].value = text
}
const preview = () => { if (form()) htmx.trigger(form(), "preview") }

// A page of the editor has come in: what was saved is no draft any more, and a draft of before goes on; so does what was
// written while the studio was saving.
const enter = () => {
  const at = form()
  if (!at || at.saved !== undefined) return
  const { saved, changed } = at.dataset
  at.saved = changed === undefined ? told() : null
  if (saved) { forget(sentTexts); toast(`Saved to ${saved}`) }
  const own = held(mine()), words = JSON.stringify(own?.values)
  if (changed !== undefined && (!own || words === sentTexts)) { keepEntry(); mark(); return }
  const newest = own || (saved ? null : others().map(held).filter(Boolean).sort((a, b) => b.at - a.at)[0])
  if (!newest || JSON.stringify(newest.values) === told()) { if (own) forget(words); mark(); return }
  if (!saved) { one("#base").value = newest.base; one("#file").value = newest.file }
  fill(newest.values)
  keepEntry()
  mark()
  preview()
}
let sentTexts = ""
const saveEntry = () => { const button = one("#save"); if (button && !button.disabled) button.click() }

document.addEventListener("input", (event) => { if (event.target.closest("#entry")) { keepEntry(); mark() } })
document.addEventListener("htmx:beforeRequest", (event) => { if (form() && event.detail.elt === one("#save")) sentTexts = told() })
document.addEventListener("htmx:afterSettle", enter)
// While a file cannot be read, the form stays as it is, and the page says what is wrong above it.
document.addEventListener("htmx:beforeSwap", (event) => {
  const { target, serverResponse, requestConfig } = event.detail
  const shows = target?.id === "page" ? location.pathname.startsWith("/editor") && dirty() : requestConfig.elt === form()
  if (!form() || !shows || serverResponse.includes('id="entry"')) return
  const page = new DOMParser().parseFromString(serverResponse, "text/html")
  if (!page.querySelector("#problems, .problem")) return
  event.detail.shouldSwap = false
  for (const name of ["#live", "#chips"]) { const told = page.querySelector(name); if (told && one(name)) one(name).replaceWith(told) }
  one("#unreadable").replaceChildren(...(page.querySelector("#problems")?.children || page.querySelectorAll(".problem")))
  mark()
}, true)

document.addEventListener("click", (event) => {
  const at = event.target.closest("button")
  if (!at || !form()) return
  if (at.id === "add-phrase") addPhrase().focus()
  if (at.id === "drop") { forget(told()); location.reload() }
  if (at.id === "copy-review") { const text = one("#review pre"); if (text) copy(text.textContent, "The review"); else toast("There is no change to review yet") }
  if (at.id === "decide") { one("#base").value = at.dataset.base; keepEntry(); preview(); one("#save").focus() }
  const field = at.dataset.field && document.getElementById(at.dataset.field)
  if (at.matches(".mend") && field) { field.value = field.value.split(at.dataset.wrong).join(at.dataset.meant); field.dispatchEvent(new Event("input", { bubbles: true })); field.focus() }
  if (at.matches(".take")) {
    const theirs = at.parentElement.querySelector(".theirs").textContent
    if (field) { field.value = theirs; field.dispatchEvent(new Event("input", { bubbles: true })); field.focus() }
    else { fill(theirs.split("\n").map((text) => ["f.phrases", text])); keepEntry(); mark(); preview() }
  }
})
document.addEventListener("keydown", (event) => {
  if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "s" || !form()) return
  event.preventDefault()
  saveEntry()
})
document.addEventListener("submit", (event) => { if (event.target === form()) event.preventDefault() }) // only a button that names its file saves
document.addEventListener("DOMContentLoaded", enter)
