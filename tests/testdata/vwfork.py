# SPDX-License-Identifier: Apache-2.0
"""Runs vw command lines that arrive on stdin, one JSON object a line:
{"dir": …, "args": […], "in": …, "log": …, "out": …}: stdin, stderr and stdout
are these files. The answer is a line with the exit code, or the negated number
of the signal that ended it.

They run in processes forked from this one, so that Python starts and loads vw
only once. Each has a process of its own, except that those which only predict
(-t) share one until one fails: a fork takes more time than predictions. vw's
generators of random weights have state that lasts as long as the process."""
import json
import os
import resource
import signal
import sys

import vowpalwabbit

# Limits that detect a hang, in seconds. A command line takes some 0.01 of a processor's
# time, however busy the machine is.
PROCESSOR = 10
CLOCK = 150

def run(job):
    """Runs a command line, and ends the process if it fails."""
    os.chdir(job["dir"])
    log = os.open(job["log"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    files = {0: os.open(job.get("in") or os.devnull, os.O_RDONLY), 1: log, 2: log}
    if job.get("out", job["log"]) != job["log"]:
        files[1] = os.open(job["out"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    for to, file in files.items():
        os.dup2(file, to)
    for file in set(files.values()):
        os.close(file)
    used = resource.getrusage(resource.RUSAGE_SELF)
    limit = int(used.ru_utime + used.ru_stime) + 1 + PROCESSOR
    resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.getrlimit(resource.RLIMIT_CPU)[1]))
    signal.alarm(CLOCK)
    try:
        vowpalwabbit.Workspace(arg_list=job["args"]).finish()
    except BaseException as err:  # vw's errors are exceptions here
        os.write(2, f"{err}\n".encode())
        os._exit(1)
    signal.alarm(0)


def serve(jobs, answers):
    """Runs the command lines of a pipe."""
    for line in jobs:
        run(json.loads(line))
        answers.write(b"0\n")
    os._exit(0)


class Child:
    """The process that runs command lines."""

    def __init__(self):
        jobs, self.jobs = os.pipe()
        self.answers, answers = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self.jobs)
            os.close(self.answers)
            serve(os.fdopen(jobs, "rb"), os.fdopen(answers, "wb", 0))
        os.close(jobs)
        os.close(answers)

    def end(self):
        """Ends the process, and returns its exit code."""
        os.close(self.jobs)
        os.close(self.answers)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


predicting = None  # the process for command lines that only predict
print("ready", flush=True)
for line in sys.stdin.buffer:
    shares = "-t" in json.loads(line)["args"]
    child = shares and predicting or Child()
    os.write(child.jobs, line)
    succeeded = os.read(child.answers, 16)  # nothing if the process has ended
    predicting = child if shares and succeeded else predicting if not shares else None
    code = 0 if shares and succeeded else child.end()
    print(code, flush=True)
if predicting:
    predicting.end()
