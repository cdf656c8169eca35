// SPDX-License-Identifier: Apache-2.0

package learn

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
	group *allreduce.Group
	ranks      // whose records they are
	late  bool // the job has been started without this rank
	wired bool // the group knows this rank's shard
	log   *slog.Logger

	shard func() (examples, bytes uint64, crc uint32) // what this rank has read
	admit func() error                                // says whether a job that is wired is one to take part in

	keep bool                  // Work and Exchange leave the state whole, so that a lost rank can be replaced
	own  func(*snapshot.Coder) // codes what this rank's place needs besides its record

	all      record   // what all ranks saw, after the last step
	alone    record   // this rank's, of the last step
	buf      []byte   // the same, encoded
	pieces   [][]byte // of the records of all ranks, where they are long
	gathered [][]byte // the records of all ranks

	registered [][]float32 // with the group: see register
	refused    bool        // the log knows that a vector was not taken
}

// ready tells the group what this rank has read, once: the job is wired when
// all ranks have done the work of their first step.
func (j *Job) ready(ctx context.Context) error {
	if j.wired {
		return nil
	}
	examples, bytes, crc := j.shard()
	if err := j.group.Ready(ctx, allreduce.Shard{Examples: examples, Bytes: bytes, CRC: crc}); err != nil {
		return err
	}
	if err := j.admit(); err != nil {
		return err
	}
	j.wired = true
	return nil
}

// share gathers the records of all ranks into j.all. In a job with vw workers there is no
// such call, and a rank keeps to its own sums.
func (j *Job) share(ctx context.Context, own record) error {
	j.alone = own
	if j.total == 1 || j.group.Stream() {
		j.all = own
		return nil
	}
	if err := j.gather(j.encode(own), func(dst [][]byte, src []byte) ([][]byte, error) {
		return j.group.AllGatherV(ctx, dst, src)
	}); err != nil {
		return err
	}
	return j.merge()
}

// records are those of all ranks, as the last exchange left them.
func (j *Job) records(c *snapshot.Coder) {
	if !j.keep && !c.Reading { // nobody has gathered the only one
		j.gathered = append(j.gathered[:0], j.encode(j.alone))
	}
	j.ranks.code(c)
	if c.Err != nil {
		return
	}
	for len(j.gathered) < j.size() {
		j.gathered = append(j.gathered, nil)
	}
	j.gathered = j.gathered[:j.size()]
	for i := range j.gathered {
		c.Bytes(fmt.Sprintf("record of rank %d", j.number(i)), &j.gathered[i], snapshot.MaxSmall)
	}
}

// encode is a record as it is sent, with what its rank's place needs where the
// state is to be taken over.
func (j *Job) encode(r record) []byte {
	w := snapshot.Coder{B: r.appendTo(j.buf[:0])}
	if j.keep || j.total == 1 {
		j.own(&w)
	}
	j.buf = w.B
	return w.B
}

// adopt puts this rank where its record says it was, and returns the record.
func (j *Job) adopt() (*record, error) {
	if err := j.merge(); err != nil {
		return nil, err
	}
	at := j.position()
	if at < 0 {
		return nil, fmt.Errorf("rank %d is lost to the job, which goes on without it", j.rank)
	}
	var r record
	rest, err := r.decode(j.rank, j.gathered[at])
	if err != nil {
		return nil, err
	}
	d := snapshot.Coder{B: rest, Reading: true}
	j.own(&d)
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
	whole := make([][]byte, j.size())
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

// merge makes the job's record of those of all ranks, in the order of their
// numbers. Of the lost ones it has what they had last, but no part of this pass.
func (j *Job) merge() error {
	if len(j.gathered) != j.size() {
		return fmt.Errorf("learn: got records of %d ranks, want %d", len(j.gathered), j.size())
	}
	first := true
	add := func(rank int, b []byte, lost bool) error {
		var r record
		if _, err := r.decode(rank, b); err != nil {
			return err
		}
		if lost {
			r.Stats.Holdout.PassLoss, r.Stats.Holdout.PassWeight = 0, 0
		}
		if first {
			j.all, first = r, false
			return nil
		}
		j.all.merge(&r)
		return nil
	}
	lost := j.lost
	for i, b := range j.gathered {
		rank := j.number(i)
		for len(lost) > 0 && lost[0].rank < rank {
			if err := add(lost[0].rank, lost[0].record, true); err != nil {
				return err
			}
			lost = lost[1:]
		}
		if err := add(rank, b, false); err != nil {
			return err
		}
	}
	for _, l := range lost {
		if err := add(l.rank, l.record, true); err != nil {
			return err
		}
	}
	return nil
}

// commit notes the records of a step that has been committed.
func (j *Job) commit() {
	for len(j.kept) < len(j.gathered) {
		j.kept = append(j.kept, nil)
	}
	j.kept = j.kept[:len(j.gathered)]
	for i, b := range j.gathered {
		j.kept[i] = append(j.kept[i][:0], b...)
	}
}

// rollback goes back to the records that were committed last.
func (j *Job) rollback() {
	j.gathered = j.gathered[:0] // perhaps those of a step that was not completed
	for _, b := range j.kept {
		j.gathered = append(j.gathered, slices.Clone(b))
	}
}

// lease returns when the server counts on this rank. Without a group there is no server.
func (j *Job) lease(ctx context.Context) error {
	if j.group == nil {
		return nil
	}
	return j.group.Lease(ctx)
}
