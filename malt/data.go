// SPDX-License-Identifier: Apache-2.0

package malt

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"

	"github.com/gvw-project/gvw/hdfsio"
)

const (
	defaultWindow  = 64 << 20
	defaultMaxLine = 64 << 20
)

// DataConfig describes a rank's share of the lines of some files. All fields but Rank, Window and MaxLine are the same
// on all ranks.
type DataConfig struct {
	FS      hdfsio.FS // has the files; nil: hdfsio.Local{}. Package hdfsio/hdfs has one for HDFS
	Names   []string  // files and patterns, as in hdfsio.Expand; compressed files are decompressed
	Rank    int       // this rank, 0 to Of-1
	Of      int       // ranks, at least 1
	Seed    uint64    // of the shares and of the order
	Window  int       // bytes of lines that are permuted as a whole; 0: 64 MiB
	MaxLine int       // longest line, in bytes; 0: 64 MiB
}

// Validate reports all faults.
func (c DataConfig) Validate() error {
	var faults []error
	if len(c.Names) == 0 {
		faults = append(faults, errors.New("malt: Names: got no file, want at least one"))
	}
	if c.Of < 1 || c.Rank < 0 || c.Rank >= c.Of {
		faults = append(faults, fmt.Errorf("malt: Rank: got %d of %d, want 0 to one less than the number of ranks", c.Rank, c.Of))
	}
	if c.Window < 0 || c.MaxLine < 0 {
		faults = append(faults, fmt.Errorf("malt: Window, MaxLine: got %d and %d bytes, want 0 or more", c.Window, c.MaxLine))
	}
	return errors.Join(faults...)
}

// Data is a rank's share of the lines of some files. Several goroutines may use it.
type Data struct {
	config DataConfig
	files  []string
	sizes  []int64 // of the files in bytes; -1: unknown
}

// LoadData finds the files of a rank's share. It reads no lines.
//
// The lines of all files, in order, are divided into groups of Of lines. A permutation that is drawn from Seed and the
// number of the group gives each rank one line of it. So shares are random, disjoint and complete, and their sizes
// differ by at most one line. A rank reads all files and keeps only its own lines, at most Window bytes at a time.
func LoadData(ctx context.Context, c DataConfig) (*Data, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if c.FS == nil {
		c.FS = hdfsio.Local{}
	}
	if c.Window == 0 {
		c.Window = defaultWindow
	}
	if c.MaxLine == 0 {
		c.MaxLine = defaultMaxLine
	}
	files, err := hdfsio.Expand(ctx, c.FS, c.Names)
	if err != nil {
		return nil, fmt.Errorf("malt: rank %d: %w", c.Rank, err)
	}
	sizes := make([]int64, len(files))
	for i, name := range files {
		info, err := c.FS.Stat(ctx, name)
		if err != nil {
			return nil, fmt.Errorf("malt: rank %d: %w", c.Rank, err)
		}
		if sizes[i] = -1; info.Mode.IsRegular() {
			sizes[i] = info.Size
		}
	}
	return &Data{config: c, files: files, sizes: sizes}, nil
}

// Files returns the files of all shares, in the order in which they are read.
func (d *Data) Files() []string { return append([]string(nil), d.files...) }

// Lines returns the lines of the share, without line ends, in the order of a pass: permuted within windows of
// DataConfig.Window bytes, and differently in each pass. A line is valid until the next one. The sequence ends
// after an error.
func (d *Data) Lines(ctx context.Context, pass int) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		w := window{
			limit: d.config.Window,
			rng:   rand.New(rand.NewPCG(d.config.Seed+uint64(pass), uint64(d.config.Rank))),
			yield: yield,
		}
		own := func(l Line) bool { return l.Share != d.config.Rank || w.add(l.Text) }
		switch err := d.each(ctx, own); {
		case err == nil:
			w.flush()
		case !errors.Is(err, errStopped):
			yield(nil, err)
		}
	}
}

// Line is a line of the data and its place.
type Line struct {
	File   string // its file
	Number int    // in the file, from 1
	Share  int    // the share that has it; share i is that of rank i
	Text   []byte // without the line end
}

// All returns the lines of all shares, in the order of the files, for a rank that needs more than its share: the mean of
// all examples, or the share of a lost rank ([Group.Shares]). The text of a line is valid until the next one. The
// sequence ends after an error.
func (d *Data) All(ctx context.Context) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		err := d.each(ctx, func(l Line) bool { return yield(l, nil) })
		if err != nil && !errors.Is(err, errStopped) {
			yield(Line{}, err)
		}
	}
}

// errStopped ends a pass whose caller wants no more lines.
var errStopped = errors.New("stopped")

// each calls use with all lines, until it returns false; the error is then errStopped.
func (d *Data) each(ctx context.Context, use func(Line) bool) error {
	deal := newDealer(d.config.Seed, d.config.Of)
	for _, name := range d.files {
		if err := d.read(ctx, name, deal, use); err == errStopped {
			return err
		} else if err != nil {
			return fmt.Errorf("malt: rank %d: %s: %w", d.config.Rank, name, err)
		}
	}
	return nil
}

// read calls use with the lines of a file.
func (d *Data) read(ctx context.Context, name string, deal *dealer, use func(Line) bool) error {
	f, err := hdfsio.Open(ctx, d.config.FS, name)
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(f)
	lines.Buffer(make([]byte, 0, min(64<<10, d.config.MaxLine+1)), d.config.MaxLine+1)
	for n := 1; err == nil && lines.Scan(); n++ {
		if !use(Line{File: name, Number: n, Share: deal.next(), Text: lines.Bytes()}) {
			_ = f.Close() // nothing more is read from it
			return errStopped
		}
		if n%1024 == 0 && ctx.Err() != nil {
			err = context.Cause(ctx)
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		err = errors.Join(err, fmt.Errorf("a line has more than %d bytes: give a larger MaxLine", d.config.MaxLine))
	} else {
		err = errors.Join(err, lines.Err())
	}
	return errors.Join(err, f.Close())
}

// dealer deals lines to ranks: of each group of consecutive lines each rank gets one.
type dealer struct {
	seed  uint64
	group uint64
	pcg   *rand.PCG
	rng   *rand.Rand
	ranks []int // of the lines of the current group
	at    int   // the next line in it
}

func newDealer(seed uint64, of int) *dealer {
	pcg := rand.NewPCG(0, 0)
	d := &dealer{seed: seed, pcg: pcg, rng: rand.New(pcg), ranks: make([]int, of), at: of}
	return d
}

// next returns the rank of the next line.
func (d *dealer) next() int {
	if d.at == len(d.ranks) {
		d.pcg.Seed(d.seed, d.group)
		for i := range d.ranks {
			d.ranks[i] = i
		}
		d.rng.Shuffle(len(d.ranks), func(i, j int) { d.ranks[i], d.ranks[j] = d.ranks[j], d.ranks[i] })
		d.group++
		d.at = 0
	}
	d.at++
	return d.ranks[d.at-1]
}

// window permutes lines.
type window struct {
	limit int
	rng   *rand.Rand
	yield func([]byte, error) bool
	text  []byte
	ends  [][2]int // of each line in text
}

// add adds a line, and yields the window when it is full. It reports whether the caller wants more lines.
func (w *window) add(line []byte) bool {
	from := len(w.text)
	w.text = append(w.text, line...)
	w.ends = append(w.ends, [2]int{from, len(w.text)})
	return len(w.text) < w.limit || w.flush()
}

// flush yields all lines of the window in a random order.
func (w *window) flush() bool {
	w.rng.Shuffle(len(w.ends), func(i, j int) { w.ends[i], w.ends[j] = w.ends[j], w.ends[i] })
	for _, e := range w.ends {
		if !w.yield(w.text[e[0]:e[1]:e[1]], nil) {
			return false
		}
	}
	w.text, w.ends = w.text[:0], w.ends[:0]
	return true
}
