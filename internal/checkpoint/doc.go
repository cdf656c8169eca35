// SPDX-License-Identifier: Apache-2.0

// Package checkpoint keeps states of a job in files, so that the job can continue when no
// rank with a state is left.
//
//	s := &checkpoint.Store{FS: hdfsio.Local{Perm: 0o600}, Path: "model.ckpt"}
//	group, err := allreduce.Join(ctx, allreduce.Config{…, Checkpoints: s, CheckpointEvery: 5})
//
// Only rank 0 needs the store, and writes the files. The group passes their owner to Own,
// and calls one method at a time.
//
// # Files
//
// A checkpoint is PATH.rRUN.gG.eTERM.N.sSTEP: a digest of the run key in 8 digits, the
// generation of the job, the epoch in which its last step was completed, and the number of
// its completed steps. Two runs, or two attempts that both believe to be rank 0, therefore
// never write the same name. A checkpoint is written to a temporary file and renamed. The two
// newest are kept, and none once the job has finished. Within a generation the newest one has
// the most steps: a server without a journal begins its epochs again at 1.1.
//
// The format of a file; all numbers are little-endian:
//
//	offset  size  field
//	     0     8  "gvwckpt" and the version, 2
//	     8    32  SHA-256 of the options on which the ranks agree, and of their number
//	    40    16  epoch: term u32, number u32, incarnation u64
//	    56     8  steps that are completed
//	    64     4  generation
//	    68     2  bytes of the run key, which follows
//	    70     2  bytes of the options as text, which come after that
//	    72     4  CRC-32C of the bytes before it, of the run key and of the text
//	    76     …  the run key, the text, then the state in blocks: length u32, CRC-32C u32,
//	              bytes; one of length 0 is the last, and carries the CRC-32C of all of it
//
// A file that is incomplete, or that belongs to other options, is ignored and kept. It is an
// error if the newest file cannot be opened or read, because it may be complete. A file
// of another run counts only if the user has requested to resume, and only until this run
// has a checkpoint of its own; the last one written is used. If the user has requested
// to resume and all files belong to other options, that is an error. This package does not
// compare the data: the reader of the state does.
package checkpoint
