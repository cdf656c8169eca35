// SPDX-License-Identifier: Apache-2.0

package job

import (
	"context"
	"fmt"
	"log/slog"
	"slices"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/learn/internal/snapshot"
)

// Job is this rank's part in its job: the group, the ranks, and the records that they have
// exchanged.
type Job struct {
	Group   *allreduce.Group
	members      // the ranks of the records
	Late    bool // the job has started without this rank
	Wired   bool // the group has the identity of this rank's shard
	Log     *slog.Logger

	Shard func() (examples, bytes uint64, crc uint32) // identity of the examples that this rank has read
	Admit func() error                                // returns an error if this rank must not take part in the wired job

	Keep bool                  // Work and Exchange must not change the state, so that a lost rank can be replaced
	Own  func(*snapshot.Coder) // codes what a replacement of this rank needs besides its record

	All      Record   // sum over all ranks, after the last step
	own      Record   // this rank's record of the last step
	buf      []byte   // its encoding
	pieces   [][]byte // of long records, one per rank
	gathered [][]byte // records of all ranks, in order

	registered [][]float32 // vectors that the device accepts; see Register
	refused    bool        // a refused vector has been logged
}

// Ready sends the identity of this rank's shard to the group, in the first step only. It
// returns when all ranks have done the work of that step and the job is wired. The identity is
// known by then, since the work has read the shard.
func (j *Job) Ready(ctx context.Context) error {
	if j.Wired {
		return nil
	}
	examples, bytes, crc := j.Shard()
	if err := j.Group.Ready(ctx, allreduce.Shard{Examples: examples, Bytes: bytes, CRC: crc}); err != nil {
		return err
	}
	if err := j.Admit(); err != nil {
		return err
	}
	j.Wired = true
	return nil
}

// Share gathers the records of all ranks into j.All. vw has no such call, so in a job with vw
// workers a rank keeps its own sums.
func (j *Job) Share(ctx context.Context, own Record) error {
	j.own = own
	if j.Total == 1 || j.Group.Stream() {
		j.All = own
		return nil
	}
	if err := j.gather(j.encode(own), func(dst [][]byte, src []byte) ([][]byte, error) {
		return j.Group.AllGatherV(ctx, dst, src)
	}); err != nil {
		return err
	}
	return j.Merge()
}

// KeepOwn makes the record of this rank the sum, for work between two steps that no other rank takes part in.
func (j *Job) KeepOwn(own Record) { j.own, j.All = own, own }

// Records codes the records of all ranks, as the last exchange has left them.
func (j *Job) Records(c *snapshot.Coder) {
	if !j.Keep && !c.Reading() { // a single process has exchanged nothing
		j.gathered = append(j.gathered[:0], j.encode(j.own))
	}
	j.members.code(c)
	if c.Err() != nil {
		return
	}
	for len(j.gathered) < j.Size() {
		j.gathered = append(j.gathered, nil)
	}
	j.gathered = j.gathered[:j.Size()]
	for i := range j.gathered {
		c.Blob(fmt.Sprintf("record of rank %d", j.Number(i)), &j.gathered[i], snapshot.MaxSmall)
	}
}

// encode returns a record in its wire form. If the state may be read by another attempt, it is
// followed by the fields that a replacement needs.
func (j *Job) encode(r Record) []byte {
	w := snapshot.Encode(r.appendTo(j.buf[:0]))
	if j.Keep || j.Total == 1 {
		j.Own(&w)
	}
	j.buf = w.Bytes()
	return w.Bytes()
}

// Adopt continues from the record of this rank, which it returns. The record may come from
// the attempt that this one replaces.
func (j *Job) Adopt() (*Record, error) {
	if err := j.Merge(); err != nil {
		return nil, err
	}
	at := j.position()
	if at < 0 {
		return nil, fmt.Errorf("rank %d is lost: the job has continued without it", j.Rank)
	}
	var r Record
	rest, err := r.Decode(j.Rank, j.gathered[at])
	if err != nil {
		return nil, err
	}
	d := snapshot.Decode(rest)
	j.Own(&d)
	if err := d.End("the record of this rank"); err != nil {
		return nil, err
	}
	j.own = r
	return &r, nil
}

// gather gathers the records of all ranks. A record that is too long for one call is sent in
// pieces. This works because the records of all ranks have the same length.
func (j *Job) gather(own []byte, all func(dst [][]byte, src []byte) ([][]byte, error)) error {
	var err error
	if len(own) <= allreduce.MaxRecord {
		j.gathered, err = all(j.gathered, own)
		return err
	}
	whole := make([][]byte, j.Size())
	for len(own) > 0 {
		n := min(len(own), allreduce.MaxRecord)
		if j.pieces, err = all(j.pieces, own[:n]); err != nil {
			return err
		}
		for rank, b := range j.pieces {
			whole[rank] = append(whole[rank], b...)
		}
		own = own[n:]
	}
	j.gathered = whole
	return nil
}

// Merge adds up the records of all ranks into All, in the order of their numbers, so that all
// ranks have the same bits. Of a lost rank it counts the committed record, and not the pass
// that the loss interrupted.
func (j *Job) Merge() error {
	if len(j.gathered) != j.Size() {
		return fmt.Errorf("learn: got records of %d ranks, want %d", len(j.gathered), j.Size())
	}
	first := true
	add := func(rank int, b []byte, lost bool) error {
		var r Record
		if _, err := r.Decode(rank, b); err != nil {
			return err
		}
		if lost {
			r.Stats.Holdout.PassLoss, r.Stats.Holdout.PassWeight = 0, 0
		}
		if first {
			j.All, first = r, false
			return nil
		}
		j.All.merge(&r)
		return nil
	}
	// Lost ranks keep their places in the order, so that the sums have the same bits however
	// late a rank was lost.
	lost := j.Lost
	for i, b := range j.gathered {
		rank := j.Number(i)
		for len(lost) > 0 && lost[0].Rank < rank {
			if err := add(lost[0].Rank, lost[0].Record, true); err != nil {
				return err
			}
			lost = lost[1:]
		}
		if err := add(rank, b, false); err != nil {
			return err
		}
	}
	for _, l := range lost {
		if err := add(l.Rank, l.Record, true); err != nil {
			return err
		}
	}
	return nil
}

// Commit copies the records of the committed step, for Rollback and Without.
func (j *Job) Commit() {
	// The copies reuse the memory of the last step.
	for len(j.Committed) < len(j.gathered) {
		j.Committed = append(j.Committed, nil)
	}
	j.Committed = j.Committed[:len(j.gathered)]
	for i, b := range j.gathered {
		j.Committed[i] = append(j.Committed[i][:0], b...)
	}
}

// Rollback restores the committed records.
func (j *Job) Rollback() {
	j.gathered = j.gathered[:0] // those of a step that may not have been completed
	for _, b := range j.Committed {
		j.gathered = append(j.gathered, slices.Clone(b))
	}
}

// Lease waits until the server has confirmed that this attempt still holds its rank. Without a
// group there is no server, and it returns at once.
func (j *Job) Lease(ctx context.Context) error {
	if j.Group == nil {
		return nil
	}
	return j.Group.Lease(ctx)
}
