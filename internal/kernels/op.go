// SPDX-License-Identifier: Apache-2.0

package kernels

import (
	"fmt"
	"sync"
)

// Op is a reduction of two operands. The numbers are part of the wire protocol.
//
// The order of the operands is fixed (package schedule), so floating-point sums
// have the same bits in every run. Integers wrap around. For floats Min and Max
// are those of the language: any NaN makes the result NaN, and -0 is less than
// +0. Sum and Product follow IEEE 754: a NaN operand, the sum of opposite
// infinities, or zero times infinity is NaN (whose payload is not specified), and
// -0 + -0 is -0.
type Op uint8

// The built-in operations. [NewOp] makes others.
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

// ownOp is an operation that NewOp has made.
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

// MaxOwnName is the limit of the name of an operation in bytes.
const MaxOwnName = 32

// NewOp makes an operation of the program, which all ranks know by its name.
// join sets dst[i] to a[i] joined with b[i], where dst may be a or b. It must be
// associative. Where it is so only approximately, as the sum of floats, the
// result is still the same on all ranks and in every run. If it does not commute,
// only schedules are used that keep the operands in the order of the ranks.
//
// NewOp is called once per operation, before the first collective that uses it.
// It panics if the name is in use, too long or empty.
func NewOp[T Number](name string, commutes bool, join func(dst, a, b []T)) Op {
	own := &ownOp{Name: name, kind: KindOf[T](), commutes: commutes, Join: func(dst, a, b []byte) {
		join(View[T](dst), View[T](a), View[T](b))
	}}
	ownMutex.Lock()
	defer ownMutex.Unlock()
	if name == "" || len(name) > MaxOwnName || len(ownOps) == 256-int(FirstOwn) {
		panic(fmt.Sprintf("BUG: allreduce: operation %q: want a name of 1 to %d bytes, and at most %d operations", name, MaxOwnName, 256-int(FirstOwn)))
	}
	for _, o := range ownOps {
		if o.Name == name {
			panic(fmt.Sprintf("BUG: allreduce: operation %q exists already", name))
		}
	}
	ownOps = append(ownOps, own)
	return FirstOwn + Op(len(ownOps)-1)
}

// Lookup returns the operation of a number from NewOp; nil: there is none.
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

// Commutes reports whether the operands may be exchanged.
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
