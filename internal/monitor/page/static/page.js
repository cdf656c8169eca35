// SPDX-License-Identifier: Apache-2.0
const jobs = new Map();
new EventSource('events').onmessage = e => {
  const m = JSON.parse(e.data);
  for (const j of m.jobs) jobs.set(j.n, j);
  for (const n of m.gone) jobs.delete(n);
  document.getElementById('jobs').replaceChildren(...[...jobs.values()].map(j => {
    const li = document.createElement('li');
    li.textContent = `${j.name}: ${j.state}, ${j.joined} of ${j.total} ranks; ${j.report}`;
    return li;
  }));
};
