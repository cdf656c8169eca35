// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"time"
)

const (
	probePing = 'p'
	probeLong = 'b'

	pings    = 21
	piece    = 64 << 10
	longLeft = 1 << 30 // the longest message
)

// serve answers the probes of a path until the connection ends.
func serve(c net.Conn) error {
	in := bufio.NewReaderSize(c, piece)
	var head [4]byte
	for {
		kind, err := in.ReadByte()
		if err != nil {
			return err
		}
		switch kind {
		case probePing:
		case probeLong:
			if _, err := io.ReadFull(in, head[:]); err != nil {
				return err
			}
			if _, err := io.CopyN(io.Discard, in, int64(min(binary.LittleEndian.Uint32(head[:]), longLeft))); err != nil {
				return err
			}
		default:
			return fmt.Errorf("unknown type of probe %d", kind)
		}
		if _, err := c.Write(binary.LittleEndian.AppendUint64(nil, uint64(time.Now().UnixNano()))); err != nil {
			return err
		}
	}
}

// measure probes the path of c and stores the results in w. Each probe is limited to
// patience.
func measure(c net.Conn, w *Way, long, patience time.Duration) {
	defer c.SetDeadline(time.Time{})
	c.SetDeadline(time.Now().Add(patience))
	var answer [8]byte
	trips := make([]time.Duration, 0, pings)
	for range pings {
		start := time.Now()
		if _, err := c.Write([]byte{probePing}); err != nil {
			w.Fault = "a ping failed: " + err.Error()
			return
		}
		if _, err := io.ReadFull(c, answer[:]); err != nil {
			w.Fault = "a ping was not answered: " + err.Error()
			return
		}
		trip := time.Since(start)
		if len(trips) == 0 || trip < slices.Min(trips) {
			middle := start.UnixNano() + int64(trip)/2
			w.Clock = time.Duration(int64(binary.LittleEndian.Uint64(answer[:])) - middle)
		}
		trips = append(trips, trip)
	}
	slices.Sort(trips)
	w.Latency, w.MTU = trips[len(trips)/2], mtu(c)
	for n := 4 * piece; ; n *= 2 {
		c.SetDeadline(time.Now().Add(patience))
		start := time.Now()
		err := send(c, n)
		if err == nil {
			_, err = io.ReadFull(c, answer[:])
		}
		took := time.Since(start)
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			w.Fault = fmt.Sprintf("small messages pass (%s), %d KiB did not pass within %v: check for an MTU (here %d bytes) that is too large for a part of the path, or for a very slow link",
				millis(w.Latency), n>>10, patience, w.MTU)
			return
		case err != nil:
			w.Fault = fmt.Sprintf("a message of %d KiB failed: %v", n>>10, err)
			return
		}
		w.Rate = float64(n) / max(took, time.Microsecond).Seconds()
		if took >= long || n*2 > longLeft || 3*took > patience {
			return
		}
	}
}

// send sends a long probe of n bytes.
func send(c net.Conn, n int) error {
	head := binary.LittleEndian.AppendUint32([]byte{probeLong}, uint32(n))
	if _, err := c.Write(head); err != nil {
		return err
	}
	b := make([]byte, piece)
	for ; n > 0; n -= piece {
		if _, err := c.Write(b); err != nil {
			return err
		}
	}
	return nil
}
