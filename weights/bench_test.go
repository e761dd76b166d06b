package weights_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gopherwarp/gopherwarp/weights"
)

// BenchmarkRead reports the rate at which the data of a tensor of 256 MiB reaches memory that is used again, from the page cache: by ReadAt, and
// by copies from a mapped file within Guard.
func BenchmarkRead(b *testing.B) {
	const size, part = 256 << 20, 4 << 20
	name := filepath.Join(b.TempDir(), "file")
	if err := os.WriteFile(name, make([]byte, size), 0o600); err != nil {
		b.Fatal(err)
	}
	buffer := make([]byte, part)
	b.Run("ReadAt", func(b *testing.B) {
		x := openTensor(b, name, size).Tensors[0]
		b.SetBytes(size)
		for b.Loop() {
			for at := int64(0); at < size; at += part {
				if _, err := x.ReadAt(buffer, at); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	b.Run("Mapped", func(b *testing.B) {
		b.SetBytes(size)
		for b.Loop() { // a program maps a file once, and touches each page for the first time
			b.StopTimer()
			f := openTensor(b, name, size)
			b.StartTimer()
			if err := f.Map(); err != nil {
				b.Fatal(err)
			}
			data, err := f.Tensors[0].Bytes()
			if err != nil {
				b.Fatal(err)
			}
			err = f.Guard(func() error {
				for at := 0; at < size; at += part {
					copy(buffer, data[at:])
				}
				return nil
			})
			if err != nil {
				b.Fatal(err)
			}
			b.StopTimer()
			if err := f.Close(); err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
		}
	})
}

// openTensor returns a File with one tensor that is the whole file.
func openTensor(b *testing.B, name string, size int) *weights.File {
	b.Helper()
	s, err := weights.OpenSource(name)
	if err != nil {
		b.Fatal(err)
	}
	x, err := s.Tensor(weights.Spec{Name: "x", Type: weights.U8, Shape: []int{size}}, 0)
	if err != nil {
		b.Fatal(err)
	}
	f, err := weights.New(weights.Contents{Tensors: []*weights.Tensor{x}, Sources: []*weights.Source{s}})
	if err != nil {
		b.Fatal(err)
	}
	return f
}
