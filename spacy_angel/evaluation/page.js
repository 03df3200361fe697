(function () {
  'use strict';
  const data = JSON.parse(document.getElementById('data').textContent);
  const names = JSON.parse(document.getElementById('names').textContent);
  const PAGE = 25;
  const byId = id => document.getElementById(id);
  const right = r => r.strict_rank === 1;
  const tests = {
    all: () => true,
    wrong: r => r.gold.length && !right(r),
    right: right,
    lenient: r => r.lenient_rank === 1 && !right(r),
    low: r => r.strict_rank > 1,
    outside: r => r.gold.some(g => !g.known),
    composite: r => r.gold.length > 1,
    unfound: r => !r.found || !r.linked,
    only_a: r => right(r) && !right(r.other),
    only_b: r => !right(r) && right(r.other),
    neither: r => !right(r) && !right(r.other),
  };
  const ids = r => new Set(r.gold.map(g => g.id));
  const haystack = r => [r.doc_id, r.mention, r.label,
    ...r.gold.map(g => g.id + ' ' + g.name), ...r.concepts.map(c => c.id + ' ' + c.name),
    ...r.names.map(n => n.name)].join(' ').toLowerCase();
  const keys = data.map(haystack);

  function element(tag, className, text) {
    const made = document.createElement(tag);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    return made;
  }
  function list(title, rows, gold) {
    const box = element('div');
    box.append(element('h3', '', title));
    const ol = element('ol');
    if (!rows.length) ol.append(element('li', '', 'nothing'));
    for (const [name, codes, score] of rows) {
      const li = element('li', codes.some(c => gold.has(c)) ? 'gold' : '');
      const span = element('span', '', name + ' ');
      span.append(element('code', '', codes.join(' ')));
      li.append(span);
      if (score !== null) li.append(element('i', '', score.toFixed(3)));
      ol.append(li);
    }
    box.append(ol);
    return box;
  }
  const ranked = concepts => concepts.slice(0, 10).map(c => [c.name || c.id, [c.id], c.score]);
  function rank(r, name) {
    const text = r.strict_rank === 1 ? 'right'
      : r.strict_rank ? 'at rank ' + r.strict_rank
      : r.lenient_rank === 1 ? 'right by the lenient count' : r.found ? 'wrong' : 'not found';
    return element('b', r.strict_rank === 1 ? 'good' : '', name + text);
  }
  function show(r) {
    const box = element('article');
    const meta = element('div', 'meta');
    if (!r.gold.length) meta.append('no identifier');
    else if (r.other) meta.append(rank(r, names[0] + ': '), ' · ', rank(r.other, names[1] + ': '));
    else meta.append(rank(r, ''));
    meta.append(' · ' + r.doc_id + ' ' + r.start + '–' + r.end + (r.label ? ' · ' + r.label : '')
      + ' · similarity ' + r.traits.similarity.toFixed(2)
      + (r.found && !r.linked && !r.other ? ' · NIL' : ''));
    const text = element('p', 'text');
    text.append(r.left, element('mark', '', r.mention), r.right);
    const columns = element('div', 'columns');
    const gold = ids(r);
    columns.append(list(r.gold.length > 1 ? 'Gold concepts' : 'Gold concept', r.gold.map(g =>
      [g.name || (g.known ? g.id : 'not in the vocabulary'), [g.id], null]), new Set()));
    if (r.other) {
      columns.append(list(names[0], ranked(r.concepts), gold));
      columns.append(list(names[1], ranked(r.other.concepts), gold));
    } else {
      columns.append(list('Concepts', ranked(r.concepts), gold));
      columns.append(list('Names', r.names.map(n => [n.name, n.ids, n.score]), gold));
      for (const part of r.parts)
        columns.append(list('Part: ' + part.query, ranked(part.concepts).slice(0, 3), gold));
    }
    box.append(meta, text, columns);
    return box;
  }
  let matching = [], shown = 0;
  function more() {
    const next = matching.slice(shown, shown + PAGE);
    next.forEach(i => byId('mentions').append(show(data[i])));
    shown += next.length;
    byId('more').hidden = shown >= matching.length;
  }
  function update() {
    const test = tests[byId('filter').value];
    const wanted = byId('search').value.trim().toLowerCase();
    matching = data.map((_, i) => i).filter(i => test(data[i]) && keys[i].includes(wanted));
    const order = byId('order').value;
    if (order === 'unlike')
      matching.sort((a, b) => data[a].traits.similarity - data[b].traits.similarity || a - b);
    if (order === 'mention')
      matching.sort((a, b) => data[a].mention.localeCompare(data[b].mention) || a - b);
    byId('count').textContent = matching.length + ' mentions';
    byId('mentions').replaceChildren();
    shown = 0;
    more();
  }
  for (const id of ['filter', 'order']) byId(id).addEventListener('change', update);
  byId('search').addEventListener('input', update);
  byId('more').addEventListener('click', more);
  document.querySelector('.tools').addEventListener('submit', e => e.preventDefault());
  update();
})();
