package trial

import (
	"compress/gzip"
	"encoding/gob"
	"io"
	"strings"

	"github.com/gopherwarp/gopherwarp/device"
)

// Packed is a trial with what is known of its result, for a machine that has no compiler.
type Packed struct {
	Trial Trial
	Sum   [8]byte // of the result's Whole
}

// Whole returns the result without those of single threads, and of a fault that it is one.
func (r Result) Whole() Result {
	if r.Fault != "" {
		return Result{Fault: r.Fault}
	}
	return Result{Printed: r.Printed, Data: r.Data}
}

// Pack returns the trial with the code that a GPU of capability c runs.
func (t *Trial) Pack(c device.Capability, r Result) Packed {
	p := Packed{*t, r.Whole().Sum()}
	p.Trial.Kernel.Native, p.Trial.Kernel.Variants = nil, nil
	fit := device.Fit{Narrow: t.narrow(), Line: t.Grid.Blocks.Y <= 1 && t.Grid.Block.Y <= 1, Aligned: true}
	if v, ok := t.Kernel.Variant(c, fit); ok {
		v.PTX = withoutLines(v.PTX)
		p.Trial.Kernel.Variants = append(p.Trial.Kernel.Variants, v)
	}
	return p
}

// narrow reports whether the arguments are small enough for narrow code.
func (t *Trial) narrow() bool {
	block, slices := t.arguments(0)
	for _, a := range slices {
		put(block[a.at+8:], 8, uint64(a.n))
	}
	for _, at := range t.Kernel.Integers {
		if n := int64(get(block[at:], 8)); n != int64(int32(n)) {
			return false
		}
	}
	return true
}

// withoutLines returns PTX without what ties it to lines of source, a quarter of it.
func withoutLines(ptx string) string {
	var kept strings.Builder
	for line := range strings.Lines(ptx) {
		if !strings.HasPrefix(line, "\t.loc ") {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

// WritePack writes trials, compressed. Packs may stand one behind the other.
func WritePack(w io.Writer, list []Packed) error {
	z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	if err := gob.NewEncoder(z).Encode(list); err != nil {
		return err
	}
	return z.Close()
}

// ReadPack returns the trials of a pack, or io.EOF behind the last one. What r has to be is
// what gzip.Reader.Multistream asks for.
func ReadPack(z *gzip.Reader) (list []Packed, err error) {
	z.Multistream(false)
	return list, gob.NewDecoder(z).Decode(&list)
}
