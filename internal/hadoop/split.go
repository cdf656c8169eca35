// SPDX-License-Identifier: Apache-2.0

package hadoop

import (
	"fmt"
	"math"
	"path"
	"slices"
	"strings"
)

// File is one of the files of a job's input.
type File struct {
	Name  string
	Bytes int64
}

// splittable reports whether Hadoop splits a file: text, and bzip2, whose blocks can be found
// in the middle of a file.
func (f File) splittable() bool {
	switch strings.ToLower(path.Ext(f.Name)) {
	case ".gz", ".zst", ".snappy", ".lz4", ".deflate", ".lzo", ".xz":
		return false
	}
	return true
}

// maps returns the number of splits of the file in the old interface: pieces of size
// bytes, of which the last may be a tenth larger. An empty file is one split.
func (f File) maps(size int64) int {
	if !f.splittable() || f.Bytes <= size {
		return 1
	}
	n := f.Bytes / size
	rest := f.Bytes - n*size
	// FileInputFormat.getSplits cuts off a piece while the rest is more than 1.1 pieces
	// (SPLIT_SLOP).
	if rest == 0 {
		return int(n)
	}
	if float64(size+rest)/float64(size) > 1.1 {
		n++
	}
	return int(n)
}

// Maps returns the number of maps of a job with this least size of a split, if no block is
// larger.
func Maps(files []File, size int64) int {
	n := 0
	for _, f := range files {
		n += f.maps(size)
	}
	return n
}

// SplitSize returns a least size of a split (mapreduce.input.fileinputformat.split.minsize)
// that gives want maps. If no size does, it returns one for the nearest number below, in
// got. If there are more files than want, got is the number of files, as each has a map.
func SplitSize(files []File, want int) (size int64, got int, err error) {
	if want < 1 {
		return 0, 0, fmt.Errorf("hadoop: %d maps: want at least 1", want)
	}
	if len(files) == 0 {
		return 0, 0, fmt.Errorf("hadoop: the input has no files")
	}
	// The number of splits falls with the size: find the least size with at most want.
	var bound int64 = 1
	for _, f := range files {
		bound = max(bound, f.Bytes)
	}
	low, high := int64(1), bound
	for low < high {
		mid := low + (high-low)/2
		if Maps(files, mid) <= want {
			high = mid
		} else {
			low = mid + 1
		}
	}
	if got = Maps(files, low); got == len(files) && got >= want {
		return math.MaxInt64, got, nil // no file is split, whatever its blocks
	}
	return low, got, nil
}

// ignored reports whether Hadoop omits a file of the input directory.
func ignored(name string) bool {
	base := path.Base(name)
	return strings.HasPrefix(base, "_") || strings.HasPrefix(base, ".")
}

// Inputs parses the output of `hadoop fs -ls`, and returns the files of an input, sorted by name.
func Inputs(listing string) ([]File, error) {
	var files []File
	for line := range strings.Lines(listing) {
		line = strings.TrimRight(line, "\r\n")
		// permissions, replication, owner, group, size, day, time, name
		f := strings.Fields(line)
		if len(f) < 8 || len(f[0]) < 10 || f[0][0] == 'd' || strings.HasPrefix(line, "Found ") {
			continue
		}
		var file File
		if _, err := fmt.Sscan(f[4], &file.Bytes); err != nil || file.Bytes < 0 {
			return nil, fmt.Errorf("hadoop: %q is not a line of hadoop fs -ls: its fifth field is not a size", line)
		}
		at := strings.Index(line, f[6]) + len(f[6]) // names may contain blanks
		file.Name = strings.TrimPrefix(line[at:], " ")
		if !ignored(file.Name) {
			files = append(files, file)
		}
	}
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	return files, nil
}
