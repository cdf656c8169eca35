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

// splittable reports whether Hadoop reads parts of a file: text, and what bzip2 has
// compressed, whose blocks can be found in the middle.
func (f File) splittable() bool {
	switch strings.ToLower(path.Ext(f.Name)) {
	case ".gz", ".zst", ".snappy", ".lz4", ".deflate", ".lzo", ".xz":
		return false
	}
	return true
}

// maps returns how many splits the file has, as the old interface cuts them: pieces of size
// bytes, of which the last may be a tenth larger. An empty file is one split.
func (f File) maps(size int64) int {
	if !f.splittable() || f.Bytes <= size {
		return 1
	}
	n := f.Bytes / size
	rest := f.Bytes - n*size
	// A piece is cut off while what is left is more than 1.1 pieces.
	if rest == 0 {
		return int(n)
	}
	if float64(size+rest)/float64(size) > 1.1 {
		n++
	}
	return int(n)
}

// Maps returns how many maps a job with this least size of a split has, if no block is
// larger.
func Maps(files []File, size int64) int {
	n := 0
	for _, f := range files {
		n += f.maps(size)
	}
	return n
}

// SplitSize returns a least size of a split (mapreduce.input.fileinputformat.split.minsize)
// that gives want maps. Where none does, size gives the nearest number below it, or got
// is the number of files, which is more: each has a map at least.
func SplitSize(files []File, want int) (size int64, got int, err error) {
	if want < 1 {
		return 0, 0, fmt.Errorf("hadoop: %d maps: at least 1 is needed", want)
	}
	if len(files) == 0 {
		return 0, 0, fmt.Errorf("hadoop: the input has no files")
	}
	// With growing size there are fewer splits: the least size with at most want.
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
		return math.MaxInt64, got, nil // every file whole, whatever its blocks
	}
	return low, got, nil
}

// ignored reports whether Hadoop leaves a file of the input folder out.
func ignored(name string) bool {
	base := path.Base(name)
	return strings.HasPrefix(base, "_") || strings.HasPrefix(base, ".")
}

// Inputs reads the output of `hadoop fs -ls` for the files of an input, in order of name.
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
			return nil, fmt.Errorf("hadoop: %q is no line of hadoop fs -ls: its fifth field is no size", line)
		}
		at := strings.Index(line, f[6]) + len(f[6]) // names may hold blanks
		file.Name = strings.TrimPrefix(line[at:], " ")
		if !ignored(file.Name) {
			files = append(files, file)
		}
	}
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	return files, nil
}
