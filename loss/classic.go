// SPDX-License-Identifier: Apache-2.0

package loss

// classic is (p-y)² without the linear continuation of squared. Its update is the plain
// gradient step under every rule: vw's --loss_function classic.
type classic struct{}

var _ Loss = classic{}

func (classic) Name() string { return "classic" }

func (classic) Loss(_ Range, p, y float32) float32 { return (p - y) * (p - y) }

func (classic) Update(p, y, scale, _ float32) float32 { return 2 * (y - p) * scale }

func (classic) UnsafeUpdate(p, y, scale float32) float32 { return 2 * (y - p) * scale }

func (classic) SquareGrad(p, y float32) float32 { return 4 * (p - y) * (p - y) }

func (classic) First(_ Range, p, y float32) float32 { return 2 * (p - y) }

func (classic) Second(Range, float32, float32) float32 { return 2 }
