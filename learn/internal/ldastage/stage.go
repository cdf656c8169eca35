// SPDX-License-Identifier: Apache-2.0

package ldastage

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/learn/internal/avgstage"
	"github.com/gvw-project/gvw/learn/internal/examples"
	"github.com/gvw-project/gvw/learn/internal/job"
	"github.com/gvw-project/gvw/learn/internal/tally"
	"github.com/gvw-project/gvw/learn/internal/training"
	"github.com/gvw-project/gvw/learn/lda"
	"github.com/gvw-project/gvw/model"
	"github.com/gvw-project/gvw/optim/masgd"
)

// Config has the settings and the collaborators of a stage.
type Config struct {
	Read   *examples.Reader
	Tally  *tally.Tally
	Job    *job.Job
	Models training.Models

	Passes int // number of passes, at least 1
	Batch  int // documents that are learned from together, at least 1
	// Every has the moments at which ranks average. The ends of rounds within a pass are moved to
	// the ends of batches.
	Every masgd.Every
}

// Stage is the stage of passes that learn topics.
type Stage struct {
	Config
	learner *lda.Learner
	parts   *avgstage.Parts

	// The state besides λ, equal on all ranks.
	done    int       // passes completed
	stop    bool      // the perplexity of the validation set no longer falls
	round   int       // of the pass, from 0
	counted bool      // per is known
	per     float64   // mean number of documents of a rank
	batches float64   // batches at the start of the step
	alphas  []float64 // learned priors at the start of the step, by topic; nil: none are learned

	rounds masgd.Rounds // of each pass
	shard  int          // documents of this rank

	pending   []document // documents of the batch, which have no predictions yet
	tags      []byte     // their tags, one after the other
	documents float64    // documents that this rank has learned from in the current step

	// In a job that recovers from losses, state is λ at the start of the step and results that at
	// its end; the learner works on a table of its own. Otherwise both are nil.
	state, results []float32
	sums           []float64 // of the exchange: documents, and these times the number of batches and times each learned α
}

// document has what the outputs need of a document besides the learner's results.
type document struct {
	features int
	tag      int // length of its tag
}

// New returns the stage of a learner, whose weights are those of the start.
func New(c Config, learner *lda.Learner) *Stage {
	m := &Stage{Config: c, learner: learner, batches: learner.Batches()}
	if learner.Config().LearnAlpha {
		m.alphas = slices.Clone(learner.Alphas())
	}
	m.sums = make([]float64, 2+len(m.alphas))
	m.parts = avgstage.NewParts(c.Read, m.document)
	m.divide()
	return m
}

// counting reports whether the current step counts the documents, which rounds within a pass need.
func (m *Stage) counting() bool { return !m.Every.Pass() && !m.counted }

// divide computes the rounds of a pass.
func (m *Stage) divide() {
	m.rounds = masgd.Even(1)
	if !m.counting() {
		m.rounds = m.Every.Rounds(m.per, float64(m.Batch), 0, 0)
	}
}

// end returns the number of documents of this rank at the end of a round.
func (m *Stage) end(round int) int {
	switch {
	case round < 0:
		return 0
	case round+1 >= m.rounds.N():
		return avgstage.Whole
	}
	return min(m.shard, (m.rounds.End(round, m.shard)+m.Batch-1)/m.Batch*m.Batch)
}

// last reports whether the round is the last one of its pass.
func (m *Stage) last() bool { return m.round+1 >= m.rounds.N() }

// Next returns the name of the next step, and reports whether there is one.
func (m *Stage) Next() (string, bool) {
	name := fmt.Sprintf("LDA pass %d of %d", m.done+1, m.Passes)
	switch {
	case m.counting():
		name = "counting documents"
	case m.rounds.N() > 1:
		name += fmt.Sprintf(", round %d of %d", m.round+1, m.rounds.N())
	}
	return name, m.done < m.Passes && !m.stop
}

// Work learns from the documents of a round.
func (m *Stage) Work(ctx context.Context) error {
	if m.counting() {
		err := m.Read.Pass(ctx, 0, func(*feature.Batch, *feature.Example, bool) error { return nil })
		m.shard = m.Read.Nth
		m.documents = float64(m.shard)
		return err
	}
	if m.keeps() {
		m.own()
		copy(m.learner.Weights(), m.state)
		m.use(m.learner.Weights())
	}
	m.documents = 0
	m.pending, m.tags = m.pending[:0], m.tags[:0]
	if err := m.parts.Read(ctx, m.Tally.RunPasses(), m.end(m.round-1), m.end(m.round)); err != nil {
		return err
	}
	if err := m.step(); err != nil {
		return err
	}
	// A run that is continued from a snapshot starts here, and must get the same bits.
	m.learner.Materialize()
	return nil
}

// document adds a document to the batch, which is processed when it is full.
func (m *Stage) document(b *feature.Batch, ex *feature.Example, _ bool) error {
	if err := m.learner.Add(b.FeaturesOf(ex)); err != nil {
		return &examples.DataError{Name: m.Read.Name, Text: fmt.Sprintf("document %d: %v", m.Read.Nth, err)}
	}
	tag := b.TagOf(ex)
	m.tags = append(m.tags, tag...)
	m.pending = append(m.pending, document{ex.Count(), len(tag)})
	if len(m.pending) < m.Batch {
		return nil
	}
	return m.step()
}

// step processes the batch, and books its documents.
func (m *Stage) step() error {
	if len(m.pending) == 0 {
		return nil
	}
	t := m.Tally
	m.learner.Step(!t.TestOnly)
	// As in vw the sums have the whole batch when a row of the table is printed.
	for d := range m.pending {
		st := &t.Stats
		st.Examples++
		st.Features += uint64(m.pending[d].features)
		st.Labeled++
		st.T++
		if n := m.learner.Length(d); n > 0 {
			st.Loss -= m.learner.Bound(d) / n
		}
	}
	tags := m.tags
	for d, doc := range m.pending {
		if err := m.predict(m.learner.Gamma(d), tags[:doc.tag]); err != nil {
			return err
		}
		tags = tags[doc.tag:]
		if table := t.Console.Table; table.Due(&t.Stats) {
			if err := table.Print(&t.Stats, false, "none", "0", doc.features); err != nil {
				return err
			}
		}
	}
	m.documents += float64(len(m.pending))
	m.pending, m.tags = m.pending[:0], m.tags[:0]
	return nil
}

// predict writes γ of a document as its prediction.
func (m *Stage) predict(gamma []float32, tag []byte) error {
	files := m.Tally.Files
	p := files.Predictions
	if p == nil || files.Mute {
		return nil
	}
	line := p.Buf[:0]
	for k, g := range gamma {
		if k > 0 {
			line = append(line, ' ')
		}
		line = strconv.AppendFloat(line, float64(g), 'g', 6, 32)
	}
	return p.AddLine(line, tag)
}

// Exchange averages λ over the ranks and gathers the records.
func (m *Stage) Exchange(ctx context.Context, g *allreduce.Group) error {
	if err := m.Job.Ready(ctx); err != nil {
		return err
	}
	if m.Job.Total > 1 && !m.Tally.TestOnly {
		if err := m.average(ctx, g); err != nil {
			return err
		}
	}
	if err := m.Tally.Share(ctx, job.Record{}); err != nil {
		return err
	}
	if m.Tally.Valid == nil || m.counting() || !m.last() {
		return nil
	}
	return m.validate(ctx)
}

// average makes the weighted means of λ, of the numbers of batches and of learned priors.
func (m *Stage) average(ctx context.Context, g *allreduce.Group) error {
	m.sums[0], m.sums[1] = m.documents, m.documents*m.learner.Batches()
	for k := range m.alphas {
		m.sums[2+k] = m.documents * m.learner.Alphas()[k]
	}
	if err := g.AllReduce(ctx, allreduce.Vec(m.sums).Named("documents"), allreduce.Sum); err != nil {
		return err
	}
	if m.counting() {
		return nil
	}
	own := m.learner.Weights()
	dst := own
	if m.keeps() {
		m.results = slices.Grow(m.results[:0], len(own))[:len(own)]
		dst = m.results
	}
	share := float32(0)
	if m.sums[0] > 0 {
		share = float32(m.documents / m.sums[0])
	} else if m.Job.Number(0) == m.Job.Rank { // no rank has documents, and all have the same λ
		share = 1
	}
	for i, x := range own {
		dst[i] = x * share
	}
	m.Job.Register(dst)
	return g.AllReduce(ctx, allreduce.Vec(dst).Named("topics"), allreduce.Sum)
}

// averaged sets alphas to the average of learned priors.
func (m *Stage) averaged(alphas []float64) {
	for k, sum := range m.sums[2:] {
		alphas[k] = sum / m.sums[0]
	}
}

// Commit makes the results the state. The last round of a pass ends the pass.
func (m *Stage) Commit() error {
	if m.counting() {
		m.counted, m.per = true, float64(m.shard)
		if m.Job.Total > 1 {
			m.per = m.sums[0] / float64(m.Job.Size())
		}
		m.divide()
		return nil
	}
	if !m.Tally.TestOnly {
		m.batches = m.learner.Batches()
		copy(m.alphas, m.learner.Alphas())
		if m.Job.Total > 1 && m.sums[0] > 0 {
			m.batches = m.sums[1] / m.sums[0]
			m.averaged(m.alphas)
		}
		if m.keeps() {
			m.state, m.results = m.results, m.state
		} else {
			m.use(m.learner.Weights())
		}
	}
	if !m.last() {
		m.round++
		return nil
	}
	_, m.stop = m.Tally.EndPass()
	m.round = 0
	m.done++
	if err := m.Models.SavePass(m.model); err != nil {
		return err
	}
	return m.Tally.Report("LDA")
}

// Finish ends training and returns its model.
func (m *Stage) Finish() (training.Outcome, error) {
	return training.Outcome{Model: m.model(), LogLoss: math.NaN()}, nil
}

// model returns the model between two passes.
func (m *Stage) model() *model.Regressor {
	w := m.learner.Weights()
	if m.keeps() {
		w = m.state
	}
	k := m.learner.Config().Topics
	h := m.Models.Header(true)
	h.LDA = uint32(k)
	switch c := m.learner.Config(); {
	case c.LearnAlpha:
		h.SetAlphas(m.alphas)
	case c.Alphas != nil: // learned before
		h.SetAlphas(c.Alphas)
	}
	return &model.Regressor{Header: h, Weights: model.View{Data: w, Stride: k}}
}
