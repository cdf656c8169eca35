// SPDX-License-Identifier: Apache-2.0

// Package link carries frames between two ranks: one ordered, checked and authenticated
// stream.
//
// A [Peer] is the other end with its open connection, which the handshake has authenticated.
// After the handshake each direction is a sequence of frames ([Frame]). Each frame has a
// CRC-32C, or a tag ([Tags]) in jobs that share a secret. The tag detects deliberate changes,
// and frames that were left out or inserted.
//
// The package knows neither collectives nor jobs. The owner of a link defines the payloads
// of its call, note and fault frames, within the limits given here.
package link
