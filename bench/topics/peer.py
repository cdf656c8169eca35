# SPDX-License-Identifier: Apache-2.0
"""The peers of bench/topics in Python: gensim, tomotopy and scikit-learn.

peer.py versions                                       prints the versions of the libraries
peer.py SYSTEM TRAIN WORDS K ALPHA ETA BATCH TAU KAPPA SEED OUT PASSES
                                                       trains; prints a line after each checkpoint

PASSES are the numbers of passes, or of sweeps of a Gibbs sampler, before the checkpoints,
separated by commas.

A line has the passes so far, the processor and wall seconds of training without reading
the data, and nothing else. OUT then has the topics, a line 'word v1 .. vK' for each
word. A line on stdin makes training continue; the end of stdin ends it.
"""
import gzip
import importlib.metadata
import json
import multiprocessing
import resource
import sys
import time

import numpy as np


def documents(name):
    """Returns the documents as lists of (word, count)."""
    with (gzip.open if name.endswith(".gz") else open)(name, "rt") as f:
        for line in f:
            pairs = (t.partition(":") for t in line.split("|", 1)[1].split())
            yield [(int(w), int(float(c)) if c else 1) for w, _, c in pairs]


def cpu():
    """Returns the processor seconds of this process and of its children that have ended."""
    multiprocessing.active_children()  # waits for those that have ended
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def gensim_online(docs, multicore):
    import gensim

    options = dict(id2word={i: str(i) for i in range(words)}, num_topics=topics, chunksize=batch, decay=kappa,
                   offset=tau, eta=eta, eval_every=None, iterations=100, gamma_threshold=0.001, random_state=seed)
    alpha_list = [alpha] * topics
    if multicore:
        model = gensim.models.LdaMulticore(workers=1, alpha=alpha_list, batch=False, **options)
    else:
        model = gensim.models.LdaModel(alpha=alpha_list, update_every=1, **options)

    def train(passes):
        for _ in range(passes):
            model.state.numdocs = 0  # update adds to it, as for new documents
            model.update(docs)

    return train, lambda: model.state.get_lambda().T


def sklearn_online(docs):
    import scipy.sparse
    from sklearn.decomposition import LatentDirichletAllocation

    ends = np.cumsum([0] + [len(d) for d in docs])
    pairs = np.array([p for d in docs for p in d])
    X = scipy.sparse.csr_matrix((pairs[:, 1].astype(float), pairs[:, 0], ends), shape=(len(docs), words))
    model = LatentDirichletAllocation(topics, doc_topic_prior=alpha, topic_word_prior=eta, learning_method="online",
                                      learning_offset=tau, learning_decay=kappa, batch_size=batch,
                                      total_samples=len(docs), random_state=seed, n_jobs=1)

    def train(passes):
        for _ in range(passes):
            model.partial_fit(X)

    return train, lambda: model.components_.T


def tomotopy_gibbs(docs):
    import tomotopy

    model = tomotopy.LDAModel(k=topics, alpha=alpha, eta=eta, seed=seed)
    for d in docs:
        model.add_doc([str(w) for w, c in d for _ in range(c)])

    def train(sweeps):
        model.train(sweeps, workers=1)

    def table():
        phi = np.full((words, topics), 1e-12)
        ids = [int(w) for w in model.used_vocabs]
        phi[ids] = np.array([model.get_topic_word_dist(k) for k in range(topics)]).T
        return phi

    return train, table


def write(name, table):
    with open(name, "w") as f:
        for word, row in enumerate(table):
            f.write(str(word) + " " + " ".join("%.9g" % v for v in row) + "\n")


if sys.argv[1] == "versions":
    found = {"python": sys.version.split()[0]}
    for name in ["gensim", "tomotopy", "scikit-learn", "numpy", "scipy"]:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "not installed"
    print(json.dumps(found))
    sys.exit()
system, data, out = sys.argv[1], sys.argv[2], sys.argv[11]
words, topics, batch, seed = (int(sys.argv[i]) for i in (3, 4, 7, 10))
alpha, eta, tau, kappa = (float(sys.argv[i]) for i in (5, 6, 8, 9))
docs = list(documents(data))
if system == "gensim":
    train, table = gensim_online(docs, False)
elif system == "gensim-multicore":
    train, table = gensim_online(docs, True)
elif system == "scikit-learn":
    train, table = sklearn_online(docs)
else:
    train, table = tomotopy_gibbs(docs)
done, used, wall = 0, 0.0, 0.0
for passes in map(int, sys.argv[12].split(",")):
    cpu_before, before = cpu(), time.monotonic()
    train(passes - done)
    used, wall, done = used + cpu() - cpu_before, wall + time.monotonic() - before, passes
    write(out, table())
    print(done, used, wall, flush=True)
    if not sys.stdin.readline():
        break
