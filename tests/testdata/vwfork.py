# SPDX-License-Identifier: Apache-2.0
"""Runs vw command lines that arrive on stdin, one JSON object a line:
{"dir": …, "args": […], "in": …, "log": …, "out": …}: stdin, stderr and stdout
are these files. Each has a process of its own, forked from
this one, so that Python starts and loads vw only once. The answer is a line
with the exit code, or the negated number of the signal that ended it."""
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


def child(job):
    os.chdir(job["dir"])
    log = os.open(job["log"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.dup2(log, 2)
    os.dup2(os.open(job.get("in") or os.devnull, os.O_RDONLY), 0)
    if job.get("out", job["log"]) != job["log"]:
        log = os.open(job["out"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.dup2(log, 1)
    resource.setrlimit(resource.RLIMIT_CPU, (PROCESSOR, PROCESSOR))
    signal.alarm(CLOCK)
    try:
        vowpalwabbit.Workspace(arg_list=job["args"]).finish()
    except BaseException as err:  # vw's errors are exceptions here
        os.write(2, f"{err}\n".encode())
        os._exit(1)
    os._exit(0)


print("ready", flush=True)
for line in sys.stdin:
    pid = os.fork()
    if pid == 0:
        child(json.loads(line))
    _, status = os.waitpid(pid, 0)
    print(os.waitstatus_to_exitcode(status), flush=True)
