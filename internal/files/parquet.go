// SPDX-License-Identifier: Apache-2.0

package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/gvw-project/gvw/feature/parquet"
	"github.com/gvw-project/gvw/hdfsio"
	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/launch"
	"github.com/gvw-project/gvw/learn"
)

// ParquetInputs is [Set.Inputs] for Parquet files, whose rows become text of CSV. Shards by bytes
// are contiguous rows.
func (f *Set) ParquetInputs(ctx context.Context, fsys hdfsio.FS, data []string, cache string, shard hdfsio.Shard) ([]learn.Input, error) {
	if len(data) == 0 {
		if there, err := exists(ctx, fsys, cache); there || err != nil {
			return nil, err
		}
	}
	if len(data) == 0 || slices.ContainsFunc(data, func(name string) bool { return slices.Contains(StdinNames, name) }) {
		return nil, cli.Usagef("--parquet: a Parquet file is read from its end, which a pipe does not have: give -d FILE")
	}
	return ParquetShard(ctx, fsys, data, shard)
}

// ValidParquetInputs is [ValidInputs] for Parquet files.
func ValidParquetInputs(ctx context.Context, fsys hdfsio.FS, names []string, at launch.Place) ([]learn.Input, error) {
	if len(names) == 0 {
		return nil, nil
	}
	shard := hdfsio.Shard{}
	if at.Total > 1 {
		shard = hdfsio.Shard{Kind: hdfsio.Bytes, Rank: at.Rank, Total: at.Total}
	}
	return ParquetShard(ctx, fsys, names, shard)
}

// ParquetShard returns the inputs of a rank from Parquet files.
func ParquetShard(ctx context.Context, fsys hdfsio.FS, patterns []string, shard hdfsio.Shard) ([]learn.Input, error) {
	names, err := hdfsio.Expand(ctx, fsys, patterns)
	if err != nil {
		return nil, err
	}
	// Split checks the files and gives their identities. Its bytes are not used.
	whole, err := hdfsio.Split(ctx, fsys, names, hdfsio.Shard{})
	if err != nil {
		return nil, err
	}
	infos := make([]hdfsio.Info, len(names)) // of the contents that all passes read
	counts := make([]int64, len(names))
	var total int64
	for i, name := range names {
		if whole[i].Identity == "" {
			return nil, cli.Usagef("--parquet: %s is no regular file: a Parquet file is read from its end", name)
		}
		if infos[i], err = fsys.Stat(ctx, name); err != nil {
			return nil, err
		}
		if shard.Kind == hdfsio.Whole {
			continue
		}
		f, err := openParquet(ctx, fsys, name, infos[i])
		if err != nil {
			return nil, fmt.Errorf("cannot open %s: %w", name, err)
		}
		counts[i] = f.Rows()
		total += counts[i]
	}
	inputs := make([]learn.Input, len(names))
	var before int64
	for i, name := range names {
		part, label := parquetPart(shard, before, counts[i], total)
		before += counts[i]
		identity := whole[i].Identity
		if label != "" {
			identity = fmt.Sprintf("%s %v %+v", identity, shard, part)
			label = " (" + label + ")"
		}
		inputs[i] = learn.Input{Name: name + label, Identity: identity, Open: func(ctx context.Context) (io.ReadCloser, error) {
			f, err := openParquet(ctx, fsys, name, infos[i])
			if err != nil {
				return nil, err
			}
			part := part
			if shard.Kind == hdfsio.Whole {
				part.To = f.Rows()
			}
			return &parquetRows{text: f.CSV(part), at: f.at}, nil
		}}
	}
	return inputs, nil
}

// parquetPart returns the rows of a shard in a file of some rows, which has others before it. label describes them.
func parquetPart(s hdfsio.Shard, before, rows, total int64) (part parquet.Part, label string) {
	n, rank := int64(s.Total), int64(s.Rank)
	switch s.Kind {
	case hdfsio.Bytes:
		lo, hi := s.Cut(total)
		part.From, part.To = min(max(lo-before, 0), rows), min(max(hi-before, 0), rows)
		if part.From == 0 && part.To == rows {
			return part, ""
		}
		return part, fmt.Sprintf("rows %d-%d", part.From, part.To)
	case hdfsio.Lines:
		// Row r of the file is row before+r of the job.
		part = parquet.Part{To: rows, Total: n, Rank: ((rank-before)%n + n) % n}
		return part, fmt.Sprintf("rows of rank %d of %d", rank, n)
	}
	return part, ""
}

// parquetFile is a file and the reader of its bytes.
type parquetFile struct {
	*parquet.File
	at *readerAt
}

// openParquet opens the contents of a file that info describes.
func openParquet(ctx context.Context, fsys hdfsio.FS, name string, info hdfsio.Info) (*parquetFile, error) {
	at := &readerAt{ctx: ctx, fsys: fsys, name: name, info: info}
	f, err := parquet.Open(at, info.Size)
	if err != nil {
		return nil, at.fault(err)
	}
	return &parquetFile{f, at}, nil
}

// readerAt reads parts of a file. Parts are large: the metadata, or a column of a row group. Each
// part is read by opening the file, and all of them must be of the same contents.
type readerAt struct {
	ctx  context.Context
	fsys hdfsio.FS
	name string
	info hdfsio.Info // of these contents
	err  error       // of the file system
}

// fault returns the error for an error of package parquet: one of the file system, or one about the data.
func (r *readerAt) fault(err error) error {
	if r.err != nil {
		return r.err
	}
	return &hdfsio.DataError{Name: r.name, Text: err.Error()}
}

// parquetRows are the rows of a file as text.
type parquetRows struct {
	text io.Reader
	at   *readerAt
}

func (r *parquetRows) Read(b []byte) (int, error) {
	n, err := r.text.Read(b)
	if err != nil && err != io.EOF {
		err = r.at.fault(err)
	}
	return n, err
}

func (r *parquetRows) Close() error { return nil }

// ReadAt reads a part of the contents that info describes. If the file has others by now, it returns an error.
func (r *readerAt) ReadAt(b []byte, at int64) (int, error) {
	n, err := r.read(b, at)
	if err == nil || errors.Is(err, io.ErrUnexpectedEOF) {
		if cerr := r.unchanged(); cerr != nil {
			r.err = cerr
			return 0, cerr
		}
	}
	return n, err
}

func (r *readerAt) read(b []byte, at int64) (n int, err error) {
	f, err := r.fsys.Open(r.ctx, r.name, at)
	if err != nil {
		r.err = err
		return 0, err
	}
	defer func() {
		if err = errors.Join(err, f.Close()); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			r.err = err
		}
	}()
	if n, err = io.ReadFull(f, b); err == io.EOF {
		err = io.ErrUnexpectedEOF // the end of the file must not seem to be that of its rows
	}
	return n, err
}

// errReplaced reports a file whose parts are not all of the same contents.
var errReplaced = errors.New("it was replaced while it was read")

// unchanged returns an error if the file does not have the contents that info describes.
func (r *readerAt) unchanged() error {
	now, err := r.fsys.Stat(r.ctx, r.name)
	if err != nil {
		return err
	}
	if now.Size != r.info.Size || !now.Modified.Equal(r.info.Modified) || now.Tag != r.info.Tag {
		return &hdfsio.Error{Op: "read", Name: r.name, Err: errReplaced, Advice: "run again"}
	}
	return nil
}
