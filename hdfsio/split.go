// SPDX-License-Identifier: Apache-2.0

package hdfsio

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
)

// Part is one rank's share of one file.
type Part struct {
	// Name is the file's name, with the share if that is not the whole file.
	Name string
	// Identity changes when the text of the part changes. Empty: it cannot be read
	// twice (a pipe).
	Identity string

	open func(context.Context) (io.ReadCloser, error)
	// header is nil where the part begins with the file's first line.
	header func(limit int) (line []byte, own bool, err error)
}

// Open reads the part's text from its first line on. The end of ctx ends the reads.
func (p Part) Open(ctx context.Context) (io.ReadCloser, error) { return p.open(ctx) }

// Split returns the parts of some files for a rank, in order. There is always at
// least one part, which may be empty.
func Split(ctx context.Context, fsys FS, names []string, s Shard) ([]Part, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	infos := make([]Info, len(names))
	var faults []error
	for i, name := range names {
		var err error
		infos[i], err = fsys.Stat(ctx, name)
		switch {
		case err != nil:
			faults = append(faults, err)
		case s.Kind != Whole && !infos[i].Mode.IsRegular():
			faults = append(faults, newError("share", name, errors.New("not a regular file"), "give a file, or one part per rank"))
		}
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, errors.New("hdfsio: no file to read")
	}
	switch s.Kind {
	case Bytes:
		return splitBytes(ctx, fsys, infos, s)
	case Lines:
		return splitLines(ctx, fsys, infos, names, s), nil
	}
	parts := make([]Part, len(infos))
	for i, in := range infos {
		parts[i] = Part{Name: in.Name, open: func(ctx context.Context) (io.ReadCloser, error) { return Open(ctx, fsys, in.Name) }}
		if in.Mode.IsRegular() {
			parts[i].Identity = identity(infos[i:i+1], s, "")
		}
	}
	return parts, nil
}

// identity digests all that determines a part's text: the files that it depends on, the
// shard, and the position.
func identity(infos []Info, s Shard, where string) string {
	h := sha256.New()
	for _, in := range infos {
		fmt.Fprintf(h, "%q %d %d\n", in.Name, in.Size, in.Modified.UnixNano())
		if in.Tag != "" {
			fmt.Fprintf(h, "%q\n", in.Tag)
		}
	}
	fmt.Fprintf(h, "%v %s\n", s, where)
	last := infos[len(infos)-1]
	return fmt.Sprintf("%s %v %x", last.Name, s, h.Sum(nil)[:16])
}

func splitLines(ctx context.Context, fsys FS, infos []Info, names []string, s Shard) []Part {
	counts := &lineCounts{fsys: fsys, names: names}
	parts := make([]Part, len(infos))
	for i, in := range infos {
		parts[i] = Part{
			Name: fmt.Sprintf("%s (lines of rank %d of %d)", in.Name, s.Rank, s.Total),
			// The rank of a file's first line depends on the files before it.
			Identity: identity(infos[:i+1], s, ""),
			open: func(ctx context.Context) (io.ReadCloser, error) {
				before, err := counts.before(ctx, i)
				if err != nil {
					return nil, err
				}
				r, err := Open(ctx, fsys, in.Name)
				if err != nil {
					return nil, err
				}
				return &dealReader{
					r: r, rank: int64(s.Rank), total: int64(s.Total), line: before,
					counted: func(lines int64) { counts.set(i, lines) },
				}, nil
			},
			header: func(limit int) ([]byte, bool, error) {
				before, err := counts.before(ctx, i)
				if err != nil || before%int64(s.Total) == int64(s.Rank) {
					return nil, err == nil, err
				}
				line, err := firstLine(ctx, fsys, in.Name, limit)
				return line, false, err
			},
		}
	}
	return parts
}

// extent describes a file for splitBytes.
type extent struct {
	size       int64 // length of the text in bytes; of a whole file: stored bytes
	compressed bool
	whole      bool // the file is not cut
	far        bool // the file is remote and has not been read
}

func splitBytes(ctx context.Context, fsys FS, infos []Info, s Shard) ([]Part, error) {
	var total int64
	texts := make([]extent, len(infos))
	for i, in := range infos {
		t, err := sizeUp(ctx, fsys, in)
		if err != nil {
			return nil, err
		}
		texts[i] = t
		total += t.size
	}
	lo, hi := s.Cut(total)
	var parts []Part
	for i, in := range infos {
		t := texts[i]
		a, b := min(max(lo, 0), t.size), min(max(hi, 0), t.size)
		if t.whole && a < b {
			if a, b = 0, t.size; lo > t.size/2 || hi <= t.size/2 {
				b = 0 // another rank has its middle
			}
		}
		lo, hi = lo-t.size, hi-t.size
		if a >= b {
			continue
		}
		part := Part{Name: in.Name, Identity: identity(infos[i:i+1], s, fmt.Sprint(a, b))}
		if a > 0 || b < t.size {
			part.Name = fmt.Sprintf("%s (bytes %d-%d)", in.Name, a, b)
		}
		part.open = func(ctx context.Context) (io.ReadCloser, error) { return openCut(ctx, fsys, in.Name, t, a, b) }
		if a > 0 {
			part.header = func(limit int) ([]byte, bool, error) {
				line, err := firstLine(ctx, fsys, in.Name, limit)
				return line, false, err
			}
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		parts = append(parts, Part{
			Name:     fmt.Sprintf("%s (no bytes)", infos[0].Name),
			Identity: identity(infos, s, "none"),
			open:     func(context.Context) (io.ReadCloser, error) { return nothing{}, nil },
		})
	}
	return parts, nil
}

// nothing is the empty part of a text that has fewer bytes than the job has ranks.
type nothing struct{}

func (nothing) Read([]byte) (int, error) { return 0, io.EOF }
func (nothing) Close() error             { return nil }

// sizeUp determines how a file can be cut. A local file is read if it is
// compressed. For a remote file the name decides, as in Hadoop: counting its text
// would transfer it once more.
func sizeUp(ctx context.Context, fsys FS, in Info) (extent, error) {
	caps, err := CapsOf(fsys, in.Name)
	if err != nil {
		return extent{}, err
	}
	if !caps.Near {
		whole := slices.ContainsFunc(formats, func(f format) bool { return path.Ext(in.Name) == f.suffix })
		return extent{size: in.Size, compressed: whole, whole: whole, far: true}, nil
	}
	size, compressed, err := textSize(ctx, fsys, in)
	return extent{size: size, compressed: compressed}, err
}

// textSize returns the number of bytes of text in a file.
func textSize(ctx context.Context, fsys FS, in Info) (size int64, compressed bool, err error) {
	raw, err := fsys.Open(ctx, in.Name, 0)
	if err != nil {
		return 0, false, err
	}
	r, compressed, err := decompress(in.Name, raw)
	if err != nil {
		return 0, false, err
	}
	size = in.Size
	if compressed {
		size, err = io.CopyBuffer(struct{ io.Writer }{io.Discard}, r, make([]byte, bufferSize))
	}
	if err != nil {
		_ = r.Close() // the read error is more specific
		return 0, compressed, err
	}
	return size, compressed, r.Close()
}

// openCut opens the lines that begin in [lo, hi).
func openCut(ctx context.Context, fsys FS, name string, t extent, lo, hi int64) (io.ReadCloser, error) {
	if t.whole {
		return Open(ctx, fsys, name)
	}
	if !t.compressed {
		if t.far {
			if err := mustBePlain(ctx, fsys, name); err != nil {
				return nil, err
			}
		}
		pos := max(lo-1, 0)
		r, err := fsys.Open(ctx, name, pos)
		if err != nil {
			return nil, err
		}
		return newCutReader(r, pos, lo, hi), nil
	}
	r, err := Open(ctx, fsys, name)
	if err != nil {
		return nil, err
	}
	return newCutReader(r, 0, lo, hi), nil
}

// mustBePlain returns an error if a file that was cut because of its name is compressed.
func mustBePlain(ctx context.Context, fsys FS, name string) error {
	r, err := fsys.Open(ctx, name, 0)
	if err != nil {
		return err
	}
	r, compressed, err := decompress(name, r)
	if err != nil {
		return err
	}
	_ = r.Close() // only its first bytes were needed
	if compressed {
		return &DataError{Name: name, Text: "it is compressed, but its name has no extension (.gz, .zst, .bz2), so the ranks have cut it as text: rename it"}
	}
	return nil
}
