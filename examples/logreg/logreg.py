# SPDX-License-Identifier: Apache-2.0
"""Logistic regression by stochastic gradient descent, on one machine or on several.

Each line of FILE is an example: its class, 0 or 1, then the values of its features.

    python3 logreg.py FILE                      one process
    gvw run -n 4 -- python3 logreg.py FILE      four ranks with shared vectors

The lines that end in "# parallel" are all that the second form needs.
"""
import math
import os  # parallel
import random
import subprocess  # parallel
import sys


def exchange(gvw, weights):  # parallel
    print(*weights, file=gvw.stdin, flush=True)  # parallel
    return [float(x) for x in (gvw.stdout.readline() or sys.exit(gvw.wait())).split()]  # parallel


def read(name):
    with open(name, encoding="ascii") as lines:
        rows = [[float(x) for x in line.split()] for line in lines]
    random.Random(1).shuffle(rows)
    return [(row[0], [1.0] + row[1:]) for row in rows]


def predict(weights, x):
    return 1 / (1 + math.exp(-max(-30, min(30, sum(w * v for w, v in zip(weights, x))))))


def train(examples, rate=0.5, passes=5, batch=50):
    examples = examples[int(os.environ.get("GVW_NODE", 0)) :: int(os.environ.get("GVW_TOTAL", 1))]  # parallel
    gvw = subprocess.Popen(["gvw", "malt", "--sync", "bsp"], stdin=-1, stdout=-1, text=True, close_fds=False)  # parallel
    weights = [0.0] * len(examples[0][1])
    for step in range(passes * len(examples) // batch):
        for i in range(step * batch, (step + 1) * batch):
            y, x = examples[i % len(examples)]
            error = predict(weights, x) - y
            for k, v in enumerate(x):
                weights[k] -= rate / math.sqrt(step + 1) * error * v
        weights = exchange(gvw, weights)  # parallel
    gvw.communicate()  # parallel
    return weights


def main():
    examples = read(sys.argv[1])
    held = len(examples) // 5
    weights = train(examples[held:])
    right = sum((predict(weights, x) > 0.5) == (y > 0.5) for y, x in examples[:held])
    print(f"accuracy on {held} held-out examples: {right / held:.3f}")


main()
