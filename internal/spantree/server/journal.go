// SPDX-License-Identifier: Apache-2.0

package server

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gvw-project/gvw/internal/crc32c"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// The journal is the memory of a server across restarts: the number of its
// starts, and the finished runs. It begins with journalMagic. Then each record
// is
//
//	 0      4          8         12
//	┌──────┬──────────┬─────────┬─────────┐
//	│length│CRC of the│CRC of   │ payload │
//	│      │ payload  │the first│         │
//	│      │          │ 8 bytes │         │
//	└──────┴──────────┴─────────┴─────────┘
//
// The checksums are CRC-32C; numbers are little endian. Records are only appended. A crash can
// therefore leave at most the last record incomplete, which the next start removes. Anything else
// that is inconsistent is damage, which the server reports and never repairs by itself.
const (
	journalMagic  = "gvw journal 1\n\x00\x00"
	journalHeader = 12
)

// JournalError reports that a journal is damaged, with the remedy.
type JournalError struct {
	Path   string
	Offset int64 // of the damage, in bytes
	Err    error
}

func (e *JournalError) Error() string {
	return fmt.Sprintf("the journal %s is damaged at byte %d: %v. Restore a copy, or move it away to start without "+
		"memory: finished runs that are retried would then run again", e.Path, e.Offset, e.Err)
}

func (e *JournalError) Unwrap() error { return e.Err }

// ErrJournalLocked reports that another server uses the journal.
var ErrJournalLocked = errors.New("another server uses it")

// journal is an open journal. It is not safe for concurrent use.
type journal struct {
	path string
	file journalFile
	lock *os.File // held while the journal is open: two servers would repeat terms
	buf  []byte   // of the newest record, reused
	err  error    // final: a failed sync, a failed write that could not be undone, or an unknown offset
}

// journalFile is the part of *os.File that a journal uses.
type journalFile interface {
	io.WriteSeeker
	io.Closer
	Truncate(size int64) error
	Sync() error
}

// openJournal opens or creates a journal, and reads it. It returns the new term, and the newest
// runs: at most limit, and none older than age. It removes all other records from the file.
func openJournal(path string, limit int, age time.Duration, now time.Time) (*journal, uint32, []*protocol.FinishedRecord, error) {
	lock, err := lockFile(path + ".lock")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil, fmt.Errorf("cannot create the journal %s: %w; create the directory %s first", path, err, filepath.Dir(path))
	}
	if err != nil {
		return nil, 0, nil, fmt.Errorf("cannot lock the journal %s: %w", path, err)
	}
	j := &journal{path: path, lock: lock}
	term, runs, err := j.load(limit, age, now)
	if err != nil {
		return nil, 0, nil, errors.Join(err, j.close())
	}
	return j, term, runs, nil
}

// load reads the file, and rewrites it with the records that later starts need.
func (j *journal) load(limit int, age time.Duration, now time.Time) (term uint32, runs []*protocol.FinishedRecord, err error) {
	old, err := os.ReadFile(j.path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return 0, nil, fmt.Errorf("cannot read the journal: %w", err)
	}
	records, err := readJournal(j.path, old)
	if err != nil {
		return 0, nil, err
	}
	for _, r := range records {
		switch r := r.(type) {
		case *protocol.TermRecord:
			term = max(term, r.Term)
		case *protocol.FinishedRecord:
			if now.Sub(r.At) <= age {
				runs = append(runs, r)
			}
		}
	}
	term++
	runs = runs[max(0, len(runs)-limit):]
	keep := []protocol.Record{&protocol.TermRecord{Term: term, At: now}}
	for _, r := range runs {
		keep = append(keep, r)
	}
	return term, runs, j.rewrite(keep)
}

// readJournal decodes the records of a journal, without an incomplete last one.
func readJournal(path string, data []byte) ([]protocol.Record, error) {
	damage := func(at int, err error) ([]protocol.Record, error) {
		return nil, &JournalError{Path: path, Offset: int64(at), Err: err}
	}
	n := min(len(data), len(journalMagic))
	if string(data[:n]) != journalMagic[:n] {
		return damage(0, errors.New("it has another beginning"))
	}
	var records []protocol.Record
	for at := n; at < len(data); {
		rest := data[at:]
		// After a crash some file systems have the new size, with zeros instead of the last bytes.
		written := len(bytes.TrimRight(rest, "\x00"))
		if written < journalHeader && (len(rest) < journalHeader || !journalHeaderOK(rest)) {
			break // incomplete
		}
		if !journalHeaderOK(rest) {
			return damage(at, errors.New("the header of a record fails its checksum"))
		}
		size := int64(binary.LittleEndian.Uint32(rest))
		if size > int64(len(rest)-journalHeader) {
			break // incomplete
		}
		payload := rest[journalHeader : journalHeader+size]
		if crc32c.Checksum(payload) != binary.LittleEndian.Uint32(rest[4:]) {
			if int64(written) <= journalHeader+size {
				break // incomplete: it is the last record
			}
			return damage(at, errors.New("a record fails its checksum"))
		}
		r, err := protocol.DecodeRecord(payload)
		if err != nil {
			return damage(at, err)
		}
		records = append(records, r)
		at += journalHeader + int(size)
	}
	return records, nil
}

// journalHeaderOK reports whether the checksum of a record's header is correct. Only then is its
// length trusted.
func journalHeaderOK(b []byte) bool {
	return crc32c.Checksum(b[:8]) == binary.LittleEndian.Uint32(b[8:])
}

// appendEntry appends the encoding of a record with its header.
func appendEntry(dst []byte, r protocol.Record) ([]byte, error) {
	start := len(dst)
	dst, err := protocol.AppendRecord(append(dst, make([]byte, journalHeader)...), r)
	if err == nil && len(dst)-start-journalHeader > protocol.MaxRecord {
		err = fmt.Errorf("a record of %d bytes, the limit is %d", len(dst)-start-journalHeader, protocol.MaxRecord)
	}
	if err != nil {
		return dst[:start], err
	}
	head, payload := dst[start:start+journalHeader], dst[start+journalHeader:]
	binary.LittleEndian.PutUint32(head, uint32(len(payload)))
	binary.LittleEndian.PutUint32(head[4:], crc32c.Checksum(payload))
	binary.LittleEndian.PutUint32(head[8:], crc32c.Checksum(head[:8]))
	return dst, nil
}

// rewrite replaces the file by one with these records. It writes a temporary file, syncs and
// renames it.
func (j *journal) rewrite(records []protocol.Record) error {
	all := []byte(journalMagic)
	for _, r := range records {
		var err error
		if all, err = appendEntry(all, r); err != nil {
			return fmt.Errorf("cannot write the journal %s: %w", j.path, err)
		}
	}
	if err := writeFile(j.path+".new", all); err != nil {
		return fmt.Errorf("cannot write the journal: %w", err)
	}
	if err := os.Rename(j.path+".new", j.path); err != nil {
		return fmt.Errorf("cannot write the journal: %w", err)
	}
	if err := syncFolder(filepath.Dir(j.path)); err != nil {
		return fmt.Errorf("cannot write the journal: %w", err)
	}
	f, err := os.OpenFile(j.path, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("cannot write the journal: %w", err)
	}
	j.file = f
	_, err = f.Seek(0, io.SeekEnd)
	return err
}

// writeFile writes a file and syncs it to the disk.
func writeFile(path string, data []byte) error {
	// A file of an earlier start is removed. If the path is a link, it is not followed.
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// append adds a record. It is on the disk only after sync.
func (j *journal) append(r protocol.Record) error {
	if j.err != nil {
		return j.err
	}
	var err error
	if j.buf, err = appendEntry(j.buf[:0], r); err != nil {
		return err // nothing was written
	}
	end, err := j.file.Seek(0, io.SeekCurrent)
	if err != nil {
		j.err = err // without its offset a failed write could not be undone
		return err
	}
	if _, err = j.file.Write(j.buf); err != nil {
		// An incomplete record before others would be damage: undo the write.
		if terr := j.file.Truncate(end); terr != nil {
			j.err = errors.Join(err, terr)
		} else if _, serr := j.file.Seek(end, io.SeekStart); serr != nil {
			j.err = errors.Join(err, serr)
		}
		return err
	}
	return nil
}

// sync writes appended records to the disk. A failure is final: the kernel may have dropped the
// pages that it could not write, and would report success for the next sync. The next start of the
// server reads the records that are there, and writes a new file.
func (j *journal) sync() error {
	if j.err == nil {
		j.err = j.file.Sync()
	}
	return j.err
}

// close syncs and closes the file, and releases the lock.
func (j *journal) close() error {
	var err error
	if j.file != nil {
		err = errors.Join(j.sync(), j.file.Close())
		j.file = nil
	}
	if j.lock != nil {
		err = errors.Join(err, j.lock.Close())
		j.lock = nil
	}
	return err
}
