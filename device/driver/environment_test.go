package driver_test

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/device/driver"
)

// TestEnvironment takes a fault and a print from an environment, which is then as new, and a fault without a record.
func TestEnvironment(t *testing.T) {
	e := driver.Environment{Head: make([]byte, driver.EnvBytes), Record: make([]byte, driver.RecordMax), Prints: make([]byte, 256)}
	e.Init(0x1000, 0x2000)
	fresh := bytes.Clone(e.Head)
	set := func(at int, v uint32) { binary.LittleEndian.PutUint32(e.Head[at:], v) }
	if out, err := e.Take(kernels); err != nil || out.Fault != nil || out.Prints != nil || out.Lost != 0 {
		t.Errorf("a new environment has %+v, %v", out, err)
	}
	set(driver.EnvClaim, 1)
	set(driver.EnvGrid, 3)
	set(driver.EnvPrintLost, 2)
	copy(e.Record, record(7, 1, 0, 9, 5))
	set(driver.EnvPrintHead, uint32(copy(e.Prints, record(4, 1, 2))))
	out, err := e.Take(kernels)
	if err != nil || out.Fault == nil || out.Fault.Line != 12 || len(out.Prints) != 1 || out.Prints[0].Text != "plain\n" || out.Lost != 2 {
		t.Errorf("took %+v, %v", out, err)
	}
	if !bytes.Equal(e.Head, fresh) || !bytes.Equal(e.Record, make([]byte, driver.RecordMax)) || !bytes.Equal(e.Prints, make([]byte, 256)) {
		t.Error("the environment is not as new")
	}
	set(driver.EnvClaim, 1)
	if _, err := e.Take(kernels); err == nil || !strings.Contains(err.Error(), "left no record") {
		t.Errorf("a fault without a record: %v", err)
	}
}
