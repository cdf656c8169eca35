// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"context"
	"fmt"
	"math"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/learn/factor"
	"github.com/gvw-project/gvw/learn/metric"
)

// Factor runs gvw factor.
func Factor(ctx context.Context, p *cli.Process, c *cli.Command, args []string) error {
	return command(ctx, p, c, args, func(c *cli.Context) program {
		return &factorProgram{config: factor.Config{
			Factors: int(c.Uint64("rank")), OnlyBiases: c.Bool("only_biases"), Rate: c.Float64("learning_rate"),
			Decay: c.Float64("rate_decay"), Lambda: c.Float64("lambda"), Seed: c.Uint64("random_seed"),
		}}
	})
}

// factorProgram is matrix factorisation as a command. The first feature of an example is the user, the second the item.
type factorProgram struct {
	factorShared
	config       factor.Config
	start        *factor.Config // of the model from which training continues; nil: none
	model        *factor.Model
	users, items rowNumbers
	sum, weight  float64 // of the ratings observed
	sums         *metric.Sums
}

// rowNumbers has the row of each user or item, by the hash of its name.
type rowNumbers map[uint32]int

// numbered returns the rows of ids.
func numbered(ids []uint32) rowNumbers {
	rows := make(rowNumbers, len(ids))
	for row, id := range ids {
		rows[id] = row
	}
	return rows
}

// row returns the row of id, or -1.
func (r rowNumbers) row(id uint32) int {
	if row, ok := r[id]; ok {
		return row
	}
	return -1
}

// features returns whole hashes, so that no two users share a row unless their hashes are equal.
func (f *factorProgram) features() feature.Config { return feature.Config{Bits: 32, NoConstant: true} }

func (f *factorProgram) check() error {
	c := f.config
	c.Users, c.Items = 1, 1 // the data has them
	return c.Validate()
}

func (f *factorProgram) modelOptions() []modelOption {
	c := f.config
	return []modelOption{
		{"rank", c.Factors}, {"only_biases", c.OnlyBiases}, {"learning_rate", c.Rate}, {"rate_decay", c.Decay}, {"lambda", c.Lambda},
	}
}

func (f *factorProgram) restore(data []byte) error {
	f.model = &factor.Model{}
	if err := f.model.UnmarshalBinary(data); err != nil {
		return err
	}
	c := f.model.Config()
	f.users, f.items = numbered(c.UserIDs), numbered(c.ItemIDs)
	f.start, f.config = &c, c
	f.config.UserRows, f.config.ItemRows, f.config.Continue = nil, nil, false // there may be more rows in training
	return nil
}

// observe numbers user and item, and finds the mean and the limits of ratings.
func (f *factorProgram) observe(ex example) error {
	x := ex.features()
	if len(x) != 2 {
		return fmt.Errorf("example %d of the input has %d features, want two, a user and an item, as in: 3.5 |u 17 |i 4", ex.number, len(x))
	}
	c := &f.config
	if f.users == nil {
		f.users, f.items = rowNumbers{}, rowNumbers{}
		c.Low, c.High = math.Inf(1), math.Inf(-1)
	}
	c.UserIDs, c.ItemIDs = f.users.add(c.UserIDs, x[0].Index), f.items.add(c.ItemIDs, x[1].Index)
	c.Low, c.High = min(c.Low, float64(ex.Label)), max(c.High, float64(ex.Label))
	if w := float64(ex.Weight); w >= 0 && !math.IsInf(w, 1) { // factor.Model ignores other weights, and an infinite one leaves no mean
		f.sum += float64(ex.Label) * w
		f.weight += w
	}
	return nil
}

func (f *factorProgram) prepare([]example, int) error {
	f.config.Users, f.config.Items = len(f.config.UserIDs), len(f.config.ItemIDs)
	if f.start == nil && f.weight > 0 {
		f.config.Mean = f.sum / f.weight
	}
	return nil
}

// add numbers id, and appends it to the others unless it has a number.
func (r rowNumbers) add(ids []uint32, id uint32) []uint32 {
	if _, ok := r[id]; ok {
		return ids
	}
	r[id] = len(ids)
	return append(ids, id)
}

// create makes the model, or continues from that of restore. New users and items of a model that continues get first
// factors that depend only on the seed and the row: from zeros those of a new user and a new item could not learn.
func (f *factorProgram) create() (err error) {
	if f.model, err = factor.New(f.config); err != nil || f.start == nil {
		return err
	}
	c := f.model.Config()
	copy(c.UserRows, f.start.UserRows)
	copy(c.ItemRows, f.start.ItemRows)
	return nil
}

// rating returns an example as the learner takes it.
func (f *factorProgram) rating(ex example) factor.Rating {
	r := factor.Rating{User: -1, Item: -1, Value: ex.Label, Weight: ex.Weight}
	if x := ex.features(); len(x) == 2 {
		r.User, r.Item = f.users.row(x[0].Index), f.items.row(x[1].Index)
	}
	return r
}

func (f *factorProgram) update(ex example, pass int) float64 {
	r := f.rating(ex)
	miss := f.model.Update(r, pass)
	f.sharedUsers.changes(r.User)
	f.sharedItems.changes(r.Item)
	return miss * miss
}

func (f *factorProgram) finish() {}

func (f *factorProgram) encode(dst []byte) ([]byte, error) { return f.model.AppendBinary(dst) }

func (f *factorProgram) predict(ex example) float64 {
	r := f.rating(ex)
	p := f.model.Predict(r.User, r.Item)
	if ex.Labeled() {
		if f.sums == nil {
			f.sums = metric.NewSums(metric.Set{metric.RMSE})
		}
		f.sums.Add(metric.Case{Label: ex.Label, Weight: ex.Weight, Prediction: float32(p)})
	}
	return p
}

func (f *factorProgram) report() string { return measures(f.sums) }
