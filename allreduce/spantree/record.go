// SPDX-License-Identifier: Apache-2.0

package spantree

import (
	"fmt"
	"time"
)

// record is an entry of the journal.
type record interface {
	code(*coder)
}

// recordType is the first byte of an entry.
type recordType uint8

const (
	recordTerm      recordType = 1
	recordDelivered recordType = 2
	recordFinished  recordType = 3
)

// maxRecord bounds an entry: a job in which each of the largest number of
// ranks delivers a file of a long name.
const maxRecord = maxRanksLimit * (maxFile + 64)

// termRecord: a server has started.
type termRecord struct {
	Term uint32
	At   time.Time
}

func (r *termRecord) code(c *coder) {
	c.u32("term", &r.Term)
	c.instant("at", &r.At)
}

// deliveredFile is a file that a rank has delivered.
type deliveredFile struct {
	Rank   int
	SHA256 [32]byte
	File   string
}

func (d *deliveredFile) code(c *coder) {
	c.rank("rank", &d.Rank)
	c.raw("sha256", d.SHA256[:])
	c.text("file", maxFile, &d.File)
}

// deliveredRecord: one file of a run is delivered.
type deliveredRecord struct {
	RunKey string
	Epoch  Epoch
	File   deliveredFile
}

func (r *deliveredRecord) code(c *coder) {
	c.text("run_key", maxRunKey, &r.RunKey)
	c.epoch("epoch", &r.Epoch)
	r.File.code(c)
}

// finishedRecord: all files of a run are delivered.
type finishedRecord struct {
	Job        Job
	Generation uint32
	Total      uint32
	Options    [32]byte
	Model      [32]byte
	At         time.Time
	Files      []deliveredFile
}

func (r *finishedRecord) code(c *coder) {
	c.u64("unique_id", &r.Job.UniqueID)
	c.text("run_key", maxRunKey, &r.Job.RunKey)
	c.u32("generation", &r.Generation)
	c.u32("total", &r.Total)
	c.raw("options_sha256", r.Options[:])
	c.raw("model_sha256", r.Model[:])
	c.instant("at", &r.At)
	list(c, "files", maxRanksLimit*maxFiles, 40, &r.Files, func(c *coder, d *deliveredFile) { d.code(c) })
}

// instant is a time in nanoseconds since 1970.
func (c *coder) instant(name string, t *time.Time) {
	n := uint64(t.UnixNano())
	c.u64(name, &n)
	if c.mode == take {
		*t = time.Unix(0, int64(n))
	}
}

func appendRecord(dst []byte, r record) ([]byte, error) {
	var t recordType
	switch r.(type) {
	case *termRecord:
		t = recordTerm
	case *deliveredRecord:
		t = recordDelivered
	case *finishedRecord:
		t = recordFinished
	default:
		panic(fmt.Sprintf("BUG: spantree: %T is no record", r))
	}
	c := coder{mode: put, buf: append(dst, byte(t))}
	r.code(&c)
	return c.buf, c.err
}

func decodeRecord(b []byte) (record, error) {
	if len(b) == 0 {
		return nil, errShort
	}
	var r record
	switch t := recordType(b[0]); t {
	case recordTerm:
		r = new(termRecord)
	case recordDelivered:
		r = new(deliveredRecord)
	case recordFinished:
		r = new(finishedRecord)
	default:
		return nil, fmt.Errorf("record type %d: a newer server has written it", t)
	}
	c := coder{mode: take, buf: b[1:]}
	if r.code(&c); c.err == nil && len(c.buf) > 0 {
		c.err = fmt.Errorf("%d bytes too many", len(c.buf))
	}
	return r, c.err
}

// memberBytes is a member of a job, and jobBytes is a job.
const memberBytes = 1 << 10

// fileBytes is a file that was delivered.
const fileBytes = 128

// holds is what is kept of a run that has finished.
func (r *finishedRecord) holds() int64 {
	n := memberBytes + int64(len(r.Job.RunKey))
	for _, f := range r.Files {
		n += fileBytes + int64(len(f.File))
	}
	return n
}
