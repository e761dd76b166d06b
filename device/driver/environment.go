package driver

import (
	"encoding/binary"
	"errors"
)

// Environment is an environment in memory that the host and kernels share. The constants Env* define its layout.
type Environment struct {
	Head   []byte // EnvBytes bytes
	Record []byte // RecordMax bytes for a fault record
	Prints []byte
}

// Init prepares the environment for kernels. The arguments record and prints are the addresses at which kernels access Record and Prints,
// which must contain zeros.
func (e *Environment) Init(record, prints uint64) {
	clear(e.Head)
	binary.LittleEndian.PutUint64(e.Head[EnvRecord:], record)
	binary.LittleEndian.PutUint64(e.Head[EnvPrints:], prints)
	binary.LittleEndian.PutUint32(e.Head[EnvPrintSize:], uint32(len(e.Prints)))
}

// errRecord is what a kernel leaves that stops between claiming a fault and recording it.
var errRecord = errors.New("a kernel claimed a fault and left no record of it")

// Take returns the fault and the prints that kernels have stored, and clears them. No kernel may use the environment during the call.
// The call kernel(n) returns the kernel with the number n, or nil if no kernel has this number.
func (e *Environment) Take(kernel func(uint32) *Kernel) (out Outcome, err error) {
	if binary.LittleEndian.Uint32(e.Head[EnvClaim:]) != 0 {
		if out.Fault = DecodeFault(e.Record, kernel); out.Fault == nil {
			err = errRecord
		}
	}
	head := binary.LittleEndian.Uint32(e.Head[EnvPrintHead:])
	out.Prints = DecodePrints(e.Prints, head, kernel)
	out.Lost = int(binary.LittleEndian.Uint32(e.Head[EnvPrintLost:]))
	clear(e.Record)
	clear(e.Prints[:min(int(head), len(e.Prints))])
	clear(e.Head[EnvClaim:][:8]) // and EnvGrid
	clear(e.Head[EnvPrintHead : EnvPrintLost+4])
	return out, err
}
