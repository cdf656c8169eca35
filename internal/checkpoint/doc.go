// SPDX-License-Identifier: Apache-2.0

// Package checkpoint keeps states of a job in files, so that it can go on when no
// rank is left that has one.
//
//	s := &checkpoint.Store{FS: hdfsio.Local{Perm: 0o600}, Path: "model.ckpt"}
//	group, err := allreduce.Join(ctx, allreduce.Config{…, Checkpoints: s, CheckpointEvery: 5})
//
// Rank 0 writes them, and only rank 0 needs the store. The group says whose they are,
// and calls one method at a time.
//
// # Files
//
// A checkpoint is PATH.rRUN.gG.eTERM.N.sSTEP: a digest of the run key in 8 digits, the
// generation of the job, the epoch in which its last step was completed, and how many
// steps are in it. So neither other runs nor two attempts that both think they are rank
// 0 write to the same name. It is written aside and
// renamed; the two newest are kept, and none once the job has finished.
//
// In the file, all numbers little-endian:
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
// A file that is not whole, or that belongs to other options, is left alone and does
// not count. That of another run counts only where the user has asked to resume, and
// only until this run has one of its own; of those the file that was written last. If he
// has asked, and all that there are belong to other options, that is an error: he meant
// one of them. Whether the data is the same is not for this package to know: who reads the
// state finds it in there.
package checkpoint
