"use strict";
const part = (id) => document.getElementById(id);

async function ask(path, options = {}) {
  const headers = { ...options.headers };
  const token = part("token").value.trim();
  if (token) headers.Authorization = `Bearer ${token}`;
  const answer = await fetch(path, { ...options, headers });
  if (!answer.ok) throw new Error((await answer.json()).error);
  return answer;
}

function make(tag, text = "", attributes = {}) {
  const element = document.createElement(tag);
  element.textContent = text;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

function heading(mentions) {
  const linked = mentions.filter((mention) => mention.status === "linked").length;
  return make("h2", `${linked} of ${mentions.length} mentions linked`, { tabindex: -1 });
}

function markedText(text, mentions) {
  const box = make("div", "", { class: "text" });
  const letters = Array.from(text);  // positions count code points
  let end = 0;
  for (const mention of mentions) {
    const title = `${mention.label} ${mention.concept_id || mention.status}`;
    box.append(letters.slice(end, mention.start).join(""), make("mark", mention.text, { title }));
    end = mention.end;
  }
  box.append(letters.slice(end).join(""));
  return box;
}

function row(mention) {
  const probability = mention.status === "nil" ? mention.nil_probability : mention.probability;
  const cells = [mention.text, mention.label, mention.concept_id || mention.status, mention.name,
    probability === null ? "" : probability.toFixed(2)];
  const details = make("details");
  const list = make("ul");
  for (const { concept_id: id, name, probability: p, names } of mention.candidates) {
    list.append(make("li", `${p.toFixed(2)}  ${id}  ${name} (${names.join(", ")})`));
  }
  details.append(make("summary", mention.why), list);
  const first = make("tr", "", { class: "mention" });
  first.append(...cells.map((cell) => make("td", cell || "")));
  const reason = make("td", "", { colspan: cells.length });
  reason.append(details);
  const second = make("tr", "", { class: "why" });
  second.append(reason);
  return [first, second];
}

function table(mentions) {
  const names = ["mention", "label", "identifier", "concept", "probability"];
  const header = make("tr");
  header.append(...names.map((name) => make("th", name, { scope: "col" })));
  const element = make("table");
  element.append(header, ...mentions.flatMap(row));
  const box = make("div", "", { class: "table", role: "region", tabindex: 0 });
  box.setAttribute("aria-label", "Mentions");
  box.append(element);
  return box;
}

part("form").addEventListener("submit", async (event) => {
  event.preventDefault();
  part("status").textContent = "Linking …";
  part("links").replaceChildren();
  try {
    const text = part("text").value;
    const answer = await ask("link?explain=true", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ text }),
    });
    const { mentions } = (await answer.json()).documents[0];
    part("links").append(heading(mentions), markedText(text, mentions), table(mentions));
    part("status").textContent = "";
    part("links").firstChild.focus();
  } catch (error) {
    part("status").textContent = error.message;
  }
});

part("text").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) part("form").requestSubmit();
});

let asked = 0;
part("name").addEventListener("input", async () => {
  const number = ++asked;
  const name = part("name").value.trim();
  let concepts = [];
  let message = "";
  try {
    if (name) {
      const answer = await ask(`concepts?limit=10&q=${encodeURIComponent(name)}`);
      concepts = (await answer.json()).concepts;
      const many = concepts.length === 1 ? "1 concept" : `${concepts.length} concepts`;
      message = concepts.length ? many : "No concept has a similar name.";
    }
  } catch (error) {
    message = error.message;
  }
  // An answer to an earlier input may arrive late.
  if (number !== asked) return;
  part("found").textContent = message;
  part("hits").replaceChildren(...concepts.map((concept) => {
    const item = document.createElement("li");
    const matched = document.createElement("span");
    item.textContent = `${concept.concept_id}  ${concept.name} `;
    matched.className = "matched";
    matched.textContent = concept.matched === concept.name ? "" : `“${concept.matched}”`;
    item.append(matched);
    return item;
  }));
});
