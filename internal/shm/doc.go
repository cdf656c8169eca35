// SPDX-License-Identifier: Apache-2.0

// Package shm is the memory that the ranks of one host share.
//
// A [Segment] is memory without a name that several processes map. One process makes it, and sends
// the others its [Location], by which they open it. The processes trust its length, which is
// sealed, and nothing else in it. Behind a segment lies its arena: addresses that get memory
// when they are used.
//
// A [Ring] carries the bytes of a connection through a segment. The socket stays, for wake-ups and to
// show that the peer is gone.
//
// A [Group] all-reduces the vectors of the ranks of one host: each rank copies its pieces in, each sums
// a share, and each copies the result out. Vectors from [Group.Alloc] lie in the arena and are
// not copied. The additions have the order of the schedule ([Compile]), so the result has the
// same bits as over a network.
//
// The package depends on neither jobs nor failures: a group calls its [Owner].
package shm
