// SPDX-License-Identifier: Apache-2.0

// Package delivery gives the files of a run their final names, and copies them for late attempts.
//
// At the end of a job the server asks each rank for the files that it owes:
//
//	d := &delivery.Delivery{Job: j, Join: cfg, RunDir: dir, Create: create, Log: log}
//	err := d.Deliver(ctx, digest, files)
//
// Deliver writes each file under its final name and keeps a copy in the run directory. An attempt that
// starts when the job has ended copies from there what it owes:
//
//	over, err := d.Copy(err, files)
//
// Each copy has the digest of the delivered file. Copy then returns a *allreduce.FinishedError. If a file
// is missing, it copies none and returns the error that names the file.
package delivery
