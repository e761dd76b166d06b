package driver_test

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/dtype"
)

// record returns a record as a kernel writes it.
func record(launch, kernel, site uint32, args ...uint64) []byte {
	r := make([]byte, driver.RecordArgs+8*len(args))
	words := []uint32{uint32(len(r)), launch, kernel, site, 1, 2, 3, 4, 5, 6}
	for i, w := range words {
		binary.LittleEndian.PutUint32(r[4*i:], w)
	}
	for i, a := range args {
		binary.LittleEndian.PutUint64(r[driver.RecordArgs+8*i:], a)
	}
	return r
}

// kernels returns the only kernel, whose number is 1.
func kernels(number uint32) *driver.Kernel {
	if number != 1 {
		return nil
	}
	all := make([]dtype.Type, 0, driver.MaxSiteArgs)
	for d := dtype.Bool; d <= dtype.Float64; d++ {
		all = append(all, d)
	}
	return &driver.Kernel{Name: "k", Package: "example.com/p", Sites: []driver.Site{
		{File: "k.go", Line: 12, Format: "index out of range [%d] with length %d", Args: []dtype.Type{dtype.Int64, dtype.Int64}},
		{Format: "%v %v %v %v %v %v %v %v %v %v %v", Args: all},
		{Format: "plain\n"},
		{Format: "100%%"},
	}}
}

func padded(r []byte) []byte { return append(r, make([]byte, driver.RecordMax-len(r))...) }

func TestDecodeFault(t *testing.T) {
	got := driver.DecodeFault(padded(record(7, 1, 0, 9, 5)), kernels)
	want := driver.Fault{
		Kernel: "k", Package: "example.com/p", File: "k.go", Line: 12, Message: "index out of range [9] with length 5",
		Block: [3]int{1, 2, 3}, Thread: [3]int{4, 5, 6}, Launch: 8,
	}
	if *got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if text := "example.com/p.k: k.go:12: index out of range [9] with length 5 (block 1,2,3 thread 4,5,6)"; got.Error() != text {
		t.Errorf("error %q, want %q", got.Error(), text)
	}
	if got := driver.DecodeFault(padded(record(7, 1, 3)), kernels); got.Message != "100%" {
		t.Errorf("the message of a site without arguments is %q", got.Message)
	}
	if none := driver.DecodeFault(make([]byte, driver.RecordMax), kernels); none != nil {
		t.Errorf("an empty record is the fault %v", none)
	}
}

// TestDecodeOverwrittenFault decodes records that no generated code writes.
func TestDecodeOverwrittenFault(t *testing.T) {
	for name, r := range map[string][]byte{"kernel": record(1, 99, 0), "site": record(1, 1, 99)} {
		got := driver.DecodeFault(padded(r), kernels)
		if got == nil || got.Message != "unknown place: the device's records were overwritten" {
			t.Errorf("a record with an unknown %s: %v", name, got)
		}
	}
}

func TestDecodePrints(t *testing.T) {
	values := []uint64{
		1, 0xffff_ffff_ffff_ffff, 0x8000, 0x8000_0000, 1 << 63, 255, 65535, 1<<32 - 1, math.MaxUint64,
		uint64(math.Float32bits(1.5)), math.Float64bits(-0.1),
	}
	buf := slices.Concat(record(3, 1, 1, values...), record(4, 1, 2))
	asked := uint32(len(buf)) + 1000 // some records did not fit
	buf = append(buf, make([]byte, 30)...)
	got := driver.DecodePrints(buf, asked, kernels)
	want := []driver.Print{
		{
			Launch: 3, Block: [3]int{1, 2, 3}, Thread: [3]int{4, 5, 6},
			Text: "true -1 -32768 -2147483648 -9223372036854775808 255 65535 4294967295 18446744073709551615 1.5 -0.1",
		},
		{Launch: 4, Block: [3]int{1, 2, 3}, Thread: [3]int{4, 5, 6}, Text: "plain\n"},
	}
	if !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := driver.DecodePrints(buf, 0, kernels); len(got) != 0 {
		t.Errorf("prints %v, want none", got)
	}
}

// TestDecodeDamagedPrints cuts and overwrites the records: decoding never panics, and returns the
// complete records.
func TestDecodeDamagedPrints(t *testing.T) {
	good := slices.Concat(record(1, 1, 2), record(2, 1, 2), record(3, 1, 0, 4))
	for n := range len(good) + 1 {
		if got, want := len(driver.DecodePrints(good[:n], uint32(n), kernels)), min(n/driver.RecordArgs, 2)+n/len(good); got != want {
			t.Errorf("%d bytes: %d prints, want %d", n, got, want)
		}
	}
	for at := range good {
		bad := slices.Clone(good)
		bad[at] = 0xff
		driver.DecodePrints(bad, uint32(len(bad)), kernels)
	}
}

func TestDecodeSmallFloats(t *testing.T) {
	site := driver.Site{Format: "%v %.1f %g %e", Args: []dtype.Type{dtype.Float16, dtype.BFloat16, dtype.Float8E4M3, dtype.Float8E5M2}}
	find := func(uint32) *driver.Kernel { return &driver.Kernel{Sites: []driver.Site{site}} }
	got := driver.DecodeFault(padded(record(1, 1, 0, 0x2e66, 0xc020, 0x7e, 0x7b)), find)
	if want := "0.1 -2.5 450 5.734400e+04"; got.Message != want {
		t.Errorf("%q, want %q", got.Message, want)
	}
}

// TestDecodeImpliedArgs decodes messages of sites with the arguments that their formats imply, and of one that has none.
func TestDecodeImpliedArgs(t *testing.T) {
	for want, site := range map[string]driver.Site{
		"index out of range [9] with length -5": {Format: "index out of range [%d] with length %d"},
		"integer divide by zero":                {Format: "integer divide by zero"},
		"100%":                                  {Format: "100%%", Args: []dtype.Type{}},
	} {
		find := func(uint32) *driver.Kernel { return &driver.Kernel{Sites: []driver.Site{site}} }
		five := int64(-5)
		if got := driver.DecodeFault(padded(record(1, 1, 0, 9, uint64(five))), find); got.Message != want {
			t.Errorf("%q, want %q", got.Message, want)
		}
	}
}
