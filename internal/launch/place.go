// SPDX-License-Identifier: Apache-2.0

package launch

import "fmt"

// Place is the rank of a process and the total of its job.
type Place struct {
	Rank, Total int
	From        string // name of the source, for messages
}

// Source finds the rank of a process on the command line or in the variables of a batch system.
// Place returns ok false if it is not there; lookup returns a variable of the environment.
type Source interface {
	Place(lookup func(string) (string, bool)) (p Place, ok bool, err error)
}

// Detect queries all sources. Those that know the place must agree; ok is false if none
// does.
func Detect(lookup func(string) (string, bool), sources ...Source) (p Place, ok bool, err error) {
	for _, s := range sources {
		q, known, err := s.Place(lookup)
		if err != nil {
			return Place{}, false, err
		}
		switch {
		case !known:
		case q.Total < 1 || q.Rank < 0 || q.Rank >= q.Total:
			return Place{}, false, fmt.Errorf("%s: rank %d of %d: want 0 to total-1", q.From, q.Rank, q.Total)
		case !ok:
			p, ok = q, true
		case p.Rank != q.Rank || p.Total != q.Total:
			return Place{}, false, fmt.Errorf("%s: rank %d of %d, but %s: rank %d of %d", p.From, p.Rank, p.Total, q.From, q.Rank, q.Total)
		}
	}
	return p, ok, nil
}

// Flags is the place from the command line.
type Flags struct {
	Given       bool
	Rank, Total int
	From        string // the options, for messages
}

var _ Source = Flags{}

// Place returns the place of the flags, if they were given.
func (f Flags) Place(func(string) (string, bool)) (Place, bool, error) {
	return Place{Rank: f.Rank, Total: f.Total, From: f.From}, f.Given, nil
}
