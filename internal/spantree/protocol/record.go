// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"fmt"
	"reflect"
	"time"

	"github.com/gvw-project/gvw/internal/wire"
)

// Record is an entry of the journal.
type Record interface {
	code(*wire.Coder)
}

// recordType is the first byte of a record.
type recordType uint8

const (
	recordTerm      recordType = 1
	recordDelivered recordType = 2
	recordFinished  recordType = 3
)

// MaxRecord limits the size of a record, in bytes. The largest one lists a file with the longest
// name for each rank of the largest job.
const MaxRecord = MaxRanksLimit * (maxFile + 64)

// TermRecord records a start of the server.
type TermRecord struct {
	Term uint32
	At   time.Time
}

func (r *TermRecord) code(c *wire.Coder) {
	c.U32("term", &r.Term)
	instant(c, "at", &r.At)
}

// DeliveredFile is a file that a rank has delivered.
type DeliveredFile struct {
	Rank   int
	SHA256 [32]byte
	File   string
}

func (d *DeliveredFile) code(c *wire.Coder) {
	c.Rank("rank", &d.Rank)
	c.Raw("sha256", d.SHA256[:])
	c.Text("file", maxFile, &d.File)
}

// DeliveredRecord records the delivery of one file. Later starts of the server do not need it: it
// shows operators how far an unfinished run was.
type DeliveredRecord struct {
	RunKey string
	Epoch  Epoch
	File   DeliveredFile
}

func (r *DeliveredRecord) code(c *wire.Coder) {
	c.Text("run_key", MaxRunKey, &r.RunKey)
	r.Epoch.Code(c, "epoch")
	r.File.code(c)
}

// FinishedRecord records that all files of a run are delivered. From it a restarted server knows
// the run.
type FinishedRecord struct {
	Job        Job
	Generation uint32
	Total      uint32
	Options    [32]byte
	Model      [32]byte
	At         time.Time
	Files      []DeliveredFile
}

func (r *FinishedRecord) code(c *wire.Coder) {
	c.U64("unique_id", &r.Job.UniqueID)
	c.Text("run_key", MaxRunKey, &r.Job.RunKey)
	c.U32("generation", &r.Generation)
	c.U32("total", &r.Total)
	c.Raw("options_sha256", r.Options[:])
	c.Raw("model_sha256", r.Model[:])
	instant(c, "at", &r.At)
	wire.List(c, "files", MaxRanksLimit*MaxFiles, 40, &r.Files, func(c *wire.Coder, d *DeliveredFile) { d.code(c) })
}

// instant codes a time in nanoseconds since 1970, as u64.
func instant(c *wire.Coder, name string, t *time.Time) {
	n := uint64(t.UnixNano())
	c.U64(name, &n)
	if c.Decoding() {
		*t = time.Unix(0, int64(n))
	}
}

// recordKinds is the table of records.
var recordKinds = map[recordType]func() Record{
	recordTerm:      func() Record { return new(TermRecord) },
	recordDelivered: func() Record { return new(DeliveredRecord) },
	recordFinished:  func() Record { return new(FinishedRecord) },
}

// recordTypes are the numbers of the records' Go types, derived from recordKinds.
var recordTypes = func() map[reflect.Type]recordType {
	types := map[reflect.Type]recordType{}
	for t, newRecord := range recordKinds {
		types[reflect.TypeOf(newRecord())] = t
	}
	return types
}()

// AppendRecord appends a record of the journal, without the header of its entry. It panics if r
// is no record of this package.
func AppendRecord(dst []byte, r Record) ([]byte, error) {
	t, ok := recordTypes[reflect.TypeOf(r)]
	if !ok {
		panic(fmt.Sprintf("BUG: spantree: %T is no record", r))
	}
	c := wire.Encode(append(dst, byte(t)))
	r.code(&c)
	return c.Bytes(), c.Err()
}

// DecodeRecord decodes the bytes that AppendRecord has appended.
func DecodeRecord(b []byte) (Record, error) {
	if len(b) == 0 {
		return nil, wire.ErrShort
	}
	newRecord, ok := recordKinds[recordType(b[0])]
	if !ok {
		return nil, fmt.Errorf("record type %d: a newer server has written it", b[0])
	}
	r := newRecord()
	c := wire.Decode(b[1:])
	r.code(&c)
	return r, c.End()
}

// MemberBytes is the memory that a member of a job is counted with, in bytes, in addition to its
// texts.
const MemberBytes = 1 << 10

// FileBytes is the memory that a delivered file is counted with, in bytes, in addition to its name.
const FileBytes = 128

// MemoryUse returns the memory that a finished run is counted with, in bytes.
func (r *FinishedRecord) MemoryUse() int64 {
	n := MemberBytes + int64(len(r.Job.RunKey))
	for _, f := range r.Files {
		n += FileBytes + int64(len(f.File))
	}
	return n
}
