// SPDX-License-Identifier: Apache-2.0

package kernels

import (
	"fmt"
	"sync"
)

// Op is how a reduction joins two operands. Its numbers are part of the protocol.
//
// The order of the operands is fixed (package schedule), so floating-point sums
// have the same bits in every run. Integers wrap around. For floats Min and Max
// are those of the language: any NaN makes the result NaN, and -0 is less than
// +0. Sum and Product follow IEEE 754: a NaN operand, the sum of opposite
// infinities, or zero times infinity is NaN (whose payload is not specified), and
// -0 + -0 is -0.
type Op uint8

// The operations. Others are made by [NewOp].
const (
	Sum     Op = 1
	Min     Op = 2
	Max     Op = 3
	Product Op = 4

	FirstOwn Op = 64
)

var opNames = [...]string{Sum: "sum", Min: "min", Max: "max", Product: "product"}

func (o Op) String() string {
	if o == 0 || int(o) >= len(opNames) {
		if own := Lookup(o); own != nil {
			return own.Name
		}
		return fmt.Sprintf("op %d", uint8(o))
	}
	return opNames[o]
}

// ownOp is an operation of the program's own.
type ownOp struct {
	Name     string
	kind     Kind
	commutes bool
	Join     func(dst, a, b []byte)
}

var (
	ownOps   []*ownOp
	ownMutex sync.RWMutex
)

// MaxOwnName is how many bytes the name of an operation may have.
const MaxOwnName = 32

// NewOp makes an operation of the caller's own, known to all ranks by its name:
// dst[i] becomes a[i] joined with b[i], where dst may be a or b. It must be
// associative, as far as it goes: where it is not, quite, as the sum of floats, the
// result still is the same on all ranks and in every run. If it does not commute,
// the operands are kept in the order of the ranks, by schedules that do so.
//
// It is called once for each operation, before the first collective that uses it.
// It panics if the name is taken, too long or empty.
func NewOp[T Number](name string, commutes bool, join func(dst, a, b []T)) Op {
	own := &ownOp{Name: name, kind: KindOf[T](), commutes: commutes, Join: func(dst, a, b []byte) {
		join(View[T](dst), View[T](a), View[T](b))
	}}
	ownMutex.Lock()
	defer ownMutex.Unlock()
	if name == "" || len(name) > MaxOwnName || len(ownOps) == 256-int(FirstOwn) {
		panic(fmt.Sprintf("BUG: allreduce: operation %q: a name has 1 to %d bytes, and there are at most %d operations", name, MaxOwnName, 256-int(FirstOwn)))
	}
	for _, o := range ownOps {
		if o.Name == name {
			panic(fmt.Sprintf("BUG: allreduce: there is an operation %q already", name))
		}
	}
	ownOps = append(ownOps, own)
	return FirstOwn + Op(len(ownOps)-1)
}

// Lookup returns the operation behind a number of NewOp's; nil: there is none.
func Lookup(o Op) *ownOp {
	if o < FirstOwn {
		return nil
	}
	ownMutex.RLock()
	defer ownMutex.RUnlock()
	if i := int(o) - int(FirstOwn); i >= 0 && i < len(ownOps) {
		return ownOps[i]
	}
	return nil
}

// Commutes reports whether the operands may change places.
func Commutes(o Op) bool {
	own := Lookup(o)
	return own == nil || own.commutes
}

// CheckOp panics unless the operation exists for a kind.
func CheckOp(o Op, kind Kind) {
	own := Lookup(o)
	switch {
	case own != nil && own.kind == kind:
	case own != nil, kind == Byte, kind.Size() == 0, o < Sum, o > Product:
		panic(fmt.Sprintf("BUG: allreduce: %v of %v", o, kind))
	}
}
