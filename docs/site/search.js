/* SPDX-License-Identifier: MIT */
// The search: over all sections of all pages, in the browser alone. The index is a script and no
// data file, since a page that was opened from a disk may load scripts and fetch nothing.
"use strict";
const up = document.currentScript.dataset.up;
const MOST = 30;
let sections = null; // [address, title of the page, heading, text in lower case or not]

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

function score(section, words) {
    let sum = 0;
    for (const word of words) {
        const head = section.head.indexOf(word);
        const text = section.low.indexOf(word);
        if (head < 0 && text < 0 && !section.page.includes(word))
            return 0;
        sum += 1 + (text < 0 ? 0 : 2);
        if (head >= 0)
            sum += head === 0 || !/\w/.test(section.head[head - 1]) ? 30 : 10;
        if (section.page.includes(word))
            sum += 4;
    }
    return sum + (section.head === words.join(" ") ? 50 : 0);
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
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    results.hidden = words.length === 0;
    const found = sections.map(section => [score(section, words), section])
        .filter(([points]) => points > 0).sort((a, b) => b[0] - a[0]);
    results.replaceChildren(...found.slice(0, MOST).map(([, section]) => row(section, words)));
    if (found.length === 0 || found.length > MOST) {
        const last = document.createElement("li");
        last.textContent = found.length ? `${MOST} of ${found.length}: add a word`
            : "Nothing has all of these words.";
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
