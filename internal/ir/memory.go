package ir

import (
	"fmt"
	"strings"
)

// Order describes how an atomic operation or a fence is ordered with other accesses to memory, in
// the terms of the memory models of C++ and PTX.
type Order uint8

// The orders.
const (
	Relaxed Order = iota
	Acquire
	Release
	AcqRel
	Sequential
)

var orderNames = [...]string{Relaxed: "relaxed", Acquire: "acquire", Release: "release", AcqRel: "acq_rel", Sequential: "sc"}

// String returns the order's name in the text form.
func (o Order) String() string { return orderNames[o] }

// Scope says between which threads it is so.
type Scope uint8

// The scopes. The default comes first.
const (
	DeviceScope Scope = iota
	BlockScope
	ClusterScope
	SystemScope
)

var scopeNames = [...]string{DeviceScope: "device", BlockScope: "block", ClusterScope: "cluster", SystemScope: "system"}

// String returns the scope's name in the text form.
func (s Scope) String() string { return scopeNames[s] }

// Memory encodes an order and a scope as the Imm of an atomic operation or a fence. Relaxed with
// device scope is 0.
func Memory(o Order, s Scope) int64 { return int64(o) | int64(s)<<4 }

// Memory returns the order and the scope of an atomic operation or a fence.
func (v *Value) Memory() (Order, Scope) { return Order(v.Imm & 15), Scope(v.Imm >> 4) }

// memoryString prints an Imm as "acquire.system".
func memoryString(imm int64) string {
	if !isMemory(imm) {
		return fmt.Sprint(imm)
	}
	v := Value{Imm: imm}
	o, s := v.Memory()
	return o.String() + "." + s.String()
}

func isMemory(imm int64) bool {
	return imm >= 0 && imm&15 < int64(len(orderNames)) && imm>>4 < int64(len(scopeNames))
}

// memory moves past an order and a scope and returns them as an Imm.
func memory(s *scanner) int64 {
	for o := range orderNames {
		for scope := range scopeNames {
			if imm := Memory(Order(o), Scope(scope)); s.accept(memoryString(imm)) {
				return imm
			}
		}
	}
	s.fail("want an order and a scope, as %s", strings.Join([]string{Acquire.String(), SystemScope.String()}, "."))
	return 0
}
