// SPDX-License-Identifier: Apache-2.0

// Package vectorio reads and writes vectors on pipes, for programs in any language.
//
//	in := vectorio.NewInput(os.Stdin, false, 1<<20)
//	go in.Serve()
//	defer close(in.Want)
//	in.Want <- struct{}{}
//	next := <-in.Got
//	v, err := vectorio.Parse[float64](v[:0], next.Raw)
//
// As text, a vector is a line of numbers separated by blanks, written with the fewest digits that identify
// them. As a frame, it is its length in bytes (8 bytes), then its elements, all little-endian.
//
// A read of a pipe cannot be interrupted. So an [Input] reads in a goroutine of its own, and only when a vector is
// requested: its caller can wait for something else as well.
package vectorio
