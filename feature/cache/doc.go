// SPDX-License-Identifier: Apache-2.0

// Package cache keeps examples in a file, so that passes after the first one
// need not parse text again.
//
// A cache has the parsed examples without interactions: labels, weights, tags,
// namespaces and features. It is valid for one input and one configuration of
// the parser, its [Key]. Writing and reading:
//
//	w, err := cache.Create(path, key, nil) // writes a temporary file
//	enc := cache.NewEncoder(key.Features.Bits)
//	block, err := enc.Append(nil, &batch)
//	err = w.Append(block)   // in order; encoding may be parallel
//	err = w.Commit(text)    // only now the file has its name
//
//	r, err := cache.Open(path, key, nil)
//	dec := cache.NewDecoder(key.Features.Bits)
//	for {
//		block, err := r.Next(buf) // io.EOF after the last one
//		err = dec.Decode(&batch, block) // may be parallel, too
//	}
//
// # File
//
// All numbers are little endian, all checksums CRC-32C.
//
//	offset size
//	0      8    magic "gvwcache"
//	8      4    version, 3
//	12     4    length k of the key
//	16     k    the key as lines of text, name=value
//	16+k   4    checksum of all before
//	then the blocks:
//	0      4    magic "blok"
//	4      4    length n of the payload
//	8      4    examples in it
//	12     4    features in it
//	16     4    checksum of the 16 bytes before and the payload
//	20     n    payload
//	and at the end, 52 bytes:
//	0      4    magic "last"
//	4      8    blocks
//	12     8    examples
//	20     8    features
//	28     8    bytes of the text that was read
//	36     4    checksum of that text
//	40     4    checksum of the blocks' checksums, in order
//	44     4    checksum of the 44 bytes before
//	48     4    magic "gvwc"
//
// The payload, example after example (v: a varint as in encoding/binary):
//
//	1      what follows: 1 label, 2 weight, 4 initial prediction, 8 tag,
//	       16 empty lines in front, 32 classes of the label
//	4,4,4  those of label, weight and initial prediction that are there; absent
//	       ones are no label, 1 and 0
//	v,…    length of the tag, if there is one, and its bytes
//	v      how many empty lines, if there are any
//	v,8·n  number of classes, if there are any, and of each: its number, its
//	       cost as float32
//	v      namespaces, and for each:
//	1      its first byte
//	1      1: all values are 1; 2: the indices are those of the namespace's
//	       last occurrence in this block; 4: feature.Span.Over follows
//	v      features
//	w·n    indices, unless 2, each in w = ⌈bits/8⌉ bytes
//	4·n    values, unless 1, as float32
//	4      Over, if 4, as float32
//
// Hashed indices have nothing to compress in them, so a fixed width beats
// variable lengths; the indices of dense data repeat, so they are not stored
// again. Compression on top costs more time than it saves (see BenchmarkBlock).
//
// # Contract
//
// A file under its final name is complete. If it was damaged later, opening or
// reading it returns a [*CorruptError], never a wrong example. Opening a file made
// from another input or with other options returns a [*StaleError].
package cache
