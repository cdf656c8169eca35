// SPDX-License-Identifier: Apache-2.0

package malt

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
)

// listSize limits the part of a list of files that ranks send each other, in bytes. The digest before it is that of the
// whole list.
const listSize = 64 << 10

// sameFiles is the name of the object whose description has a digest of the list, and filesDigest that of its field.
const (
	sameFiles   = "same_files"
	filesDigest = "digest"
)

// Compare compares the files of this rank with those of the others, by name and size. A difference ends the job: the
// error of each rank names two ranks and their first difference. All ranks call Compare, at the same place in the
// order in which they create vectors. A rank that joins when others have compared theirs is compared with the rank whose
// values it takes, and only its own call fails.
func (d *Data) Compare(ctx context.Context, g *Group) error {
	own := d.list()
	s, err := NewSegment(g, "files", sha256.Size+listSize, SegmentConfig{
		ObjectConfig: ObjectConfig{Sync: "bsp", Depth: 2},
		State:        func() ([]byte, error) { return own, nil },
		Restore: func(list []byte) error {
			g.mu.Lock()
			defer g.mu.Unlock()
			return different(own, list, g.cfg.Rank, g.source)
		},
	})
	if err != nil || g.cfg.Total == 1 {
		return err
	}
	// A new rank takes over the number of rounds, so it enters the round if and only if its source has not.
	var differs error
	if s.Iteration() == 0 {
		if err := s.Scatter(ctx, own); err != nil {
			return err
		}
		if _, err := s.AtomicGather(ctx, func(in IncomingBytes) {
			if differs == nil {
				differs = different(own, in.Data, g.cfg.Rank, in.Rank)
			}
		}); err != nil {
			return err
		}
	}
	if differs != nil {
		g.failJob(differs)
		return differs
	}
	// A rank that went on after a round that the end of a membership has interrupted would send updates of the next vector,
	// which hold up what the ranks in the round wait for.
	if err := s.object.settle(ctx); err != nil {
		return err
	}
	// Lists that were under way when a membership ended are lost. Each membership compares the descriptions of all objects,
	// so a further object, which sends nothing, has the digest of the list in its description.
	_, err = g.newObject(sameFiles, fmt.Sprintf(filesDigest+"=%x", own[:8]), 1, ObjectConfig{Graph: "ring"}, holder{})
	return err
}

// list returns a digest of the names and sizes of the files, and as many of them as fit.
func (d *Data) list() []byte {
	var text []byte
	for i, name := range d.files {
		text = fmt.Appendf(text, "%q of %d bytes\n", name, d.sizes[i])
	}
	digest := sha256.Sum256(text)
	if len(text) > listSize {
		text = text[:bytes.LastIndexByte(text[:listSize], '\n')+1]
	}
	return append(digest[:], text...)
}

// different returns an error unless two lists are equal.
func different(own, other []byte, rank, otherRank int) error {
	if bytes.Equal(own, other) {
		return nil
	}
	return fmt.Errorf("malt: rank %d and rank %d have different data: %s: give all ranks the same files",
		rank, otherRank, difference(own, other, rank, otherRank))
}

// difference describes the first difference of two lists.
func difference(own, other []byte, rank, otherRank int) string {
	a, b := bytes.Split(own[sha256.Size:], []byte("\n")), bytes.Split(other[min(sha256.Size, len(other)):], []byte("\n"))
	for i := range min(len(a), len(b)) {
		if !bytes.Equal(a[i], b[i]) {
			return fmt.Sprintf("file %d is %s on rank %d and %s on rank %d", i+1, orNone(a[i]), rank, orNone(b[i]), otherRank)
		}
	}
	return fmt.Sprintf("the first %d files are equal, and later ones are not", min(len(a), len(b))-1)
}

// orNone returns an entry of a list, or "missing" for the end of the list.
func orNone(entry []byte) string {
	if len(entry) == 0 {
		return "missing"
	}
	return string(entry)
}
