// SPDX-License-Identifier: Apache-2.0
//
// All-reduce of float32 sums in place, by MPI: the method of measure.go.
// mpi SIZES MILLISECONDS, where SIZES is 4,65536,... in bytes and MILLISECONDS
// the time for the batches of one size.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static const double batch_us = 20000;
static int rank, n;

static double cpu_us(void) {
	struct rusage u;
	getrusage(RUSAGE_SELF, &u);
	return (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e6 + u.ru_utime.tv_usec + u.ru_stime.tv_usec;
}

static void reduce(float *v, int count) {
	MPI_Allreduce(MPI_IN_PLACE, v, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

static void check(float *v, int count) {
	for (int i = 0; i < count; i++) v[i] = i % 1021 + rank;
	reduce(v, count);
	for (int i = 0; i < count; i++) {
		float want = n * (i % 1021) + n * (n - 1) / 2;
		if (v[i] != want) {
			fprintf(stderr, "rank %d: element %d: got %g, want %g\n", rank, i, v[i], want);
			MPI_Abort(MPI_COMM_WORLD, 1);
		}
	}
}

// batch sets *us and *cpu, per call: of the slowest rank, of all ranks.
static void batch(float *v, int count, int calls, double *us, double *cpu) {
	MPI_Barrier(MPI_COMM_WORLD);
	double c = cpu_us(), t = MPI_Wtime();
	for (int i = 0; i < calls; i++) reduce(v, count);
	*us = (MPI_Wtime() - t) * 1e6 / calls;
	*cpu = (cpu_us() - c) / calls;
	MPI_Allreduce(MPI_IN_PLACE, us, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	MPI_Allreduce(MPI_IN_PLACE, cpu, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void size(int bytes, double per_us) {
	int count = bytes / 4, calls = 1;
	double us, cpu;
	float *v = malloc(bytes);
	if (!v) {
		fprintf(stderr, "rank %d: no memory for %d bytes\n", rank, bytes);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	check(v, count);
	memset(v, 0, bytes);
	for (;;) {
		batch(v, count, calls, &us, &cpu);
		if (us * calls >= batch_us / 4 || calls >= 16384) break;
		calls = calls * 4 < 16384 ? calls * 4 : 16384;
	}
	double fit = batch_us / us;
	calls = fit < 1 ? 1 : fit > 16384 ? 16384 : (int)fit;
	double many = per_us / (us * calls);
	int batches = many < 5 ? 5 : many > 100 ? 100 : (int)many;
	for (int i = 0; i < batches; i++) {
		batch(v, count, calls, &us, &cpu);
		if (rank == 0) printf("{\"bytes\":%d,\"calls\":%d,\"us\":%.3f,\"cpu_us\":%.3f}\n", bytes, calls, us, cpu);
	}
	check(v, count);
	free(v);
}

int main(int argc, char **argv) {
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	if (argc != 3) {
		fprintf(stderr, "usage: mpi SIZES MILLISECONDS\n");
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	for (char *s = strtok(argv[1], ","); s; s = strtok(NULL, ",")) size(atoi(s), atof(argv[2]) * 1e3);
	MPI_Finalize();
	return 0;
}
