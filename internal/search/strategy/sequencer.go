// SPDX-License-Identifier: Apache-2.0

package strategy

// State is what the caller of a Sequencer does next.
type State int

const (
	Start State = iota // run the job
	Wait               // a running job has to finish first
	End                // all jobs have finished
)

// Sequencer makes the jobs of a strategy independent of the times at which they end. It reports
// losses in the order of the jobs, and lets the strategy be at most a fixed number of losses
// behind. The sequence of jobs is therefore a function of the strategy and of that number.
type Sequencer struct {
	strategy Strategy
	lag      int
	jobs     []Job
	losses   map[int]float64 // of finished jobs that are not reported yet
	reported int
}

// NewSequencer returns a sequencer for a number of jobs that run at the same time, at least 1. The
// strategy lacks the losses of up to 2·parallel-1 earlier jobs: with fewer, a slow job would soon leave
// the other slots empty.
func NewSequencer(s Strategy, parallel int) *Sequencer {
	return &Sequencer{strategy: s, lag: 2*parallel - 1, losses: map[int]float64{}}
}

// Next returns the next job and its number, from 0, if the state is Start.
func (q *Sequencer) Next() (n int, j Job, state State) {
	for {
		if len(q.jobs)-q.reported < q.lag {
			if j, ok := q.strategy.Next(); ok {
				q.jobs = append(q.jobs, j)
				return len(q.jobs) - 1, j, Start
			}
		}
		if q.reported == len(q.jobs) {
			return 0, Job{}, End
		}
		loss, known := q.losses[q.reported]
		if !known {
			return 0, Job{}, Wait
		}
		delete(q.losses, q.reported)
		q.strategy.Report(q.jobs[q.reported], loss)
		q.reported++
	}
}

// Finish records the loss of job n, infinite if it failed.
func (q *Sequencer) Finish(n int, loss float64) { q.losses[n] = loss }
