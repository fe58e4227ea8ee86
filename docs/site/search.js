/* SPDX-License-Identifier: MIT */
// The search: over all sections of all pages, in the browser alone. The index is a script and no
// data file, since a page that was opened from a disk may load scripts and fetch nothing.
"use strict";
const up = document.currentScript.dataset.up;
const MOST = 30;
let sections = null; // [address, title of the page, heading, text in lower case or not]

// What a question has beside its words, and other words for what the pages say.
const WEAK = new Set(("a an and are be can cannot could do does for from get have how i if in is it " +
    "know me my of on or run should that the there this to use want was what when where whether " +
    "which why will with without work works you your").split(" "));
const OTHER = {docker: "container", podman: "container", kubernetes: "container", gpu: "device",
    gpus: "device", overhead: "costs", performance: "costs", slow: "costs", multiple: "several",
    segfault: "crash", ubuntu: "debian", async: "asynchronous", cudart: "runtime",
    pytorch: "runtime", hook: "interposer", install: "installed", safe: "threads"};

/** Each word of the search with the forms that are looked for. */
function wordsOf(text) {
    const all = text.toLowerCase().replace(/[?!,;]+(?=\s|$)/g, "").split(/\s+/).filter(Boolean);
    const strong = all.filter(word => !WEAK.has(word));
    return (strong.length ? strong : all).map(word => [word,
        ...(/^[a-z]{4,}s$/.test(word) ? [word.slice(0, -1)] : []),
        ...(Object.hasOwn(OTHER, word) ? [OTHER[word]] : [])]);
}

function load() {
    if (sections)
        return Promise.resolve();
    return new Promise(done => {
        const script = document.createElement("script");
        script.src = up + "search-index.js";
        script.onload = () => {
            sections = window.searchIndex.map(([address, title, heading, text]) =>
                ({address, title, heading, text, low: text.toLowerCase(),
                  head: heading.toLowerCase(), page: title.toLowerCase()}));
            done();
        };
        document.head.append(script);
    });
}

/** Of one form of a word; 0 if the section lacks it. Beginnings of words count more. */
function scoreWord(section, word) {
    const begins = (text, at) => at === 0 || !/\w/.test(text[at - 1]);
    const head = section.head.indexOf(word);
    const text = section.low.indexOf(word);
    let sum = text < 0 ? 0 : begins(section.low, text) ? 3 : 1;
    if (head >= 0)
        sum += begins(section.head, head) ? 30 : 10;
    return sum + (section.page.includes(word) ? 5 : 0);
}

/** Sections with more of the words come first; those with less than half are left out. */
function score(section, words, typed) {
    const points = words.map(forms =>
        Math.max(...forms.map((form, at) => scoreWord(section, form) * (at ? .7 : 1))));
    const found = points.filter(Boolean).length;
    if (found * 2 < words.length || !found)
        return 0;
    return 100 * found + points.reduce((a, b) => a + b, 0) +
        (section.head === typed.trim().toLowerCase() ? 50 : 0) +
        (section.title === "I want to ..." ? 20 : 0);
}

function marked(text, words) {
    const piece = document.createElement("span");
    const quoted = words.map(word => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    const parts = text.split(new RegExp(`(${quoted.join("|")})`, "i"));
    parts.forEach((part, number) => {
        const element = document.createElement(number % 2 ? "mark" : "span");
        element.textContent = part;
        piece.append(element);
    });
    return piece;
}

function around(section, words) {
    const first = Math.min(...words.map(word => section.low.indexOf(word)).filter(at => at >= 0));
    const from = Number.isFinite(first) && first > 50
        ? section.text.indexOf(" ", first - 50) + 1 : 0;
    return (from > 0 ? "… " : "") + section.text.slice(from, from + 160);
}

function row(section, words) {
    const item = document.createElement("li");
    const link = document.createElement("a");
    const name = document.createElement("b");
    link.href = up + section.address;
    name.append(marked(section.heading, words));
    link.append(name);
    if (section.title !== section.heading)
        link.append(` – ${section.title}`);
    link.append(document.createElement("br"), marked(around(section, words), words));
    item.append(link);
    return item;
}

function show(input, results) {
    const words = wordsOf(input.value);
    results.hidden = words.length === 0;
    const found = sections.map(section => [score(section, words, input.value), section])
        .filter(([points]) => points > 0).sort((a, b) => b[0] - a[0]);
    results.replaceChildren(...found.slice(0, MOST).map(([, section]) =>
        row(section, words.flat())));
    if (found.length === 0 || found.length > MOST) {
        const last = document.createElement("li");
        last.textContent = found.length ? `${MOST} of ${found.length}: add a word`
            : "Nothing has these words.";
        results.append(last);
    }
}

function start() {
    const form = document.querySelector("form");
    const input = document.querySelector("input");
    const results = document.getElementById("results");
    const close = () => { results.hidden = true; };
    form.hidden = false;
    input.addEventListener("focus", load);
    input.addEventListener("input", () => load().then(() => show(input, results)));
    form.addEventListener("submit", event => {
        event.preventDefault();
        results.querySelector("a")?.click();
    });
    results.addEventListener("click", close);
    document.addEventListener("click", event => {
        if (!results.contains(event.target) && event.target !== input)
            close();
    });
    document.addEventListener("keydown", event => {
        const links = [input, ...results.querySelectorAll("a")];
        const here = links.indexOf(document.activeElement);
        if (event.key === "/" && document.activeElement !== input) {
            input.focus();
            input.select();
        } else if (event.key === "Escape" && here >= 0) {
            close();
            input.blur();
        } else if (!results.hidden && here >= 0 && event.key === "ArrowDown") {
            links[Math.min(here + 1, links.length - 1)].focus();
        } else if (!results.hidden && here >= 0 && event.key === "ArrowUp") {
            links[Math.max(here - 1, 0)].focus();
        } else {
            return;
        }
        event.preventDefault();
    });
}

start();
