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

// Job is this rank's part in its job: the group, which ranks there are, and the records
// that they have sent.
type Job struct {
	Group   *allreduce.Group
	members      // whose records they are
	Late    bool // the job has been started without this rank
	Wired   bool // the group knows this rank's shard
	Log     *slog.Logger

	Shard func() (examples, bytes uint64, crc uint32) // what this rank has read
	Admit func() error                                // says whether a job that is wired is one to take part in

	Keep bool                  // Work and Exchange leave the state whole, so that a lost rank can be replaced
	Own  func(*snapshot.Coder) // codes what this rank's place needs besides its record

	All      Record   // what all ranks saw, after the last step
	alone    Record   // this rank's, of the last step
	buf      []byte   // the same, encoded
	pieces   [][]byte // of the records of all ranks, where they are long
	gathered [][]byte // the records of all ranks

	registered [][]float32 // with the group: see register
	refused    bool        // the log knows that a vector was not taken
}

// Ready sends the identity of this rank's shard to the group, once. It returns when all ranks
// have done the work of their first step and the job is wired.
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

// Share gathers the records of all ranks into j.all. In a job with vw workers there is no
// such call, and a rank keeps to its own sums.
func (j *Job) Share(ctx context.Context, own Record) error {
	j.alone = own
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

// Records codes the records of all ranks, as the last exchange left them.
func (j *Job) Records(c *snapshot.Coder) {
	if !j.Keep && !c.Reading { // nobody has gathered the only one
		j.gathered = append(j.gathered[:0], j.encode(j.alone))
	}
	j.members.code(c)
	if c.Err != nil {
		return
	}
	for len(j.gathered) < j.Size() {
		j.gathered = append(j.gathered, nil)
	}
	j.gathered = j.gathered[:j.Size()]
	for i := range j.gathered {
		c.Bytes(fmt.Sprintf("record of rank %d", j.Number(i)), &j.gathered[i], snapshot.MaxSmall)
	}
}

// encode is a record as it is sent, with what its rank's place needs where the
// state is to be taken over.
func (j *Job) encode(r Record) []byte {
	w := snapshot.Coder{B: r.appendTo(j.buf[:0])}
	if j.Keep || j.Total == 1 {
		j.Own(&w)
	}
	j.buf = w.B
	return w.B
}

// Adopt continues from the record of this rank, which it returns. The record may come from
// the attempt that this one replaces.
func (j *Job) Adopt() (*Record, error) {
	if err := j.Merge(); err != nil {
		return nil, err
	}
	at := j.position()
	if at < 0 {
		return nil, fmt.Errorf("rank %d is lost to the job, which goes on without it", j.Rank)
	}
	var r Record
	rest, err := r.Decode(j.Rank, j.gathered[at])
	if err != nil {
		return nil, err
	}
	d := snapshot.Coder{B: rest, Reading: true}
	j.Own(&d)
	if err := d.End("the record of this rank"); err != nil {
		return nil, err
	}
	j.alone = r
	return &r, nil
}

// gather brings the records of all ranks to all. One that is too long for a call
// comes in pieces; all ranks have records of one length.
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

// Merge adds the records of all ranks up into All, in the order of their numbers, so that
// all ranks have the same bits. Of a lost rank it counts what the rank had committed, and no
// part of the pass under way.
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

// Commit keeps the records of the step that has been committed, for Rollback and Without.
func (j *Job) Commit() {
	for len(j.Committed) < len(j.gathered) {
		j.Committed = append(j.Committed, nil)
	}
	j.Committed = j.Committed[:len(j.gathered)]
	for i, b := range j.gathered {
		j.Committed[i] = append(j.Committed[i][:0], b...)
	}
}

// Rollback restores the records that were committed last.
func (j *Job) Rollback() {
	j.gathered = j.gathered[:0] // perhaps those of a step that was not completed
	for _, b := range j.Committed {
		j.gathered = append(j.gathered, slices.Clone(b))
	}
}

// Lease returns when the server has confirmed that this attempt still holds its rank. Without
// a group there is no server, and it returns at once.
func (j *Job) Lease(ctx context.Context) error {
	if j.Group == nil {
		return nil
	}
	return j.Group.Lease(ctx)
}
