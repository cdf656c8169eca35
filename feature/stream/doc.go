// SPDX-License-Identifier: Apache-2.0

// Package stream reads examples, pass after pass, from text or from a cache.
//
//	data, err := stream.NewDataset(stream.Config{
//		Feature: feature.Config{Bits: 18},
//		Sources: []stream.Source{{Name: "train.vw", Identity: id, Open: open}},
//		Cache:   "train.vw.cache",
//		Passes:  3,
//	})
//	for range 3 {
//		pass, err := data.Pass(ctx)
//		for {
//			b, err := pass.Next() // io.EOF at the end
//			learn(b)
//			pass.Recycle(b)
//		}
//		err = pass.Close()
//	}
//
// (error checks are omitted). The first pass reads the text. It also writes the
// cache, if one is requested and there is no valid one. Later passes
// read the cache, or the text again without one. With Config.Memory the first
// pass that makes or reads a cache also keeps its examples in memory, if they fit.
// Later passes then decode nothing and start no goroutines. With Config.Keep this takes the
// place of the cache.
//
// # Inside a pass
//
//	reader ──chunks cut at line ends──▶ workers ──batches──▶ Next
//	   └─────────the same chunks, in order──────────────────▶
//
// One goroutine reads chunks (of text, or blocks of the cache), workers parse
// or decode them and add the interactions, each chunk independently. Next takes the
// results in the order of the chunks. A queue of bounded length limits the reader.
// While a cache is made, workers also encode their chunks, and another
// goroutine writes the blocks in order.
//
// A chunk has its full size only while Next has work to do. Before Next waits, it takes
// the whole lines that have been read, or else calls Pass.Idle, where the caller flushes
// its answers. A program that writes a line and waits for the answer gets it at once.
//
// # Formats
//
// Config.Format turns lines into examples; its zero value is vw's text. A format
// is a function that makes a [Lines] for each worker; the formats in the
// packages beside this one do not know that there are workers. Where files begin
// with a header ([HeaderLines]), the reader takes it off the first chunk or, for
// a share of a file that does not begin with it, asks the source for it; every
// worker learns it before the first line of that file. Binary formats have frames instead of
// lines: Format.Frame returns their lengths.
//
// # Contract
//
// Examples come in the order of the sources and of their lines, whatever the
// number of workers and the sizes of the reads. A pass belongs to one goroutine, Close aside; a Dataset has
// one pass at a time. A batch is the caller's until Recycle. Close may come at any time, and
// joins all goroutines; a pass that was not read to its end leaves no cache.
//
// An error about the data is a [*DataError], a [*cache.CorruptError] or a
// [*cache.StaleError]. An error about files wraps the error of Open or Read. A
// request that cannot be fulfilled is a [*UsageError].
package stream
