# SPDX-License-Identifier: Apache-2.0
"""All-reduce of float32 sums in place, by XGBoost's collective: the method of
measure.go. Arguments: RANKS SIZES MILLISECONDS, as of mpi.c.

The Python function copies its argument, so the library is called directly.
"""
import ctypes
import json
import multiprocessing
import resource
import sys
import time

import numpy as np
from xgboost import collective
from xgboost.core import _LIB, _check_call
from xgboost.tracker import RabitTracker

BATCH_US = 20000.0


def reduce(v, op=collective.Op.SUM):
    kind = collective._map_dtype(v.dtype)
    _check_call(_LIB.XGCommunicatorAllreduce(v.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(v.size), kind, int(op)))


def cpu_us():
    u = resource.getrusage(resource.RUSAGE_SELF)
    return (u.ru_utime + u.ru_stime) * 1e6


def barrier():
    reduce(np.zeros(1))


def check(v, rank, n):
    i = np.arange(v.size) % 1021
    v[:] = i + rank
    reduce(v)
    wrong = np.flatnonzero(v != (n * i + n * (n - 1) // 2).astype(np.float32))
    if wrong.size:
        sys.exit(f"rank {rank}: element {wrong[0]}: got {v[wrong[0]]}")


def batch(v, calls):
    data, size, kind = v.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(v.size), collective._map_dtype(v.dtype)
    call, op = _LIB.XGCommunicatorAllreduce, int(collective.Op.SUM)
    barrier()
    cpu, begun = cpu_us(), time.perf_counter()
    for _ in range(calls):
        if call(data, size, kind, op):
            sys.exit("all-reduce has failed")
    us = np.array([(time.perf_counter() - begun) * 1e6 / calls])
    cpu = np.array([(cpu_us() - cpu) / calls])
    reduce(us, collective.Op.MAX)
    reduce(cpu)
    return us[0], cpu[0]


def size(nbytes, per_us, rank, n):
    v = np.empty(nbytes // 4, dtype=np.float32)
    check(v, rank, n)
    v[:] = 0
    calls = 1
    while True:
        us, _ = batch(v, calls)
        if us * calls >= BATCH_US / 4 or calls >= 16384:
            break
        calls = min(4 * calls, 16384)
    calls = min(max(int(BATCH_US / us), 1), 16384)
    for _ in range(min(max(int(per_us / (us * calls)), 5), 100)):
        us, cpu = batch(v, calls)
        if rank == 0:
            print(json.dumps({"bytes": nbytes, "calls": calls, "us": us, "cpu_us": cpu}), flush=True)
    check(v, rank, n)


def worker(task, args, sizes, per_us):
    with collective.CommunicatorContext(dmlc_task_id=str(task), **args):
        for nbytes in sizes:
            size(nbytes, per_us, collective.get_rank(), collective.get_world_size())


def main():
    n, sizes, per_us = int(sys.argv[1]), [int(s) for s in sys.argv[2].split(",")], float(sys.argv[3]) * 1e3
    tracker = RabitTracker(n, host_ip="127.0.0.1", sortby="task")
    tracker.start()
    # Forked before the library has made threads in this process but the tracker's.
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=worker, args=(i, tracker.worker_args(), sizes, per_us)) for i in range(n)]
    for w in workers:
        w.start()
    for w in workers:
        w.join()
    sys.exit(max(abs(w.exitcode) for w in workers))


main()
